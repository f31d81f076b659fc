//! Events of flexible data placement (Base 2.1, 5.1.12.1.31).

use std::collections::VecDeque;

use crate::spec::bytes::Record;
use crate::spec::placement::event;
use crate::spec::status::Status;

use super::NAMESPACE;

/// Event types that a host can enable, for each handle. Units have no time limit, so
/// [`event::TIME_LIMIT`] never occurs.
pub(super) const TYPES: [u8; 6] = [
    event::NOT_FILLED,
    event::TIME_LIMIT,
    event::RESET,
    event::INVALID_IDENTIFIER,
    event::REALLOCATED,
    event::MODIFIED,
];

/// An event that occurs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Occurrence {
    /// A unit was not fully written when the host asked for the next one.
    NotFilled { handle: u16 },
    /// Handles lost their units in a reset.
    Reset,
    /// A write had this placement identifier; the data went to handle 0.
    InvalidIdentifier { identifier: u16 },
    /// The controller moved data of a handle: the first block, and their number.
    Reallocated { handle: u16, start: u64, blocks: u64 },
    /// The controller gave a handle another unit.
    Modified { handle: u16 },
}

impl Occurrence {
    fn kind(self) -> u8 {
        match self {
            Self::NotFilled { .. } => event::NOT_FILLED,
            Self::Reset => event::RESET,
            Self::InvalidIdentifier { .. } => event::INVALID_IDENTIFIER,
            Self::Reallocated { .. } => event::REALLOCATED,
            Self::Modified { .. } => event::MODIFIED,
        }
    }

    /// Returns the handle whose setting decides whether the event is logged.
    fn handle(self) -> u16 {
        match self {
            Self::NotFilled { handle }
            | Self::Reallocated { handle, .. }
            | Self::Modified { handle } => handle,
            Self::Reset | Self::InvalidIdentifier { .. } => 0,
        }
    }

    fn record(self, time: u64) -> Record {
        let mut record = Record::new(event::BYTES);
        record.u8(event::TYPE, self.kind()).u64(event::TIME, time);
        let identifier = match self {
            Self::Reset => return record,
            Self::InvalidIdentifier { identifier } => identifier,
            _ => self.handle(),
        };
        let valid = event::IDENTIFIER_VALID | event::NAMESPACE_VALID | event::LOCATION_VALID;
        record.u8(event::FLAGS, valid).u16(event::IDENTIFIER, identifier);
        record.u32(event::NAMESPACE, NAMESPACE).u16(event::HANDLE, self.handle());
        if let Self::Reallocated { start, blocks, .. } = self {
            let at = event::SPECIFIC;
            let blocks = u16::try_from(blocks).unwrap_or(u16::MAX);
            record.u8(at, 1).u16(at + 2, blocks).u64(at + 4, start);
        }
        record
    }
}

/// Enabled types and logged events of the endurance group.
#[derive(Debug)]
pub(super) struct EventLog {
    /// By handle, a bit for each of [`TYPES`].
    enabled: Vec<u8>,
    /// Host events, the oldest first.
    host: VecDeque<Record>,
    /// Controller events, the oldest first.
    controller: VecDeque<Record>,
}

impl EventLog {
    /// A log without events; no event is enabled.
    pub fn new(handles: u16) -> Self {
        let enabled = vec![0; handles.into()];
        Self { enabled, host: VecDeque::new(), controller: VecDeque::new() }
    }

    /// Enables or disables event types of a handle.
    ///
    /// # Errors
    /// An unknown handle or type; nothing changes then.
    pub fn enable(&mut self, handle: u16, types: &[u8], enable: bool) -> Result<(), Status> {
        let bit = |kind: &u8| TYPES.iter().position(|one| one == kind).map(|at| 1 << at);
        let bits: Option<Vec<u8>> = types.iter().map(bit).collect();
        let enabled = self.enabled.get_mut(usize::from(handle));
        let (bits, enabled) = bits.zip(enabled).ok_or(Status::INVALID_FIELD)?;
        let all = bits.into_iter().fold(0, |all, bit| all | bit);
        *enabled = if enable { *enabled | all } else { *enabled & !all };
        Ok(())
    }

