//! Flexible data placement (Base 2.1, 8.1.10; TP4146): log pages, events, I/O management.

/// FDP configurations (5.1.12.1.28): byte offsets.
pub mod configuration {
    /// Bytes in front of the descriptors.
    pub const HEADER_BYTES: usize = 16;
    /// Size of the log page in bytes (4 bytes).
    pub const SIZE: usize = 4;
    /// Bytes of a descriptor in front of its handles; each handle has 4 bytes, the first of which
    /// is its isolation.
    pub const BYTES: usize = 64;
    /// Descriptor: its size.
    pub const DESCRIPTOR_SIZE: usize = 0;
    /// Descriptor: attributes.
    pub const ATTRIBUTES: usize = 2;
    /// Descriptor: number of reclaim groups (4 bytes).
    pub const GROUPS: usize = 4;
    /// Descriptor: number of reclaim unit handles (2 bytes).
    pub const HANDLES: usize = 8;
    /// Descriptor: highest number of placement identifiers, 0-based (2 bytes).
    pub const IDENTIFIERS: usize = 10;
    /// Descriptor: number of namespaces (4 bytes).
    pub const NAMESPACES: usize = 12;
    /// Descriptor: nominal size of a reclaim unit in bytes (8 bytes).
    pub const UNIT_BYTES: usize = 16;

    /// Attribute: the configuration is valid.
    pub const VALID: u8 = 1 << 7;
    /// Attribute: there is a volatile write cache.
    pub const CACHE: u8 = 1 << 4;
    /// Isolation: pages moved by the controller are mixed.
    pub const INITIALLY: u8 = 1;
    /// Isolation: pages moved by the controller stay apart.
    pub const PERSISTENTLY: u8 = 2;
}

/// Reclaim unit handle usage (5.1.12.1.29).
pub mod usage {
    /// Bytes in front of the descriptors, the first two of which are their number.
    pub const HEADER_BYTES: usize = 8;
    /// Bytes of a descriptor, the first of which is the use.
    pub const BYTES: usize = 8;
    /// The host chooses the handle.
    pub const HOST: u8 = 1;
}

/// FDP statistics (5.1.12.1.30): byte offsets of fields of 16 bytes.
pub mod statistics {
    /// Bytes.
    pub const BYTES: usize = 64;
    /// Bytes that hosts have written.
    pub const HOST: usize = 0;
    /// Bytes written to the media.
    pub const MEDIA: usize = 16;
    /// Bytes of the media erased.
    pub const ERASED: usize = 32;
}

/// FDP events (5.1.12.1.31): byte offsets.
pub mod event {
    /// Bytes of the log page.
    pub const LOG_BYTES: usize = 4096;
    /// Bytes of the header, the first four of which are the number of events.
    pub const HEADER_BYTES: usize = 64;
    /// Bytes of an event.
    pub const BYTES: usize = 64;
    /// Events that a log page has room for.
    pub const MAX: usize = (LOG_BYTES - HEADER_BYTES) / BYTES;
    /// Event type.
    pub const TYPE: usize = 0;
    /// Flags.
    pub const FLAGS: usize = 1;
    /// Placement identifier (2 bytes).
    pub const IDENTIFIER: usize = 2;
    /// Timestamp (8 bytes).
    pub const TIME: usize = 4;
    /// Namespace (4 bytes).
    pub const NAMESPACE: usize = 12;
    /// Data specific to the event type (16 bytes). Media reallocated (NVM Command Set 1.1,
    /// 4.1.4.7): byte 0 flags, bytes 3:2 blocks moved, 11:4 first LBA.
    pub const SPECIFIC: usize = 16;
    /// Reclaim unit handle (2 bytes).
    pub const HANDLE: usize = 34;

    /// Flags: the placement identifier is valid.
    pub const IDENTIFIER_VALID: u8 = 1 << 0;
    /// Flags: the namespace is valid.
    pub const NAMESPACE_VALID: u8 = 1 << 1;
    /// Flags: reclaim group and handle are valid.
    pub const LOCATION_VALID: u8 = 1 << 2;

    /// Host event: a unit was not fully written when the host asked for the next one.
    pub const NOT_FILLED: u8 = 0x00;
    /// Host event: a unit was not fully written within its time limit.
    pub const TIME_LIMIT: u8 = 0x01;
    /// Host event: a reset gave handles other units.
    pub const RESET: u8 = 0x02;
    /// Host event: a write had an invalid placement identifier.
    pub const INVALID_IDENTIFIER: u8 = 0x03;
    /// Controller event: the controller moved data of an initially isolated handle.
    pub const REALLOCATED: u8 = 0x80;
    /// Controller event: the controller gave the handle another unit.
    pub const MODIFIED: u8 = 0x81;

    /// Log specific field of Get Log Page, bit 0: host events.
    pub const HOST_EVENTS: u32 = 1;
}

/// Management operation of I/O Management Receive and Send (7.3, 7.4).
pub mod management {
    /// No action.
    pub const NONE: u8 = 0;
    /// Reclaim unit handle status, or update.
    pub const HANDLES: u8 = 1;
    /// Status: bytes in front of the descriptors.
    pub const HEADER_BYTES: usize = 16;
    /// Status: number of descriptors (2 bytes).
    pub const COUNT: usize = 14;
    /// Status: bytes of a descriptor: placement identifier (2), handle (2), remaining time (4),
    /// blocks for which the unit still has room (8).
    pub const BYTES: usize = 32;
    /// Descriptor: blocks for which the unit still has room.
    pub const ROOM: usize = 8;
}

/// Directives (Base 2.0, 8.7).
pub mod directive {
    /// Identify directive.
    pub const IDENTIFY: u8 = 0;
    /// Data placement directive.
    pub const PLACEMENT: u8 = 2;
    /// Bytes of the return parameters.
    pub const BYTES: usize = 4096;
    /// Directives enabled; those supported are at 0 (32 bytes each).
    pub const ENABLED: usize = 32;
    /// Directives whose state outlasts a reset.
    pub const PERSISTENT: usize = 64;
}
