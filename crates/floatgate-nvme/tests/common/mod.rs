//! Commands as a host builds them: byte offsets and numbers are literals of the specifications, not
//! those of the crate.

#![allow(dead_code)] // Each test file uses a part.
#![allow(clippy::unwrap_used)]

pub mod direct;
pub mod initiator;

use std::sync::Arc;

use floatgate_nvme::drive::{Isolation, Placement, Shape, ZoneShape};
use floatgate_nvme::memory::MemoryDrive;
use floatgate_nvme::spec::command::Command;
use floatgate_nvme::subsystem::{Settings, Subsystem};

pub const NQN: &str = "nqn.2026-10.org.example:drive";
pub const HOST_NQN: &str = "nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555";
pub const DISCOVERY: &str = "nqn.2014-08.org.nvmexpress.discovery";
pub const MIB: u64 = 1 << 20;

/// A command that is being built. Its data pointer is a transport data block of length 0.
#[derive(Clone, Copy)]
pub struct Build(pub [u8; 64]);

impl Build {
    pub fn new(opcode: u8) -> Self {
        let mut bytes = [0; 64];
        (bytes[0], bytes[1], bytes[39]) = (opcode, 0x40, 0x5a);
        Self(bytes)
    }

    pub fn bytes(mut self, at: usize, bytes: &[u8]) -> Self {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    pub fn id(self, id: u16) -> Self {
        self.bytes(2, &id.to_le_bytes())
    }

    pub fn namespace(self, namespace: u32) -> Self {
        self.bytes(4, &namespace.to_le_bytes())
    }

    /// Sets command dword `number`.
    pub fn dword(self, number: usize, value: u32) -> Self {
        self.bytes(number * 4, &value.to_le_bytes())
    }

    /// Sets the length of the data.
    pub fn length(self, length: usize) -> Self {
        self.dword(8, length as u32)
    }

    /// Sets the data pointer to data in the capsule.
    pub fn in_capsule(self, length: usize) -> Self {
        self.bytes(39, &[0x01]).length(length)
    }

    /// Sets the first block.
    pub fn start(self, block: u64) -> Self {
        self.bytes(40, &block.to_le_bytes())
    }

    pub fn command(self) -> Command {
        Command(self.0)
    }
}

/// An I/O command for blocks of the namespace.
pub fn io(opcode: u8, start: u64, blocks: u32) -> Build {
    Build::new(opcode).namespace(1).start(start).dword(12, blocks - 1)
}

pub fn identify(cns: u32, namespace: u32) -> Build {
    Build::new(0x06).namespace(namespace).dword(10, cns).length(4096)
}

pub fn log_page(log: u32, bytes: u32) -> Build {
    let dwords = bytes / 4 - 1;
    let command = Build::new(0x02).namespace(0xffff_ffff).dword(10, log | dwords << 16);
    command.dword(11, dwords >> 16).length(bytes as usize)
}

/// The log page of an endurance group.
pub fn group_log(log: u32, bytes: u32, specific: u32) -> Build {
    let dwords = bytes / 4 - 1;
    let command = Build::new(0x02).dword(10, log | specific << 8 | dwords << 16);
    command.dword(11, 1 << 16).length(bytes as usize)
}

pub fn get_feature(feature: u32, dword: u32) -> Build {
    Build::new(0x0a).dword(10, feature).dword(11, dword)
}

pub fn set_feature(feature: u32, dword: u32) -> Build {
    Build::new(0x09).dword(10, feature).dword(11, dword)
}

/// The Connect command of a queue, with its data.
pub fn connect(queue: u16, controller: u16, subsystem: &str) -> (Build, Vec<u8>) {
    let mut data = vec![0; 1024];
    data[..16].copy_from_slice(&[7; 16]);
    data[16..18].copy_from_slice(&controller.to_le_bytes());
    data[256..256 + subsystem.len()].copy_from_slice(subsystem.as_bytes());
    data[512..512 + HOST_NQN.len()].copy_from_slice(HOST_NQN.as_bytes());
    let command = Build::new(0x7f).bytes(4, &[1]).in_capsule(1024);
    let size: u16 = if queue == 0 { 31 } else { 127 };
    (command.bytes(42, &queue.to_le_bytes()).bytes(44, &size.to_le_bytes()), data)
}

/// Property Set, of 4 bytes.
pub fn set_property(at: u32, value: u32) -> Build {
    Build::new(0x7f).bytes(4, &[0]).dword(11, at).dword(12, value)
}

/// Property Get, of 4 bytes, or of 8.
pub fn get_property(at: u32, is_long: bool) -> Build {
    Build::new(0x7f).bytes(4, &[4]).bytes(40, &[is_long.into()]).dword(11, at)
}

/// The configuration with which Linux enables a controller of all command sets.
pub const ENABLED: u32 = 4 << 20 | 6 << 16 | 6 << 4 | 1;

pub fn le16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub fn le32(bytes: &[u8], at: usize) -> u32 {
    u32::from(le16(bytes, at)) | u32::from(le16(bytes, at + 2)) << 16
}

pub fn le64(bytes: &[u8], at: usize) -> u64 {
    u64::from(le32(bytes, at)) | u64::from(le32(bytes, at + 4)) << 32
}

/// The end of a command, as its host sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Done {
    /// Type and code of the status: 0x0102 is type 1, code 2.
    pub status: u16,
    /// Whether a retry is useless.
    pub is_final: bool,
    pub result: u64,
    pub data: Vec<u8>,
}

impl Done {
    /// Splits a status field.
    pub fn new(field: u16, result: u64, data: Vec<u8>) -> Self {
        Self { status: field >> 1 & 0x7ff, is_final: field >> 15 == 1, result, data }
    }

    /// Returns the data of a successful command.
    #[track_caller]
    pub fn ok(self) -> Vec<u8> {
        assert_eq!(self.status, 0, "the command failed: {:#x}", self.status);
        self.data
    }
}

pub fn settings() -> Settings {
    Settings {
        nqn: NQN.into(),
        serial: "FG0001".into(),
        model: "Floatgate test drive".into(),
        firmware: "0.1".into(),
        uuid: *b"0123456789abcdef",
        block_bytes: 4096,
        queues_max: 8,
    }
}

pub const PLAIN: Shape =
    Shape { bytes: 16 * MIB, page_bytes: 4096, has_cache: true, placement: None, zones: None };

/// A drive with four handles, and units of 64 KiB.
pub const PLACED: Shape = Shape {
    placement: Some(Placement {
        handles: 4,
        unit_bytes: 64 << 10,
        isolation: Isolation::Initially,
    }),
    ..PLAIN
};

/// A drive with 16 zones of 1 MiB, of which 768 KiB can be written, 3 active and 2 open.
pub const ZONED: Shape = Shape {
    zones: Some(ZoneShape {
        bytes: MIB,
        capacity: 768 << 10,
        open_max: Some(2),
        active_max: Some(3),
    }),
    ..PLAIN
};

/// A subsystem over a drive in memory.
pub fn subsystem(shape: Shape) -> (Arc<MemoryDrive>, Arc<Subsystem>) {
    let drive = Arc::new(MemoryDrive::new(shape));
    let subsystem = Subsystem::new(settings(), Arc::clone(&drive) as _).unwrap();
    (drive, subsystem)
}
