//! A drive with its server: its start, the requests of its clients, and its end.
//!
//! A thread takes the locks in this order: the record of the dies, the lock of the leader, and then
//! the plug, the list of waiting writes, the end of a request, or the gauges.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use floatgate_ftl::request::Op;
use serde_json::Value;

use super::admission::Admission;
use super::backend::{ChangeOptions, ServeError};
use super::clock::Clock;
use super::delivery::{Entered, Waiter};
use super::gauges::{Asked, Gauges};
use super::leader::{Leader, Locked};
use super::panics::lock;
use super::recorder::Recorder;
use super::setup::{Setup, SetupError};
use super::shadow::Shadow;
use super::state::{State, Write};
use crate::drive::live::{LiveError, Opened};
use crate::run::Control;
use crate::stored::Plug;

/// Bytes of zeros in one write.
const ZEROS: u64 = 4 << 20;

/// A drive with its server.
pub struct Served {
    pub(super) bytes: u64,
    pub(super) page_bytes: u32,
    pub(super) started: Instant,
    pub(super) gauges: Arc<Gauges>,
    pub(super) admission: Admission,
    pub(super) leader: Leader,
    pub(super) plug: Mutex<Plug>,
    /// Held while a client records a window of the dies' activity.
    pub(super) lanes: Mutex<()>,
    /// Functions to call after each power cut, when the drive is on again or lost.
    pub(super) after_cuts: Mutex<Vec<Box<dyn Fn() + Send>>>,
    /// Report of the zones for the status.
    zones: Mutex<Option<ZoneReport>>,
}

/// Returns the zones of the drive; none if the front end that has them is gone.
type ZoneReport = Box<dyn Fn() -> Option<Value> + Send>;

impl Served {
    /// Opens a drive, with its recording and its shadow drives.
    ///
    /// # Errors
    /// A drive that cannot be opened, or a file that cannot be written.
    pub fn new(setup: Setup) -> Result<Arc<Self>, SetupError> {
        Self::watched(setup, &Control::default())
    }

    /// Does the same as [`Served::new`]; `control` counts the pages that are written to reach start
    /// states.
    ///
    /// # Errors
    /// As [`Served::new`].
    pub fn watched(setup: Setup, control: &Control) -> Result<Arc<Self>, SetupError> {
        let Setup { location, name, time, transport, record, also } = setup;
        let (image, opened, start) = location.open(time, control)?;
        let Opened { drive, description, plan } = &opened;
        let (bytes, page_bytes) = (drive.bytes(), plan.geometry.shape().page_bytes);
        let packs = description.config.host.keeps_log().then_some(page_bytes);
        let shadows = also.into_iter().map(|(name, config)| {
            let shadow = Shadow::start(name.clone(), config, (bytes, description.seed), control);
            shadow.map_err(|error| SetupError::Also(name, error))
        });
        let shadows = shadows.collect::<Result<Vec<_>, _>>()?;
        let recorder = record.map(|path| {
            let recorder = Recorder::create(path.clone(), page_bytes);
            recorder.map_err(|error| SetupError::Record(path, error))
        });
        let plug = Mutex::new(drive.plug());
        let clock = Clock::new(time, transport);
        let mut state = State::new((opened, image), (name, start), clock);
        (state.recorder, state.shadows) = (recorder.transpose()?, shadows);
        let gauges = Arc::new(Gauges::default());
        let served = Arc::new(Self {
            bytes,
            page_bytes,
            started: Instant::now(),
            admission: Admission::new(packs),
            leader: Leader::new(state, Arc::clone(&gauges)),
            gauges,
            plug,
            lanes: Mutex::default(),
            after_cuts: Mutex::default(),
            zones: Mutex::default(),
        });
        sample(&served);
        Ok(served)
    }

    /// Flushes, and writes everything that makes the next start quick. Later requests fail.
    ///
    /// # Errors
    /// A failed file.
    pub fn shut_down(&self) -> Result<(), ServeError> {
        switch_off(self.admission.pause(&self.leader))
    }

    /// Returns a problem that the server reports at once: a failed drive, or an image that is gone.
    pub fn trouble(&self) -> Option<String> {
        self.leader.look(|state| {
            state.look_at_image();
            state.failure().or_else(|| state.image_gone())
        })
    }

    /// Calls `work` after each power cut, without a lock on the drive.
    pub(super) fn after_power_cuts(&self, work: impl Fn() + Send + 'static) {
        lock(&self.after_cuts).push(Box::new(work));
    }

