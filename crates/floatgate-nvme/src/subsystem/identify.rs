//! Identify (Base 2.0, 5.17): these data say which commands, features and logs exist.

use crate::drive::Shape;
use crate::spec::bytes::Record;
use crate::spec::command::{ALL_NAMESPACES, COMMAND_BYTES, Command};
use crate::spec::fabrics::DISCOVERY_NQN;
use crate::spec::identify::controller::{self as ctrl};
use crate::spec::identify::{IDENTIFY_BYTES, cns, csi, descriptor, independent, namespace as ns};
use crate::spec::registers::VERSION;
use crate::spec::status::Status;
use crate::spec::zoned::namespace as zns;

use super::async_events::REQUESTS_MAX;
use super::controller::Controller;
use super::error_log::ENTRIES;
use super::namespace::FORMATS;
use super::reply::Answer;
use super::{ENDURANCE_GROUP, IO_CAPSULE_BYTES, NAMESPACE, QUEUE_ENTRIES, TRANSFER_SHIFT};

impl Controller {
    pub(super) fn identify(&self, command: &Command, data: &mut [u8]) -> Answer {
        let (which, set) = (command.dword(10) as u8, (command.dword(11) >> 24) as u8);
        let record = match which {
            cns::CONTROLLER => self.identify_controller(),
            _ if self.is_discovery() => return Err(Status::INVALID_FIELD.into()),
            cns::NAMESPACE => self.in_namespace(command).map(|()| self.identify_namespace())?,
            cns::NAMESPACES => self.list(command, true)?,
            cns::SET_NAMESPACES => self.list(command, set == self.command_set())?,
            cns::DESCRIPTORS => self.in_namespace(command).map(|()| self.descriptors())?,
            cns::SET_NAMESPACE => {
                self.in_namespace(command)?;
                self.of_set(set, |zoned| if zoned { self.zoned_namespace() } else { empty() })?
            }
            // No limits except those of Identify Controller.
            cns::SET_CONTROLLER => self.of_set(set, |_| empty())?,
            cns::INDEPENDENT_NAMESPACE => {
                self.in_namespace(command).map(|()| self.independent_namespace())?
            }
            cns::ENDURANCE_GROUPS => endurance_groups(command.dword(11) as u16),
            cns::COMMAND_SETS => self.command_sets(),
            _ => return Err(Status::INVALID_FIELD.into()),
        };
        data.copy_from_slice(&record.into_bytes());
        Ok(0)
    }

    /// Returns the command set of the namespace.
    fn command_set(&self) -> u8 {
        if self.subsystem.zones.is_some() { csi::ZONED } else { csi::NVM }
    }

    /// Returns the data of a command set. A zoned namespace has those of both command sets.
    fn of_set(&self, set: u8, make: impl Fn(bool) -> Record) -> Result<Record, Status> {
        match set {
            csi::NVM => Ok(make(false)),
            csi::ZONED if self.command_set() == csi::ZONED => Ok(make(true)),
            _ => Err(Status::INVALID_FIELD),
        }
    }

    fn identify_controller(&self) -> Record {
        let mut record = empty();
        let settings = &self.subsystem.settings;
        record.text(ctrl::SN, 20, &settings.serial).text(ctrl::MN, 40, &settings.model);
        record.text(ctrl::FR, 8, &settings.firmware);
        record.u8(ctrl::MDTS, TRANSFER_SHIFT).u16(ctrl::CNTLID, self.id()).u32(ctrl::VER, VERSION);
        record.u8(ctrl::AERL, REQUESTS_MAX as u8 - 1).u8(ctrl::ELPE, ENTRIES as u8 - 1);
        record.u16(ctrl::KAS, 1).u16(ctrl::MAXCMD, QUEUE_ENTRIES);
        record.u32(
            ctrl::SGLS,
            ctrl::SGLS_SUPPORTED | ctrl::SGLS_LONGER | ctrl::SGLS_OFFSET | ctrl::SGLS_TRANSPORT,
        );
        let capsule = COMMAND_BYTES as u32 + IO_CAPSULE_BYTES;
        record.u32(ctrl::IOCCSZ, capsule / 16).u32(ctrl::IORCSZ, 1).u8(ctrl::MSDBD, 1);
        match self.is_discovery() {
            true => {
                let attributes = ctrl::CTRATT_HOST_ID | ctrl::CTRATT_TRAFFIC_KEEP_ALIVE;
                record.u8(ctrl::CNTRLTYPE, 2).u32(ctrl::CTRATT, attributes);
                record.u8(ctrl::LPA, ctrl::LPA_EXTENDED);
                record.bytes(ctrl::SUBNQN, DISCOVERY_NQN.as_bytes());
            }
            false => self.identify_io_controller(&mut record),
        }
        record
    }

