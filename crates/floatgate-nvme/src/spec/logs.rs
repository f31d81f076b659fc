//! Log pages (Base 2.0, 5.16; FDP of Base 2.1, 5.1.12): identifiers, byte offsets and bits.

/// Log page identifiers.
pub mod id {
    /// 5.16.1.1
    pub const SUPPORTED: u8 = 0x00;
    /// 5.16.1.2
    pub const ERRORS: u8 = 0x01;
    /// 5.16.1.3
    pub const SMART: u8 = 0x02;
    /// 5.16.1.4
    pub const FIRMWARE: u8 = 0x03;
    /// 5.16.1.5
    pub const CHANGED_NAMESPACES: u8 = 0x04;
    /// 5.16.1.6
    pub const EFFECTS: u8 = 0x05;
    /// 5.16.1.10
    pub const ENDURANCE_GROUP: u8 = 0x09;
    /// 5.16.1.18
    pub const FEATURES: u8 = 0x12;
    /// 5.16.1.19
    pub const MANAGEMENT: u8 = 0x13;
    /// Base 2.1, 5.1.12.1.28
    pub const FDP_CONFIGURATIONS: u8 = 0x20;
    /// Base 2.1, 5.1.12.1.29
    pub const FDP_USAGE: u8 = 0x21;
    /// Base 2.1, 5.1.12.1.30
    pub const FDP_STATISTICS: u8 = 0x22;
    /// Base 2.1, 5.1.12.1.31
    pub const FDP_EVENTS: u8 = 0x23;
    /// 5.16.1.23
    pub const DISCOVERY: u8 = 0x70;
    /// OCP Datacenter NVMe SSD 2.0, 4.8.6
    pub const OCP_SMART: u8 = 0xc0;
    /// Floatgate's own log: bytes by cause and by handle.
    pub const CAUSES: u8 = 0xf0;
}

/// An entry of the error log (5.16.1.2): byte offsets; entries have 64 bytes.
pub mod error {
    /// Bytes of an entry.
    pub const BYTES: usize = 64;
    /// Error count, unique.
    pub const COUNT: usize = 0;
    /// Submission queue.
    pub const QUEUE: usize = 8;
    /// Command identifier.
    pub const COMMAND: usize = 10;
    /// Status field of the completion.
    pub const STATUS: usize = 12;
    /// Parameter error location; FFFFh: not specific to a parameter.
    pub const LOCATION: usize = 14;
    /// LBA.
    pub const LBA: usize = 16;
    /// Namespace.
    pub const NAMESPACE: usize = 24;
    /// Transport type: 3 is TCP.
    pub const TRANSPORT: usize = 29;
    /// Opcode.
    pub const OPCODE: usize = 31;
    /// Version of the entry: 1, with the command set and the opcode.
    pub const VERSION: usize = 63;
}

/// SMART and health information (5.16.1.3): byte offsets.
pub mod smart {
    /// Bytes.
    pub const BYTES: usize = 512;
    /// Critical warning.
    pub const WARNING: usize = 0;
    /// Available spare in percent.
    pub const SPARE: usize = 3;
    /// Threshold of the spare in percent.
    pub const SPARE_THRESHOLD: usize = 4;
    /// Percentage used.
    pub const USED: usize = 5;
    /// Critical warning summary of the endurance groups.
    pub const ENDURANCE_WARNING: usize = 6;
    /// Data units read: 1,000 units of 512 bytes, rounded up. Fields from here have 16 bytes.
    pub const UNITS_READ: usize = 32;
    /// Data units written.
    pub const UNITS_WRITTEN: usize = 48;
    /// Host read commands, with Compare and Verify.
    pub const READS: usize = 64;
    /// Host write commands.
    pub const WRITES: usize = 80;
    /// Controller busy time in minutes.
    pub const BUSY: usize = 96;
    /// Power cycles.
    pub const POWER_CYCLES: usize = 112;
    /// Power on hours.
    pub const POWER_ON: usize = 128;
    /// Unsafe shutdowns.
    pub const UNSAFE_SHUTDOWNS: usize = 144;
    /// Media and data integrity errors.
    pub const MEDIA_ERRORS: usize = 160;
    /// Number of error log entries.
    pub const ERRORS: usize = 176;

