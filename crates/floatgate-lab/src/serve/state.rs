//! State under the lock: the drive, its measurements, and the requests in progress.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use floatgate_ftl::recovery::Mount;
use floatgate_ftl::request::{Completion, Op, Request};

use super::ServeError;
use super::history::History;
use super::recorder::Recorder;
use super::shadow::Shadow;
use super::waiting::{Entered, Waiter, Write};
use crate::drive::live::{Live, Opened, Outcome, Timekeeping};
use crate::metrics::Metrics;
use crate::result::StartResult;
use crate::run::metrics;

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

/// A request that the simulated drive has not answered yet.
#[derive(Debug)]
struct Running {
    request: Request,
    waiter: Arc<Waiter>,
}

/// State under the lock.
pub(super) struct State {
    /// None if there is no power, or after a shutdown.
    pub opened: Option<Opened>,
    /// Reason why the drive could not be recovered, if it could not.
    pub lost: Option<String>,
    pub name: String,
    /// How the drive reached its start state.
    pub start: StartResult,
    pub time: Timekeeping,
    /// How much earlier than the simulated drive answers the server sends the reply.
    pub transport: Duration,
    pub metrics: Metrics,
    running: BTreeMap<u64, Running>,
    /// Real time at which the simulated time was zero.
    epoch: Instant,
    /// Arrival of the last request, on the drive's clock.
    last_ns: u64,
    /// Whether a thread leads, and below the time of the event that it waits for.
    pub leads: bool,
    pub until_ns: u64,
    /// Whether no request may begin for now.
    pub is_paused: bool,
    recorded: u64,
    pub recorder: Option<Recorder>,
    pub shadows: Vec<Shadow>,
    pub history: History,
    pub power: Power,
    pub faults: Faults,
}

fn off(lost: &Option<String>) -> ServeError {
    lost.clone().map_or(ServeError::PowerOff, ServeError::Lost)
}

impl State {
    /// Adds a sample to the history if one is due.
    pub fn sample(&mut self, p99_us: impl FnOnce() -> Option<f64>, page_bytes: u32) {
        if let Some(recorder) = &mut self.recorder {
            recorder.flush();
        }
        if let Some(opened) = self.opened.as_ref().filter(|_| self.history.tick()) {
            let (now, free) = (opened.drive.counters(), opened.drive.device().free_units());
            self.history.add(now, free, p99_us(), page_bytes);
        }
    }

    pub fn new(
        opened: Opened,
        (name, start): (String, StartResult),
        (time, transport): (Timekeeping, Duration),
    ) -> Self {
        let metrics = metrics(&opened.description.config, &opened.plan);
        let power = Power { mount: opened.drive.mount(), ..Power::default() };
        let mut state = Self {
            opened: Some(opened),
            lost: None,
            name,
            start,
            time,
            transport,
            metrics,
            running: BTreeMap::new(),
            epoch: Instant::now(),
            last_ns: 0,
            leads: false,
            until_ns: u64::MAX,
            is_paused: false,
            recorded: 0,
            recorder: None,
            shadows: vec![],
            history: History::default(),
            power,
            faults: Faults::default(),
        };
        state.reset();
        state
    }

    pub fn drive(&mut self) -> Result<&mut Box<dyn Live>, ServeError> {
        let lost = &self.lost;
        self.opened.as_mut().map(|opened| &mut opened.drive).ok_or_else(|| off(lost))
    }

    /// The drive, its description and its plan.
    pub fn opened(&self) -> Result<&Opened, ServeError> {
        self.opened.as_ref().ok_or_else(|| self.why_off())
    }

    /// Returns the reason why there is no drive.
    pub fn why_off(&self) -> ServeError {
        off(&self.lost)
    }

    /// Checks that the power was on since a request arrived, or since its client connected.
    ///
    /// # Errors
    /// The power was cut.
    pub fn has_power_since(&self, entered: Entered) -> Result<(), ServeError> {
        if entered.cuts == self.power.cuts { Ok(()) } else { Err(ServeError::PowerOff) }
    }

    pub fn has_clock(&self) -> bool {
        self.time == Timekeeping::Simulated
    }

    /// Returns the number of requests that can begin before another one must complete.
    pub fn room(&self) -> usize {
        let Some(Opened { description, .. }) = &self.opened else {
            // The request itself then reports that there is no drive.
            return usize::MAX;
        };
        let queue = &description.config.queue;
        match (self.is_paused, self.has_clock()) {
            (true, _) => 0,
            (false, false) => usize::MAX,
            _ => (queue.depth as usize * queue.queues as usize).saturating_sub(self.running.len()),
        }
    }

    pub fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// Time up to which to simulate the drive. It is ahead of real time by the transport time, so
    /// that replies reach their clients in time.
    fn now_ns(&self) -> u64 {
        (self.epoch.elapsed() + self.transport).as_nanos() as u64
    }

