//! Get Log Page (Base 2.0, 5.16).

use std::sync::atomic::Ordering;

use crate::drive::{Health, Traffic};
use crate::spec::bytes::Record;
use crate::spec::command::{ALL_NAMESPACES, Command};
use crate::spec::identify::csi;
use crate::spec::logs::{effects, endurance, id, ocp, smart};
use crate::spec::opcodes::{admin, fabrics, io};
use crate::spec::placement::event;
use crate::spec::status::Status;

use super::controller::Controller;
use super::reply::Answer;
use super::{ENDURANCE_GROUP, NAMESPACE, lock};

/// Log pages of I/O controllers.
const LOGS: [u8; 15] = [
    id::SUPPORTED,
    id::ERRORS,
    id::SMART,
    id::FIRMWARE,
    id::CHANGED_NAMESPACES,
    id::EFFECTS,
    id::ENDURANCE_GROUP,
    id::FEATURES,
    id::MANAGEMENT,
    id::FDP_CONFIGURATIONS,
    id::FDP_USAGE,
    id::FDP_STATISTICS,
    id::FDP_EVENTS,
    id::OCP_SMART,
    id::CAUSES,
];

/// Bytes of a data unit of the SMART log.
const UNIT_BYTES: u64 = 512_000;

/// Bytes of a unit of the endurance group log.
const BILLION: u64 = 1_000_000_000;

/// Returns the critical warnings.
pub(super) fn warnings(health: &Health) -> u8 {
    let mut warnings = 0;
    if health.spare_percent < health.spare_threshold_percent {
        warnings |= smart::WARN_SPARE;
    }
    if health.is_degraded {
        warnings |= smart::WARN_RELIABILITY;
    }
    if health.is_read_only {
        warnings |= smart::WARN_READ_ONLY;
    }
    warnings
}

impl Controller {
    pub(super) fn get_log_page(&self, command: &Command, data: &mut [u8]) -> Answer {
        let log = command.dword(10) as u8;
        let offset = u64::from(command.dword(13)) << 32 | u64::from(command.dword(12));
        if !self.is_discovery() && ![0, NAMESPACE, ALL_NAMESPACES].contains(&command.namespace()) {
            return Err(Status::INVALID_NAMESPACE.into());
        }
        // Offsets are in bytes, not in entries, and multiples of 4.
        if command.dword(14) >> 23 & 1 == 1 || offset % 4 > 0 {
            return Err(Status::INVALID_FIELD.into());
        }
        let page = self.log_page(log, command)?.into_bytes();
        let page = usize::try_from(offset).ok().and_then(|offset| page.get(offset..));
        let page = page.ok_or(Status::INVALID_FIELD)?;
        let length = page.len().min(data.len());
        data[..length].copy_from_slice(&page[..length]);
        if command.dword(10) >> 15 & 1 == 0 {
            self.unmask(log);
            if log == id::CHANGED_NAMESPACES {
                self.has_changed.store(false, Ordering::Relaxed);
            }
        }
        Ok(0)
    }

    /// Returns whether the controller has a log page.
    fn has_log(&self, log: u8) -> bool {
        let is_placement = (id::FDP_CONFIGURATIONS..=id::FDP_EVENTS).contains(&log);
        match log {
            _ if self.is_discovery() => log == id::DISCOVERY,
            _ if is_placement => self.subsystem.shape.placement.is_some(),
            _ => LOGS.contains(&log),
        }
    }

