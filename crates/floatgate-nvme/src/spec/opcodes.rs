//! Opcodes. The two lowest bits are the direction of the data: 0 none, 1 host to controller, 2
//! controller to host.

/// Admin commands (Base 2.0, section 5).
pub mod admin {
    /// 5.16
    pub const GET_LOG_PAGE: u8 = 0x02;
    /// 5.17
    pub const IDENTIFY: u8 = 0x06;
    /// 5.1
    pub const ABORT: u8 = 0x08;
    /// 5.27
    pub const SET_FEATURES: u8 = 0x09;
    /// 5.15
    pub const GET_FEATURES: u8 = 0x0a;
    /// 5.2
    pub const ASYNCHRONOUS_EVENT_REQUEST: u8 = 0x0c;
    /// 5.18
    pub const KEEP_ALIVE: u8 = 0x18;
    /// 5.10
    pub const DIRECTIVE_SEND: u8 = 0x19;
    /// 5.9
    pub const DIRECTIVE_RECEIVE: u8 = 0x1a;
    /// 5.14
    pub const FORMAT: u8 = 0x80;
}

/// Fabrics commands (Base 2.0, section 6): one opcode with a type.
pub mod fabrics {
    /// The opcode.
    pub const OPCODE: u8 = 0x7f;
    /// 6.6
    pub const PROPERTY_SET: u8 = 0x00;
    /// 6.3
    pub const CONNECT: u8 = 0x01;
    /// 6.5
    pub const PROPERTY_GET: u8 = 0x04;
}

/// I/O commands: Base 2.1, section 7; NVM Command Set 1.0, 3.2; ZNS 1.1, 3.4.
pub mod io {
    /// Base 2.1, 7.2
    pub const FLUSH: u8 = 0x00;
    /// NVM, 3.2.6
    pub const WRITE: u8 = 0x01;
    /// NVM, 3.2.4
    pub const READ: u8 = 0x02;
    /// NVM, 3.2.1
    pub const COMPARE: u8 = 0x05;
    /// NVM, 3.2.8
    pub const WRITE_ZEROES: u8 = 0x08;
    /// NVM, 3.2.3
    pub const DATASET_MANAGEMENT: u8 = 0x09;
    /// NVM, 3.2.5
    pub const VERIFY: u8 = 0x0c;
    /// Base 2.1, 7.3 (TP4146)
    pub const MANAGEMENT_RECEIVE: u8 = 0x12;
    /// Base 2.1, 7.4 (TP4146)
    pub const MANAGEMENT_SEND: u8 = 0x1d;
    /// ZNS, 3.4.3
    pub const ZONE_MANAGEMENT_SEND: u8 = 0x79;
    /// ZNS, 3.4.2
    pub const ZONE_MANAGEMENT_RECEIVE: u8 = 0x7a;
    /// ZNS, 3.4.1
    pub const ZONE_APPEND: u8 = 0x7d;
}
