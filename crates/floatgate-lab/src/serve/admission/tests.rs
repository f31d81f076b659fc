//! Tests of the waits for room, of pauses, and of writes that are begun together.

use std::thread;
use std::time::Duration;

use super::*;
use crate::drive::live::Timekeeping;
use crate::serve::backend::Backend;
use crate::serve::served::Served;
use crate::serve::test_drive::{LATER, PAGE, SHRD, entered, served};

/// Adds a write that waits to be packed, and returns its waiter.
fn waiting(served: &Served, offset: u64) -> Arc<Waiter> {
    let waiter = Waiter::new(entered());
    let (bytes, stream) = (vec![1; PAGE], 0);
    lock(&served.admission.waiting).push(Write { offset, bytes, stream, waiter: waiter.clone() });
    waiter
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
        assert!(!other.is_begun(), "{length} bytes at {offset}");
    }
    for (offset, length) in [(0, PAGE), (3 * page, 2 * PAGE)] {
        let other = waiting(&served, 65 * page);
        served.put(entered(), (offset, vec![2; length]), LATER).unwrap();
        assert!(other.is_begun() && other.has_ended(), "{length} bytes at {offset}");
    }
    assert!(other.is_begun());
}

/// A drive that packs nothing begins each write alone.
#[test]
fn without_packing_nothing_waits_for_others() {
    let served = served(&[], Timekeeping::None);
    let other = waiting(&served, 64 * PAGE as u64);
    served.put(entered(), (0, vec![2; PAGE]), LATER).unwrap();
    assert!(!other.is_begun());
}

/// If writes from before and after a power cut wait together, only those from before fail.
#[test]
fn writes_that_waited_when_the_plug_was_pulled_fail_alone() {
    let served = served(SHRD, Timekeeping::None);
    let old = waiting(&served, 0);
    served.pull_plug().unwrap();
    let new = served.client();
    new.write(PAGE as u64, &[2; PAGE], LATER).unwrap();
    assert_eq!(served.leader.wait(&old), Err(ServeError::PowerOff));
    let mut page = [9; 2 * PAGE];
    new.read(0, &mut page).unwrap();
    assert_eq!((page[0], page[PAGE]), (0, 2));
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
        assert_eq!(served.flush(entered()), Ok(()));
        if served.admission.packs.is_some() {
            assert_eq!(other.reply(None, &served.gauges), refused);
        }
        served.set_faults(None, Some(false));
        assert_eq!(served.put(entered(), (0, vec![3; PAGE]), LATER), Ok(()));
        assert_eq!(served.ask(entered(), (Op::Trim, 0, PAGE as u64), LATER), Ok(()));
    }
}

#[test]
fn nothing_is_begun_in_a_pause() {
    for time in [Timekeeping::None, Timekeeping::Simulated] {
        let served = served(&[], time);
        drop(served.admission.pause(&served.leader));
        thread::scope(|scope| {
            let put = scope.spawn(|| served.put(entered(), (0, vec![1; PAGE]), LATER));
            thread::sleep(Duration::from_millis(30));
            assert!(!put.is_finished());
            assert!(served.leader.locked().delivery.in_progress() == 0);
            served.admission.resume(served.leader.locked());
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
        while served.leader.locked().delivery.in_progress() == 0 {
            thread::yield_now();
        }
        let state = served.admission.pause(&served.leader);
        assert!(state.delivery.in_progress() == 0);
        served.admission.resume(state);
        assert_eq!(put.join().unwrap(), Ok(()));
    });
}
