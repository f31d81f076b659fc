//! The command layer, without a transport: one NVM subsystem with one namespace over a [`Drive`],
//! its controllers, and the discovery service.
//!
//! ```text
//!   Subsystem ── connect ──> Controller ── transfer ──> direction and length of the data
//!     │                          └──────── execute ───> Outcome
//!     └ namespace, zones, placement events, error log: shared by all controllers
//! ```
//!
//! The transport asks [`Controller::transfer`] for the data of a command, moves data from the host,
//! and passes them to [`Controller::execute`]. It registers each queue as a [`Link`], through which
//! the controller completes asynchronous event requests, and ends queues.

mod admin;
mod async_events;
mod clock;
mod connect;
mod controller;
mod discovery;
mod error_log;
mod features;
mod identify;
mod io;
mod log_pages;
mod namespace;
mod placement;
mod placement_events;
mod properties;
mod reply;
mod zone_commands;
mod zone_state;
mod zones;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use crate::drive::{Drive, Shape};
use crate::spec::fabrics::{DISCOVERY_NQN, NQN_MAX};

use self::async_events::Event;
use self::clock::Clock;
use self::error_log::ErrorLog;
use self::namespace::Namespace;
use self::placement_events::EventLog;
use self::zone_state::State;
use self::zones::Zones;

pub use self::connect::Connected;
pub use self::controller::{Controller, Link};
pub use self::reply::{Outcome, Reply, Transfer};

/// Identifier of the namespace.
pub(crate) const NAMESPACE: u32 = 1;

/// Identifier of the endurance group.
const ENDURANCE_GROUP: u16 = 1;

/// Maximum data of a command (MDTS): 4 KiB times two to this power.
const TRANSFER_SHIFT: u8 = 8;

/// Maximum data of a command in bytes.
pub const TRANSFER_MAX: u32 = 4096 << TRANSFER_SHIFT;

/// Maximum data in the capsule of an I/O command in bytes.
pub const IO_CAPSULE_BYTES: u32 = 16 << 10;

/// Entries of the longest queue.
pub const QUEUE_ENTRIES: u16 = 128;

/// Settings of a subsystem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Qualified name of the subsystem: `nqn.`, and at most 223 bytes.
    pub nqn: String,
    /// Serial number: at most 20 ASCII characters.
    pub serial: String,
    /// Model: at most 40 ASCII characters.
    pub model: String,
    /// Firmware revision: at most 8 ASCII characters.
    pub firmware: String,
    /// UUID of the namespace.
    pub uuid: [u8; 16],
    /// Bytes of a block: 512 or 4096.
    pub block_bytes: u32,
    /// Maximum number of I/O queues of a controller, at least 1.
    pub queues_max: u16,
}

/// Reason why there is no subsystem with these settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingsError(String);

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}

impl Settings {
    fn check(&self, shape: Shape) -> Result<(), SettingsError> {
        let wrong = |text: String| Err(SettingsError(text));
        let Self { nqn, serial, model, firmware, block_bytes, queues_max, .. } = self;
        if !nqn.starts_with("nqn.") || nqn.len() > NQN_MAX || nqn == DISCOVERY_NQN {
            return wrong(format!("nqn: {nqn} given; expected nqn. and at most {NQN_MAX} bytes"));
        }
        for (name, text, most) in
            [("serial", serial, 20), ("model", model, 40), ("firmware", firmware, 8)]
        {
            if !text.is_ascii() || text.len() > most {
                return wrong(format!("{name}: {text} given; expected {most} ASCII characters"));
            }
        }
        if ![512, 4096].contains(block_bytes) {
            return wrong(format!("block_bytes: {block_bytes} given; expected 512 or 4096"));
        }
        if !shape.has_blocks_of(*block_bytes) {
            let page = shape.page_bytes;
            return wrong(format!(
                "block_bytes: {block_bytes} given; expected at least a page of {page} with zones"
            ));
        }
        if *queues_max == 0 {
            return wrong("queues_max: 0 given; expected at least 1".into());
        }
        let zones = shape.zones.map_or([4096; 2], |zones| [zones.bytes, zones.capacity]);
        let [zone, capacity] = zones;
        let is_aligned = [zone, capacity].iter().all(|bytes| bytes.is_multiple_of(4096));
        if !is_aligned || zone < capacity || capacity == 0 {
            let of = format!("{zone} B, with a capacity of {capacity} B");
            return wrong(format!("zones: {of} given; expected multiples of 4096 B"));
        }
        if !shape.bytes.is_multiple_of(4096) || shape.bytes < zone {
            let bytes = shape.bytes;
            return wrong(format!("size: {bytes} B given; expected a multiple of {zone} B"));
        }
        Ok(())
    }
}