    /// Time on the drive's clock. The drive's own clock stops while it has nothing to do; real time
    /// counts then.
    pub fn time_ns(&self) -> u64 {
        self.played_ns().max(self.now_ns())
    }

    fn played_ns(&self) -> u64 {
        self.opened.as_ref().map_or(0, |opened| opened.drive.device().time().0)
    }

    /// Returns the arrival time of a request on the drive's clock: later than the arrivals before
    /// it, and later than everything that the drive has already simulated.
    pub fn stamp(&mut self, entered: Instant) -> u64 {
        let at = entered.saturating_duration_since(self.epoch).as_nanos() as u64;
        self.last_ns = self.last_ns.max(self.played_ns()).max(at.saturating_sub(1)) + 1;
        self.last_ns
    }

    /// Begins a request. Its effects are complete when this returns; its completion may come later.
    pub fn begin(&mut self, request: Request, waiter: &Arc<Waiter>) -> Result<Outcome, ServeError> {
        let seen = self.as_the_drive_sees(request);
        let begun = self.drive()?.begin(seen)?;
        self.note(&[(request, Arc::clone(waiter))], &begun);
        Ok(begun)
    }

    /// Begins writes that arrived together.
    pub fn begin_writes(&mut self, at_ns: u64, writes: Vec<Write>) -> Result<Outcome, ServeError> {
        let mut noted = Vec::with_capacity(writes.len());
        let mut asked = Vec::with_capacity(writes.len());
        for Write { offset, bytes, stream, waiter } in writes {
            let length = bytes.len() as u64;
            let request = Request { at_ns, op: Op::Write, offset, length, stream };
            asked.push((self.as_the_drive_sees(request), bytes));
            noted.push((request, waiter));
        }
        let begun = self.drive()?.begin_writes(asked)?;
        self.note(&noted, &begun);
        Ok(begun)
    }

    /// Without a clock no time passes between requests.
    fn as_the_drive_sees(&self, request: Request) -> Request {
        if self.has_clock() { request } else { Request { at_ns: 0, ..request } }
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
                None => {
                    let running = Running { request: *request, waiter: Arc::clone(waiter) };
                    self.running.insert(begun.first + at as u64, running);
                }
            }
        }
    }

    fn count(&mut self, request: &Request, completion: &Completion) {
        self.metrics.record(request, completion);
        self.recorded += 1;
        if self.recorded.is_multiple_of(WINDOW)
            && let Some(opened) = &self.opened
        {
            self.metrics.end_interval_at(self.recorded, opened.drive.counters());
        }
    }

    /// Simulates the drive up to now, and returns whether a request has completed.
    pub fn pass_time(&mut self) -> bool {
        let now = self.now_ns();
        let mut ended = Vec::new();
        if let Some(opened) = self.opened.as_mut().filter(|_| !self.running.is_empty()) {
            opened.drive.device_mut().pass_time(now, &mut ended);
        }
        for (number, completion) in &ended {
            let Some(Running { request, waiter }) = self.running.remove(number) else { continue };
            self.count(&request, completion);
            waiter.complete(completion.done_ns);
        }
        !ended.is_empty()
    }

    /// Returns how long nothing will happen as far as the drive knows, and the time of the next
    /// event on the drive's clock.
    pub fn quiet_for(&self) -> (Duration, u64) {
        let next = self.opened.as_ref().and_then(|opened| opened.drive.device().time().1);
        let next = next.unwrap_or(u64::MAX);
        (Duration::from_nanos(next.saturating_sub(self.now_ns())), next)
    }

    /// Returns by how much that time on the drive's clock has passed.
    pub fn late_by(&self, at_ns: u64) -> Duration {
        Duration::from_nanos(self.now_ns().saturating_sub(at_ns))
    }

    /// Returns the waiter of a request in progress.
    pub fn someone(&self) -> Option<&Arc<Waiter>> {
        self.running.values().next().map(|running| &running.waiter)
    }

    /// Fails all requests in progress.
    pub fn give_up(&mut self) {
        while let Some((_, Running { waiter, .. })) = self.running.pop_first() {
            waiter.fail(ServeError::PowerOff);
        }
    }

    /// Resets counters and clocks to zero; no request may be in progress.
    pub fn reset(&mut self) {
        assert!(self.running.is_empty(), "counters are reset between requests");
        if let Some(Opened { drive, description, plan }) = &mut self.opened {
            drive.reset_counters();
            self.metrics = metrics(&description.config, plan);
        }
        (self.recorded, self.last_ns, self.epoch) = (0, 0, Instant::now());
        self.history = History::default();
        self.shadows.iter_mut().for_each(Shadow::reset);
        if let Some(recorder) = &mut self.recorder {
            recorder.continue_after_reset();
        }
    }
}
