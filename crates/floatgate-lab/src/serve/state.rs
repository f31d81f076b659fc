//! State under the lock: the drive with its clock, the requests in progress, and the measurements.

use std::mem;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use floatgate_ftl::ftl::HandleEvent;
use floatgate_ftl::recovery::Mount;
use floatgate_ftl::request::{Completion, Op, Request};

use super::backend::{ServeError, Stream};
use super::clock::Clock;
use super::delivery::{Delivery, Entered, Waiter};
use super::history::History;
use super::recorder::Recorder;
use super::shadow::Shadow;
use super::traffic::Traffic;
use crate::drive::live::{self, Live, LiveError, Opened, Outcome};
use crate::metrics::Metrics;
use crate::result::StartResult;
use crate::run::metrics;
use crate::stored::Plug;

/// Requests in an interval of the timeline.
const WINDOW: u64 = 1 << 16;

/// Number of power cuts, and the cost of the last recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Power {
    pub cuts: u64,
    pub mount: Mount,
    pub seconds: f64,
}

/// Faults that a user has set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Faults {
    pub read_error_share: f64,
    pub read_only: bool,
}

/// A write with its bytes, and the thread that waits for it.
#[derive(Debug)]
pub(super) struct Write {
    pub offset: u64,
    pub bytes: Vec<u8>,
    pub stream: Stream,
    pub waiter: Arc<Waiter>,
}

pub(super) struct State {
    /// The drive while it serves; otherwise [`ServeError::PowerOff`] if it is off, recovers or was
    /// shut down, and [`ServeError::Lost`] if it could not be recovered.
    opened: Result<Opened, ServeError>,
    /// The image; none for a drive in memory.
    pub image: Option<PathBuf>,
    pub name: String,
    /// How the drive reached its start state.
    pub start: StartResult,
    pub clock: Clock,
    pub delivery: Delivery,
    pub metrics: Metrics,
    recorded: u64,
    pub recorder: Option<Recorder>,
    pub shadows: Vec<Shadow>,
    pub history: History,
    pub power: Power,
    pub faults: Faults,
    /// Traffic of the flash before the last reset of the counters.
    earlier: Traffic,
    /// Whether events of placement handles are noted.
    notes_handles: bool,
    /// Whether hosts see the drive in zones.
    pub in_zones: bool,
}

impl State {
    pub fn new(
        (opened, image): (Opened, Option<PathBuf>),
        (name, start): (String, StartResult),
        clock: Clock,
    ) -> Self {
        let metrics = metrics(&opened.description.config, &opened.plan);
        let power = Power { mount: opened.drive.mount(), ..Power::default() };
        let mut state = Self {
            opened: Ok(opened),
            image,
            name,
            start,
            clock,
            delivery: Delivery::default(),
            metrics,
            recorded: 0,
            recorder: None,
            shadows: vec![],
            history: History::default(),
            power,
            faults: Faults::default(),
            earlier: Traffic::default(),
            notes_handles: false,
            in_zones: false,
        };
        state.reset();
        state
    }

    /// Returns the drive, its description and its plan.
    ///
    /// # Errors
    /// The reason why the drive does not serve, as for the two functions below.
    pub fn opened(&self) -> Result<&Opened, ServeError> {
        self.opened.as_ref().map_err(ServeError::clone)
    }

    pub fn drive(&mut self) -> Result<&mut Box<dyn Live>, ServeError> {
        self.opened.as_mut().map(|opened| &mut opened.drive).map_err(|off| off.clone())
    }

    /// Takes the drive out of the state: the drive counts as off.
    pub fn take(&mut self) -> Result<Opened, ServeError> {
        self.opened()?;
        mem::replace(&mut self.opened, Err(ServeError::PowerOff))
    }