/// An NVM subsystem with its controllers, and the discovery service.
pub struct Subsystem {
    settings: Settings,
    drive: Arc<dyn Drive>,
    shape: Shape,
    namespace: Namespace,
    zones: Option<Zones>,
    placement: Mutex<EventLog>,
    errors: Mutex<ErrorLog>,
    clock: Mutex<Clock>,
    /// Whether the volatile write cache is in use.
    write_cache: AtomicBool,
    /// Critical warnings at the last look.
    warnings: Mutex<u8>,
    /// Identifier of the newest controller.
    newest: Mutex<u16>,
    /// Controllers by identifier.
    controllers: Mutex<BTreeMap<u16, Weak<Controller>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Subsystem {
    /// Makes a subsystem over a drive.
    ///
    /// # Errors
    /// A setting that is out of its range: the value, and the expected range.
    pub fn new(settings: Settings, drive: Arc<dyn Drive>) -> Result<Arc<Self>, SettingsError> {
        let shape = drive.shape();
        settings.check(shape)?;
        let block_bytes = settings.block_bytes.into();
        let zones = shape.zones.map(|of| Zones::new(of, Arc::clone(&drive), block_bytes));
        let handles = shape.placement.map_or(0, |placement| placement.handles);
        Ok(Arc::new(Self {
            namespace: Namespace::new(shape, settings.block_bytes),
            zones,
            placement: Mutex::new(EventLog::new(handles)),
            errors: Mutex::default(),
            clock: Mutex::new(Clock::new()),
            write_cache: AtomicBool::new(shape.has_cache),
            warnings: Mutex::new(0),
            newest: Mutex::new(0),
            controllers: Mutex::default(),
            settings,
            drive,
            shape,
        }))
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the number of controllers.
    pub fn controllers(&self) -> usize {
        self.each_controller().len()
    }

    /// Ends controllers whose keep-alive time has passed. The transport calls it several times a
    /// second.
    pub fn watch(&self, now: Instant) {
        let controllers = self.each_controller();
        controllers.iter().filter(|one| one.is_expired(now)).for_each(|one| one.end());
    }

    /// Looks at the drive: collects placement events, and reports new critical warnings. The
    /// transport calls it about once a second.
    pub fn look(&self) {
        self.collect_placement_events();
        let warnings = log_pages::warnings(&self.drive.health());
        let new = warnings & !std::mem::replace(&mut *lock(&self.warnings), warnings);
        if new > 0 {
            self.each_controller().iter().for_each(|one| one.warn(new));
        }
    }

    /// Ends all controllers without a word, as a power cut does, and restores the zones from the
    /// drive. The drive calls it after each power cut.
    pub fn power_cut(&self) {
        self.each_controller().iter().for_each(|one| one.end());
        if let Some(zones) = &self.zones {
            zones.restore();
        }
    }

    /// Ends active zones if all controllers have completed their shutdown.
    fn controller_shut_down(&self) {
        let controllers = self.each_controller();
        let is_over = controllers.iter().all(|one| one.is_discovery() || one.is_shut_down());
        if let Some(zones) = self.zones.as_ref().filter(|_| is_over) {
            zones.shut_down();
        }
    }

    /// Returns the number of zones in each state; zeros for a namespace without zones.
    pub fn zones_by_state(&self) -> [(&'static str, usize); 5] {
        let all = self.zones.as_ref().map(Zones::all).unwrap_or_default();
        let count = |state| all.iter().filter(|zone| zone.state == state).count();
        [
            ("empty", count(State::Empty)),
            ("implicitly_open", count(State::Implicit)),
            ("explicitly_open", count(State::Explicit)),
            ("closed", count(State::Closed)),
            ("full", count(State::Full)),
        ]
    }

    fn each_controller(&self) -> Vec<Arc<Controller>> {
        lock(&self.controllers).values().filter_map(Weak::upgrade).collect()
    }

    /// Reports an event to all I/O controllers except one.
    fn notify_others(&self, except: u16, event: Event) {
        for controller in self.each_controller() {
            if controller.id() != except {
                controller.namespace_changed(event);
            }
        }
    }

    /// Returns whether each write must be durable when it completes, because the host has disabled
    /// the write cache.
    fn writes_through(&self) -> bool {
        !self.write_cache.load(Ordering::Relaxed)
    }
}
