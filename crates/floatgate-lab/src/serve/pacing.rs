//! Requests of clients: begun under the lock, answered when the simulated drive has.
//!
//! Nobody but who waits lets time pass. One of them leads: he sleeps until shortly before something
//! happens next in the drive, watches the clock, has it happen, and wakes whose requests have
//! ended. Who has his answer passes the lead on. So a client that is alone waits for nobody.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use floatgate_ftl::request::{Op, Request};

use super::gauges::{Asked, Gauges};
use super::state::State;
use super::waiting::Write;
use super::{How, ServeError, Served, lock};
use crate::drive::live::LiveError;

/// The longest that anybody but who leads sleeps without a look.
const LOOK: Duration = Duration::from_millis(2);

/// The longest that who leads sleeps.
const REST: Duration = Duration::from_millis(50);

/// So long before something happens who leads wakes up and watches the clock: the operating system
/// wakes sleepers some tens of microseconds late, which is as long as a fast drive takes.
const WATCH: Duration = Duration::from_micros(100);

/// When a request has come, and to which power of the drive: how often that was cut before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entered {
    pub at: Instant,
    pub cuts: u64,
}

/// Who waits for a request.
#[derive(Debug)]
pub(super) struct Waiter {
    thread: Thread,
    entered: Entered,
    is_begun: AtomicBool,
    left: AtomicUsize,
    end: Mutex<(u64, Option<ServeError>)>,
}

impl Waiter {
    /// The calling thread, for so many requests that entered then.
    pub fn new(entered: Entered, requests: usize) -> Arc<Self> {
        Arc::new(Self {
            thread: thread::current(),
            entered,
            is_begun: AtomicBool::new(false),
            left: AtomicUsize::new(requests),
            end: Mutex::default(),
        })
    }

    /// One of them is complete.
    pub fn complete(&self, done_ns: u64) {
        let mut end = lock(&self.end);
        end.0 = end.0.max(done_ns);
        self.leave(1);
    }

    /// A page that one of them touches cannot be read.
    pub fn damage(&self) {
        lock(&self.end).1 = Some(LiveError::Damaged.into());
    }

    /// None of them will be.
    pub fn fail(&self, error: ServeError) {
        lock(&self.end).1 = Some(error);
        self.is_begun.store(true, Ordering::Release);
        self.leave(self.left.load(Ordering::Acquire));
    }

    fn leave(&self, requests: usize) {
        if self.left.fetch_sub(requests, Ordering::AcqRel) == requests {
            self.thread.unpark();
        }
    }

    fn has_ended(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }
}

/// The lock, while somebody has it.
pub(super) struct Locked<'a> {
    state: Option<MutexGuard<'a, State>>,
    gauges: &'a Gauges,
    begun: Instant,
    waited: Duration,
}

impl Locked<'_> {
    /// Lets go of the lock until that time has passed, or a condition is told.
    fn wait(&mut self, condition: &Condvar, time: Duration) {
        self.measure();
        if let Some(state) = self.state.take() {
            let waited = condition.wait_timeout(state, time);
            self.state = Some(waited.unwrap_or_else(PoisonError::into_inner).0);
        }
        (self.begun, self.waited) = (Instant::now(), Duration::ZERO);
    }

    fn measure(&self) {
        let mut measured = self.gauges.mine();
        measured.lock_wait.record(self.waited);
        measured.lock_held.record(self.begun.elapsed());
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.measure();
    }
}

impl Deref for Locked<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        self.state.as_ref().unwrap_or_else(|| unreachable!("only a wait takes it"))
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut State {
        self.state.as_mut().unwrap_or_else(|| unreachable!("only a wait takes it"))
    }
}

