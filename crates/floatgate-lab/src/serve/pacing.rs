//! Paces requests of clients: begins them under the lock, and answers them when the simulated drive
//! has.
//!
//! Simulated time advances only while a client waits. One waiting thread leads: it sleeps until
//! just before the next event in the drive, spins for the rest, advances the drive, and wakes the
//! threads whose requests have completed. A leader that has its own answer passes the lead to
//! another waiting thread. A single client therefore waits for no other thread.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use floatgate_ftl::request::{Op, Request};

use super::gauges::{Asked, Gauges};
use super::state::State;
use super::waiting::{Entered, Waiter, Write};
use super::{ChangeOptions, ServeError, Served, lock};
use crate::drive::live::LiveError;

/// Longest sleep of a waiting thread that does not lead, before it looks at the drive again.
const LOOK: Duration = Duration::from_millis(2);

/// Longest sleep of the leading thread.
const REST: Duration = Duration::from_millis(50);

/// Time before the next event at which the leading thread wakes up and starts to spin. The
/// operating system wakes sleepers some tens of microseconds late, which is as long as a request
/// takes on a fast drive.
const WATCH: Duration = Duration::from_micros(100);

/// The lock on the state, while a thread holds it.
pub(super) struct Locked<'a> {
    state: Option<MutexGuard<'a, State>>,
    gauges: &'a Gauges,
    begun: Instant,
    waited: Duration,
}

impl Locked<'_> {
    /// Releases the lock until `time` has passed or `condition` is signalled.
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
    /// Locks the drive, and measures the time to get the lock and the time until its release.
    pub(super) fn locked(&self) -> Locked<'_> {
        let asked = Instant::now();
        let state = Some(lock(&self.state));
        let begun = Instant::now();
        Locked { state, gauges: &self.gauges, begun, waited: begun - asked }
    }

    /// Locks the drive as soon as it can take a request.
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

    /// Pauses the drive: locks it when no request is in progress. No request begins until
    /// [`Served::resume`] ends the pause.
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

    /// Ends a pause.
    pub(super) fn resume(&self, mut state: Locked<'_>) {
        state.is_paused = false;
        drop(state);
        self.room.notify_all();
    }

    /// Wakes the leading thread if the next event comes sooner than it expects.
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

    /// Spins for `time`, or until something happens sooner.
    fn watch(&self, time: Duration) {
        let begun = Instant::now();
        while begun.elapsed() < time && !self.is_earlier.load(Ordering::Acquire) {
            // Other threads with work for this core run first.
            thread::yield_now();
        }
    }

    /// Ends the wait of a client. With a clock it measures how late the answer is.
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

    /// Runs a client's request, and measures it.
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

    /// Begins a request without bytes, and waits for it. A flush syncs the file as well.
    pub(super) fn ask(
        &self,
        entered: Entered,
        (op, offset, length): (Op, u64, u64),
        options: ChangeOptions,
    ) -> Result<(), ServeError> {
        let waiter = Waiter::new(entered, 1);
        let mut state = self.with_room();
        state.has_power_since(entered)?;
        if op == Op::Trim && state.faults.read_only {
            return Err(ServeError::ReadOnly);
        }
        let at_ns = state.stamp(entered.at);
        state.begin(Request { at_ns, op, offset, length, stream: options.stream }, &waiter)?;
        if op == Op::Flush {
            state.drive()?.sync()?;
        }
        self.hurry(&state);
        drop(state);
        self.wait(&waiter)
    }

    pub(super) fn flush_for(&self, entered: Entered) -> Result<(), ServeError> {
        self.ask(entered, (Op::Flush, 0, 0), ChangeOptions::default())
    }

    /// Begins a write, and waits for it.
    pub(super) fn put(
        &self,
        entered: Entered,
        (offset, bytes): (u64, Vec<u8>),
        options: ChangeOptions,
    ) -> Result<(), ServeError> {
        LiveError::if_beyond(offset, bytes.len() as u64, self.bytes)?;
        let waiter = Waiter::new(entered, 1);
        let in_page = u64::from(self.page_bytes) - 1;
        let is_whole = (offset | bytes.len() as u64) & in_page == 0;
        let write = Write { offset, bytes, stream: options.stream, waiter: Arc::clone(&waiter) };
        if self.packs && is_whole {
            self.writes.push(write);
            self.begin_waiting(&waiter)?;
        } else {
            let mut state = self.with_room();
            self.begin_writes(&mut state, entered, vec![write])?;
        }
        self.wait(&waiter)
    }

    /// Begins waiting writes until the caller's write is begun.
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
            // Only a write that covers a page in part reads a page, and such a write is begun
            // alone.
            waiters.iter().for_each(|waiter| waiter.damage());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