    /// Warning: spare below its threshold.
    pub const WARN_SPARE: u8 = 1 << 0;
    /// Warning: reliability degraded.
    pub const WARN_RELIABILITY: u8 = 1 << 2;
    /// Warning: the media are read-only.
    pub const WARN_READ_ONLY: u8 = 1 << 3;
}

/// Commands supported and effects (5.16.1.6).
pub mod effects {
    /// Bytes.
    pub const BYTES: usize = 4096;
    /// Offset of the entries of I/O commands; those of admin commands begin at 0.
    pub const IO: usize = 1024;
    /// The command is supported.
    pub const SUPPORTED: u32 = 1 << 0;
    /// The command may change the content of blocks.
    pub const CONTENT: u32 = 1 << 1;
    /// The command may change capabilities of a namespace.
    pub const CAPABILITY: u32 = 1 << 2;
    /// The command is submitted while no other command to the namespace is outstanding.
    pub const ALONE: u32 = 1 << 16;
}

/// Endurance group information (5.16.1.10): byte offsets.
pub mod endurance {
    /// Bytes.
    pub const BYTES: usize = 512;
    /// Critical warning.
    pub const WARNING: usize = 0;
    /// Available spare in percent.
    pub const SPARE: usize = 3;
    /// Threshold of the spare in percent.
    pub const SPARE_THRESHOLD: usize = 4;
    /// Percentage used.
    pub const USED: usize = 5;
    /// Endurance estimate in 10^9 bytes. Fields from here have 16 bytes.
    pub const ESTIMATE: usize = 32;
    /// Data read by hosts in 10^9 bytes, rounded up.
    pub const READ: usize = 48;
    /// Data written by hosts in 10^9 bytes, rounded up.
    pub const WRITTEN: usize = 64;
    /// Data written to the media in 10^9 bytes, rounded up.
    pub const MEDIA_WRITTEN: usize = 80;
    /// Host read commands.
    pub const READS: usize = 96;
    /// Host write commands.
    pub const WRITES: usize = 112;
    /// Media and data integrity errors.
    pub const MEDIA_ERRORS: usize = 128;
    /// Number of error log entries.
    pub const ERRORS: usize = 144;
    /// Total capacity in bytes.
    pub const CAPACITY: usize = 160;
}

/// SMART log of the Open Compute Project (Datacenter NVMe SSD 2.0, 4.8.6): byte offsets.
pub mod ocp {
    /// Bytes.
    pub const BYTES: usize = 512;
    /// Bytes written to the media (16 bytes).
    pub const MEDIA_WRITTEN: usize = 0;
    /// Bytes read from the media (16 bytes).
    pub const MEDIA_READ: usize = 16;
    /// Bad user blocks: a raw count of 6 bytes, and a normalized value of 2 bytes, 100 at best.
    pub const BAD_USER: usize = 32;
    /// Bad system blocks, likewise.
    pub const BAD_SYSTEM: usize = 40;
    /// Uncorrectable read errors (8 bytes).
    pub const UNREADABLE: usize = 56;
    /// Highest erase count of user data (4 bytes).
    pub const ERASES_MAX: usize = 88;
    /// Lowest erase count of user data (4 bytes).
    pub const ERASES_MIN: usize = 92;
    /// Version of the OCP specification: errata (1 byte), point (2), minor (2), major (1).
    pub const VERSION: usize = 98;
    /// Incomplete shutdowns (4 bytes).
    pub const INCOMPLETE_SHUTDOWNS: usize = 112;
    /// Free blocks in percent.
    pub const FREE: usize = 120;
    /// Charge of the capacitor in percent; FFFFh: there is none.
    pub const CAPACITOR: usize = 128;
    /// I/O that is not aligned to the indirection unit (8 bytes).
    pub const UNALIGNED: usize = 136;
    /// Namespace utilization in blocks, over all namespaces (8 bytes).
    pub const UTILIZATION: usize = 152;
    /// Endurance estimate in bytes (16 bytes).
    pub const ENDURANCE: usize = 176;
    /// Version of the log page: 3 for OCP 2.0 (2 bytes).
    pub const LOG_VERSION: usize = 494;
    /// Identifier of the log page (16 bytes).
    pub const GUID: usize = 496;
    /// AFD514C97C6F4F9CA4F2BFEA2810AFC5h, little-endian.
    pub const GUID_VALUE: u128 = 0xafd5_14c9_7c6f_4f9c_a4f2_bfea_2810_afc5;
}
