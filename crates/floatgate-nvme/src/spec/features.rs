//! Features (Base 2.0, 5.27; FDP of Base 2.1, 5.1.25).

/// Feature identifiers.
pub mod id {
    /// 5.27.1.1
    pub const ARBITRATION: u8 = 0x01;
    /// 5.27.1.2
    pub const POWER: u8 = 0x02;
    /// 5.27.1.3
    pub const TEMPERATURE: u8 = 0x04;
    /// NVM Command Set 1.0, 4.1.3.2
    pub const ERROR_RECOVERY: u8 = 0x05;
    /// 5.27.1.4
    pub const WRITE_CACHE: u8 = 0x06;
    /// 5.27.1.5
    pub const QUEUES: u8 = 0x07;
    /// NVM Command Set 1.0, 4.1.3
    pub const WRITE_ATOMICITY: u8 = 0x0a;
    /// 5.27.1.8
    pub const EVENTS: u8 = 0x0b;
    /// 5.27.1.11
    pub const TIMESTAMP: u8 = 0x0e;
    /// 5.27.1.12
    pub const KEEP_ALIVE: u8 = 0x0f;
    /// 5.27.1.21
    pub const COMMAND_SET_PROFILE: u8 = 0x19;
    /// Base 2.1, 5.1.25.1.20
    pub const FDP: u8 = 0x1d;
    /// Base 2.1, 5.1.25.1.21
    pub const FDP_EVENTS: u8 = 0x1e;
    /// 5.27.1.25
    pub const HOST_ID: u8 = 0x81;
}

/// The Select field of Get Features (5.15).
pub mod select {
    /// Current value.
    pub const CURRENT: u32 = 0;
    /// Default value.
    pub const DEFAULT: u32 = 1;
    /// Saved value.
    pub const SAVED: u32 = 2;
    /// Capabilities.
    pub const CAPABILITIES: u32 = 3;
}

/// Capabilities of a feature: changeable (5.15).
pub const CHANGEABLE: u32 = 1 << 2;

/// Bytes of a timestamp (5.27.1.11).
pub const TIMESTAMP_BYTES: usize = 8;

/// Bits of the asynchronous event configuration (5.27.1.8).
pub mod event {
    /// 7:0: the critical warnings of the SMART log.
    pub const SMART: u32 = 0xff;
    /// 8: namespace attribute notices.
    pub const NAMESPACE: u32 = 1 << 8;
}

/// Asynchronous events (Base 2.0, 5.2.1): type, information and log page.
pub mod notice {
    /// Dword 0 of the completion.
    pub const fn dword(kind: u8, information: u8, log: u8) -> u32 {
        kind as u32 | (information as u32) << 8 | (log as u32) << 16
    }
    /// SMART and health status.
    pub const HEALTH: u8 = 1;
    /// Notice.
    pub const NOTICE: u8 = 2;
    /// Health: reliability of the subsystem.
    pub const RELIABILITY: u8 = 0;
    /// Health: spare below its threshold.
    pub const SPARE: u8 = 2;
    /// Notice: a namespace attribute changed.
    pub const NAMESPACE_CHANGED: u8 = 0;
}

/// Temperature threshold (5.27.1.3): an over threshold without a limit.
pub const NO_TEMPERATURE: u32 = 0xffff;
