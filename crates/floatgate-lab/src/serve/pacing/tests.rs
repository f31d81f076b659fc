//! Tests of the waits of clients, and of their measurement.

use super::super::test_drive::{BYTES, PAGE, SHRD, served};
use super::*;
use crate::drive::live::Timekeeping;
use crate::serve::gauges::Measured;

const LATER: ChangeOptions = ChangeOptions { stream: 0, durable: false };

fn entered() -> Entered {
    Entered { at: Instant::now(), cuts: 0 }
}

fn end_of(waiter: &Waiter) -> (u64, Option<ServeError>) {
    lock(&waiter.end).clone()
}

/// Adds a write that waits to be packed, and returns its waiter.
fn waiting(served: &Served, offset: u64) -> Arc<Waiter> {
    let waiter = Waiter::new(entered(), 1);
    let (bytes, stream) = (vec![1; PAGE], 0);
    served.writes.push(Write { offset, bytes, stream, waiter: Arc::clone(&waiter) });
    waiter
}

fn is_begun(waiter: &Waiter) -> bool {
    waiter.is_begun.load(Ordering::Acquire)
}

#[test]
fn a_waiter_of_several_requests_waits_for_the_last() {
    let waiter = Waiter::new(entered(), 3);
    waiter.complete(5);
    waiter.complete(9);
    assert!(!waiter.has_ended() && !is_begun(&waiter));
    waiter.complete(7);
    assert!(waiter.has_ended());
    assert_eq!(end_of(&waiter), (9, None), "the latest completion counts, in any order");
}

#[test]
fn a_damaged_page_ends_nothing_and_a_failure_ends_all() {
    let waiter = Waiter::new(entered(), 2);
    waiter.damage();
    assert!(!waiter.has_ended() && !is_begun(&waiter));
    assert_eq!(end_of(&waiter).1, Some(LiveError::Damaged.into()));
    waiter.complete(3);
    assert!(!waiter.has_ended());
    waiter.fail(ServeError::PowerOff);
    assert!(waiter.has_ended() && is_begun(&waiter));
    assert_eq!(end_of(&waiter), (3, Some(ServeError::PowerOff)));
}

/// The last completion wakes the waiting thread, and no earlier one does.
#[test]
fn the_last_completion_wakes_the_waiter() {
    let waiter = Waiter::new(entered(), 2);
    thread::scope(|scope| {
        scope.spawn(|| {
            waiter.complete(1);
            thread::sleep(Duration::from_millis(30));
            waiter.complete(2);
        });
        while !waiter.has_ended() {
            thread::park_timeout(Duration::from_secs(600));
        }
    });
    assert!(waiter.entered.at.elapsed() >= Duration::from_millis(30));
}

/// Only writes that begin and end at page boundaries are packed with others.
#[test]
fn only_whole_pages_wait_to_be_packed() {
    let served = served(SHRD, Timekeeping::None);
    let other = waiting(&served, 64 * PAGE as u64);
    let page = PAGE as u64;
    for (offset, length) in
        [(0, 100), (page, 100), (100, PAGE - 100), (2 * page, PAGE + 1), (1, 2 * PAGE)]
    {
        served.put(entered(), (offset, vec![2; length]), LATER).unwrap();
        assert!(!is_begun(&other), "{length} bytes at {offset}");
    }
    for (offset, length) in [(0, PAGE), (3 * page, 2 * PAGE)] {
        let other = waiting(&served, 65 * page);
        served.put(entered(), (offset, vec![2; length]), LATER).unwrap();
        assert!(is_begun(&other) && other.has_ended(), "{length} bytes at {offset}");
    }
    assert!(is_begun(&other));
}

