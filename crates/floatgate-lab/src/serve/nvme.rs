//! The served drive as an NVMe drive, which [`floatgate_nvme`] offers over TCP.
//!
//! An NVMe controller is a [`Client`] like a connection of nbdkit: its commands take the same way
//! through admission, leader and delivery. This module adds what NVMe asks of a drive: shape,
//! health, traffic, and placement handles.

mod report;
mod session;
mod zones;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, Weak};

use floatgate_ftl::ftl::HandleEvent;
use floatgate_ftl::placement::Isolation as IsolationOfConfig;
use floatgate_nvme::drive::{
    Drive, DriveEvent, Health, Isolation, Placement, Session, Shape, Traffic, ZoneFill,
};
use floatgate_nvme::subsystem::{Settings, SettingsError, Subsystem};
use floatgate_nvme::tcp::{Options, Server};

use super::backend::ServeError;
use super::panics::lock;
use super::served::Served;
use super::state::State;
use crate::drive::live::Opened;
use report::Report;
use session::Controller;
use zones::{ZonedController, Zones};

struct NvmeDrive {
    served: Arc<Served>,
    shape: Shape,
    /// Latest report of the drive with power. A drive without power still reports it.
    last: Mutex<Report>,
    /// Power cuts that were reported as events.
    cuts: Mutex<u64>,
    unaligned: Arc<session::Unaligned>,
    /// Zones; none for a drive with random writes.
    zones: Option<Arc<Zones>>,
}

/// A target that serves a drive over NVMe/TCP. It ends when it is dropped.
pub struct NvmeTarget {
    server: Server,
    served: Arc<Served>,
}

/// Reason why there is no target.
#[derive(Debug)]
pub enum NvmeError {
    /// The drive does not serve.
    Drive(ServeError),
    /// The settings, or the size of the drive, are wrong.
    Settings(SettingsError),
    /// The config of the drive does not suit zones: the key, its value, and the expected value.
    Zones(String),
    /// The server cannot listen at its address.
    Address(SocketAddr, io::Error),
}

impl fmt::Display for NvmeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drive(error) => error.fmt(f),
            Self::Settings(error) => error.fmt(f),
            Self::Zones(text) => f.write_str(text),
            Self::Address(at, error) if error.kind() == io::ErrorKind::AddrInUse => {
                write!(f, "{at}: {error}; expected a free --port")
            }
            Self::Address(at, error) => write!(f, "{at}: {error}"),
        }
    }
}

impl std::error::Error for NvmeError {}

impl NvmeTarget {
    /// Serves a drive at an address; port 0 takes a free port. `is_zoned` offers the drive in
    /// zones, and hosts then have no placement handles.
    ///
    /// # Errors
    /// See [`NvmeError`].
    pub fn start(
        served: &Arc<Served>,
        settings: Settings,
        address: SocketAddr,
        options: Options,
        is_zoned: bool,
    ) -> Result<Self, NvmeError> {
        let drive = NvmeDrive::new(Arc::clone(served), is_zoned)?;
        let zones = drive.shape.zones;
        let subsystem = Subsystem::new(settings, Arc::new(drive)).map_err(NvmeError::Settings)?;
        // A drive with a clock lets each command wait.
        let in_place = served.leader.look(|state| !state.clock.is_simulated());
        let options = Options { in_place, ..options };
        let server = Server::start(Arc::clone(&subsystem), address, options);
        let server = server.map_err(|error| NvmeError::Address(address, error))?;
        let subsystem = Arc::downgrade(&subsystem);
        if let Some(shape) = zones {
            let subsystem = Weak::clone(&subsystem);
            served.reports_zones(move || {
                let states = subsystem.upgrade()?.zones_by_state();
                Some(zones::document(shape, states))
            });
        }
        served.after_power_cuts(move || {
            if let Some(subsystem) = subsystem.upgrade() {
                subsystem.power_cut();
            }
        });
        Ok(Self { server, served: Arc::clone(served) })
    }

    /// Returns the address.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Returns the drive.
    pub fn served(&self) -> &Arc<Served> {
        &self.served
    }
}