    fn log_page(&self, log: u8, command: &Command) -> Result<Record, Status> {
        if !self.has_log(log) {
            return Err(Status::INVALID_LOG_PAGE);
        }
        let health = || self.subsystem.drive.health();
        let group = (command.dword(11) >> 16) as u16;
        let of_group =
            log == id::ENDURANCE_GROUP || (id::FDP_CONFIGURATIONS..=id::FDP_EVENTS).contains(&log);
        if of_group && group != ENDURANCE_GROUP {
            return Err(Status::INVALID_FIELD);
        }
        Ok(match log {
            id::DISCOVERY => {
                let mut page = Record::new(self.discovery.len());
                page.bytes(0, &self.discovery);
                page
            }
            id::SUPPORTED => supported(|log| self.has_log(log), 1),
            id::ERRORS => lock(&self.subsystem.errors).page(),
            id::SMART => smart_log(&health(), lock(&self.subsystem.errors).count),
            id::FIRMWARE => self.firmware(),
            id::CHANGED_NAMESPACES => self.changed_namespaces(),
            id::EFFECTS => self.effects((command.dword(14) >> 24) as u8)?,
            id::ENDURANCE_GROUP => self.endurance_group_log(&health()),
            id::FEATURES => supported(|feature| self.has_feature(feature), 1),
            id::MANAGEMENT => Record::new(4096),
            id::FDP_EVENTS => {
                let host = command.dword(10) >> 8 & event::HOST_EVENTS > 0;
                self.subsystem.collect_placement_events();
                lock(&self.subsystem.placement).page(host)
            }
            id::OCP_SMART => self.ocp_log(&health()),
            id::CAUSES => causes(&self.subsystem.drive.traffic()),
            _ => self.placement_log(log, &health()),
        })
    }

    fn firmware(&self) -> Record {
        let mut page = Record::new(512);
        // Slot 1 is active.
        page.u8(0, 1).text(8, 8, &self.subsystem.settings.firmware);
        page
    }

    fn changed_namespaces(&self) -> Record {
        let mut page = Record::new(4096);
        if self.has_changed.load(Ordering::Relaxed) {
            page.u32(0, NAMESPACE);
        }
        page
    }

    /// Returns the commands supported and their effects.
    fn effects(&self, set: u8) -> Result<Record, Status> {
        let is_zoned = set == csi::ZONED && self.subsystem.zones.is_some();
        if set != csi::NVM && !is_zoned {
            return Err(Status::INVALID_FIELD);
        }
        let mut page = Record::new(effects::BYTES);
        page.u32(4 * usize::from(fabrics::OPCODE), effects::SUPPORTED);
        for opcode in (0..=u8::MAX).filter(|opcode| self.has_admin_command(*opcode)) {
            let format = effects::CONTENT | effects::CAPABILITY | effects::ALONE;
            let more = if opcode == admin::FORMAT { format } else { 0 };
            page.u32(4 * usize::from(opcode), effects::SUPPORTED | more);
        }
        let is_in_set = |opcode: u8| is_zoned || opcode < io::ZONE_MANAGEMENT_SEND;
        for opcode in (0..=u8::MAX).filter(|opcode| self.has_io_command(*opcode)) {
            let more = if changes_content(opcode) { effects::CONTENT } else { 0 };
            if is_in_set(opcode) {
                page.u32(effects::IO + 4 * usize::from(opcode), effects::SUPPORTED | more);
            }
        }
        Ok(page)
    }

    fn endurance_group_log(&self, health: &Health) -> Record {
        let mut page = Record::new(endurance::BYTES);
        page.u8(endurance::WARNING, warnings(health)).u8(endurance::SPARE, health.spare_percent);
        page.u8(endurance::SPARE_THRESHOLD, health.spare_threshold_percent);
        page.u8(endurance::USED, health.used_percent);
        let billions = |bytes: u64| u128::from(bytes.div_ceil(BILLION));
        page.u128(endurance::ESTIMATE, billions(health.endurance_bytes));
        page.u128(endurance::READ, billions(health.host_read_bytes));
        page.u128(endurance::WRITTEN, billions(health.host_written_bytes));
        page.u128(endurance::MEDIA_WRITTEN, billions(health.media_written_bytes));
        page.u128(endurance::READS, health.host_reads.into());
        page.u128(endurance::WRITES, health.host_writes.into());
        page.u128(endurance::MEDIA_ERRORS, health.media_errors.into());
        page.u128(endurance::ERRORS, lock(&self.subsystem.errors).count.into());
        page.u128(endurance::CAPACITY, self.subsystem.shape.capacity().into());
        page
    }

