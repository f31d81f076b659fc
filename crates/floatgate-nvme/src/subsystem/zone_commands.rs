//! Commands of zoned namespaces (ZNS Command Set 1.1, 3.4).

use crate::spec::bytes::Record;
use crate::spec::command::Command;
use crate::spec::status::Status;
use crate::spec::zoned::{report, send};

use super::controller::Controller;
use super::namespace::Format;
use super::reply::{Answer, Stop};
use super::zones::{State, Zone, Zones};

impl Controller {
    fn zones(&self) -> Result<&Zones, Status> {
        self.subsystem.zones.as_ref().ok_or(Status::INVALID_OPCODE)
    }

    /// Zone Append (3.4.1): writes at the write pointer. Returns the first LBA.
    pub(super) fn zone_append(&self, format: Format, command: &Command, data: &[u8]) -> Answer {
        let zones = self.zones()?;
        let (offset, _) = format.range(command.start(), 1)?;
        let zone = zones.starting_at(offset)?;
        let options = self.write_options(command)?;
        let offset = zones.append(zone, data.len() as u64)?;
        self.session.write(offset, data, options)?;
        Ok(offset >> format.shift())
    }

    /// Zone Management Send (3.4.3).
    pub(super) fn zone_send(&self, format: Format, command: &Command) -> Answer {
        let zones = self.zones()?;
        let (action, dword) = (command.dword(13) as u8, command.dword(13));
        if dword & send::ALL > 0 {
            return self.send_to_all(zones, action);
        }
        let (offset, _) = format.range(command.start(), 1)?;
        self.send_to(zones, zones.starting_at(offset)?, action)?;
        Ok(0)
    }

    fn send_to(&self, zones: &Zones, zone: u64, action: u8) -> Result<(), Stop> {
        match action {
            send::CLOSE => Ok(zones.close(zone)?),
            send::FINISH => zones.finish(zone, |zone| self.session.finish_zone(zone)),
            send::OPEN => Ok(zones.open(zone)?),
            send::RESET => zones.reset(zone, |zone| self.session.reset_zone(zone)),
            // Only a read-only zone can go offline, and there is none.
            send::OFFLINE => Err(Status::ZONE_TRANSITION.into()),
            _ => Err(Status::INVALID_FIELD.into()),
        }
    }

    /// Sends an action to all zones in the states that it is for.
    fn send_to_all(&self, zones: &Zones, action: u8) -> Answer {
        let is_for: fn(State) -> bool = match action {
            send::CLOSE => |state| matches!(state, State::Implicit | State::Explicit),
            send::FINISH => |state| !matches!(state, State::Empty | State::Full),
            send::OPEN => |state| state == State::Closed,
            send::RESET => |state| state != State::Empty,
            send::OFFLINE => |_| false,
            _ => return Err(Status::INVALID_FIELD.into()),
        };
        let all = zones.all();
        let chosen = (0..).zip(all).filter(|(_, zone)| is_for(zone.state));
        for (zone, _) in chosen {
            self.send_to(zones, zone, action)?;
        }
        Ok(0)
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
        let first = offset / zones.shape.bytes;
        let all = (0..).zip(zones.all()).skip(first as usize);
        let chosen: Vec<_> = all.filter(|(_, zone)| reported(zone.state)).collect();
        let room = data.len().saturating_sub(report::HEADER_BYTES) / report::BYTES;
        let is_partial = command.dword(13) & report::PARTIAL > 0;
        let count = if is_partial { chosen.len().min(room) } else { chosen.len() };
        let mut page = Record::new(report::HEADER_BYTES);
        page.u64(0, count as u64);
        for (number, zone) in chosen.into_iter().take(room) {
            page.append(&descriptor(zones, format, number, zone));
        }
        let page = page.into_bytes();
        let length = page.len().min(data.len());
        data[..length].copy_from_slice(&page[..length]);
        Ok(0)
    }
}

/// Returns which states a reporting option selects.
fn reported(option: u8) -> Result<fn(State) -> bool, Status> {
    Ok(match option {
        0 => |_| true,
        1 => |state| state == State::Empty,
        2 => |state| state == State::Implicit,
        3 => |state| state == State::Explicit,
        4 => |state| state == State::Closed,
        5 => |state| state == State::Full,
        // Read-only and offline zones: there are none.
        6 | 7 => |_| false,
        _ => return Err(Status::INVALID_FIELD),
    })
}

fn descriptor(zones: &Zones, format: Format, number: u64, zone: Zone) -> Record {
    let shift = format.shift();
    let start = number * zones.shape.bytes;
    // The write pointer of a full zone is not valid.
    let written = if zone.state == State::Full { zones.shape.capacity } else { zone.written };
    let mut record = Record::new(report::BYTES);
    record.u8(report::TYPE, report::SEQUENTIAL).u8(report::STATE, zone.state.number() << 4);
    record.u64(report::CAPACITY, zones.shape.capacity >> shift);
    record.u64(report::START, start >> shift).u64(report::POINTER, (start + written) >> shift);
    record
}
