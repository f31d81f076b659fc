//! Commands of zoned namespaces (ZNS Command Set 1.1, 3.4).

use crate::spec::bytes::Record;
use crate::spec::command::Command;
use crate::spec::status::Status;
use crate::spec::zoned::state::{
    CLOSED, EMPTY, EXPLICITLY_OPEN, FULL, IMPLICITLY_OPEN, OFFLINE, READ_ONLY,
};
use crate::spec::zoned::{report, send};

use super::controller::Controller;
use super::namespace::Format;
use super::reply::{Answer, Stop};
use super::zone_state::{State, Zone};
use super::zones::Zones;

/// Actions of Zone Management Send.
const ACTIONS: [u8; 5] = [send::CLOSE, send::FINISH, send::OPEN, send::RESET, send::OFFLINE];

impl Controller {
    fn zones(&self) -> Result<&Zones, Status> {
        self.subsystem.zones.as_ref().ok_or(Status::INVALID_OPCODE)
    }

    /// Returns whether all zones are read-only, because the drive is. They have the states of
    /// their writable times again when the drive takes writes again.
    fn has_read_only_zones(&self) -> bool {
        self.subsystem.drive.health().is_read_only
    }

    /// Returns why a write to a zone does not begin. A read-only zone is neither full nor open.
    pub(super) fn zone_refusal(&self, stop: Stop) -> Stop {
        match stop {
            Stop::Failed(_) if self.has_read_only_zones() => Status::ZONE_READ_ONLY.into(),
            stop => stop,
        }
    }

    /// Zone Append (3.4.1): writes at the write pointer. Returns the first LBA.
    pub(super) fn zone_append(&self, format: Format, command: &Command, data: &[u8]) -> Answer {
        let zones = self.zones()?;
        let (offset, _) = format.range(command.start(), 1)?;
        let zone = zones.starting_at(offset)?;
        let options = self.write_options(command)?;
        let begun = zones.append(self.zones_epoch, zone, data.len() as u64);
        let (writing, offset) = begun.map_err(|stop| self.zone_refusal(stop))?;
        writing.end(self.session.write(offset, data, options))?;
        Ok(offset >> format.shift())
    }

    /// Zone Management Send (3.4.3). A reset and a finish are durable.
    pub(super) fn zone_send(&self, format: Format, command: &Command) -> Answer {
        let zones = self.zones()?;
        let (action, dword) = (command.dword(13) as u8, command.dword(13));
        if dword & send::ALL > 0 {
            self.send_to_all(zones, action)?;
        } else {
            let (offset, _) = format.range(command.start(), 1)?;
            let zone = zones.starting_at(offset)?;
            if self.has_read_only_zones() && ACTIONS.contains(&action) {
                return Err(Status::ZONE_TRANSITION.into());
            }
            self.send_to(zones, zone, action)?;
        }
        if [send::FINISH, send::RESET].contains(&action) {
            self.session.flush()?;
        }
        Ok(0)
    }

    fn send_to(&self, zones: &Zones, zone: usize, action: u8) -> Result<(), Stop> {
        let epoch = self.zones_epoch;
        match action {
            send::CLOSE => zones.close(epoch, zone),
            send::FINISH => zones.finish(epoch, zone, |zone| self.session.finish_zone(zone)),
            send::OPEN => zones.open(epoch, zone),
            send::RESET => zones.reset(epoch, zone, |zone| self.session.reset_zone(zone)),
            // Only a read-only zone can go offline, and a read-only drive can recover.
            send::OFFLINE => Err(Status::ZONE_TRANSITION.into()),
            _ => Err(Status::INVALID_FIELD.into()),
        }
    }

    /// Sends an action to all zones in the states that it is for.
    fn send_to_all(&self, zones: &Zones, action: u8) -> Result<(), Stop> {
        let is_for: fn(State) -> bool = match action {
            _ if !ACTIONS.contains(&action) => return Err(Status::INVALID_FIELD.into()),
            // No action is for read-only zones.
            _ if self.has_read_only_zones() => return Ok(()),
            send::OPEN => return zones.open_all(self.zones_epoch),
            send::CLOSE => State::is_open,
            send::FINISH => State::is_active,
            send::RESET => |state| state != State::Empty,
            _ => |_| false,
        };
        let all = (0..).zip(zones.all());
        let mut chosen = all.filter(|(_, zone)| is_for(zone.state));
        chosen.try_for_each(|(zone, _)| self.send_to(zones, zone, action))
    }

    /// Zone Management Receive (3.4.2): the report of zones.
    pub(super) fn zone_receive(
        &self,
        format: Format,
        command: &Command,
        data: &mut [u8],
    ) -> Answer {
        let zones = self.zones()?;
        let (action, option) = (command.dword(13) as u8, (command.dword(13) >> 8) as u8);
        let (offset, _) = format.range(command.start(), 1)?;
        let reported = reported(option)?;
        if action != report::REPORT {
            return Err(Status::INVALID_FIELD.into());
        }
        let first = (offset / zones.shape.bytes) as usize;
        let is_read_only = self.has_read_only_zones();
        let state_of = |zone: Zone| if is_read_only { READ_ONLY } else { zone.state.number() };
        let all = zones.all().into_iter().enumerate().skip(first);
        let chosen = all.filter(|(_, zone)| reported.is_none_or(|of| of == state_of(*zone)));
        let chosen: Vec<_> = chosen.collect();
        let room = data.len().saturating_sub(report::HEADER_BYTES) / report::BYTES;
        let is_partial = command.dword(13) & report::PARTIAL > 0;
        let count = if is_partial { chosen.len().min(room) } else { chosen.len() };
        let mut page = Record::new(report::HEADER_BYTES);
        page.u64(0, count as u64);
        for (number, zone) in chosen.into_iter().take(room) {
            page.append(&descriptor(zones, format, (number, zone), state_of(zone)));
        }
        let page = page.into_bytes();
        let length = page.len().min(data.len());
        data[..length].copy_from_slice(&page[..length]);
        Ok(0)
    }
}

/// Returns the state that a reporting option selects; none for all states.
fn reported(option: u8) -> Result<Option<u8>, Status> {
    Ok(Some(match option {
        0 => return Ok(None),
        1 => EMPTY,
        2 => IMPLICITLY_OPEN,
        3 => EXPLICITLY_OPEN,
        4 => CLOSED,
        5 => FULL,
        6 => READ_ONLY,
        7 => OFFLINE,
        _ => return Err(Status::INVALID_FIELD),
    }))
}

fn descriptor(zones: &Zones, format: Format, (number, zone): (usize, Zone), state: u8) -> Record {
    let shift = format.shift();
    let start = number as u64 * zones.shape.bytes;
    // The write pointer of a full zone is not valid.
    let written = if zone.state == State::Full { zones.shape.capacity } else { zone.written };
    let mut record = Record::new(report::BYTES);
    record.u8(report::TYPE, report::SEQUENTIAL).u8(report::STATE, state << 4);
    record.u64(report::CAPACITY, zones.shape.capacity >> shift);
    record.u64(report::START, start >> shift).u64(report::POINTER, (start + written) >> shift);
    record
}