    /// Recovers the drive after its plug was pulled, and returns the new plug. Requests in progress
    /// fail.
    ///
    /// # Errors
    /// A drive that had no power, or that cannot be recovered.
    pub fn recover(&mut self) -> Result<Plug, ServeError> {
        self.delivery.give_up();
        let Opened { drive, .. } = self.take()?;
        self.earlier.add(&drive.counters());
        let begin = Instant::now();
        let found = live::reopen(drive, self.image.as_deref(), self.clock.time);
        self.opened = found.map_err(|error| ServeError::Lost(error.to_string()));
        let Opened { drive, .. } = self.opened()?;
        let (cuts, seconds) = (self.power.cuts + 1, begin.elapsed().as_secs_f64());
        let plug = drive.plug();
        self.power = Power { cuts, mount: drive.mount(), seconds };
        self.reset();
        self.set_faults(self.faults);
        if self.notes_handles {
            self.take_handle_events()?;
        }
        Ok(plug)
    }

    /// Sets the faults of the drive from now on.
    pub fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
        let cuts = self.power.cuts;
        if let Ok(drive) = self.drive() {
            drive.medium_mut().fail_reads(faults.read_error_share, cuts);
        }
    }

    /// Checks that the power was on since a request arrived, or since its client connected.
    ///
    /// # Errors
    /// The power was cut.
    pub fn has_power_since(&self, entered: Entered) -> Result<(), ServeError> {
        if entered.cuts == self.power.cuts { Ok(()) } else { Err(ServeError::PowerOff) }
    }

    /// Returns the time on the drive's clock. The simulated clock stops while the drive has nothing
    /// to do; real time counts then.
    pub fn time_ns(&self) -> u64 {
        self.played_ns().max(self.clock.now_ns())
    }

    fn played_ns(&self) -> u64 {
        self.opened.as_ref().map_or(0, |opened| opened.drive.device().time().0)
    }

    /// Returns the arrival time of a request on the drive's clock.
    pub fn stamp(&mut self, arrived: Instant) -> u64 {
        self.clock.stamp(arrived, self.played_ns())
    }

    /// Begins a request. Its effects are complete when this returns; its completion may come later.
    pub fn begin(&mut self, request: Request, waiter: &Arc<Waiter>) -> Result<Outcome, ServeError> {
        let seen = self.as_the_drive_sees(request);
        let begun = self.drive()?.begin(seen)?;
        self.note(&[(request, Arc::clone(waiter))], &begun);
        Ok(begun)
    }

    /// Begins writes together, as if they had arrived at `at`.
    pub fn begin_writes(&mut self, at: Instant, writes: Vec<Write>) -> Result<Outcome, ServeError> {
        let at_ns = self.stamp(at);
        let asked = writes.into_iter().map(|Write { offset, bytes, stream, waiter }| {
            let length = bytes.len() as u64;
            let request = Request { at_ns, op: Op::Write, offset, length, stream };
            ((self.as_the_drive_sees(request), bytes), (request, waiter))
        });
        let (asked, noted): (Vec<_>, Vec<_>) = asked.unzip();
        let begun = self.drive()?.begin_writes(asked)?;
        self.note(&noted, &begun);
        Ok(begun)
    }

    /// Removes the arrival time if there is no clock: no time passes between requests then.
    fn as_the_drive_sees(&self, request: Request) -> Request {
        if self.clock.is_simulated() { request } else { Request { at_ns: 0, ..request } }
    }

    fn note(&mut self, requests: &[(Request, Arc<Waiter>)], begun: &Outcome) {
        for (at, (request, waiter)) in requests.iter().enumerate() {
            if let Some(recorder) = &mut self.recorder {
                recorder.add(request);
            }
            self.shadows.iter_mut().for_each(|shadow| shadow.ask(request));
            match begun.done.get(at) {
                Some(completion) => {
                    self.count(request, completion);
                    waiter.complete(completion.done_ns);
                }
                None => self.delivery.hold(begun.first + at as u64, *request, waiter),
            }
        }
    }

    fn count(&mut self, request: &Request, completion: &Completion) {
        self.metrics.record(request, completion);
        self.recorded += 1;
        if self.recorded.is_multiple_of(WINDOW)
            && let Ok(opened) = &self.opened
        {
            self.metrics.end_interval_at(self.recorded, opened.drive.counters());
        }
    }

    /// Simulates the drive up to now, and returns whether a request has completed.
    pub fn pass_time(&mut self) -> bool {
        let now = self.clock.now_ns();
        let mut ended = Vec::new();
        if let Some(opened) = self.opened.as_mut().ok().filter(|_| self.delivery.in_progress() > 0)
        {
            opened.drive.device_mut().pass_time(now, &mut ended);
        }
        for (number, completion) in &ended {
            if let Some(request) = self.delivery.complete(*number, completion.done_ns) {
                self.count(&request, completion);
            }
        }
        !ended.is_empty()
    }

    /// Returns the time from now until the next event of the drive, and the time of that event on
    /// the drive's clock.
    pub fn quiet_for(&self) -> (Duration, u64) {
        let next = self.opened.as_ref().ok().and_then(|opened| opened.drive.device().time().1);
        let next = next.unwrap_or(u64::MAX);
        (Duration::from_nanos(next.saturating_sub(self.clock.now_ns())), next)
    }

    /// Adds a sample to the history if one is due.
    pub fn sample(&mut self, p99_us: impl FnOnce() -> Option<f64>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.flush();
        }
        if let Some(Opened { drive, plan, .. }) =
            self.opened.as_ref().ok().filter(|_| self.history.tick())
        {
            let (now, free) = (drive.counters(), drive.device().units().free_units());
            self.history.add(now, free, p99_us(), plan.geometry.shape().page_bytes);
        }
    }

    /// Resets counters and clocks to zero; no request may be in progress.
    pub fn reset(&mut self) {
        assert_eq!(self.delivery.in_progress(), 0, "counters are reset between requests");
        if let Ok(Opened { drive, description, plan }) = &mut self.opened {
            self.earlier.add(&drive.counters());
            drive.reset_counters();
            self.metrics = metrics(&description.config, plan);
        }
        self.recorded = 0;
        self.clock.reset();
        self.history = History::default();
        self.shadows.iter_mut().for_each(Shadow::reset);
        if let Some(recorder) = &mut self.recorder {
            recorder.continue_after_reset();
        }
    }

    /// Returns the traffic of the flash since the server started.
    ///
    /// # Errors
    /// The reason why the drive does not serve.
    pub fn traffic(&self) -> Result<Traffic, ServeError> {
        let mut traffic = self.earlier.clone();
        traffic.add(&self.opened()?.drive.counters());
        Ok(traffic)
    }

    /// Returns the events of placement handles since the last call. The first call begins to note
    /// events.
    ///
    /// # Errors
    /// The reason why the drive does not serve.
    pub fn take_handle_events(&mut self) -> Result<Vec<HandleEvent>, ServeError> {
        self.notes_handles = true;
        let mut events = vec![];
        if let Some(handles) = self.drive()?.handles() {
            handles.take_events(&mut events);
        }
        Ok(events)
    }

    /// Marks the drive as failed if its file was truncated.
    pub fn look_at_image(&mut self) {
        if self.image.is_some()
            && let Ok(drive) = self.drive()
        {
            drive.medium_mut().look_at_length();
        }
    }

    /// Returns the reason if the drive reads and writes nothing any more.
    pub fn failure(&self) -> Option<String> {
        let drive = &self.opened.as_ref().ok()?.drive;
        let stopped = LiveError::if_stopped(drive.medium().fault()).err()?;
        Some(format!("{stopped}; nothing is read or written any more"))
    }

    /// Returns a warning if the image's path no longer leads to the open file: somebody removed or
    /// replaced the file, and another server may use the new one.
    pub fn image_gone(&self) -> Option<String> {
        let (path, opened) = (self.image.as_ref()?, self.opened.as_ref().ok()?);
        (!opened.drive.medium().is_at(path)).then(|| {
            format!(
                "{} is not the file that was served any more: it was removed, moved or replaced; \
                 unless `floatgate ctl snapshot FILE` copies the drive, what clients write is lost \
                 when the server ends",
                path.display()
            )
        })
    }
}