    /// Returns the OCP SMART log. Fields without a counterpart in the drive are 0.
    fn ocp_log(&self, health: &Health) -> Record {
        let mut page = Record::new(ocp::BYTES);
        page.u128(ocp::MEDIA_WRITTEN, health.media_written_bytes.into());
        page.u128(ocp::MEDIA_READ, health.media_read_bytes.into());
        // The raw count has 6 bytes, below the normalized value.
        let bad = health.bad_units.min((1 << 48) - 1);
        page.u64(ocp::BAD_USER, bad | u64::from(health.spare_percent) << 48);
        page.u64(ocp::BAD_SYSTEM, 100 << 48).u64(ocp::UNREADABLE, health.media_errors);
        page.u32(ocp::ERASES_MAX, health.erases_max).u32(ocp::ERASES_MIN, health.erases_min);
        page.u8(ocp::VERSION + 5, 2);
        let incomplete = u32::try_from(health.unsafe_shutdowns).unwrap_or(u32::MAX);
        page.u32(ocp::INCOMPLETE_SHUTDOWNS, incomplete).u8(ocp::FREE, health.free_percent);
        page.u16(ocp::CAPACITOR, 0xffff).u64(ocp::UNALIGNED, health.unaligned);
        let format = self.subsystem.namespace.format();
        page.u64(ocp::UTILIZATION, health.used_bytes >> format.shift());
        page.u128(ocp::ENDURANCE, health.endurance_bytes.into());
        page.u16(ocp::LOG_VERSION, 3).u128(ocp::GUID, ocp::GUID_VALUE);
        page
    }
}

/// Returns whether an I/O command may change the content of blocks.
fn changes_content(opcode: u8) -> bool {
    let changing = [
        io::WRITE,
        io::WRITE_ZEROES,
        io::DATASET_MANAGEMENT,
        io::ZONE_MANAGEMENT_SEND,
        io::ZONE_APPEND,
    ];
    changing.contains(&opcode)
}

/// Returns a table of 256 entries of 4 bytes.
fn supported(has: impl Fn(u8) -> bool, entry: u32) -> Record {
    let mut page = Record::new(1024);
    for index in (0..=u8::MAX).filter(|index| has(*index)) {
        page.u32(4 * usize::from(index), entry);
    }
    page
}

fn smart_log(health: &Health, errors: u64) -> Record {
    let mut page = Record::new(smart::BYTES);
    page.u8(smart::WARNING, warnings(health)).u8(smart::SPARE, health.spare_percent);
    page.u8(smart::SPARE_THRESHOLD, health.spare_threshold_percent);
    page.u8(smart::USED, health.used_percent).u8(smart::ENDURANCE_WARNING, warnings(health));
    let units = |bytes: u64| u128::from(bytes.div_ceil(UNIT_BYTES));
    page.u128(smart::UNITS_READ, units(health.host_read_bytes));
    page.u128(smart::UNITS_WRITTEN, units(health.host_written_bytes));
    page.u128(smart::READS, health.host_reads.into());
    page.u128(smart::WRITES, health.host_writes.into());
    page.u128(smart::BUSY, health.busy_minutes.into());
    page.u128(smart::POWER_CYCLES, health.power_cycles.into());
    page.u128(smart::POWER_ON, health.power_on_hours.into());
    page.u128(smart::UNSAFE_SHUTDOWNS, health.unsafe_shutdowns.into());
    page.u128(smart::MEDIA_ERRORS, health.media_errors.into());
    page.u128(smart::ERRORS, errors.into());
    page
}

/// Returns the log of causes: a header of 16 bytes (number of causes, number of handles), an entry
/// of 40 bytes for each cause (name of 16 characters, bytes read, programmed and erased), and an
/// entry of 16 bytes for each handle (bytes of the host, bytes of the media).
fn causes(traffic: &Traffic) -> Record {
    let Traffic { causes, handles } = traffic;
    let mut page = Record::new(16);
    page.u64(0, causes.len() as u64).u64(8, handles.len() as u64);
    for cause in causes {
        let mut entry = Record::new(40);
        entry.text(0, 16, cause.name);
        entry.u64(16, cause.read).u64(24, cause.written).u64(32, cause.erased);
        page.append(&entry);
    }
    for handle in handles {
        let mut entry = Record::new(16);
        entry.u64(0, handle.host).u64(8, handle.media);
        page.append(&entry);
    }
    page
}