    /// Adds `report` to the status as the zones of the drive.
    pub(super) fn reports_zones(&self, report: impl Fn() -> Option<Value> + Send + 'static) {
        *lock(&self.zones) = Some(Box::new(report));
    }

    /// Returns the zones of the drive; none if it has none. The caller has no lock on the drive,
    /// because zones that are found again after a power cut need the lock.
    pub(super) fn zones(&self) -> Option<Value> {
        lock(&self.zones).as_ref()?()
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
        let answer = work(entered).map_err(|error| self.unless_off(error, entered));
        self.gauges.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.gauges.answered(asked, entered.at.elapsed());
        if answer.is_err() {
            self.gauges.errors.fetch_add(1, Ordering::Relaxed);
        }
        answer
    }

    /// Returns the error of a request, unless it failed because the plug was pulled: the file
    /// fails as soon as the plug is pulled, and the power cut counts once the drive recovers. A
    /// drive that does not recover is lost.
    pub(super) fn unless_off(&self, error: ServeError, entered: Entered) -> ServeError {
        if matches!(error, ServeError::Lost(_)) {
            return error;
        }
        let is_off = lock(&self.plug).is_pulled();
        let had_power = self.leader.look(|state| state.has_power_since(entered));
        if is_off || had_power.is_err() { ServeError::PowerOff } else { error }
    }

    pub(super) fn get(
        &self,
        entered: Entered,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), ServeError> {
        let length = into.len() as u64;
        LiveError::if_beyond(offset, length, self.bytes)?;
        let waiter = Waiter::new(entered);
        let read = (Op::Read, offset, length, 0);
        let (mut state, begun) = self.admission.begin(&self.leader, read, &waiter)?;
        let reading = state.drive()?.reading();
        // The guard is taken under the lock of the drive, and prevents erases until the bytes are
        // fetched.
        let held = reading.hold();
        state.release_begun();
        let fetched = match begun.is_damaged {
            true => Err(LiveError::Damaged),
            false => {
                let _counted = self.gauges.fetch();
                begun.answer.fetch(&reading.store, into)
            }
        };
        drop(held);
        self.leader.wait(&waiter)?;
        // If the drive itself found the damage, it has already counted it.
        if let Err(error) = fetched.as_ref()
            && !begun.is_damaged
            && let Ok(drive) = self.leader.locked().drive()
        {
            match error {
                LiveError::Stopped { kind, error } => {
                    drive.medium_mut().stop(io::Error::new(*kind, error.clone()));
                }
                _ => drive.medium_mut().note_damage(),
            }
        }
        Ok(fetched?)
    }

    /// Begins a request without bytes, and waits for it. A flush syncs the file as well.
    pub(super) fn ask(
        &self,
        entered: Entered,
        (op, offset, length): (Op, u64, u64),
        options: ChangeOptions,
    ) -> Result<(), ServeError> {
        let waiter = Waiter::new(entered);
        let request = (op, offset, length, options.stream);
        let (mut state, _) = self.admission.begin(&self.leader, request, &waiter)?;
        if op == Op::Flush {
            state.drive()?.sync()?;
        }
        state.release_begun();
        self.leader.wait(&waiter)
    }

    pub(super) fn flush(&self, entered: Entered) -> Result<(), ServeError> {
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
        let waiter = Waiter::new(entered);
        let write = Write { offset, bytes, stream: options.stream, waiter: Arc::clone(&waiter) };
        self.admission.write(&self.leader, write);
        self.leader.wait(&waiter)
    }

    /// Flushes after a change that must be durable.
    pub(super) fn durable(
        &self,
        entered: Entered,
        options: ChangeOptions,
    ) -> Result<(), ServeError> {
        if options.durable { self.flush(entered) } else { Ok(()) }
    }

    /// Writes zeros from a byte up to another.
    pub(super) fn write_zeros(
        &self,
        entered: Entered,
        (offset, end): (u64, u64),
        options: ChangeOptions,
    ) -> Result<(), ServeError> {
        let mut at = offset;
        while at < end {
            let length = ZEROS.min(end - at);
            self.put(entered, (at, vec![0; length as usize]), options)?;
            at += length;
        }
        Ok(())
    }
}

/// Shuts down a drive that is paused.
pub(super) fn switch_off(mut state: Locked<'_>) -> Result<(), ServeError> {
    if let Some(recorder) = &mut state.recorder {
        recorder.flush();
    }
    Ok(state.take()?.drive.shut_down()?)
}

