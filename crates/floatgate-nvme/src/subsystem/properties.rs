//! Properties of a controller (Base 2.0, 3.1.3): capabilities, configuration and status.

use crate::spec::registers::{VERSION, capabilities, configuration, offset, status};
use crate::spec::status::Status;

use super::QUEUE_ENTRIES;

/// Worst time to become ready, in 500 ms. The properties CAP and CRTO both state it, as Linux
/// requires.
const TIMEOUT: u64 = 10;

/// Kind of a controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// I/O controller of a namespace with the NVM command set.
    Io,
    /// I/O controller of a zoned namespace.
    Zoned,
    /// Discovery controller.
    Discovery,
}

/// Effect of a change of the configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    /// None that the rest of the controller must know.
    None,
    /// The controller was disabled: I/O queues end, features have their defaults again.
    Reset,
    /// The host announces a shutdown: data must become durable.
    Shutdown,
}

/// Properties of a controller.
#[derive(Debug)]
pub(super) struct Properties {
    kind: Kind,
    configuration: u32,
    status: u32,
}

impl Properties {
    pub fn new(kind: Kind) -> Self {
        Self { kind, configuration: 0, status: 0 }
    }

    fn capabilities(&self) -> u64 {
        let sets = match self.kind {
            Kind::Zoned => capabilities::NVM | capabilities::COMMAND_SETS,
            Kind::Io | Kind::Discovery => capabilities::NVM,
        };
        let timeout = TIMEOUT << capabilities::TIMEOUT_SHIFT;
        let longest = u64::from(QUEUE_ENTRIES) - 1;
        longest | capabilities::CONTIGUOUS | timeout | sets | capabilities::READY_WITH_MEDIA
    }

    /// Returns a property.
    ///
    /// # Errors
    /// A property that the controller does not have, or not with this size.
    pub fn get(&self, at: u32, is_long: bool) -> Result<u64, Status> {
        match (at, is_long) {
            (offset::CAP, true) => Ok(self.capabilities()),
            (offset::VS, false) => Ok(VERSION.into()),
            (offset::CC, false) => Ok(self.configuration.into()),
            (offset::CSTS, false) => Ok(self.status.into()),
            (offset::CRTO, false) => Ok(TIMEOUT),
            _ => Err(Status::INVALID_FIELD),
        }
    }

    /// Sets a property: only the configuration can be set.
    ///
    /// # Errors
    /// As for [`Properties::get`].
    pub fn set(&mut self, at: u32, is_long: bool, value: u64) -> Result<Effect, Status> {
        if (at, is_long) != (offset::CC, false) {
            return Err(Status::INVALID_FIELD);
        }
        let (old, new) = (self.configuration, value as u32);
        self.configuration = new;
        let was_enabled = old & configuration::ENABLE > 0;
        let is_enabled = new & configuration::ENABLE > 0;
        let shuts_down = configuration::shutdown(new) > 0;
        if is_enabled && !was_enabled {
            self.status = if self.is_valid() { status::READY } else { status::FATAL };
        }
        if !shuts_down {
            self.status &= !status::SHUT_DOWN;
        }
        if was_enabled && !is_enabled {
            self.status &= !(status::READY | status::FATAL);
            return Ok(Effect::Reset);
        }
        if shuts_down && configuration::shutdown(old) == 0 {
            return Ok(Effect::Shutdown);
        }
        Ok(Effect::None)
    }

    /// Reports that the shutdown is complete.
    pub fn shut_down(&mut self) {
        self.status |= status::SHUT_DOWN;
    }

    /// Returns whether the shutdown is complete.
    pub fn is_shut_down(&self) -> bool {
        self.status & status::SHUT_DOWN > 0
    }

    /// Reports a fatal status.
    pub fn fail(&mut self) {
        self.status |= status::FATAL;
    }

    /// Returns whether the controller executes commands.
    pub fn is_ready(&self) -> bool {
        self.status & (status::READY | status::FATAL | status::SHUT_DOWN) == status::READY
    }

    /// Returns whether the host has enabled all command sets; it can use zones then.
    pub fn has_all_sets(&self) -> bool {
        configuration::command_sets(self.configuration) == configuration::ALL_SETS
    }

    /// Returns whether the configuration asks only for features of the controller.
    fn is_valid(&self) -> bool {
        let sets = match (self.kind, configuration::command_sets(self.configuration)) {
            (_, 0) => true,
            (Kind::Discovery, sets) => sets == configuration::NO_SET,
            (_, sets) => sets == configuration::ALL_SETS || sets == configuration::NO_SET,
        };
        let is_default = |field: u32| field == 0;
        sets && is_default(configuration::page_size(self.configuration))
            && is_default(configuration::arbitration(self.configuration))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I/O queue entry sizes as Linux sets them, with or without EN, and other bits.
    const fn cc(enable: u32, other: u32) -> u64 {
        (4 << 20 | 6 << 16 | enable | other) as u64
    }

    #[test]
    fn a_controller_becomes_ready_is_shut_down_and_is_reset() {
        let mut properties = Properties::new(Kind::Io);
        let csts = |properties: &Properties| properties.get(0x1c, false);
        assert_eq!((csts(&properties), properties.is_ready()), (Ok(0), false));
        assert_eq!(properties.set(0x14, false, cc(1, 6 << 4)), Ok(Effect::None));
        assert!(properties.is_ready() && properties.has_all_sets());
        assert_eq!(properties.set(0x14, false, cc(1, 6 << 4 | 1 << 14)), Ok(Effect::Shutdown));
        properties.shut_down();
        assert_eq!((csts(&properties), properties.is_ready()), (Ok(0b1001), false));
        assert_eq!(properties.set(0x14, false, cc(0, 0)), Ok(Effect::Reset));
        assert_eq!(csts(&properties), Ok(0));
        assert_eq!(properties.set(0x14, false, cc(1, 0)), Ok(Effect::None));
        assert!(properties.is_ready() && !properties.has_all_sets());
    }

    #[test]
    fn a_configuration_that_is_not_supported_is_fatal() {
        for other in [1 << 7, 1 << 11, 1 << 4] {
            let mut properties = Properties::new(Kind::Io);
            assert_eq!(properties.set(0x14, false, cc(1, other)), Ok(Effect::None));
            assert_eq!(properties.get(0x1c, false), Ok(0b10), "{other:#x}");
            assert!(!properties.is_ready());
        }
        let mut discovery = Properties::new(Kind::Discovery);
        discovery.set(0x14, false, cc(1, 6 << 4)).unwrap();
        assert!(!discovery.is_ready(), "it has no command sets");
    }

    #[test]
    fn properties_have_their_sizes() {
        let mut properties = Properties::new(Kind::Io);
        // 128 entries, contiguous, 5 s, NVM, ready with media; pages of 4 KiB.
        assert_eq!(properties.get(0, true), Ok(0x0800_0020_0a01_007f));
        // Further command sets.
        assert_eq!(Properties::new(Kind::Zoned).get(0, true), Ok(0x0800_0820_0a01_007f));
        assert_eq!(properties.get(8, false), Ok(0x0002_0000));
        assert_eq!(properties.get(0x68, false), Ok(10));
        for (at, is_long) in [(0, false), (8, true), (0x1c, true), (0x0c, false), (0x28, true)] {
            assert_eq!(properties.get(at, is_long), Err(Status::INVALID_FIELD), "{at:#x}");
        }
        assert_eq!(properties.set(0x1c, false, 0), Err(Status::INVALID_FIELD));
        assert_eq!(properties.set(0x14, true, 0), Err(Status::INVALID_FIELD));
    }
}
