//! Commands of a host, without a transport: the controller completes all of them, and reads return
//! what was written.

use std::sync::Arc;

use floatgate_nvme::memory::MemoryDrive;
use floatgate_nvme::spec::command::Command;
use floatgate_nvme::spec::status::Status;
use floatgate_nvme::subsystem::{Controller, Outcome, Transfer};

use crate::bytes::Bytes;
use crate::nvme_pdu::{Ignoring, controller, shape, subsystem};

/// Opcodes by queue. Random bytes rarely hit one.
const ADMIN: [u8; 12] = [0x02, 0x06, 0x08, 0x09, 0x0a, 0x0c, 0x18, 0x19, 0x1a, 0x7f, 0x80, 0xc1];
const IO: [u8; 14] =
    [0x00, 0x01, 0x01, 0x02, 0x02, 0x05, 0x08, 0x09, 0x0c, 0x12, 0x1d, 0x79, 0x7a, 0x7d];

/// A controller, and the bytes that its namespace must have.
struct Case {
    drive: Arc<MemoryDrive>,
    controller: Arc<Controller>,
    model: Vec<u8>,
    /// Block size as a power of two.
    shift: u32,
    zone_bytes: Option<u64>,
    is_read_only: bool,
}

/// Returns a command for a queue: most fields are small.
fn command(bytes: &mut Bytes<'_>, queue: u16) -> Command {
    let mut command = [0; 64];
    let opcodes = if queue == 0 { &ADMIN[..] } else { &IO[..] };
    command[0] = bytes.pick(opcodes).copied().unwrap_or_default();
    command[1] = 0x40;
    let kind = bytes.byte();
    command[4] = if kind & 0xf == 0 { kind >> 4 } else { 1 };
    if command[0] == 0x7f {
        command[4] = kind & 7;
    }
    // Dwords 10 to 15, of which each may be absent, a byte, or four.
    let which = bytes.short();
    for dword in 0..6 {
        let at = 40 + 4 * dword;
        match which >> (2 * dword) & 3 {
            0 => {}
            1 => command[at] = bytes.byte(),
            2 => command[at + 1] = bytes.byte(),
            _ => command[at..at + 4].fill_with(|| bytes.byte()),
        }
    }
    Command(command)
}

impl Case {
    /// Executes a command, and returns its result if it is successful.
    fn execute(&self, queue: u16, command: &Command, data: &mut [u8]) -> Option<u64> {
        match self.controller.execute(queue, command, data) {
            Outcome::Done(reply) if reply.status.is_success() => Some(reply.result),
            Outcome::Done(_) => None,
            Outcome::Later => {
                assert_eq!((queue, command.opcode()), (0, 0x0c));
                None
            }
            Outcome::PowerOff => panic!("the power is on"),
        }
    }

    /// Returns the bytes of a range of blocks, of which all must exist.
    fn range(&mut self, start: u64, blocks: u64) -> &mut [u8] {
        let (start, end) = (start << self.shift, (start + blocks) << self.shift);
        &mut self.model[start as usize..end as usize]
    }

    /// Repeats a successful I/O command on the model.
    fn follow(&mut self, command: &Command, data: &[u8], result: u64) {
        let (start, blocks) = (command.start(), u64::from(command.dword(12) & 0xffff) + 1);
        match command.opcode() {
            0x01 => self.range(start, blocks).copy_from_slice(data),
            0x02 | 0x05 => assert_eq!(self.range(start, blocks), data),
            0x08 => self.range(start, blocks).fill(0),
            0x09 if command.dword(11) & 4 > 0 => {
                for range in data.chunks_exact(16) {
                    let number = |at: usize| {
                        u64::from_le_bytes(std::array::from_fn(|byte| range[at + byte]))
                    };
                    self.range(number(8), number(0) >> 32).fill(0);
                }
            }
            0x79 if command.dword(13) & 0xff == 4 => {
                let zone = self.zone_bytes.unwrap_or_default() as usize;
                let at = (start << self.shift) as usize;
                let all = command.dword(13) >> 8 & 1 == 1;
                let range = if all { 0..self.model.len() } else { at..at + zone };
                // A reset of all zones leaves read-only zones out (ZNS 1.1, Reset Zone).
                if !self.is_read_only {
                    self.model[range].fill(0);
                }
            }
            0x7d => self.range(result, blocks).copy_from_slice(data),
            _ => {}
        }
    }

    fn step(&mut self, bytes: &mut Bytes<'_>) {
        let choice = bytes.byte();
        let queue = u16::from(choice & 3 > 0);
        let command = command(bytes, queue);
        let mut data = match self.controller.transfer(queue, &command) {
            Ok(Transfer::None) => vec![],
            Ok(Transfer::FromHost(length)) => {
                let mut data = vec![bytes.byte(); length as usize];
                // Ranges and lists need numbers.
                data.iter_mut().take(32).step_by(4).for_each(|byte| *byte = bytes.byte() & 0x3f);
                data
            }
            Ok(Transfer::ToHost(length)) => vec![0; length as usize],
            Err(status) => {
                assert_ne!(status, Status::SUCCESS);
                self.controller.fail(queue, &command, status);
                return;
            }
        };
        let Some(result) = self.execute(queue, &command, &mut data) else { return };
        match (queue, command.opcode()) {
            (0, 0x80) => {
                self.model.fill(0);
                self.shift = if command.dword(10) & 0xf == 0 { 9 } else { 12 };
            }
            (1, _) => self.follow(&command, &data, result),
            _ => {}
        }
        if choice >> 2 == 0 {
            self.is_read_only = choice & 1 == 0;
            self.drive.set_read_only(self.is_read_only);
        }
    }
}

/// Executes commands on a controller. The first byte chooses the drive.
pub fn run(input: &[u8]) {
    let mut bytes = Bytes(input);
    let kind = bytes.byte();
    let (drive, subsystem) = subsystem(kind);
    let link = Arc::new(Ignoring);
    let controller = controller(&subsystem, &link);
    let shape = shape(kind);
    let mut case = Case {
        drive,
        controller,
        model: vec![0; shape.bytes as usize],
        shift: 12,
        zone_bytes: shape.zones.map(|zones| zones.bytes),
        is_read_only: false,
    };
    while !bytes.is_empty() {
        case.step(&mut bytes);
        subsystem.look();
    }
}
