//! Headers of PDUs from hosts, and PDUs to hosts (TCP Transport 1.0, 3.6.2).
//!
//! ```text
//!   header │ header digest │ padding │ data │ data digest
//! ```

use crate::spec::bytes::{Record, u16_at, u32_at};
use crate::spec::command::{COMPLETION_BYTES, Command};
use crate::spec::tcp::{
    DIGEST_BYTES, HEADER_BYTES, TERMINATION_DATA_MAX, command, connection, data, header, kind,
    response, termination,
};

/// A fatal transport error: status and information of the termination request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fatal {
    /// Fatal error status.
    pub status: u16,
    /// Fatal error information.
    pub information: u32,
}

impl Fatal {
    /// An error without information.
    pub const fn new(status: u16) -> Self {
        Self { status, information: 0 }
    }

    /// An invalid field at a byte offset of the header.
    pub const fn field(at: usize) -> Self {
        Self { status: termination::INVALID_FIELD, information: at as u32 }
    }
}

/// Digests of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Digests {
    /// Whether headers have digests.
    pub header: bool,
    /// Whether data have digests.
    pub data: bool,
}

impl Digests {
    const fn header_bytes(self) -> usize {
        if self.header { DIGEST_BYTES } else { 0 }
    }
}

/// Rules for the PDUs of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Whether the connection is initialized.
    pub is_initialized: bool,
    /// Digests.
    pub digests: Digests,
    /// Maximum bytes of data in a capsule.
    pub capsule_max: u32,
    /// Maximum bytes of data in an H2CData.
    pub data_max: u32,
}

/// Kind of a PDU from a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Initialize Connection Request.
    Initialize,
    /// Command Capsule.
    Command,
    /// Host to Controller Data.
    Data,
    /// Host to Controller Terminate Connection Request.
    Termination,
}

/// Sections of a PDU, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Kind.
    pub kind: Kind,
    /// Header, with the common header.
    pub header: usize,
    /// Whether a header digest follows.
    pub has_header_digest: bool,
    /// Padding.
    pub padding: usize,
    /// Data.
    pub data: usize,
    /// Whether a data digest follows.
    pub has_data_digest: bool,
}

/// Returns the sections of a PDU with this common header.
///
/// # Errors
/// A PDU that is malformed, or not expected.
pub fn layout(common: &[u8; HEADER_BYTES], rules: &Rules) -> Result<Layout, Fatal> {
    let (kind, bytes) = match common[header::TYPE] {
        kind::IC_REQUEST => (Kind::Initialize, connection::BYTES),
        kind::COMMAND => (Kind::Command, command::BYTES),
        kind::HOST_DATA => (Kind::Data, data::BYTES),
        kind::HOST_TERMINATION => (Kind::Termination, termination::BYTES),
        _ => return Err(Fatal::field(header::TYPE)),
    };
    if (kind == Kind::Initialize) == rules.is_initialized {
        return Err(Fatal::new(termination::SEQUENCE));
    }
    if usize::from(common[header::HEADER_LENGTH]) != bytes {
        return Err(Fatal::field(header::HEADER_LENGTH));
    }
    let length = u32_at(common, header::LENGTH) as usize;
    let plain = Layout {
        kind,
        header: bytes,
        has_header_digest: false,
        padding: 0,
        data: 0,
        has_data_digest: false,
    };
    match kind {
        Kind::Initialize if length == bytes => Ok(plain),
        Kind::Termination if (bytes..=bytes + TERMINATION_DATA_MAX).contains(&length) => {
            Ok(Layout { data: length - bytes, ..plain })
        }
        Kind::Initialize | Kind::Termination => Err(Fatal::field(header::LENGTH)),
        Kind::Command | Kind::Data => with_data(common, length, plain, rules),
    }
}

