//! PDUs of NVMe/TCP (TCP Transport 1.0, 3.6.2).

/// Bytes of the common header (3.6.2.1).
pub const HEADER_BYTES: usize = 8;

/// Bytes of a digest (3.3.1.1): CRC32C, little-endian.
pub const DIGEST_BYTES: usize = 4;

/// Maximum bytes of data in the capsules of Admin and Fabrics commands (3.3.1).
pub const ADMIN_CAPSULE_BYTES: u32 = 8192;

/// Maximum bytes of data in a termination request (3.5.1).
pub const TERMINATION_DATA_MAX: usize = 128;

/// Byte offsets of the common header.
pub mod header {
    /// Type.
    pub const TYPE: usize = 0;
    /// Flags.
    pub const FLAGS: usize = 1;
    /// Header length without its digest.
    pub const HEADER_LENGTH: usize = 2;
    /// Offset of the data.
    pub const DATA_OFFSET: usize = 3;
    /// Length of the PDU (4 bytes).
    pub const LENGTH: usize = 4;

    /// Flag: a header digest follows the header.
    pub const HEADER_DIGEST: u8 = 1 << 0;
    /// Flag: a data digest follows the data.
    pub const DATA_DIGEST: u8 = 1 << 1;
    /// Flag of H2CData and C2HData: the last PDU of its request.
    pub const LAST: u8 = 1 << 2;
    /// Flag of C2HData: the command succeeded, and no response capsule follows.
    pub const SUCCESS: u8 = 1 << 3;
}

/// PDU types (3.3, Figure 10).
pub mod kind {
    /// Initialize Connection Request.
    pub const IC_REQUEST: u8 = 0x00;
    /// Initialize Connection Response.
    pub const IC_RESPONSE: u8 = 0x01;
    /// Host to Controller Terminate Connection Request.
    pub const HOST_TERMINATION: u8 = 0x02;
    /// Controller to Host Terminate Connection Request.
    pub const TERMINATION: u8 = 0x03;
    /// Command Capsule.
    pub const COMMAND: u8 = 0x04;
    /// Response Capsule.
    pub const RESPONSE: u8 = 0x05;
    /// Host to Controller Data.
    pub const HOST_DATA: u8 = 0x06;
    /// Controller to Host Data.
    pub const DATA: u8 = 0x07;
    /// Ready to Transfer.
    pub const READY: u8 = 0x09;
}

/// Initialize Connection Request and Response (3.6.2.2, 3.6.2.3): byte offsets.
pub mod connection {
    /// Bytes of both.
    pub const BYTES: usize = 128;
    /// Format version, 0 (2 bytes).
    pub const VERSION: usize = 8;
    /// Alignment of data, 0-based in units of 4 bytes.
    pub const ALIGNMENT: usize = 10;
    /// Digests.
    pub const DIGESTS: usize = 11;
    /// Request: outstanding R2Ts of a command, 0-based; response: maximum bytes of data in an
    /// H2CData (4 bytes).
    pub const LIMIT: usize = 12;

    /// Highest alignment.
    pub const ALIGNMENT_MAX: u8 = 31;
    /// Digest of headers.
    pub const HEADER_DIGEST: u8 = 1 << 0;
    /// Digest of data.
    pub const DATA_DIGEST: u8 = 1 << 1;
}

/// H2CTermReq and C2HTermReq (3.6.2.4, 3.6.2.5): byte offsets, and fatal error statuses.
pub mod termination {
    /// Bytes of the header.
    pub const BYTES: usize = 24;
    /// Fatal error status (2 bytes).
    pub const STATUS: usize = 8;
    /// Fatal error information (4 bytes).
    pub const INFORMATION: usize = 10;

    /// Invalid PDU Header Field.
    pub const INVALID_FIELD: u16 = 1;
    /// PDU Sequence Error.
    pub const SEQUENCE: u16 = 2;
    /// Header Digest Error.
    pub const HEADER_DIGEST: u16 = 3;
    /// Data Transfer Out of Range.
    pub const OUT_OF_RANGE: u16 = 4;
    /// Data Transfer Limit Exceeded.
    pub const LIMIT_EXCEEDED: u16 = 5;
    /// Unsupported Parameter.
    pub const UNSUPPORTED: u16 = 6;
}

/// Command capsule (3.6.2.6).
pub mod command {
    /// Bytes of the header: the common header and the command.
    pub const BYTES: usize = 72;
}

/// Response capsule (3.6.2.7).
pub mod response {
    /// Bytes of the header: the common header and the completion.
    pub const BYTES: usize = 24;
}

/// H2CData, C2HData and R2T (3.6.2.8 to 3.6.2.10): byte offsets.
pub mod data {
    /// Bytes of the header.
    pub const BYTES: usize = 24;
    /// Command identifier (2 bytes).
    pub const COMMAND: usize = 8;
    /// Transfer tag of H2CData and R2T (2 bytes).
    pub const TAG: usize = 10;
    /// Offset within the command's data (4 bytes).
    pub const OFFSET: usize = 12;
    /// Length (4 bytes).
    pub const LENGTH: usize = 16;
}
