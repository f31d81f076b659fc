//! I/O commands of the NVM command set (NVM Command Set 1.0, 3.2).

use crate::drive::{DriveError, WriteOptions};
use crate::spec::bytes::{u32_at, u64_at};
use crate::spec::command::{ALL_NAMESPACES, Command};
use crate::spec::opcodes::io;
use crate::spec::placement::{directive, management};
use crate::spec::status::Status;

use super::TRANSFER_MAX;
use super::admin::dwords;
use super::controller::Controller;
use super::namespace::Format;
use super::placement_events::Occurrence;
use super::reply::{Answer, Stop, Transfer};

/// I/O commands of every namespace.
const COMMANDS: [u8; 7] = [
    io::FLUSH,
    io::WRITE,
    io::READ,
    io::COMPARE,
    io::WRITE_ZEROES,
    io::DATASET_MANAGEMENT,
    io::VERIFY,
];

/// I/O commands of flexible data placement.
const OF_PLACEMENT: [u8; 2] = [io::MANAGEMENT_RECEIVE, io::MANAGEMENT_SEND];

/// I/O commands of zoned namespaces.
const OF_ZONES: [u8; 3] = [io::ZONE_MANAGEMENT_SEND, io::ZONE_MANAGEMENT_RECEIVE, io::ZONE_APPEND];

/// Bytes of a range of Dataset Management.
const RANGE_BYTES: usize = 16;

/// Bytes that Verify reads at a time.
const VERIFY_BYTES: u64 = 256 << 10;

/// Force unit access: bit 30 of dword 12.
fn is_forced(command: &Command) -> bool {
    command.dword(12) >> 30 & 1 == 1
}

/// Returns the number of blocks, which is 0-based in bits 15:0 of dword 12.
fn blocks(command: &Command) -> u64 {
    u64::from(command.dword(12) & 0xffff) + 1
}

impl Controller {
    /// Returns whether the controller has an I/O command.
    pub(super) fn has_io_command(&self, opcode: u8) -> bool {
        let shape = self.subsystem.shape;
        COMMANDS.contains(&opcode)
            || shape.placement.is_some() && OF_PLACEMENT.contains(&opcode)
            || shape.zones.is_some() && OF_ZONES.contains(&opcode)
    }

    /// Returns direction and length of an I/O command's data.
    pub(super) fn io_transfer(&self, command: &Command) -> Result<Transfer, Status> {
        if !self.has_io_command(command.opcode()) {
            return Err(Status::INVALID_OPCODE);
        }
        let flushes_all = command.opcode() == io::FLUSH && command.namespace() == ALL_NAMESPACES;
        if !flushes_all {
            self.in_namespace(command)?;
        }
        if self.subsystem.zones.is_some() && !self.has_all_sets() {
            return Err(Status::COMMAND_SET_NOT_ENABLED);
        }
        let data = || {
            let bytes = blocks(command) << self.subsystem.namespace.format().shift();
            let bytes = u32::try_from(bytes).ok().filter(|bytes| *bytes <= TRANSFER_MAX);
            bytes.ok_or(Status::INVALID_FIELD)
        };
        Ok(match command.opcode() {
            io::READ => Transfer::ToHost(data()?),
            io::WRITE | io::COMPARE | io::ZONE_APPEND => Transfer::FromHost(data()?),
            io::DATASET_MANAGEMENT => {
                let ranges = (command.dword(10) & 0xff) + 1;
                Transfer::FromHost(ranges * RANGE_BYTES as u32)
            }
            io::MANAGEMENT_RECEIVE => Transfer::ToHost(dwords(command.dword(11))?),
            io::MANAGEMENT_SEND if command.dword(10) as u8 == management::HANDLES => {
                Transfer::FromHost(((command.dword(10) >> 16) + 1) * 2)
            }
            io::ZONE_MANAGEMENT_RECEIVE => Transfer::ToHost(dwords(command.dword(12))?),
            _ => Transfer::None,
        })
    }

    pub(super) fn io(&self, command: &Command, data: &mut [u8]) -> Answer {
        let format = self.subsystem.namespace.share()?;
        // The block size may have changed since the data were transferred.
        let (Transfer::FromHost(length) | Transfer::ToHost(length)) = self.io_transfer(command)?
        else {
            return self.io_without_data(*format, command);
        };
        if length as usize != data.len() {
            return Err(Status::FORMAT_IN_PROGRESS.into());
        }
        match command.opcode() {
            io::READ => self.read(*format, command, data),
            io::WRITE => self.write(*format, command, data),
            io::COMPARE => self.compare(*format, command, data),
            io::DATASET_MANAGEMENT => self.deallocate(*format, command, data),
            io::MANAGEMENT_RECEIVE => self.management_receive(*format, command, data),
            io::MANAGEMENT_SEND => self.management_send(command, data),
            io::ZONE_MANAGEMENT_RECEIVE => self.zone_receive(*format, command, data),
            io::ZONE_APPEND => self.zone_append(*format, command, data),
            _ => Err(Status::INVALID_OPCODE.into()),
        }
    }