impl Served {
    /// The drive; how long that took, and how long it is kept, are measured.
    pub(super) fn locked(&self) -> Locked<'_> {
        let asked = Instant::now();
        let state = Some(lock(&self.state));
        let begun = Instant::now();
        Locked { state, gauges: &self.gauges, begun, waited: begun - asked }
    }

    /// The drive when it can take a request.
    pub(super) fn with_room(&self) -> Locked<'_> {
        let mut state = self.locked();
        while state.room() == 0 {
            if state.pass_time() {
                self.room.notify_all();
                continue;
            }
            let (quiet, _) = state.quiet_for();
            state.wait(&self.room, quiet.min(LOOK));
        }
        state
    }

    /// The drive when nothing is under way. Nothing is begun until the pause is over.
    pub(super) fn paused(&self) -> Locked<'_> {
        let mut state = self.locked();
        state.is_paused = true;
        while !state.is_idle() {
            if state.pass_time() {
                self.room.notify_all();
                continue;
            }
            let (quiet, _) = state.quiet_for();
            state.wait(&self.room, quiet.min(LOOK));
        }
        state
    }

    /// The pause is over.
    pub(super) fn go_on(&self, mut state: Locked<'_>) {
        state.is_paused = false;
        drop(state);
        self.room.notify_all();
    }

    /// Whoever leads is told if something happens earlier than he thinks.
    pub(super) fn hurry(&self, state: &State) {
        if state.leads && state.quiet_for().1 < state.until_ns {
            self.is_earlier.store(true, Ordering::Release);
            self.earlier.notify_one();
        }
    }

    /// Waits until all requests of a client have been answered.
    pub(super) fn wait(&self, waiter: &Waiter) -> Result<(), ServeError> {
        if waiter.has_ended() && !self.has_clock {
            return self.end(waiter, None);
        }
        let mut state = self.locked();
        loop {
            if state.pass_time() {
                self.room.notify_all();
            }
            if waiter.has_ended() {
                if let Some(next) = state.someone().filter(|_| !state.leads) {
                    next.thread.unpark();
                }
                return self.end(waiter, Some(&state));
            }
            if state.leads {
                drop(state);
                thread::park_timeout(LOOK);
                state = self.locked();
                continue;
            }
            let (quiet, until) = state.quiet_for();
            if quiet.is_zero() {
                continue;
            }
            (state.leads, state.until_ns) = (true, until);
            if quiet > WATCH {
                state.wait(&self.earlier, (quiet - WATCH).min(REST));
            } else {
                self.is_earlier.store(false, Ordering::Release);
                drop(state);
                self.watch(quiet);
                state = self.locked();
            }
            state.leads = false;
        }
    }

    /// Lets that time pass without sleeping, or less if something happens earlier.
    fn watch(&self, time: Duration) {
        let begun = Instant::now();
        while begun.elapsed() < time && !self.is_earlier.load(Ordering::Acquire) {
            // Who has something to do on this core goes first.
            thread::yield_now();
        }
    }

    /// A client is answered; how far its time was missed is measured if there is a clock.
    fn end(&self, waiter: &Waiter, state: Option<&State>) -> Result<(), ServeError> {
        let end = lock(&waiter.end);
        if let Some(state) = state.filter(|_| end.1.is_none()) {
            let late = state.late_by(end.0);
            let due = waiter.entered.at.elapsed().saturating_sub(late);
            self.gauges.mine().holding.record(due, late);
        }
        match &end.1 {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Does what a client asks for, and measures it.
    pub(super) fn answer<T>(
        &self,
        asked: Asked,
        cuts: u64,
        work: impl FnOnce(Entered) -> Result<T, ServeError>,
    ) -> Result<T, ServeError> {
        let entered = Entered { at: Instant::now(), cuts };
        self.gauges.count(asked);
        self.gauges.in_flight.fetch_add(1, Ordering::Relaxed);
        let answer = work(entered);
        self.gauges.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.gauges.answered(asked, entered.at.elapsed());
        if answer.is_err() {
            self.gauges.errors.fetch_add(1, Ordering::Relaxed);
        }
        answer
    }

    /// Begins a request without bytes, and waits for it. With `sync` the file is synced as well.
    pub(super) fn ask(
        &self,
        entered: Entered,
        (op, offset, length): (Op, u64, u64),
        how: How,
    ) -> Result<(), ServeError> {
        let waiter = Waiter::new(entered, 1);
        let mut state = self.with_room();
        state.has_power_since(entered)?;
        if op == Op::Trim && state.faults.read_only {
            return Err(ServeError::ReadOnly);
        }
        let at_ns = state.stamp(entered.at);
        state.begin(Request { at_ns, op, offset, length, stream: how.stream }, &waiter)?;
        if op == Op::Flush {
            state.drive()?.sync()?;
        }
        self.hurry(&state);
        drop(state);
        self.wait(&waiter)
    }

    pub(super) fn flush_for(&self, entered: Entered) -> Result<(), ServeError> {
        self.ask(entered, (Op::Flush, 0, 0), How::default())
    }

    /// Begins a write, and waits for it.
    pub(super) fn put(
        &self,
        entered: Entered,
        (offset, bytes): (u64, Vec<u8>),
        how: How,
    ) -> Result<(), ServeError> {
        LiveError::if_beyond(offset, bytes.len() as u64, self.bytes)?;
        let waiter = Waiter::new(entered, 1);
        let in_page = u64::from(self.page_bytes) - 1;
        let is_whole = (offset | bytes.len() as u64) & in_page == 0;
        let write = Write { offset, bytes, stream: how.stream, waiter: Arc::clone(&waiter) };
        if self.packs && is_whole {
            self.writes.push(write);
            self.begin_waiting(&waiter)?;
        } else {
            let mut state = self.with_room();
            self.begin_writes(&mut state, entered, vec![write])?;
        }
        self.wait(&waiter)
    }

    /// Begins the writes that wait, until this one is.
    fn begin_waiting(&self, waiter: &Waiter) -> Result<(), ServeError> {
        while !waiter.is_begun.load(Ordering::Acquire) {
            let mut state = self.with_room();
            let writes = self.writes.take(state.room());
            if !writes.is_empty() {
                let waiters: Vec<_> = writes.iter().map(|write| write.waiter.clone()).collect();
                if let Err(error) = self.begin_writes(&mut state, waiter.entered, writes) {
                    waiters.iter().for_each(|waiter| waiter.fail(error.clone()));
                }
            }
        }
        Ok(())
    }

    fn begin_writes(
        &self,
        state: &mut State,
        entered: Entered,
        writes: Vec<Write>,
    ) -> Result<(), ServeError> {
        let is_late = |write: &Write| state.has_power_since(write.waiter.entered).is_err();
        let (late, writes): (Vec<_>, Vec<_>) = writes.into_iter().partition(is_late);
        late.iter().for_each(|write| write.waiter.fail(ServeError::PowerOff));
        if writes.is_empty() {
            return Ok(());
        }
        if state.faults.read_only {
            return Err(ServeError::ReadOnly);
        }
        let waiters: Vec<_> = writes.iter().map(|write| write.waiter.clone()).collect();
        let at_ns = state.stamp(entered.at);
        let begun = state.begin_writes(at_ns, writes)?;
        waiters.iter().for_each(|waiter| waiter.is_begun.store(true, Ordering::Release));
        self.hurry(state);
        if begun.is_damaged {
            // Only one that is written in part reads a page, and that one is alone.
            waiters.iter().for_each(|waiter| waiter.damage());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
