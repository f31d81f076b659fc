//! Submission and completion queue entries (Base 2.0, 3.3.3) and their SGL descriptor (4.1.2).

use super::bytes::{Record, u16_at, u32_at, u64_at};
use super::status::Status;

/// Bytes of a submission queue entry.
pub const COMMAND_BYTES: usize = 64;

/// Bytes of a completion queue entry.
pub const COMPLETION_BYTES: usize = 16;

/// Namespace identifier that stands for all namespaces (Base 2.0, 3.2.1.2).
pub const ALL_NAMESPACES: u32 = 0xffff_ffff;

/// A command: one submission queue entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Command(pub [u8; COMMAND_BYTES]);

impl Command {
    /// Returns the opcode.
    pub const fn opcode(&self) -> u8 {
        self.0[0]
    }

    /// Returns whether the command belongs to a fused operation (FUSE).
    pub const fn is_fused(&self) -> bool {
        self.0[1] & 3 != 0
    }

    /// Returns whether the data pointer is an SGL (PSDT), as Fabrics require.
    pub const fn has_sgl(&self) -> bool {
        self.0[1] >> 6 == 1
    }

    /// Returns the command identifier.
    pub fn id(&self) -> u16 {
        u16_at(&self.0, 2)
    }

    /// Returns the namespace identifier.
    pub fn namespace(&self) -> u32 {
        u32_at(&self.0, 4)
    }

    /// Returns the type of a Fabrics command. Other commands have their namespace identifier there.
    pub const fn fabrics_type(&self) -> u8 {
        self.0[4]
    }

    /// Returns command dword `number`, from 0 to 15.
    pub fn dword(&self, number: usize) -> u32 {
        u32_at(&self.0, number * 4)
    }

    /// Returns the first two of the command dwords as one number: the starting LBA of most I/O
    /// commands.
    pub fn start(&self) -> u64 {
        u64_at(&self.0, 40)
    }

    /// Returns the data pointer.
    pub fn data(&self) -> Sgl {
        let (address, length) = (u64_at(&self.0, 24), u32_at(&self.0, 32));
        match self.0[39] {
            Sgl::OFFSET => Sgl::InCapsule { offset: address, length },
            Sgl::TRANSPORT => Sgl::Transport { length },
            other => Sgl::Other(other),
        }
    }
}

/// An SGL descriptor (Base 2.0, 4.1.2): where the data of a command are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sgl {
    /// Data block, subtype offset: within the capsule.
    InCapsule {
        /// Byte within the data of the capsule.
        offset: u64,
        /// Bytes.
        length: u32,
    },
    /// Transport data block: the transport transfers the data.
    Transport {
        /// Bytes.
        length: u32,
    },
    /// Another descriptor, which NVMe/TCP does not have: its type and subtype.
    Other(u8),
}

impl Sgl {
    /// Type 0h (data block), subtype 1h (offset).
    pub const OFFSET: u8 = 0x01;
    /// Type 5h (transport data block), subtype Ah (transport specific).
    pub const TRANSPORT: u8 = 0x5a;
}

/// A completion: one completion queue entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// Command-specific result: dwords 0 and 1.
    pub result: u64,
    /// Submission queue head pointer.
    pub head: u16,
    /// Command identifier.
    pub id: u16,
    /// Status.
    pub status: Status,
}

impl Completion {
    /// Returns the entry. Over Fabrics the queue identifier and the phase tag are reserved.
    pub fn to_bytes(self) -> [u8; COMPLETION_BYTES] {
        let mut record = Record::new(COMPLETION_BYTES);
        record.u64(0, self.result).u16(8, self.head).u16(12, self.id);
        record.u16(14, self.status.field());
        let mut bytes = [0; COMPLETION_BYTES];
        bytes.copy_from_slice(&record.into_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_command_are_where_the_specification_has_them() {
        let mut bytes = [0; 64];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = at as u8;
        }
        bytes[1] = 0x41;
        bytes[39] = 0x5a;
        let command = Command(bytes);
        assert_eq!((command.opcode(), command.id()), (0, 0x0302));
        assert!(command.is_fused() && command.has_sgl());
        assert_eq!((command.namespace(), command.fabrics_type()), (0x0706_0504, 4));
        assert_eq!((command.dword(10), command.dword(15)), (0x2b2a_2928, 0x3f3e_3d3c));
        assert_eq!(command.start(), 0x2f2e_2d2c_2b2a_2928);
        assert_eq!(command.data(), Sgl::Transport { length: 0x2322_2120 });
        bytes[39] = 0x01;
        let expected = Sgl::InCapsule { offset: 0x1f1e_1d1c_1b1a_1918, length: 0x2322_2120 };
        assert_eq!(Command(bytes).data(), expected);
        bytes[39] = 0x40;
        assert_eq!(Command(bytes).data(), Sgl::Other(0x40));
    }

    #[test]
    fn fields_of_a_completion_are_where_the_specification_has_them() {
        let status = Status::INVALID_FIELD;
        let completion = Completion { result: 0x0102_0304_0506_0708, head: 9, id: 10, status };
        let expected = [8, 7, 6, 5, 4, 3, 2, 1, 9, 0, 0, 0, 10, 0, 0x04, 0x80];
        assert_eq!(completion.to_bytes(), expected);
    }
}