/// A drive that packs nothing begins each write alone.
#[test]
fn without_packing_nothing_waits_for_others() {
    let served = served(&[], Timekeeping::None);
    let other = waiting(&served, 64 * PAGE as u64);
    served.put(entered(), (0, vec![2; PAGE]), LATER).unwrap();
    assert!(!is_begun(&other));
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

/// If one of several packed writes is refused, all fail for the same reason.
#[test]
fn a_drive_that_is_read_only_refuses_all_that_change_it() {
    for sets in [&[][..], SHRD] {
        let served = served(sets, Timekeeping::None);
        served.put(entered(), (0, vec![2; PAGE]), LATER).unwrap();
        served.set_faults(None, Some(true));
        let other = waiting(&served, PAGE as u64);
        let refused = Err(ServeError::ReadOnly);
        assert_eq!(served.put(entered(), (0, vec![3; PAGE]), LATER), refused);
        assert_eq!(served.put(entered(), (0, vec![3; 7]), LATER), refused);
        assert_eq!(served.ask(entered(), (Op::Trim, 0, PAGE as u64), LATER), refused);
        assert_eq!(served.flush_for(entered()), Ok(()));
        if served.packs {
            assert_eq!(end_of(&other).1, Some(ServeError::ReadOnly));
        }
        served.set_faults(None, Some(false));
        assert_eq!(served.put(entered(), (0, vec![3; PAGE]), LATER), Ok(()));
        assert_eq!(served.ask(entered(), (Op::Trim, 0, PAGE as u64), LATER), Ok(()));
    }
}

#[test]
fn an_answer_is_counted_while_it_is_made_and_after() {
    let served = served(&[], Timekeeping::None);
    let of = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let gauges = &served.gauges;
    let work = |answer| {
        served.answer(Asked::Read, 7, |entered| {
            assert_eq!((of(&gauges.in_flight), gauges.asked(Asked::Read)), (1, 1));
            assert_eq!(entered.cuts, 7);
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

#[test]
fn nothing_is_begun_in_a_pause() {
    for time in [Timekeeping::None, Timekeeping::Simulated] {
        let served = served(&[], time);
        drop(served.paused());
        thread::scope(|scope| {
            let put = scope.spawn(|| served.put(entered(), (0, vec![1; PAGE]), LATER));
            thread::sleep(Duration::from_millis(30));
            assert!(!put.is_finished());
            assert!(served.locked().is_idle());
            served.resume(served.locked());
            assert_eq!(put.join().unwrap(), Ok(()));
        });
    }
}

/// A pause begins when the requests in progress have completed.
#[test]
fn a_pause_waits_for_running_requests() {
    let served = served(&[("flash.program", "30ms")], Timekeeping::Simulated);
    thread::scope(|scope| {
        let put = scope.spawn(|| served.put(entered(), (0, vec![1; PAGE]), LATER));
        while served.locked().is_idle() {
            thread::yield_now();
        }
        let state = served.paused();
        assert!(state.is_idle());
        served.resume(state);
        assert_eq!(put.join().unwrap(), Ok(()));
    });
}

/// The queue has one slot: each request begins when the one before it has completed, and no answer
/// comes before the drive has done the request.
#[test]
fn replies_are_delayed_as_long_as_the_drive_takes() {
    let sets = [("flash.program", "20ms"), ("queue.depth", "1")];
    let served = served(&sets, Timekeeping::Simulated);
    let begun = Instant::now();
    thread::scope(|scope| {
        for page in 0..3 {
            let served = &served;
            scope.spawn(move || {
                served.put(entered(), (page * PAGE as u64, vec![1; PAGE]), LATER).unwrap();
            });
        }
    });
    assert!(begun.elapsed() >= Duration::from_millis(60), "{:?}", begun.elapsed());
    let held = served.gauges.total().holding.summary();
    assert_eq!(held.error_us.count, 3);
    assert!(served.locked().is_idle() && !served.locked().leads);
}

/// Without a clock replies are not held.
#[test]
fn without_a_clock_no_reply_is_delayed() {
    let served = served(&[("flash.program", "10s")], Timekeeping::None);
    served.put(entered(), (0, vec![1; PAGE]), LATER).unwrap();
    served.flush_for(entered()).unwrap();
    assert_eq!(served.gauges.total().holding.summary().error_us.count, 0);
}

/// The request arrived 100 ms ago, and the drive completed it 30 ms ago: 70 ms were due.
#[test]
fn the_lateness_of_a_reply_is_measured() {
    let served = served(&[], Timekeeping::Simulated);
    thread::sleep(Duration::from_millis(110));
    let waiter = |ago| {
        let at = Instant::now().checked_sub(Duration::from_millis(ago)).unwrap();
        Waiter::new(Entered { at, cuts: 0 }, 1)
    };
    let state = served.locked();
    let done = waiter(100);
    done.complete(state.time_ns() - 30_000_000);
    assert_eq!(served.end(&done, None), Ok(()));
    let failed = waiter(100);
    failed.fail(ServeError::PowerOff);
    assert_eq!(served.end(&failed, Some(&state)), Err(ServeError::PowerOff));
    assert_eq!(served.gauges.total().holding.summary().error_us.count, 0, "no time was missed");
    assert_eq!(served.end(&done, Some(&state)), Ok(()));
    let held = served.gauges.total().holding.summary();
    assert_eq!((held.error_us.count, held.late_share), (1, Some(1.0)));
    assert!(held.error_us.max >= Some(29_700.0));
    assert!(held.mean_excess.is_some_and(|excess| excess >= 30.0 / 70.0 - 0.01), "{held:?}");
}

/// The leader knows the next event already: only an earlier event may wake it.
#[test]
fn the_leader_is_notified_of_earlier_events() {
    let served = served(&[("flash.program", "10s")], Timekeeping::Simulated);
    let mut state = served.with_room();
    let is_notified = |state: &State| {
        served.hurry(state);
        served.is_earlier.swap(false, Ordering::AcqRel)
    };
    (state.leads, state.until_ns) = (true, u64::MAX);
    assert!(!is_notified(&state), "nothing is under way");
    let waiter = Waiter::new(entered(), 1);
    let write = Write { offset: 0, bytes: vec![1; PAGE], stream: 0, waiter };
    state.leads = false;
    served.begin_writes(&mut state, entered(), vec![write]).unwrap();
    assert!(!is_notified(&state), "nobody leads");
    let (_, next) = state.quiet_for();
    state.leads = true;
    for (until, is_earlier) in [(u64::MAX, true), (next + 1, true), (next, false), (0, false)] {
        state.until_ns = until;
        assert_eq!(is_notified(&state), is_earlier, "{until}");
    }
}

/// The wait for the lock and the time until its release are measured separately.
#[test]
fn the_lock_is_measured() {
    let served = served(&[], Timekeeping::None);
    let held = served.locked();
    thread::scope(|scope| {
        let waits = scope.spawn(|| drop(served.locked()));
        thread::sleep(Duration::from_millis(30));
        assert!(!waits.is_finished());
        drop(held);
    });
    let Measured { lock_wait, lock_held, .. } = served.gauges.total();
    let [wait, had] = [lock_wait, lock_held].map(|times| times.distributed());
    assert_eq!((wait.count, had.count), (2, 2));
    assert!(had.max >= Some(29_700.0), "{had:?}");
    served.gauges.reset();
    // A wait on a condition releases the lock, and counts as neither.
    let mut state = served.locked();
    state.wait(&served.room, Duration::from_millis(600));
    drop(state);
    let Measured { lock_wait, lock_held, .. } = served.gauges.total();
    let [wait, had] = [lock_wait, lock_held].map(|times| times.distributed());
    assert_eq!((wait.count, had.count), (2, 2));
    assert!(wait.max < Some(590_000.0) && had.max < Some(590_000.0), "{wait:?} {had:?}");
}
