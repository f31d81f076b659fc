//! What is behind the lock: the drive, what is measured of it, and what runs on it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use floatgate_ftl::recovery::Mount;
use floatgate_ftl::request::{Completion, Op, Request};

use super::ServeError;
use super::history::History;
use super::pacing::{Entered, Waiter};
use super::recorder::Recorder;
use super::shadow::Shadow;
use super::waiting::Write;
use crate::drive::live::{Begun, Live, Opened, Timekeeping};
use crate::metrics::Metrics;
use crate::result::StartResult;
use crate::run::metrics;

/// Requests of a window of the timeline.
const WINDOW: u64 = 1 << 16;

/// How often the power was lost, and what finding the drive again took the last time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Power {
    pub cuts: u64,
    pub mount: Mount,
    pub seconds: f64,
}

/// What is wrong with the drive because somebody wants it so.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Faults {
    pub read_error_share: f64,
    pub read_only: bool,
}

/// A request that the simulated drive has not answered.
#[derive(Debug)]
struct Running {
    request: Request,
    waiter: Arc<Waiter>,
}

/// What is behind the lock.
pub(super) struct State {
    /// None if there is no power, or the drive was shut down.
    pub opened: Option<Opened>,
    /// Why it was not found again, if so.
    pub lost: Option<String>,
    pub name: String,
    /// How it was brought to its start state.
    pub start: StartResult,
    pub time: Timekeeping,
    /// How much earlier than the drive has it a reply sets out.
    pub transport: Duration,
    pub metrics: Metrics,
    running: BTreeMap<u64, Running>,
    /// When the simulated time was zero.
    epoch: Instant,
    /// The time of the last request.
    last_ns: u64,
    /// Whether somebody lets time pass, and until when he waits.
    pub leads: bool,
    pub until_ns: u64,
    /// Nothing is begun for now.
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

    /// The drive, what it is, and its size.
    pub fn opened(&self) -> Result<&Opened, ServeError> {
        self.opened.as_ref().ok_or_else(|| self.why_off())
    }

    /// Why there is no drive.
    pub fn why_off(&self) -> ServeError {
        off(&self.lost)
    }

    /// Whether the power was on all the time since a request has come, or its client.
    ///
    /// # Errors
    /// It was cut.
    pub fn has_power_since(&self, entered: Entered) -> Result<(), ServeError> {
        if entered.cuts == self.power.cuts { Ok(()) } else { Err(ServeError::PowerOff) }
    }

    pub fn has_clock(&self) -> bool {
        self.time == Timekeeping::Simulated
    }

    /// Requests that can be begun before one has to end.
    pub fn room(&self) -> usize {
        let Some(Opened { description, .. }) = &self.opened else {
            // Who asks is told that there is no drive.
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

    /// Until when the drive is simulated: what ends by then is with the client in time.
    fn now_ns(&self) -> u64 {
        (self.epoch.elapsed() + self.transport).as_nanos() as u64
    }

    /// The time on the clock of the drive, which stands still while it has nothing to do.
    pub fn time_ns(&self) -> u64 {
        self.played_ns().max(self.now_ns())
    }

    fn played_ns(&self) -> u64 {
        self.opened.as_ref().map_or(0, |opened| opened.drive.device().time().0)
    }

    /// When a request has come, on the clock of the drive: later than those before it, and what the
    /// drive has done so far it did without it.
    pub fn stamp(&mut self, entered: Instant) -> u64 {
        let at = entered.saturating_duration_since(self.epoch).as_nanos() as u64;
        self.last_ns = self.last_ns.max(self.played_ns()).max(at.saturating_sub(1)) + 1;
        self.last_ns
    }

    /// Begins a request; what it does is done when this returns, and its time may come later.
    pub fn begin(&mut self, request: Request, waiter: &Arc<Waiter>) -> Result<Begun, ServeError> {
        let seen = self.as_the_drive_sees(request);
        let begun = self.drive()?.begin(seen)?;
        self.note(&[(request, Arc::clone(waiter))], &begun);
        Ok(begun)
    }

    /// The same for writes that have come together.
    pub fn begin_writes(&mut self, at_ns: u64, writes: Vec<Write>) -> Result<Begun, ServeError> {
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

    fn note(&mut self, requests: &[(Request, Arc<Waiter>)], begun: &Begun) {
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

    /// The drive is simulated up to now. The answer is whether a request has ended.
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

    /// How long nothing happens, as far as is known, and until when on the clock of the drive.
    pub fn quiet_for(&self) -> (Duration, u64) {
        let next = self.opened.as_ref().and_then(|opened| opened.drive.device().time().1);
        let next = next.unwrap_or(u64::MAX);
        (Duration::from_nanos(next.saturating_sub(self.now_ns())), next)
    }

    /// How much later than that time of the drive's clock it is.
    pub fn late_by(&self, at_ns: u64) -> Duration {
        Duration::from_nanos(self.now_ns().saturating_sub(at_ns))
    }

    /// Somebody whose request is under way.
    pub fn someone(&self) -> Option<&Arc<Waiter>> {
        self.running.values().next().map(|running| &running.waiter)
    }

    /// What is under way will never be answered.
    pub fn give_up(&mut self) {
        while let Some((_, Running { waiter, .. })) = self.running.pop_first() {
            waiter.fail(ServeError::PowerOff);
        }
    }

    /// Counters and clocks back to zero; nothing may be under way.
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
            recorder.go_on();
        }
    }
}