/// Adds the sections after the header.
fn with_data(
    common: &[u8; HEADER_BYTES],
    length: usize,
    plain: Layout,
    rules: &Rules,
) -> Result<Layout, Fatal> {
    let Rules { digests, capsule_max, data_max, .. } = *rules;
    let flags = common[header::FLAGS];
    if (flags & header::HEADER_DIGEST > 0) != digests.header {
        return Err(Fatal::field(header::FLAGS));
    }
    let layout = Layout { has_header_digest: digests.header, ..plain };
    let headers = plain.header + digests.header_bytes();
    if length == headers && plain.kind == Kind::Command {
        return Ok(layout);
    }
    let offset = usize::from(common[header::DATA_OFFSET]);
    if offset < headers || !offset.is_multiple_of(4) {
        return Err(Fatal::field(header::DATA_OFFSET));
    }
    if (flags & header::DATA_DIGEST > 0) != digests.data {
        return Err(Fatal::field(header::FLAGS));
    }
    let digest = if digests.data { DIGEST_BYTES } else { 0 };
    let data = length.checked_sub(offset + digest).filter(|data| *data > 0);
    let data = data.ok_or(Fatal::field(header::LENGTH))?;
    match plain.kind {
        Kind::Command if data > capsule_max as usize => Err(Fatal::field(header::LENGTH)),
        Kind::Data if data > data_max as usize => Err(Fatal::new(termination::LIMIT_EXCEEDED)),
        _ => {
            let (padding, has_data_digest) = (offset - headers, digests.data);
            Ok(Layout { padding, data, has_data_digest, ..layout })
        }
    }
}

/// Checks the digest of a header.
///
/// # Errors
/// The digest does not match.
pub fn check_header(bytes: &[u8], digest: [u8; DIGEST_BYTES]) -> Result<(), Fatal> {
    let information = u32::from_le_bytes(digest);
    let fatal = Fatal { status: termination::HEADER_DIGEST, information };
    (crc32c::crc32c(bytes) == information).then_some(()).ok_or(fatal)
}

/// Returns whether data have this digest.
pub fn is_intact(bytes: &[u8], digest: [u8; DIGEST_BYTES]) -> bool {
    crc32c::crc32c(bytes) == u32::from_le_bytes(digest)
}

/// A request to initialize a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Initialize {
    /// Alignment of data to the host, in bytes.
    pub alignment: usize,
    /// Digests.
    pub digests: Digests,
    /// Outstanding R2Ts of a command.
    pub outstanding: u32,
}

impl Initialize {
    /// Parses a request.
    ///
    /// # Errors
    /// An invalid field, or another format.
    pub fn parse(bytes: &[u8]) -> Result<Self, Fatal> {
        if u16_at(bytes, connection::VERSION) != 0 {
            let information = connection::VERSION as u32;
            return Err(Fatal { status: termination::UNSUPPORTED, information });
        }
        let alignment = bytes[connection::ALIGNMENT];
        if alignment > connection::ALIGNMENT_MAX {
            return Err(Fatal::field(connection::ALIGNMENT));
        }
        let digests = bytes[connection::DIGESTS];
        let digests = Digests {
            header: digests & connection::HEADER_DIGEST > 0,
            data: digests & connection::DATA_DIGEST > 0,
        };
        let outstanding = u32_at(bytes, connection::LIMIT).saturating_add(1);
        Ok(Self { alignment: (usize::from(alignment) + 1) * 4, digests, outstanding })
    }

    /// Returns the response, which grants the digests.
    pub fn response(&self, data_max: u32) -> Vec<u8> {
        let mut record = common(kind::IC_RESPONSE, 0, connection::BYTES);
        let Digests { header, data } = self.digests;
        let header = if header { connection::HEADER_DIGEST } else { 0 };
        let data = if data { connection::DATA_DIGEST } else { 0 };
        record.u8(connection::DIGESTS, header | data).u32(connection::LIMIT, data_max);
        record.into_bytes()
    }
}

/// The header of an H2CData.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostData {
    /// Command identifier.
    pub command: u16,
    /// Transfer tag.
    pub tag: u16,
    /// Offset within the command's data.
    pub offset: u32,
    /// Whether the PDU is the last one of its R2T.
    pub is_last: bool,
}

impl HostData {
    /// Parses a header. `length` is the length of the data in the PDU.
    ///
    /// # Errors
    /// The header states another length.
    pub fn parse(bytes: &[u8], length: usize) -> Result<Self, Fatal> {
        if u32_at(bytes, data::LENGTH) as usize != length {
            return Err(Fatal::field(data::LENGTH));
        }
        Ok(Self {
            command: u16_at(bytes, data::COMMAND),
            tag: u16_at(bytes, data::TAG),
            offset: u32_at(bytes, data::OFFSET),
            is_last: bytes[header::FLAGS] & header::LAST > 0,
        })
    }
}

