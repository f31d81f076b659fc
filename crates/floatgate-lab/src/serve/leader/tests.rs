//! Tests of the wait for simulated time, and of the measurement of the lock.

use super::*;
use crate::drive::live::Timekeeping;
use crate::serve::gauges::Measured;
use crate::serve::state::Write;
use crate::serve::test_drive::{LATER, PAGE, entered, served};

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
    let state = served.leader.locked();
    assert_eq!((state.delivery.in_progress(), state.led.until_ns), (0, None));
}

/// Without a clock replies are not held.
#[test]
fn without_a_clock_no_reply_is_delayed() {
    let served = served(&[("flash.program", "10s")], Timekeeping::None);
    served.put(entered(), (0, vec![1; PAGE]), LATER).unwrap();
    served.flush(entered()).unwrap();
    assert_eq!(served.gauges.total().holding.summary().error_us.count, 0);
}

/// The leader knows the next event already: only an earlier event may wake it.
#[test]
fn the_leader_is_notified_of_earlier_events() {
    let served = served(&[("flash.program", "10s")], Timekeeping::Simulated);
    let leader = &served.leader;
    let is_notified = |until_ns| {
        let mut state = leader.locked();
        state.led.until_ns = until_ns;
        state.release_begun();
        leader.is_earlier.swap(false, Ordering::AcqRel)
    };
    assert!(!is_notified(Some(u64::MAX)), "nothing is under way");
    let mut state = leader.locked();
    let (bytes, waiter) = (vec![1; PAGE], Waiter::new(entered()));
    state
        .begin_writes(Instant::now(), vec![Write { offset: 0, bytes, stream: 0, waiter }])
        .unwrap();
    let (_, next) = state.quiet_for();
    drop(state);
    assert!(!is_notified(None), "nobody leads");
    for (until, is_earlier) in [(u64::MAX, true), (next + 1, true), (next, false), (0, false)] {
        assert_eq!(is_notified(Some(until)), is_earlier, "{until}");
    }
}

/// The wait for the lock and the time until its release are measured separately.
#[test]
fn the_lock_is_measured() {
    let served = served(&[], Timekeeping::None);
    let held = served.leader.locked();
    thread::scope(|scope| {
        let waits = scope.spawn(|| drop(served.leader.locked()));
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
    drop(served.leader.locked().wait(&served.leader.changed, Duration::from_millis(600)));
    let Measured { lock_wait, lock_held, .. } = served.gauges.total();
    let [wait, had] = [lock_wait, lock_held].map(|times| times.distributed());
    assert_eq!((wait.count, had.count), (2, 2));
    assert!(wait.max < Some(590_000.0) && had.max < Some(590_000.0), "{wait:?} {had:?}");
}
