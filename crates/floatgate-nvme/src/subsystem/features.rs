//! Get Features and Set Features (Base 2.0, 5.15 and 5.27).

use std::sync::atomic::Ordering;

use crate::spec::bytes::u64_at;
use crate::spec::command::Command;
use crate::spec::features::{CHANGEABLE, NO_TEMPERATURE, TIMESTAMP_BYTES, id, select};
use crate::spec::status::Status;

use super::connect::rounded;
use super::controller::Controller;
use super::reply::{Answer, Transfer};
use super::{ENDURANCE_GROUP, NAMESPACE, lock};

/// All features.
pub(super) const FEATURES: [u8; 14] = [
    id::ARBITRATION,
    id::POWER,
    id::TEMPERATURE,
    id::ERROR_RECOVERY,
    id::WRITE_CACHE,
    id::QUEUES,
    id::WRITE_ATOMICITY,
    id::EVENTS,
    id::TIMESTAMP,
    id::KEEP_ALIVE,
    id::COMMAND_SET_PROFILE,
    id::FDP,
    id::FDP_EVENTS,
    id::HOST_ID,
];

/// Features of discovery controllers.
const OF_DISCOVERY: [u8; 2] = [id::EVENTS, id::KEEP_ALIVE];

/// Bytes of a host identifier.
const HOST_ID_BYTES: u32 = 16;

/// Values of a controller's features.
#[derive(Clone, Copy, Debug)]
pub(super) struct Features {
    arbitration: u32,
    /// Over and under temperature thresholds in kelvin.
    temperature: [u32; 2],
    error_recovery: u32,
    write_atomicity: u32,
    /// Asynchronous event configuration.
    pub events: u32,
    /// I/O queues that the host has asked for; 0 before it asks.
    queues: u16,
    /// Keep-alive time; 0: the controller lives without traffic.
    pub keep_alive_ms: u32,
}

impl Features {
    pub fn new(keep_alive_ms: u32) -> Self {
        Self {
            arbitration: 0,
            temperature: [NO_TEMPERATURE, 0],
            error_recovery: 0,
            write_atomicity: 0,
            events: 0,
            queues: 0,
            keep_alive_ms,
        }
    }

    /// Returns the number of I/O queues that the host may connect.
    pub fn queues(self, most: u16) -> u16 {
        if self.queues == 0 { most } else { self.queues }
    }

    /// Returns the index of the temperature threshold in a command.
    fn threshold(dword: u32) -> Result<usize, Status> {
        // Bits 19:16 select the sensor, of which only the composite one exists; 21:20 the kind.
        match dword >> 16 & 0x3f {
            0 => Ok(0),
            0x10 => Ok(1),
            _ => Err(Status::INVALID_FIELD),
        }
    }
}

/// The parts of a Get or Set Features command.
struct Request {
    feature: u8,
    dword: u32,
}

impl Request {
    fn of(command: &Command) -> Self {
        Self { feature: command.dword(10) as u8, dword: command.dword(11) }
    }
}

impl Controller {
    /// Returns direction and length of the data of Get Features.
    pub(super) fn get_features_transfer(&self, command: &Command) -> Transfer {
        let Request { feature, dword } = Request::of(command);
        match feature {
            _ if command.dword(10) >> 8 & 7 == select::CAPABILITIES => Transfer::None,
            id::TIMESTAMP => Transfer::ToHost(TIMESTAMP_BYTES as u32),
            id::HOST_ID if dword & 1 == 1 => Transfer::ToHost(HOST_ID_BYTES),
            id::FDP_EVENTS => Transfer::ToHost((dword >> 16 & 0xff) * 2),
            _ => Transfer::None,
        }
    }

    /// Returns direction and length of the data of Set Features.
    pub(super) fn set_features_transfer(&self, command: &Command) -> Transfer {
        let Request { feature, dword } = Request::of(command);
        match feature {
            id::TIMESTAMP => Transfer::FromHost(TIMESTAMP_BYTES as u32),
            id::FDP_EVENTS => Transfer::FromHost(dword >> 16 & 0xff),
            _ => Transfer::None,
        }
    }

    /// Returns whether the controller has a feature.
    pub(super) fn has_feature(&self, feature: u8) -> bool {
        let is_placement = [id::FDP, id::FDP_EVENTS].contains(&feature);
        match feature {
            _ if self.is_discovery() => OF_DISCOVERY.contains(&feature),
            id::WRITE_CACHE => self.subsystem.shape.has_cache,
            _ if is_placement => self.subsystem.shape.placement.is_some(),
            _ => FEATURES.contains(&feature),
        }
    }

    fn check_feature(&self, feature: u8) -> Result<(), Status> {
        self.has_feature(feature).then_some(()).ok_or(Status::INVALID_FIELD)
    }

