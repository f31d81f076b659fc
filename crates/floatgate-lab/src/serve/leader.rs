//! The leader: the thread that lets simulated time advance for all waiting threads.
//!
//! Simulated time advances only while a client waits. One waiting thread leads: it sleeps until
//! just before the next event in the drive, spins for the rest, advances the drive, and wakes the
//! threads whose requests have completed. A leader that has its own answer passes the lead to
//! another waiting thread. The thread of a single client leads itself, and so waits for no other
//! thread.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::backend::ServeError;
use super::delivery::Waiter;
use super::gauges::Gauges;
use super::panics::lock;
use super::state::State;

/// Longest sleep of a waiting thread that does not lead, before it looks at the drive again.
const LOOK: Duration = Duration::from_millis(2);

/// Longest sleep of the leading thread.
const REST: Duration = Duration::from_millis(50);

/// Time before the next event at which the leading thread wakes up and starts to spin. The
/// operating system wakes sleepers some tens of microseconds late, which is as long as a request
/// takes on a fast drive.
const WATCH: Duration = Duration::from_micros(100);

struct Led {
    state: State,
    /// Time on the drive's clock until which the leading thread waits; none if no thread leads.
    until_ns: Option<u64>,
}

/// The lock on the state, and the threads that wait for simulated time.
pub(super) struct Leader {
    led: Mutex<Led>,
    /// Wakes threads that wait for room in the queue, or for the end of all requests in progress.
    ///
    /// Each thread tests its condition under the lock and keeps the lock until it waits. Threads
    /// that complete requests signal under the lock, and threads that end a pause or recover the
    /// drive signal after they have changed the state under the lock. All waiting threads wake,
    /// because their conditions differ. A drive that is lost or shut down signals nothing: it is
    /// noticed after [`LOOK`].
    changed: Condvar,
    /// Wakes the leading thread early, because something happens sooner than it expects.
    ///
    /// Only the leader waits for it, and sets `until_ns` under the lock before it waits. A thread
    /// that begins a request compares `until_ns` with the next event and signals under the lock.
    earlier: Condvar,
    /// Replaces `earlier` for a leader that spins. The leader clears it before it spins, and other
    /// threads set it, both under the lock.
    is_earlier: AtomicBool,
    has_clock: bool,
    gauges: Arc<Gauges>,
}

/// The lock on the state, while a thread holds it.
pub(super) struct Locked<'a> {
    /// Dropped before the lock is released.
    held: Held<'a>,
    led: MutexGuard<'a, Led>,
    leader: &'a Leader,
}

/// Measures the time to get the lock, and the time until its release.
struct Held<'a> {
    gauges: &'a Gauges,
    begun: Instant,
    waited: Duration,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut measured = self.gauges.mine();
        measured.lock_wait.record(self.waited);
        measured.lock_held.record(self.begun.elapsed());
    }
}

impl Leader {
    pub fn new(state: State, gauges: Arc<Gauges>) -> Self {
        Self {
            has_clock: state.clock.is_simulated(),
            led: Mutex::new(Led { state, until_ns: None }),
            changed: Condvar::new(),
            earlier: Condvar::new(),
            is_earlier: AtomicBool::new(false),
            gauges,
        }
    }

    /// Locks the state, and measures the wait for the lock and the time until its release.
    pub fn locked(&self) -> Locked<'_> {
        let asked = Instant::now();
        let led = lock(&self.led);
        self.hold(led, asked.elapsed())
    }

    fn hold<'a>(&'a self, led: MutexGuard<'a, Led>, waited: Duration) -> Locked<'a> {
        let held = Held { gauges: &self.gauges, begun: Instant::now(), waited };
        Locked { held, led, leader: self }
    }

    /// Locks the state for a look at it, which is not measured.
    pub fn look<T>(&self, at: impl FnOnce(&mut State) -> T) -> T {
        at(&mut lock(&self.led).state)
    }

    /// Waits until a client's request has been answered, and returns the reply.
    pub fn wait(&self, waiter: &Waiter) -> Result<(), ServeError> {
        if waiter.has_ended() && !self.has_clock {
            return waiter.reply(None, &self.gauges);
        }
        let mut state = self.locked();
        loop {
            state.advance();
            if waiter.has_ended() {
                if state.led.until_ns.is_none() {
                    state.delivery.wake_one();
                }
                return waiter.reply(Some(&state.clock), &self.gauges);
            }
            if state.led.until_ns.is_some() {
                drop(state);
                thread::park_timeout(LOOK);
                state = self.locked();
                continue;
            }
            let (quiet, until_ns) = state.quiet_for();
            if quiet.is_zero() {
                continue;
            }
            state.led.until_ns = Some(until_ns);
            if quiet > WATCH {
                state = state.wait(&self.earlier, (quiet - WATCH).min(REST));
            } else {
                self.is_earlier.store(false, Ordering::Release);
                drop(state);
                self.watch(quiet);
                state = self.locked();
            }
            state.led.until_ns = None;
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
}

impl Locked<'_> {
    /// Simulates the drive up to now, and returns whether a request has completed.
    pub fn advance(&mut self) -> bool {
        let has_completed = self.pass_time();
        if has_completed {
            self.leader.changed.notify_all();
        }
        has_completed
    }

    /// Lets time pass until the state meets a condition.
    pub fn wait_until(mut self, is_met: impl Fn(&State) -> bool) -> Self {
        while !is_met(&self) {
            if !self.advance() {
                let (quiet, _) = self.quiet_for();
                let changed = &self.leader.changed;
                self = self.wait(changed, quiet.min(LOOK));
            }
        }
        self
    }

    /// Releases the lock after a request has begun. Wakes the leading thread if the next event now
    /// comes sooner than that thread expects.
    pub fn release_begun(self) {
        if self.led.until_ns.is_some_and(|until_ns| self.quiet_for().1 < until_ns) {
            self.leader.is_earlier.store(true, Ordering::Release);
            self.leader.earlier.notify_one();
        }
    }

    /// Releases the lock after the state has changed, and wakes the threads that wait for that.
    pub fn release_changed(self) {
        let leader = self.leader;
        drop(self);
        leader.changed.notify_all();
    }

    /// Releases the lock until `time` has passed or `condition` is signalled.
    fn wait(self, condition: &Condvar, time: Duration) -> Self {
        let Self { held, led, leader } = self;
        drop(held);
        let (led, _) = condition.wait_timeout(led, time).unwrap_or_else(PoisonError::into_inner);
        leader.hold(led, Duration::ZERO)
    }
}

impl Deref for Locked<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.led.state
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.led.state
    }
}

#[cfg(test)]
mod tests;
