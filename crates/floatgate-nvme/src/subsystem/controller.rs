//! A controller: one host's view of the subsystem.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Instant;

use crate::drive::Session;
use crate::spec::command::Command;
use crate::spec::fabrics::property;
use crate::spec::features::{event, notice};
use crate::spec::logs::{id as log, smart};
use crate::spec::opcodes::fabrics;
use crate::spec::status::Status;

use super::async_events::{Event, Events};
use super::features::Features;
use super::properties::{Effect, Kind, Properties};
use super::reply::{Answer, Outcome, Reply, Stop, Transfer};
use super::zones::{Epoch, Zones};
use super::{Subsystem, lock};

/// A queue's connection, as its controller needs it.
pub trait Link: Send + Sync {
    /// Completes an asynchronous event request.
    fn complete(&self, id: u16, reply: Reply);

    /// Ends the connection at once. The controller may call this from any thread.
    fn end(&self);
}

/// A notice of a changed namespace attribute.
pub(super) const NAMESPACE_CHANGED: Event = Event {
    kind: notice::NOTICE,
    information: notice::NAMESPACE_CHANGED,
    log: log::CHANGED_NAMESPACES,
};

/// A controller.
pub struct Controller {
    pub(super) subsystem: Arc<Subsystem>,
    id: u16,
    kind: Kind,
    pub(super) host_id: [u8; 16],
    pub(super) host: String,
    pub(super) session: Arc<dyn Session>,
    /// Epoch of the zones in which the session began; any for a namespace without zones.
    pub(super) zones_epoch: Epoch,
    /// Discovery log page of a discovery controller.
    pub(super) discovery: Vec<u8>,
    properties: Mutex<Properties>,
    pub(super) features: Mutex<Features>,
    events: Mutex<Events>,
    /// Whether the namespace has changed since the host read the list of changed namespaces.
    pub(super) has_changed: AtomicBool,
    links: Mutex<BTreeMap<u16, Weak<dyn Link>>>,
    /// Whether the controller executes commands.
    is_ready: AtomicBool,
    is_over: AtomicBool,
    /// Commands in execution.
    executing: AtomicU32,
    born: Instant,
    /// Time of the last command, in milliseconds since the controller's birth.
    last_ms: AtomicU64,
}

/// A host that connects: its identifier and its name.
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub id: [u8; 16],
    pub name: String,
}

/// Guard of a command in execution: its end is traffic that keeps the controller alive.
struct Executing<'a>(&'a Controller);

