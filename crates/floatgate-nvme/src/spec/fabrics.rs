//! Fabrics (Base 2.0, section 6): Connect and discovery.

/// Name of the discovery service (Base 2.0, 4.5).
pub const DISCOVERY_NQN: &str = "nqn.2014-08.org.nvmexpress.discovery";

/// Longest qualified name in bytes (Base 2.0, 4.5).
pub const NQN_MAX: usize = 223;

/// Controller identifier of a Connect command for any controller (6.3).
pub const ANY_CONTROLLER: u16 = 0xffff;

/// Submission queue head pointer of a controller without flow control (6.3).
pub const NO_FLOW_CONTROL: u16 = 0xffff;

/// Connect (6.3): byte offsets in the command and in its data.
pub mod connect {
    /// Record format (2 bytes), 0.
    pub const FORMAT: usize = 40;
    /// Queue identifier (2 bytes).
    pub const QUEUE: usize = 42;
    /// Submission queue size, 0-based (2 bytes).
    pub const SIZE: usize = 44;
    /// Attributes (1 byte).
    pub const ATTRIBUTES: usize = 46;
    /// Keep alive timeout in milliseconds (4 bytes).
    pub const KEEP_ALIVE: usize = 48;
    /// Attribute: disable the flow control of the submission queue.
    pub const NO_FLOW_CONTROL: u8 = 1 << 2;

    /// Bytes of the data.
    pub const BYTES: usize = 1024;
    /// Data: host identifier (16 bytes).
    pub const HOST_ID: usize = 0;
    /// Data: controller identifier (2 bytes).
    pub const CONTROLLER: usize = 16;
    /// Data: name of the subsystem (256 bytes).
    pub const SUBSYSTEM: usize = 256;
    /// Data: name of the host (256 bytes).
    pub const HOST: usize = 512;
    /// Bytes of a name's field.
    pub const NAME_BYTES: usize = 256;
}

/// Property Get and Set (6.5, 6.6): byte offsets in the command.
pub mod property {
    /// Attributes; 2:0: size, 0 for 4 bytes, 1 for 8 bytes.
    pub const ATTRIBUTES: usize = 40;
    /// Offset (4 bytes).
    pub const OFFSET: usize = 44;
    /// Value (8 bytes).
    pub const VALUE: usize = 48;
}

/// Discovery log page (5.16.1.23): byte offsets; header and records have 1,024 bytes each.
pub mod discovery {
    /// Bytes of the header, and of a record.
    pub const BYTES: usize = 1024;
    /// Header: generation counter (8 bytes).
    pub const GENERATION: usize = 0;
    /// Header: number of records (8 bytes).
    pub const RECORDS: usize = 8;
    /// Record: transport type.
    pub const TRANSPORT: usize = 0;
    /// Record: address family.
    pub const FAMILY: usize = 1;
    /// Record: subsystem type.
    pub const KIND: usize = 2;
    /// Record: transport requirements.
    pub const REQUIREMENTS: usize = 3;
    /// Record: port identifier (2 bytes).
    pub const PORT: usize = 4;
    /// Record: controller identifier (2 bytes).
    pub const CONTROLLER: usize = 6;
    /// Record: size of the admin queue (2 bytes).
    pub const ADMIN_SIZE: usize = 8;
    /// Record: transport service identifier: 32 characters.
    pub const SERVICE: usize = 32;
    /// Record: name of the subsystem (256 bytes).
    pub const SUBSYSTEM: usize = 256;
    /// Record: transport address: 256 characters.
    pub const ADDRESS: usize = 512;

    /// Transport type: TCP.
    pub const TCP: u8 = 3;
    /// Address family: IPv4.
    pub const IPV4: u8 = 1;
    /// Address family: IPv6.
    pub const IPV6: u8 = 2;
    /// Subsystem type: NVM subsystem.
    pub const NVM: u8 = 2;
    /// Requirement: the flow control of submission queues can be disabled.
    pub const NO_FLOW_CONTROL: u8 = 1 << 2;
}