    pub(super) fn get_features(&self, command: &Command, data: &mut [u8]) -> Answer {
        let Request { feature, dword } = Request::of(command);
        self.check_feature(feature)?;
        let current = *lock(&self.features);
        let values = match command.dword(10) >> 8 & 7 {
            select::CURRENT => current,
            select::DEFAULT | select::SAVED => Features::new(0),
            select::CAPABILITIES => return Ok(self.capabilities(feature).into()),
            _ => return Err(Status::INVALID_FIELD.into()),
        };
        let is_current = command.dword(10) >> 8 & 7 == select::CURRENT;
        let value = match feature {
            id::ARBITRATION => values.arbitration,
            id::TEMPERATURE => values.temperature[Features::threshold(dword)?],
            id::ERROR_RECOVERY => self.in_namespace(command).map(|()| values.error_recovery)?,
            id::WRITE_CACHE => u32::from(!is_current || !self.subsystem.writes_through()),
            id::QUEUES => Self::both(values.queues(self.subsystem.settings.queues_max)),
            id::WRITE_ATOMICITY => values.write_atomicity,
            id::EVENTS => values.events,
            id::TIMESTAMP => {
                let now = lock(&self.subsystem.clock).timestamp();
                data.copy_from_slice(&if is_current { now } else { 0 }.to_le_bytes());
                0
            }
            id::KEEP_ALIVE => values.keep_alive_ms,
            id::FDP => self.endurance_group(dword).map(|()| 1)?,
            id::FDP_EVENTS => self.get_placement_events(command, data)?,
            id::HOST_ID => self.get_host_id(dword, data)?,
            // Power state 0; the only combination of command sets.
            _ => 0,
        };
        Ok(value.into())
    }

    /// Returns a number of queues, 0-based, for submission and completion queues.
    fn both(queues: u16) -> u32 {
        let queues = u32::from(queues) - 1;
        queues << 16 | queues
    }

    fn capabilities(&self, feature: u8) -> u32 {
        let is_fixed = [id::FDP, id::HOST_ID, id::COMMAND_SET_PROFILE].contains(&feature);
        let is_of_namespace = [id::ERROR_RECOVERY, id::FDP_EVENTS].contains(&feature);
        (if is_fixed { 0 } else { CHANGEABLE }) | u32::from(is_of_namespace) << 1
    }

    /// Checks the endurance group in dword 11.
    fn endurance_group(&self, dword: u32) -> Result<(), Status> {
        (dword as u16 == ENDURANCE_GROUP).then_some(()).ok_or(Status::INVALID_FIELD)
    }

    /// Checks that a command names the namespace.
    pub(super) fn in_namespace(&self, command: &Command) -> Result<(), Status> {
        (command.namespace() == NAMESPACE).then_some(()).ok_or(Status::INVALID_NAMESPACE)
    }

    fn get_host_id(&self, dword: u32, data: &mut [u8]) -> Result<u32, Status> {
        // Bit 0 asks for 128 bits; Fabrics have no other identifiers.
        if dword & 1 == 0 {
            return Err(Status::INVALID_FIELD);
        }
        data.copy_from_slice(&self.host_id);
        Ok(1)
    }

    pub(super) fn set_features(&self, command: &Command, data: &[u8]) -> Answer {
        let Request { feature, dword } = Request::of(command);
        self.check_feature(feature)?;
        if command.dword(10) >> 31 == 1 {
            return Err(Status::NOT_SAVEABLE.into());
        }
        let refused = |is_refused: bool| match is_refused {
            true => Err(Status::INVALID_FIELD),
            false => Ok(()),
        };
        match feature {
            id::ARBITRATION => lock(&self.features).arbitration = dword,
            id::POWER => refused(dword & 0x1f != 0)?,
            id::TEMPERATURE => {
                let threshold = Features::threshold(dword)?;
                lock(&self.features).temperature[threshold] = dword & 0xffff;
            }
            id::ERROR_RECOVERY => {
                self.in_namespace(command)?;
                refused(dword >> 16 & 1 == 1)?;
                lock(&self.features).error_recovery = dword;
            }
            id::WRITE_CACHE => return self.set_write_cache(dword & 1 == 1),
            id::QUEUES => return self.set_queues(dword),
            id::WRITE_ATOMICITY => lock(&self.features).write_atomicity = dword & 1,
            id::EVENTS => lock(&self.features).events = dword & self.event_mask(),
            id::TIMESTAMP => lock(&self.subsystem.clock).set(u64_at(data, 0)),
            id::KEEP_ALIVE => lock(&self.features).keep_alive_ms = rounded(dword),
            id::COMMAND_SET_PROFILE => refused(dword & 0x1ff != 0)?,
            // The endurance group has a namespace, so its placement cannot change.
            id::FDP => return self.endurance_group(dword).and(Err(Status::SEQUENCE))?,
            id::FDP_EVENTS => self.set_placement_events(command, data)?,
            // Only Connect sets the host identifier.
            _ => return Err(Status::SEQUENCE.into()),
        }
        Ok(0)
    }

    /// Switches the write cache. Data in the cache become durable when it is switched off.
    fn set_write_cache(&self, is_used: bool) -> Answer {
        self.subsystem.write_cache.store(is_used, Ordering::Relaxed);
        if !is_used {
            self.session.flush()?;
        }
        Ok(0)
    }

    /// Sets the number of I/O queues: the smaller one of both numbers, as queues come in pairs.
    fn set_queues(&self, dword: u32) -> Answer {
        let asked = (dword as u16).min((dword >> 16) as u16);
        if dword as u16 == u16::MAX || dword >> 16 == 0xffff {
            return Err(Status::INVALID_FIELD.into());
        }
        if self.io_queues() > 0 {
            return Err(Status::SEQUENCE.into());
        }
        let queues = (asked + 1).min(self.subsystem.settings.queues_max);
        lock(&self.features).queues = queues;
        Ok(Self::both(queues).into())
    }
}
