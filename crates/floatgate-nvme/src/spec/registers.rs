//! Controller properties (Base 2.0, 3.1.3) and the commands that read and write them (6.5, 6.6).

/// Specification version of this controller: 2.0.
pub const VERSION: u32 = 0x0002_0000;

/// Offsets of properties.
pub mod offset {
    /// Controller capabilities (8 bytes).
    pub const CAP: u32 = 0x00;
    /// Version.
    pub const VS: u32 = 0x08;
    /// Controller configuration.
    pub const CC: u32 = 0x14;
    /// Controller status.
    pub const CSTS: u32 = 0x1c;
    /// Controller ready timeouts.
    pub const CRTO: u32 = 0x68;
}

/// Controller capabilities (3.1.3.1).
pub mod capabilities {
    /// 16: queues are contiguous, as Fabrics require.
    pub const CONTIGUOUS: u64 = 1 << 16;
    /// 31:24: worst time to become ready, in 500 ms.
    pub const TIMEOUT_SHIFT: u32 = 24;
    /// 37: NVM command set.
    pub const NVM: u64 = 1 << 37;
    /// 43: one or more I/O command sets, with the Identify data that name them.
    pub const COMMAND_SETS: u64 = 1 << 43;
    /// 59: the controller is ready with its media.
    pub const READY_WITH_MEDIA: u64 = 1 << 59;
}

/// Controller configuration (3.1.3.5).
pub mod configuration {
    /// 0: enable.
    pub const ENABLE: u32 = 1;
    /// 6:4: command sets, 000b NVM, 110b all, 111b none.
    pub const fn command_sets(value: u32) -> u32 {
        value >> 4 & 7
    }
    /// All supported command sets.
    pub const ALL_SETS: u32 = 6;
    /// Admin commands only.
    pub const NO_SET: u32 = 7;
    /// 10:7: memory page size, as a power of two from 4 KiB.
    pub const fn page_size(value: u32) -> u32 {
        value >> 7 & 0xf
    }
    /// 13:11: arbitration, 0 round robin.
    pub const fn arbitration(value: u32) -> u32 {
        value >> 11 & 7
    }
    /// 15:14: shutdown, 1 normal, 2 abrupt.
    pub const fn shutdown(value: u32) -> u32 {
        value >> 14 & 3
    }
}

/// Controller status (3.1.3.6).
pub mod status {
    /// 0: ready.
    pub const READY: u32 = 1;
    /// 1: fatal status.
    pub const FATAL: u32 = 1 << 1;
    /// 3:2: shutdown is complete.
    pub const SHUT_DOWN: u32 = 2 << 2;
}