/// Returns the command in a capsule.
pub fn command(bytes: &[u8]) -> Command {
    let mut command = [0; 64];
    command.copy_from_slice(&bytes[HEADER_BYTES..command::BYTES]);
    Command(command)
}

/// Returns a PDU of `bytes` that consists of a header.
fn common(kind: u8, flags: u8, bytes: usize) -> Record {
    let mut record = Record::new(bytes);
    record.u8(header::TYPE, kind).u8(header::FLAGS, flags);
    record.u8(header::HEADER_LENGTH, bytes as u8).u32(header::LENGTH, bytes as u32);
    record
}

/// Returns a header with its digest, if headers have them.
fn sealed(mut record: Record, digests: Digests) -> Vec<u8> {
    if !digests.header {
        return record.into_bytes();
    }
    let mut bytes = record.clone().into_bytes();
    let flags = bytes[header::FLAGS] | header::HEADER_DIGEST;
    let length = u32_at(&bytes, header::LENGTH) + DIGEST_BYTES as u32;
    record.u8(header::FLAGS, flags).u32(header::LENGTH, length);
    bytes = record.into_bytes();
    bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
    bytes
}

/// Returns a response capsule.
pub fn response(completion: [u8; COMPLETION_BYTES], digests: Digests) -> Vec<u8> {
    let mut record = common(kind::RESPONSE, 0, response::BYTES);
    record.bytes(HEADER_BYTES, &completion);
    sealed(record, digests)
}

/// A request for data of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadyToTransfer {
    /// Command identifier.
    pub command: u16,
    /// Transfer tag.
    pub tag: u16,
    /// Offset within the command's data.
    pub offset: u32,
    /// Bytes.
    pub length: u32,
}

impl ReadyToTransfer {
    /// Returns the PDU.
    pub fn pdu(&self, digests: Digests) -> Vec<u8> {
        let mut record = common(kind::READY, 0, data::BYTES);
        record.u16(data::COMMAND, self.command).u16(data::TAG, self.tag);
        record.u32(data::OFFSET, self.offset).u32(data::LENGTH, self.length);
        sealed(record, digests)
    }
}

/// Returns a termination request for a PDU with this header.
pub fn termination(fatal: Fatal, header: &[u8]) -> Vec<u8> {
    let mut record = common(kind::TERMINATION, 0, termination::BYTES);
    let header = &header[..header.len().min(TERMINATION_DATA_MAX)];
    record.u32(header::LENGTH, (termination::BYTES + header.len()) as u32);
    record.u16(termination::STATUS, fatal.status).u32(termination::INFORMATION, fatal.information);
    let mut bytes = record.into_bytes();
    bytes.extend(header);
    bytes
}

/// Frame of a C2HData, which has all data of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataFrame {
    digests: Digests,
    /// Offset of the data in the PDU.
    pub offset: usize,
}

impl DataFrame {
    /// A frame for data at multiples of `alignment`.
    pub fn new(digests: Digests, alignment: usize) -> Self {
        let headers = data::BYTES + digests.header_bytes();
        Self { digests, offset: headers.next_multiple_of(alignment) }
    }

    /// Completes a PDU: `pdu` has room for the header, and then the data. `is_success` reports that
    /// the command succeeded and no response follows.
    pub fn close(&self, pdu: &mut Vec<u8>, command: u16, is_success: bool) {
        let length = pdu.len() - self.offset;
        let mut flags = header::LAST;
        flags |= if is_success { header::SUCCESS } else { 0 };
        flags |= if self.digests.header { header::HEADER_DIGEST } else { 0 };
        if self.digests.data {
            flags |= header::DATA_DIGEST;
            pdu.extend(crc32c::crc32c(&pdu[self.offset..]).to_le_bytes());
        }
        let mut record = common(kind::DATA, flags, data::BYTES);
        record.u8(header::DATA_OFFSET, self.offset as u8).u32(header::LENGTH, pdu.len() as u32);
        record.u16(data::COMMAND, command).u32(data::LENGTH, length as u32);
        let record = record.into_bytes();
        pdu[..data::BYTES].copy_from_slice(&record);
        if self.digests.header {
            let digest = crc32c::crc32c(&record).to_le_bytes();
            pdu[data::BYTES..data::BYTES + DIGEST_BYTES].copy_from_slice(&digest);
        }
    }
}