    /// Adds the fields of an I/O controller.
    fn identify_io_controller(&self, record: &mut Record) {
        let shape = self.subsystem.shape;
        let Shape { has_cache, placement, .. } = shape;
        let mut attributes =
            ctrl::CTRATT_HOST_ID | ctrl::CTRATT_ENDURANCE_GROUPS | ctrl::CTRATT_TRAFFIC_KEEP_ALIVE;
        let mut admin = ctrl::OACS_FORMAT;
        if placement.is_some() {
            attributes |= ctrl::CTRATT_FDP;
            admin |= ctrl::OACS_DIRECTIVES;
        }
        record.u8(ctrl::CNTRLTYPE, 1).u8(ctrl::CMIC, 1 << 1).u32(ctrl::CTRATT, attributes);
        record.u32(ctrl::OAES, ctrl::OAES_NAMESPACE).u16(ctrl::OACS, admin);
        // One firmware slot, which is read-only.
        record.u8(ctrl::ACL, 3).u8(ctrl::FRMW, 1 | 1 << 1);
        let logs = ctrl::LPA_SMART | ctrl::LPA_EFFECTS | ctrl::LPA_EXTENDED | ctrl::LPA_SUPPORTED;
        record.u8(ctrl::LPA, logs).u128(ctrl::TNVMCAP, shape.capacity().into());
        record.u16(ctrl::ENDGIDMAX, ENDURANCE_GROUP);
        record.u8(ctrl::SQES, 0x66).u8(ctrl::CQES, 0x44).u32(ctrl::NN, NAMESPACE);
        let commands = ctrl::ONCS_COMPARE | ctrl::ONCS_DATASET | ctrl::ONCS_ZEROES;
        let others = ctrl::ONCS_SELECT | ctrl::ONCS_TIMESTAMP | ctrl::ONCS_VERIFY;
        record.u16(ctrl::ONCS, commands | others);
        let cache = if has_cache { ctrl::VWC_PRESENT } else { 0 };
        record.u8(ctrl::VWC, cache | ctrl::VWC_FLUSH_ALL);
        record.bytes(ctrl::SUBNQN, self.subsystem.settings.nqn.as_bytes());
    }

    fn identify_namespace(&self) -> Record {
        let Shape { page_bytes, .. } = self.subsystem.shape;
        let format = self.subsystem.namespace.format();
        let used = self.subsystem.drive.health().used_bytes >> format.shift();
        let blocks = format.blocks();
        let mut record = empty();
        record.u64(ns::NSZE, blocks).u64(ns::NCAP, blocks).u64(ns::NUSE, used.min(blocks));
        record.u8(ns::NLBAF, FORMATS.len() as u8 - 1).u8(ns::FLBAS, format.index);
        record.u8(ns::NMIC, 1).u8(ns::DLFEAT, 1 | 1 << 3).u16(ns::ENDGID, ENDURANCE_GROUP);
        record.u128(ns::NVMCAP, self.subsystem.shape.capacity().into());
        // A page is preferred, and is never torn.
        let page = (u64::from(page_bytes) >> format.shift()).saturating_sub(1);
        let page = u16::try_from(page).unwrap_or(u16::MAX);
        record.u8(ns::NSFEAT, ns::NSFEAT_ATOMIC | ns::NSFEAT_PREFERRED);
        for at in [ns::NAWUN, ns::NAWUPF, ns::NABSN, ns::NABSPF] {
            record.u16(at, page);
        }
        for at in [ns::NPWG, ns::NPWA, ns::NPDG, ns::NPDA, ns::NOWS] {
            record.u16(at, page);
        }
        for (at, shift) in FORMATS.iter().enumerate() {
            // Blocks that are smaller than a page cost a read before a write.
            let performance = u32::from(1 << shift < page_bytes) * 2;
            record.u32(ns::LBAF + 4 * at, u32::from(*shift) << 16 | performance << 24);
        }
        record
    }

    fn independent_namespace(&self) -> Record {
        let mut record = empty();
        let cache = if self.subsystem.shape.has_cache { 0 } else { independent::NSFEAT_NO_CACHE };
        record.u8(independent::NSFEAT, cache).u8(independent::NMIC, 1);
        record.u16(independent::ENDGID, ENDURANCE_GROUP).u8(independent::NSTAT, 1);
        record
    }

    fn zoned_namespace(&self) -> Record {
        let mut record = empty();
        let Some(zones) = self.subsystem.shape.zones else { return record };
        // 0-based, so that no limit is FFFFFFFFh.
        let limit = |most: Option<u32>| most.unwrap_or(0).wrapping_sub(1);
        record.u16(zns::OZCS, 1).u32(zns::MAR, limit(zones.active_max));
        record.u32(zns::MOR, limit(zones.open_max));
        for (at, shift) in FORMATS.iter().enumerate() {
            record.u64(zns::LBAFE + zns::LBAFE_BYTES * at, zones.bytes >> shift);
        }
        record
    }

    /// Returns the list of namespaces above that of the command: empty unless `active`.
    fn list(&self, command: &Command, active: bool) -> Result<Record, Status> {
        let after = command.namespace();
        if after >= ALL_NAMESPACES - 1 {
            return Err(Status::INVALID_NAMESPACE);
        }
        let mut record = empty();
        if active && after < NAMESPACE {
            record.u32(0, NAMESPACE);
        }
        Ok(record)
    }

    fn descriptors(&self) -> Record {
        let mut record = empty();
        record.u8(0, descriptor::UUID).u8(1, 16).bytes(4, &self.subsystem.settings.uuid);
        record.u8(20, descriptor::CSI).u8(21, 1).u8(24, self.command_set());
        record
    }

    /// Returns the combinations of command sets: one.
    fn command_sets(&self) -> Record {
        let mut record = empty();
        record.u64(0, 1 << csi::NVM | 1 << self.command_set());
        record
    }
}

fn empty() -> Record {
    Record::new(IDENTIFY_BYTES)
}

/// Returns the list of endurance groups from `first` on.
fn endurance_groups(first: u16) -> Record {
    let mut record = empty();
    if first <= ENDURANCE_GROUP {
        record.u16(0, 1).u16(2, ENDURANCE_GROUP);
    }
    record
}