impl Drop for Executing<'_> {
    fn drop(&mut self) {
        self.0.touch();
        self.0.executing.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Controller {
    pub(super) fn new(
        subsystem: Arc<Subsystem>,
        (id, kind): (u16, Kind),
        host: Host,
        discovery: Vec<u8>,
        keep_alive_ms: u32,
    ) -> Self {
        // The epoch first: a session that begins after a power cut may get the epoch before the
        // cut, in which it can change no zone, but not the reverse.
        let zones_epoch = subsystem.zones.as_ref().map(Zones::epoch).unwrap_or_default();
        let session = subsystem.drive.attach();
        let Host { id: host_id, name: host } = host;
        Self {
            subsystem,
            id,
            kind,
            host_id,
            host,
            session,
            zones_epoch,
            discovery,
            properties: Mutex::new(Properties::new(kind)),
            features: Mutex::new(Features::new(keep_alive_ms)),
            events: Mutex::default(),
            has_changed: AtomicBool::new(false),
            links: Mutex::default(),
            is_ready: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            executing: AtomicU32::new(0),
            born: Instant::now(),
            last_ms: AtomicU64::new(0),
        }
    }

    /// Returns the identifier.
    pub fn id(&self) -> u16 {
        self.id
    }

    /// Returns whether this is a discovery controller.
    pub fn is_discovery(&self) -> bool {
        self.kind == Kind::Discovery
    }

    /// Returns whether the host has enabled all command sets.
    pub(super) fn has_all_sets(&self) -> bool {
        lock(&self.properties).has_all_sets()
    }

    /// Returns whether the controller executes commands.
    pub(super) fn is_ready(&self) -> bool {
        self.is_ready.load(Ordering::Relaxed)
    }

    /// Returns whether the controller has completed its shutdown, or has ended.
    pub(super) fn is_shut_down(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || lock(&self.properties).is_shut_down()
    }

    /// Changes the properties.
    fn change<T>(&self, change: impl FnOnce(&mut Properties) -> T) -> T {
        let mut properties = lock(&self.properties);
        let result = change(&mut properties);
        let is_over = self.is_over.load(Ordering::Relaxed);
        self.is_ready.store(properties.is_ready() && !is_over, Ordering::Relaxed);
        result
    }

    /// Returns direction and length of a command's data.
    ///
    /// # Errors
    /// A command that fails whatever its data are. [`Controller::fail`] makes its reply.
    pub fn transfer(&self, queue: u16, command: &Command) -> Result<Transfer, Status> {
        match (command.opcode(), queue) {
            _ if command.is_fused() || !command.has_sgl() => Err(Status::INVALID_FIELD),
            (fabrics::OPCODE, _) => Ok(Transfer::None),
            _ if !self.is_ready() => Err(Status::SEQUENCE),
            (_, 0) => self.admin_transfer(command),
            _ => self.io_transfer(command),
        }
    }

    /// Executes a command. `data` has the length that [`Controller::transfer`] gave: data from the
    /// host, or zeros in which the controller leaves data for the host.
    pub fn execute(&self, queue: u16, command: &Command, data: &mut [u8]) -> Outcome {
        self.executing.fetch_add(1, Ordering::Relaxed);
        let _executing = Executing(self);
        let answer = match (command.opcode(), queue) {
            (fabrics::OPCODE, 0) => self.property(command),
            (fabrics::OPCODE, _) => Err(Status::INVALID_FIELD.into()),
            (_, 0) => self.admin(command, data),
            _ => self.io(command, data),
        };
        match answer {
            Ok(result) => Outcome::Done(Reply { result, status: Status::SUCCESS }),
            Err(Stop::Failed(status)) => Outcome::Done(self.fail(queue, command, status)),
            Err(Stop::Later) => Outcome::Later,
            Err(Stop::PowerOff) => Outcome::PowerOff,
        }
    }

    /// Logs a failed command, and returns its reply.
    pub fn fail(&self, queue: u16, command: &Command, status: Status) -> Reply {
        lock(&self.subsystem.errors).add(queue, command, status);
        Reply::new(status.with_more())
    }

    /// Notes traffic, which keeps the controller alive.
    pub fn touch(&self) {
        self.last_ms.store(self.born.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    /// Property Get and Property Set.
    fn property(&self, command: &Command) -> Answer {
        let is_long = match command.0[property::ATTRIBUTES] & 7 {
            0 => false,
            1 => true,
            _ => return Err(Status::INVALID_FIELD.into()),
        };
        let at = command.dword(property::OFFSET / 4);
        match command.fabrics_type() {
            fabrics::PROPERTY_GET => Ok(lock(&self.properties).get(at, is_long)?),
            fabrics::PROPERTY_SET => {
                let value = command.dword(property::VALUE / 4);
                let high = command.dword(property::VALUE / 4 + 1);
                let value = u64::from(high) << 32 | u64::from(value);
                let effect = self.change(|properties| properties.set(at, is_long, value))?;
                self.configured(effect)
            }
            fabrics::CONNECT => Err(Status::SEQUENCE.into()),
            _ => Err(Status::INVALID_OPCODE.into()),
        }
    }

    /// Applies the effect of a changed configuration.
    fn configured(&self, effect: Effect) -> Answer {
        match effect {
            Effect::None => {}
            Effect::Shutdown => {
                self.session.flush()?;
                self.change(Properties::shut_down);
                self.subsystem.controller_shut_down();
            }
            Effect::Reset => {
                self.end_queues(|queue| queue > 0);
                *lock(&self.events) = Events::default();
                let mut features = lock(&self.features);
                *features = Features::new(features.keep_alive_ms);
            }
        }
        Ok(0)
    }

    /// Adds an asynchronous event request.
    pub(super) fn await_event(&self, id: u16) -> Answer {
        match lock(&self.events).request(id) {
            Err(()) => Err(Status::EVENT_LIMIT.into()),
            Ok(None) => Err(Stop::Later),
            Ok(Some(event)) => Ok(event.dword().into()),
        }
    }

    /// Aborts a waiting event request. Returns whether there was one.
    pub(super) fn abort_event(&self, id: u16) -> bool {
        let was_waiting = lock(&self.events).abort(id);
        if was_waiting {
            self.complete(id, Reply::new(Status::ABORTED));
        }
        was_waiting
    }

    /// Allows the events of a log page again.
    pub(super) fn unmask(&self, log: u8) {
        lock(&self.events).unmask(log);
    }

    fn raise(&self, event: Event) {
        let request = lock(&self.events).raise(event);
        if let Some(id) = request {
            self.complete(id, Reply { result: event.dword().into(), status: Status::SUCCESS });
        }
    }

    fn complete(&self, id: u16, reply: Reply) {
        let link = lock(&self.links).get(&0).and_then(Weak::upgrade);
        if let Some(link) = link {
            link.complete(id, reply);
        }
    }

    /// Reports that the namespace has changed.
    pub(super) fn namespace_changed(&self, event: Event) {
        if self.is_discovery() || !self.is_ready() {
            return;
        }
        self.has_changed.store(true, Ordering::Relaxed);
        if lock(&self.features).events & event::NAMESPACE > 0 {
            self.raise(event);
        }
    }

    /// Reports new critical warnings.
    pub(super) fn warn(&self, warnings: u8) {
        let enabled = lock(&self.features).events & event::SMART & u32::from(warnings);
        if self.is_discovery() || !self.is_ready() || enabled == 0 {
            return;
        }
        let is_spare = enabled & u32::from(smart::WARN_SPARE) > 0;
        let information = if is_spare { notice::SPARE } else { notice::RELIABILITY };
        self.raise(Event { kind: notice::HEALTH, information, log: log::SMART });
    }

    /// Registers the connection of a queue.
    ///
    /// # Errors
    /// The queue has a connection, or the controller has ended.
    pub(super) fn attach(&self, queue: u16, link: Weak<dyn Link>) -> Result<(), Status> {
        let mut links = lock(&self.links);
        let is_over = self.is_over.load(Ordering::Relaxed);
        if is_over || links.get(&queue).is_some_and(|link| link.strong_count() > 0) {
            return Err(Status::SEQUENCE);
        }
        links.insert(queue, link);
        Ok(())
    }

    /// Returns the number of I/O queues.
    pub(super) fn io_queues(&self) -> usize {
        let links = lock(&self.links);
        links.iter().filter(|(queue, link)| **queue > 0 && link.strong_count() > 0).count()
    }

    /// Reports that the connection of a queue has ended. Without its admin queue, a controller
    /// ends.
    pub fn detach(&self, queue: u16) {
        lock(&self.links).remove(&queue);
        if queue == 0 {
            self.end();
        }
    }

    /// Ends the controller and its connections at once. The connections end first: a command that
    /// the host has sent gets no reply that the controller is not ready.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.end_queues(|_| true);
        self.change(Properties::fail);
    }

    fn end_queues(&self, which: impl Fn(u16) -> bool) {
        let links = lock(&self.links);
        let ended = links.iter().filter(|(queue, _)| which(**queue));
        let ended: Vec<_> = ended.filter_map(|(_, link)| link.upgrade()).collect();
        drop(links);
        ended.iter().for_each(|link| link.end());
    }

    /// Returns whether the keep-alive time has passed. A command in execution is traffic.
    pub(super) fn is_expired(&self, now: Instant) -> bool {
        let ms = lock(&self.features).keep_alive_ms;
        let now_ms = now.saturating_duration_since(self.born).as_millis() as u64;
        let idle_ms = now_ms.saturating_sub(self.last_ms.load(Ordering::Relaxed));
        let is_idle = self.executing.load(Ordering::Relaxed) == 0;
        ms > 0 && is_idle && idle_ms > ms.into()
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        lock(&self.subsystem.controllers).remove(&self.id);
    }
}
