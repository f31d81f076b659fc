//! Zoned namespaces (ZNS Command Set 1.1).

/// Identify Namespace of the zoned command set (4.1.5.1): byte offsets.
pub mod namespace {
    /// Optional commands; bit 0: reads may cross zone boundaries.
    pub const OZCS: usize = 2;
    /// Maximum active zones, 0-based; FFFFFFFFh: no limit.
    pub const MAR: usize = 4;
    /// Maximum open zones, likewise.
    pub const MOR: usize = 8;
    /// LBA format extensions of 16 bytes each; bytes 7:0: zone size in blocks.
    pub const LBAFE: usize = 2816;
    /// Bytes of an extension.
    pub const LBAFE_BYTES: usize = 16;
}

/// Zone send actions (3.4.3).
pub mod send {
    /// Close.
    pub const CLOSE: u8 = 1;
    /// Finish.
    pub const FINISH: u8 = 2;
    /// Open.
    pub const OPEN: u8 = 3;
    /// Reset.
    pub const RESET: u8 = 4;
    /// Offline.
    pub const OFFLINE: u8 = 5;
    /// Bit 8 of dword 13: select all zones.
    pub const ALL: u32 = 1 << 8;
}

/// Zone receive (3.4.2): the report of zones.
pub mod report {
    /// The only supported action: report zones.
    pub const REPORT: u8 = 0;
    /// Bit 16 of dword 13: count only reported zones.
    pub const PARTIAL: u32 = 1 << 16;
    /// Bytes of the header, the first eight of which are the number of zones.
    pub const HEADER_BYTES: usize = 64;
    /// Bytes of a zone descriptor.
    pub const BYTES: usize = 64;
    /// Descriptor: zone type; 2: sequential writes required.
    pub const TYPE: usize = 0;
    /// Sequential write required.
    pub const SEQUENTIAL: u8 = 2;
    /// Descriptor: zone state in bits 7:4.
    pub const STATE: usize = 1;
    /// Descriptor: zone capacity in blocks (8 bytes).
    pub const CAPACITY: usize = 8;
    /// Descriptor: first LBA (8 bytes).
    pub const START: usize = 16;
    /// Descriptor: write pointer (8 bytes).
    pub const POINTER: usize = 24;
}

/// Zone states (2.1.1.3), and the reporting option that selects each.
pub mod state {
    /// Empty; option 1.
    pub const EMPTY: u8 = 0x1;
    /// Implicitly opened; option 2.
    pub const IMPLICITLY_OPEN: u8 = 0x2;
    /// Explicitly opened; option 3.
    pub const EXPLICITLY_OPEN: u8 = 0x3;
    /// Closed; option 4.
    pub const CLOSED: u8 = 0x4;
    /// Read-only; option 6.
    pub const READ_ONLY: u8 = 0xd;
    /// Full; option 5.
    pub const FULL: u8 = 0xe;
    /// Offline; option 7.
    pub const OFFLINE: u8 = 0xf;
}