    fn io_without_data(&self, format: Format, command: &Command) -> Answer {
        match command.opcode() {
            io::FLUSH => self.session.flush()?,
            io::WRITE_ZEROES => return self.write_zeroes(format, command),
            io::VERIFY => return self.verify(format, command),
            io::MANAGEMENT_SEND => return self.management_send(command, &[]),
            io::ZONE_MANAGEMENT_SEND => return self.zone_send(format, command),
            _ => return Err(Status::INVALID_OPCODE.into()),
        }
        Ok(0)
    }

    /// Returns the range of bytes that a command names.
    fn range(&self, format: Format, command: &Command) -> Result<(u64, u64), Status> {
        format.range(command.start(), blocks(command))
    }

    fn read(&self, format: Format, command: &Command, data: &mut [u8]) -> Answer {
        let (offset, _) = self.range(format, command)?;
        self.session.read(offset, data)?;
        Ok(0)
    }

    fn write(&self, format: Format, command: &Command, data: &[u8]) -> Answer {
        let (offset, length) = self.range(format, command)?;
        let options = self.write_options(command)?;
        self.in_zone(offset, length, || self.session.write(offset, data, options))?;
        Ok(0)
    }

    /// Writes to the zone of these bytes, if the namespace has zones.
    fn in_zone(
        &self,
        offset: u64,
        length: u64,
        write: impl FnOnce() -> Result<(), DriveError>,
    ) -> Result<(), Stop> {
        let Some(zones) = &self.subsystem.zones else { return Ok(write()?) };
        let begun = zones.write(self.zones_epoch, offset, length);
        begun.map_err(|stop| self.zone_refusal(stop))?.end(write())
    }

    /// Returns the options of a write. An unknown placement identifier is logged as an event, and
    /// the data go to handle 0.
    pub(super) fn write_options(&self, command: &Command) -> Result<WriteOptions, Status> {
        let durable = is_forced(command) || self.subsystem.writes_through();
        let kind = (command.dword(12) >> 20 & 0xf) as u8;
        let identifier = (command.dword(13) >> 16) as u16;
        let handle = match (kind, self.subsystem.shape.placement) {
            (0, _) => 0,
            (directive::PLACEMENT, Some(placement)) if identifier < placement.handles => identifier,
            (directive::PLACEMENT, Some(_)) => {
                self.subsystem.add_placement_event(Occurrence::InvalidIdentifier { identifier });
                0
            }
            _ => return Err(Status::INVALID_FIELD),
        };
        Ok(WriteOptions { handle, durable })
    }

    /// Compare: reads blocks, and compares them with data of the host.
    fn compare(&self, format: Format, command: &Command, data: &[u8]) -> Answer {
        let (offset, _) = self.range(format, command)?;
        let mut stored = vec![0; data.len()];
        self.session.read(offset, &mut stored)?;
        if stored == data { Ok(0) } else { Err(Status::COMPARE_FAILURE.into()) }
    }

    fn write_zeroes(&self, format: Format, command: &Command) -> Answer {
        let (offset, length) = self.range(format, command)?;
        let options = self.write_options(command)?;
        // Bit 25: the host asks for deallocation.
        let may_deallocate = command.dword(12) >> 25 & 1 == 1;
        let zero = || self.session.zero(offset, length, may_deallocate, options);
        self.in_zone(offset, length, zero)?;
        Ok(0)
    }

    /// Verify: reads blocks, and returns no data.
    fn verify(&self, format: Format, command: &Command) -> Answer {
        let (offset, length) = self.range(format, command)?;
        let mut buffer = vec![0; length.min(VERIFY_BYTES) as usize];
        for at in (0..length).step_by(VERIFY_BYTES as usize) {
            let size = (length - at).min(VERIFY_BYTES) as usize;
            self.session.read(offset + at, &mut buffer[..size])?;
        }
        Ok(0)
    }

    /// Dataset Management: deallocates ranges. Its other attributes are hints without effect.
    fn deallocate(&self, format: Format, command: &Command, data: &[u8]) -> Answer {
        if command.dword(11) >> 2 & 1 == 0 {
            return Ok(0);
        }
        let of = |range: &[u8]| format.range(u64_at(range, 8), u32_at(range, 4).into());
        let ranges = data.chunks_exact(RANGE_BYTES).map(of).collect::<Result<Vec<_>, _>>()?;
        for (offset, length) in ranges.into_iter().filter(|(_, length)| *length > 0) {
            self.session.deallocate(offset, length)?;
        }
        if self.subsystem.writes_through() {
            self.session.flush().map_err(Stop::from)?;
        }
        Ok(0)
    }
}
