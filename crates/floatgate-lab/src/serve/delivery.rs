//! Delivery: the reply to a request waits until the simulated drive has answered.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, Thread};
use std::time::Instant;

use floatgate_ftl::request::Request;

use super::backend::ServeError;
use super::clock::Clock;
use super::gauges::Gauges;
use super::panics::lock;
use crate::drive::live::LiveError;

/// Arrival of a request: its time, and the number of power cuts before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entered {
    pub at: Instant,
    pub cuts: u64,
}

/// A thread that waits for the reply to a request.
///
/// No wake-up is lost: a request ends by setting `end`, then `has_ended`, and then unparking its
/// thread. The thread parks only if it has found `has_ended` unset, and an unpark after this check
/// makes the park return at once.
#[derive(Debug)]
pub(super) struct Waiter {
    thread: Thread,
    pub entered: Entered,
    is_begun: AtomicBool,
    has_ended: AtomicBool,
    /// Completion on the drive's clock, and the error if the request failed.
    end: Mutex<(u64, Option<ServeError>)>,
}

impl Waiter {
    /// Registers the calling thread as the waiter for a request.
    pub fn new(entered: Entered) -> Arc<Self> {
        Arc::new(Self {
            thread: thread::current(),
            entered,
            is_begun: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
            end: Mutex::default(),
        })
    }

    /// Reports that the drive has performed the request, and whether it could not read a page that
    /// the request covers in part.
    pub fn begin(&self, is_damaged: bool) {
        if is_damaged {
            lock(&self.end).1 = Some(LiveError::Damaged.into());
        }
        self.is_begun.store(true, Ordering::Release);
    }

    /// Reports that the request has completed.
    pub fn complete(&self, done_ns: u64) {
        lock(&self.end).0 = done_ns;
        self.finish();
    }

    pub fn fail(&self, error: ServeError) {
        lock(&self.end).1 = Some(error);
        self.begin(false);
        self.finish();
    }

    fn finish(&self) {
        self.has_ended.store(true, Ordering::Release);
        self.thread.unpark();
    }

    /// Returns whether the request has begun or failed.
    pub fn is_begun(&self) -> bool {
        self.is_begun.load(Ordering::Acquire)
    }

    /// Returns whether the request has completed or failed.
    pub fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// Returns the reply to a request that has ended. With a clock it measures how late the reply
    /// is.
    pub fn reply(&self, clock: Option<&Clock>, gauges: &Gauges) -> Result<(), ServeError> {
        let (done_ns, error) = &*lock(&self.end);
        if let Some(error) = error {
            return Err(error.clone());
        }
        if let Some(clock) = clock {
            let late = clock.late_by(*done_ns);
            let due = self.entered.at.elapsed().saturating_sub(late);
            gauges.mine().holding.record(due, late);
        }
        Ok(())
    }
}

/// Requests that the simulated drive has not completed yet, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Delivery(BTreeMap<u64, (Request, Arc<Waiter>)>);

impl Delivery {
    pub fn in_progress(&self) -> usize {
        self.0.len()
    }

    /// Holds the reply to a request until [`Delivery::complete`].
    pub fn hold(&mut self, number: u64, request: Request, waiter: &Arc<Waiter>) {
        self.0.insert(number, (request, Arc::clone(waiter)));
    }

    /// Completes a request, and returns it.
    pub fn complete(&mut self, number: u64, done_ns: u64) -> Option<Request> {
        let (request, waiter) = self.0.remove(&number)?;
        waiter.complete(done_ns);
        Some(request)
    }

    /// Wakes a thread whose request is in progress.
    pub fn wake_one(&self) {
        if let Some((_, waiter)) = self.0.values().next() {
            waiter.thread.unpark();
        }
    }

    /// Fails all requests in progress, because the power has failed.
    pub fn give_up(&mut self) {
        while let Some((_, (_, waiter))) = self.0.pop_first() {
            waiter.fail(ServeError::PowerOff);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::test_drive::entered;
    use super::*;
    use crate::drive::live::Timekeeping;

    fn end_of(waiter: &Waiter) -> (u64, Option<ServeError>) {
        lock(&waiter.end).clone()
    }

    #[test]
    fn a_damaged_page_does_not_end_a_request_and_a_failure_does() {
        let waiter = Waiter::new(entered());
        waiter.begin(true);
        assert!(!waiter.has_ended() && waiter.is_begun());
        assert_eq!(end_of(&waiter).1, Some(LiveError::Damaged.into()));
        waiter.fail(ServeError::PowerOff);
        assert!(waiter.has_ended() && waiter.is_begun());
        assert_eq!(end_of(&waiter), (0, Some(ServeError::PowerOff)));
    }

    /// The completion of a request wakes its thread, and its beginning does not.
    #[test]
    fn a_completion_wakes_the_waiter() {
        let waiter = Waiter::new(entered());
        thread::scope(|scope| {
            scope.spawn(|| {
                waiter.begin(false);
                thread::sleep(Duration::from_millis(30));
                waiter.complete(2);
            });
            while !waiter.has_ended() {
                thread::park_timeout(Duration::from_secs(600));
            }
        });
        assert!(waiter.entered.at.elapsed() >= Duration::from_millis(30));
        assert_eq!(end_of(&waiter), (2, None));
    }

    /// The request arrived 100 ms ago, and the drive completed it 30 ms ago: 70 ms were due.
    #[test]
    fn the_lateness_of_a_reply_is_measured() {
        let clock = Clock::new(Timekeeping::Simulated, Duration::ZERO);
        let gauges = Gauges::default();
        thread::sleep(Duration::from_millis(110));
        let waiter = |ago| {
            let at = Instant::now().checked_sub(Duration::from_millis(ago)).unwrap();
            Waiter::new(Entered { at, cuts: 0 })
        };
        let done = waiter(100);
        done.complete(clock.now_ns() - 30_000_000);
        assert_eq!(done.reply(None, &gauges), Ok(()));
        let failed = waiter(100);
        failed.fail(ServeError::PowerOff);
        assert_eq!(failed.reply(Some(&clock), &gauges), Err(ServeError::PowerOff));
        assert_eq!(gauges.total().holding.summary().error_us.count, 0, "no time was missed");
        assert_eq!(done.reply(Some(&clock), &gauges), Ok(()));
        let held = gauges.total().holding.summary();
        assert_eq!((held.error_us.count, held.late_share), (1, Some(1.0)));
        assert!(held.error_us.max >= Some(29_700.0));
        assert!(held.mean_excess.is_some_and(|excess| excess >= 30.0 / 70.0 - 0.01), "{held:?}");
    }
}