impl NvmeDrive {
    fn new(served: Arc<Served>, is_zoned: bool) -> Result<Self, NvmeError> {
        let unaligned = Arc::new(session::Unaligned::default());
        let (mut shape, last, cuts) = served
            .leader
            .look(|state| {
                // Events are noted from now on.
                state.take_handle_events()?;
                Ok::<_, ServeError>((shape_of(state)?, Report::new(state)?, state.power.cuts))
            })
            .map_err(NvmeError::Drive)?;
        let mut zones = None;
        if is_zoned {
            let of = served.leader.look(|state| {
                state.in_zones = true;
                let opened = state.opened().map_err(NvmeError::Drive)?;
                Zones::new(opened).map_err(NvmeError::Zones)
            })?;
            let bytes = of.count * of.shape.bytes;
            shape = Shape { bytes, placement: None, zones: Some(of.shape), ..shape };
            zones = Some(Arc::new(of));
        }
        let (last, cuts) = (Mutex::new(last), Mutex::new(cuts));
        Ok(Self { served, shape, last, cuts, unaligned, zones })
    }

    /// Returns the current report, or the latest one if the drive has no power.
    fn report(&self) -> Report {
        let mut last = lock(&self.last);
        if let Ok(report) = self.served.leader.look(|state| Report::new(state)) {
            *last = report;
        }
        last.clone()
    }
}

/// Returns the shape of a drive for NVMe. Unflushed data may be lost with the server, so the drive
/// has a write cache.
fn shape_of(state: &mut State) -> Result<Shape, ServeError> {
    let obeys_handles = state.drive()?.handles().is_some();
    let Opened { drive, description, plan } = state.opened()?;
    let page_bytes = plan.geometry.shape().page_bytes;
    let erase_units = plan.reclaim_units.iter().copied().max().unwrap_or(1);
    let unit_pages = u64::from(erase_units) * u64::from(plan.geometry.unit_capacity());
    let config = &description.config.placement;
    let isolation = match config.isolation.0 {
        IsolationOfConfig::Initially => Isolation::Initially,
        IsolationOfConfig::Persistently => Isolation::Persistently,
    };
    let placement = obeys_handles.then_some(Placement {
        handles: config.handles as u16,
        unit_bytes: unit_pages * u64::from(page_bytes),
        isolation,
    });
    Ok(Shape { bytes: drive.bytes(), page_bytes, has_cache: true, placement, zones: None })
}

impl Drive for NvmeDrive {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn attach(&self) -> Arc<dyn Session> {
        let controller = Controller::new(&self.served, Arc::clone(&self.unaligned));
        match &self.zones {
            Some(zones) => Arc::new(ZonedController::new(controller, Arc::clone(zones))),
            None => Arc::new(controller),
        }
    }

    fn health(&self) -> Health {
        let uptime = self.served.started.elapsed();
        Health {
            power_on_hours: uptime.as_secs() / 3600,
            unaligned: self.unaligned.count(),
            ..self.report().health
        }
    }

    fn traffic(&self) -> Traffic {
        self.report().traffic
    }

    fn room(&self, handle: u16) -> u64 {
        let pages = self.served.leader.look(|state| {
            let handles = state.drive().ok()?.handles()?;
            Some(handles.room(handle as u8))
        });
        pages.unwrap_or(0) * u64::from(self.shape.page_bytes)
    }

    fn take_events(&self) -> Vec<DriveEvent> {
        let (events, cuts) = self
            .served
            .leader
            .look(|state| (state.take_handle_events().unwrap_or_default(), state.power.cuts));
        let was = std::mem::replace(&mut *lock(&self.cuts), cuts);
        let resets = (was..cuts).map(|_| DriveEvent::Reset);
        let page_bytes = u64::from(self.shape.page_bytes);
        let placement = self.shape.placement;
        let shares = placement.is_some_and(|of| of.isolation == Isolation::Initially);
        let events = events.into_iter().filter_map(|event| match event {
            HandleEvent::NextUnit { handle } => {
                placement.map(|_| DriveEvent::NextUnit { handle: handle.into() })
            }
            HandleEvent::Moved { handle, first, pages } => {
                shares.then_some(DriveEvent::Reallocated {
                    handle: handle.into(),
                    offset: u64::from(first.get()) * page_bytes,
                    length: pages * page_bytes,
                })
            }
        });
        resets.chain(events).collect()
    }

    fn zone(&self, zone: u64) -> Option<ZoneFill> {
        let zones = self.zones.as_ref()?;
        let leader = &self.served.leader;
        let fill = leader.look(|state| state.drive().map(|drive| zones.fill(&**drive, zone)));
        let fill = fill.ok()?;
        zones.refill(zone, fill);
        Some(fill)
    }
}
