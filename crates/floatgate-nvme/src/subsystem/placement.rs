//! Flexible data placement (Base 2.1, 8.1.10; TP4146): log pages, features and I/O management.
//!
//! There is one reclaim group, so a placement identifier is a placement handle, and handle n of the
//! namespace is reclaim unit handle n.

use crate::drive::{DriveEvent, Health, Isolation, Placement};
use crate::spec::bytes::{Record, u16_at};
use crate::spec::command::Command;
use crate::spec::logs::id;
use crate::spec::placement::{configuration, management, statistics, usage};
use crate::spec::status::Status;

use super::controller::Controller;
use super::namespace::Format;
use super::placement_events::{Occurrence, TYPES};
use super::reply::Answer;
use super::{NAMESPACE, Subsystem, lock};

impl Subsystem {
    /// Logs an event that occurs now.
    pub(super) fn add_placement_event(&self, occurrence: Occurrence) {
        let now = lock(&self.clock).timestamp();
        lock(&self.placement).add(occurrence, now);
    }

    /// Logs the events inside the drive.
    pub(super) fn collect_placement_events(&self) {
        let shift = self.namespace.format().shift();
        for event in self.drive.take_events() {
            self.add_placement_event(match event {
                DriveEvent::Reallocated { handle, offset, length } => Occurrence::Reallocated {
                    handle,
                    start: offset >> shift,
                    blocks: length >> shift,
                },
                DriveEvent::NextUnit { handle } => Occurrence::Modified { handle },
                DriveEvent::Reset => Occurrence::Reset,
            });
        }
    }
}

impl Controller {
    fn placement(&self) -> Result<Placement, Status> {
        self.subsystem.shape.placement.ok_or(Status::FDP_DISABLED)
    }

    /// Returns the log page of configurations, of usage, or of statistics.
    pub(super) fn placement_log(&self, log: u8, health: &Health) -> Record {
        let Some(placement) = self.subsystem.shape.placement else { return Record::new(0) };
        match log {
            id::FDP_CONFIGURATIONS => configurations(placement, self.subsystem.shape.has_cache),
            id::FDP_USAGE => handle_usage(placement),
            _ => {
                let mut page = Record::new(statistics::BYTES);
                page.u128(statistics::HOST, health.host_written_bytes.into());
                page.u128(statistics::MEDIA, health.media_written_bytes.into());
                page.u128(statistics::ERASED, health.media_erased_bytes.into());
                page
            }
        }
    }

    /// Set Features, FDP events: enables or disables event types of a handle.
    pub(super) fn set_placement_events(
        &self,
        command: &Command,
        types: &[u8],
    ) -> Result<(), Status> {
        self.in_namespace(command)?;
        let (handle, enable) = (command.dword(11) as u16, command.dword(12) & 1 == 1);
        // Events before this command are logged by the previous settings.
        self.subsystem.collect_placement_events();
        lock(&self.subsystem.placement).enable(handle, types, enable)
    }

    /// Get Features, FDP events: event types of a handle, and whether each is enabled. Returns
    /// their number.
    pub(super) fn get_placement_events(
        &self,
        command: &Command,
        data: &mut [u8],
    ) -> Result<u32, Status> {
        self.in_namespace(command)?;
        let enabled = lock(&self.subsystem.placement).enabled(command.dword(11) as u16)?;
        for (entry, (kind, is_enabled)) in data.chunks_exact_mut(2).zip(enabled) {
            entry.copy_from_slice(&[kind, is_enabled.into()]);
        }
        Ok(TYPES.len() as u32)
    }

    /// I/O Management Receive (7.3): the status of reclaim unit handles.
    pub(super) fn management_receive(
        &self,
        format: Format,
        command: &Command,
        data: &mut [u8],
    ) -> Answer {
        let placement = self.placement()?;
        match command.dword(10) as u8 {
            management::NONE => return Ok(0),
            management::HANDLES => {}
            _ => return Err(Status::INVALID_FIELD.into()),
        }
        let mut status = Record::new(management::HEADER_BYTES);
        status.u16(management::COUNT, placement.handles);
        for handle in 0..placement.handles {
            let room = self.subsystem.drive.room(handle) >> format.shift();
            let mut descriptor = Record::new(management::BYTES);
            descriptor.u16(0, handle).u16(2, handle).u64(management::ROOM, room);
            status.append(&descriptor);
        }
        let status = status.into_bytes();
        let length = status.len().min(data.len());
        data[..length].copy_from_slice(&status[..length]);
        Ok(0)
    }

    /// I/O Management Send (7.4): gives handles empty reclaim units.
    pub(super) fn management_send(&self, command: &Command, data: &[u8]) -> Answer {
        let placement = self.placement()?;
        match command.dword(10) as u8 {
            management::NONE => return Ok(0),
            management::HANDLES => {}
            _ => return Err(Status::INVALID_FIELD.into()),
        }
        let handles: Vec<u16> = data.chunks_exact(2).map(|pair| u16_at(pair, 0)).collect();
        let is_known = |handle: &u16| *handle < placement.handles;
        if handles.len() > placement.handles.into() || !handles.iter().all(is_known) {
            return Err(Status::INVALID_FIELD.into());
        }
        for handle in handles {
            if self.session.next_unit(handle)? > 0 {
                self.subsystem.add_placement_event(Occurrence::NotFilled { handle });
            }
        }
        Ok(0)
    }
}

/// Returns the log page of the one configuration.
fn configurations(placement: Placement, has_cache: bool) -> Record {
    let Placement { handles, unit_bytes, isolation } = placement;
    let size = (configuration::BYTES + 4 * usize::from(handles)).next_multiple_of(8);
    let isolation = match isolation {
        Isolation::Initially => configuration::INITIALLY,
        Isolation::Persistently => configuration::PERSISTENTLY,
    };
    let mut descriptor = Record::new(size);
    let cache = if has_cache { configuration::CACHE } else { 0 };
    descriptor.u16(configuration::DESCRIPTOR_SIZE, size as u16);
    descriptor.u8(configuration::ATTRIBUTES, configuration::VALID | cache);
    descriptor.u32(configuration::GROUPS, 1).u16(configuration::HANDLES, handles);
    descriptor.u16(configuration::IDENTIFIERS, handles - 1);
    descriptor.u32(configuration::NAMESPACES, NAMESPACE);
    descriptor.u64(configuration::UNIT_BYTES, unit_bytes);
    for handle in 0..usize::from(handles) {
        descriptor.u8(configuration::BYTES + 4 * handle, isolation);
    }
    let mut page = Record::new(configuration::HEADER_BYTES);
    page.u32(configuration::SIZE, (configuration::HEADER_BYTES + size) as u32);
    page.append(&descriptor);
    page
}

/// Returns the log page of the use of handles: the host chooses all of them.
fn handle_usage(placement: Placement) -> Record {
    let handles = usize::from(placement.handles);
    let mut page = Record::new(usage::HEADER_BYTES + usage::BYTES * handles);
    page.u16(0, placement.handles);
    for handle in 0..handles {
        page.u8(usage::HEADER_BYTES + usage::BYTES * handle, usage::HOST);
    }
    page
}