/// Samples a drive every second until the server is gone.
fn sample(served: &Arc<Served>) {
    let served = Arc::downgrade(served);
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_secs(1));
            let Some(served) = served.upgrade() else { break };
            let p99_us = || served.gauges.take_lately().distributed().p99;
            served.leader.look(|state| state.sample(p99_us));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::super::backend::Backend;
    use super::super::gauges::Measured;
    use super::super::test_drive::{BYTES, LATER, PAGE, SHRD, entered, served};
    use super::*;
    use crate::drive::live::Timekeeping;

    const NOW: ChangeOptions = ChangeOptions { stream: 0, durable: true };

    /// The plug is pulled after a durable request completes, but before its flush.
    #[test]
    fn a_durable_request_fails_when_the_plug_is_pulled_before_its_flush() {
        let buffer = [("buffer.scheme", "lru"), ("buffer.capacity", "1MiB")];
        for sets in [&[][..], &buffer] {
            let served = served(sets, Timekeeping::None);
            let entered = entered();
            served.put(entered, (0, vec![7; PAGE]), NOW).unwrap();
            served.ask(entered, (Op::Trim, 8 * PAGE as u64, PAGE as u64), NOW).unwrap();
            served.pull_plug().unwrap();
            assert_eq!(served.durable(entered, NOW), Err(ServeError::PowerOff));
            // A second piece of the same request is refused, too.
            let piece = served.put(entered, (PAGE as u64, vec![7; PAGE]), NOW);
            assert_eq!(piece, Err(ServeError::PowerOff));
            let piece = served.ask(entered, (Op::Trim, 0, PAGE as u64), NOW);
            assert_eq!(piece, Err(ServeError::PowerOff));
            assert_eq!(
                served.client().write(0, &[8; PAGE], NOW),
                Ok(()),
                "who comes now is served"
            );
        }
    }

    /// The file has failed, and the thread that pulls the plug has not got the lock yet.
    #[test]
    fn requests_between_the_plug_and_the_recovery_have_no_power() {
        let served = served(&[], Timekeeping::None);
        let client = served.client();
        assert_eq!(client.write(0, &[7; PAGE], NOW), Ok(()));
        lock(&served.plug).pull();
        let off = Err(ServeError::PowerOff);
        assert_eq!(client.write(0, &[8; PAGE], NOW), off);
        assert_eq!(client.trim(0, PAGE as u64, NOW), off);
        assert_eq!(client.flush(), off);
        assert!(served.pull_plug().is_ok());
        assert_eq!(client.flush(), off, "for good");
        let mut read = [0; PAGE];
        assert_eq!(served.client().read(0, &mut read), Ok(()));
        assert_eq!(read, [7; PAGE]);
    }

    #[test]
    fn a_write_ends_at_the_end_of_the_drive_at_most() {
        for sets in [&[][..], SHRD] {
            let served = served(sets, Timekeeping::None);
            let put = |offset| served.put(entered(), (offset, vec![2; PAGE]), LATER);
            assert_eq!(put(BYTES - PAGE as u64), Ok(()));
            let beyond = LiveError::Beyond { end: BYTES + 1, bytes: BYTES };
            assert_eq!(put(BYTES - PAGE as u64 + 1), Err(beyond.into()));
            assert!(put(u64::MAX).is_err());
        }
    }

    #[test]
    fn an_answer_is_counted_while_it_is_made_and_after() {
        let served = served(&[], Timekeeping::None);
        assert!(served.pull_plug().is_ok());
        let of = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        let gauges = &served.gauges;
        let work = |answer| {
            served.answer(Asked::Read, 1, |entered| {
                assert_eq!((of(&gauges.in_flight), gauges.asked(Asked::Read)), (1, 1));
                assert_eq!(entered.cuts, 1);
                thread::sleep(Duration::from_millis(5));
                answer
            })
        };
        assert_eq!(work(Ok(5)), Ok(5));
        assert_eq!((of(&gauges.in_flight), of(&gauges.errors)), (0, 0));
        gauges.reset();
        assert_eq!(work(Err(ServeError::ReadOnly)), Err(ServeError::ReadOnly));
        assert_eq!((of(&gauges.in_flight), of(&gauges.errors)), (0, 1));
        let Measured { read, write, .. } = gauges.total();
        assert_eq!((read.distributed().count, write.distributed().count), (1, 0));
        assert!(read.distributed().max >= Some(4950.0), "5 ms, to two digits");
    }
}