    /// Returns all types of a handle, and whether each is enabled.
    ///
    /// # Errors
    /// An unknown handle.
    pub fn enabled(&self, handle: u16) -> Result<Vec<(u8, bool)>, Status> {
        let enabled = self.enabled.get(usize::from(handle)).ok_or(Status::INVALID_FIELD)?;
        let of = |(at, kind): (usize, &u8)| (*kind, enabled >> at & 1 == 1);
        Ok(TYPES.iter().enumerate().map(of).collect())
    }

    /// Logs an event, if the host has enabled it.
    pub fn add(&mut self, occurrence: Occurrence, time: u64) {
        let of_handle = self.enabled.get(usize::from(occurrence.handle())).copied();
        let enabled = match occurrence {
            Occurrence::Reset => self.enabled.iter().fold(0, |all, enabled| all | enabled),
            _ => of_handle.unwrap_or(0),
        };
        let bit = TYPES.iter().position(|kind| *kind == occurrence.kind());
        if bit.is_none_or(|bit| enabled >> bit & 1 == 0) {
            return;
        }
        let is_host = occurrence.kind() < event::REALLOCATED;
        let events = if is_host { &mut self.host } else { &mut self.controller };
        if events.len() == event::MAX {
            events.pop_front();
        }
        events.push_back(occurrence.record(time));
    }

    /// Returns the log page of host events, or of controller events.
    pub fn page(&self, host: bool) -> Record {
        let events = if host { &self.host } else { &self.controller };
        let mut page = Record::new(event::HEADER_BYTES);
        page.u32(0, events.len() as u32);
        for one in events {
            page.append(one);
        }
        page.append(&Record::new((event::MAX - events.len()) * event::BYTES));
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_enabled_events_are_logged_by_handle() {
        let mut log = EventLog::new(2);
        log.add(Occurrence::NotFilled { handle: 1 }, 5);
        log.enable(1, &[0x00, 0x80], true).unwrap();
        log.add(Occurrence::NotFilled { handle: 0 }, 6);
        log.add(Occurrence::NotFilled { handle: 1 }, 0x0102_0304_0506_0708);
        log.add(Occurrence::Reallocated { handle: 1, start: 9, blocks: 70_000 }, 8);
        let host = log.page(true).into_bytes();
        assert_eq!((host.len(), host[0]), (4096, 1));
        assert_eq!(host[64..80], [0, 7, 1, 0, 8, 7, 6, 5, 4, 3, 2, 1, 1, 0, 0, 0]);
        assert_eq!((host[64 + 32], host[64 + 34]), (0, 1));
        let controller = log.page(false).into_bytes();
        assert_eq!((controller[0], controller[64]), (1, 0x80));
        assert_eq!(controller[80..92], [1, 0, 0xff, 0xff, 9, 0, 0, 0, 0, 0, 0, 0]);
        log.enable(1, &[0x80], false).unwrap();
        let enabled = [(0, true), (1, false), (2, false), (3, false), (0x80, false), (0x81, false)];
        assert_eq!(log.enabled(1).unwrap(), enabled);
    }

    #[test]
    fn unknown_handles_and_types_change_nothing() {
        let mut log = EventLog::new(1);
        assert_eq!(log.enable(1, &[0], true), Err(Status::INVALID_FIELD));
        assert_eq!(log.enable(0, &[0, 0x70], true), Err(Status::INVALID_FIELD));
        assert!(log.enabled(0).unwrap().iter().all(|(_, enabled)| !enabled));
        assert_eq!(log.enabled(1), Err(Status::INVALID_FIELD));
    }

    #[test]
    fn the_newest_events_remain_with_the_oldest_first() {
        let mut log = EventLog::new(1);
        log.enable(0, &[3], true).unwrap();
        for identifier in 0..70 {
            log.add(Occurrence::InvalidIdentifier { identifier }, 0);
        }
        let page = log.page(true).into_bytes();
        assert_eq!((page.len(), page[0], page[66], page[64 * 63 + 2]), (4096, 63, 7, 69));
    }
}
