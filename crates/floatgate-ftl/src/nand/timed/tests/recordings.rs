//! Recordings of a window, worked out by hand; `tests/recordings.rs` compares them with the totals.

use super::*;
use crate::clock::{Around, Recorded, Recording, Served, Span, Use};

const ALL: Recording = Recording { window_ns: 1 << 40, around: Around::Time(0), spans_max: 1000 };

/// Lane, use, component, begin, and end.
type SpanTuple = (u32, Use, Component, u64, u64);

fn tuple(span: &Span) -> SpanTuple {
    (span.lane, span.doing, span.component, span.from_ns, span.to_ns)
}

fn recorded(shape: Shape, schedule: Schedule) -> Drive {
    let mut drive = scheduled(shape, TIMING, schedule);
    drive.clock().record(ALL);
    drive
}

impl Drive {
    fn recording(&mut self) -> Recorded {
        self.clock().recorded().unwrap()
    }

    /// Returns the spans of the first lanes.
    fn spans(&mut self, lanes: u32) -> Vec<SpanTuple> {
        let recorded = self.recording();
        recorded.spans.iter().map(tuple).filter(|&(lane, ..)| lane < lanes).collect()
    }
}

#[test]
fn a_die_that_does_one_thing_after_the_other() {
    let mut drive = recorded(SERIAL, Schedule::default());
    let program = drive.program(0, Cause::Host);
    let read = drive.read(16, Cause::Map);
    let erase = drive.erase(3, Cause::Gc);
    drive.times([program, read, erase]);
    let die = [
        (0, Use::Transfer, Component::Die, 0, 11),
        (0, Use::Program, Component::Die, 11, 211),
        (0, Use::Read, Component::Map, 211, 237),
        (0, Use::Transfer, Component::Map, 237, 247),
        (0, Use::Erase, Component::Gc, 247, 1748),
    ];
    let channel =
        [(1, Use::Transfer, Component::Bus, 1, 11), (1, Use::Transfer, Component::Map, 237, 247)];
    assert_eq!(drive.spans(2), [&die[..], &channel].concat());
    let Recorded { from_ns, to_ns, left_out_ns, served, .. } = drive.recording();
    assert_eq!((from_ns, to_ns, left_out_ns, served), (0, 1748, 0, None), "to the end of the run");
}

#[test]
fn running_operations_are_recorded_until_now() {
    let mut drive = recorded(SERIAL, Schedule::default());
    drive.program(0, Cause::Gc);
    drive.at(6);
    let transfer = (0, Use::Transfer, Component::Gc, 0, 6);
    assert_eq!(drive.spans(2), [transfer, (1, Use::Transfer, Component::Gc, 1, 6)]);
    drive.at(100);
    let transfer = (0, Use::Transfer, Component::Gc, 0, 11);
    assert_eq!(drive.spans(1), [transfer, (0, Use::Program, Component::Gc, 11, 100)]);
}

#[test]
fn pages_of_a_multi_plane_operation_are_transferred_one_by_one() {
    let mut drive = recorded(WIDE, Schedule::default());
    let programs = [0, 1].map(|page| drive.program(page, Cause::Host));
    let reads = [16, 17].map(|page| drive.read(page, Cause::Map));
    drive.times([programs, reads].concat().try_into().unwrap_or([0; 4]));
    let die = [
        (0, Use::Transfer, Component::Die, 0, 21),
        (0, Use::Program, Component::Die, 21, 221),
        (0, Use::Read, Component::Map, 221, 247),
        (0, Use::Transfer, Component::Map, 247, 267),
    ];
    assert_eq!(drive.spans(1), die);
    // Equal neighbours are one span.
    let spans = drive.recording().spans;
    let channel: Vec<_> = spans.iter().filter(|span| span.lane == 4).map(tuple).collect();
    let writes = (4, Use::Transfer, Component::Bus, 1, 21);
    assert_eq!(channel, [writes, (4, Use::Transfer, Component::Map, 247, 267)]);
}

#[test]
fn a_die_that_waits_for_its_channel() {
    let mut drive = recorded(SHARED, Schedule::default());
    let tickets = [drive.program(0, Cause::Gc), drive.program(4, Cause::Host)];
    drive.times(tickets);
    let second: Vec<_> = drive.spans(2).into_iter().filter(|&(lane, ..)| lane == 1).collect();
    assert_eq!(
        second,
        [
            (1, Use::Transfer, Component::Die, 0, 1),
            (1, Use::Wait, Component::Die, 1, 11),
            (1, Use::Transfer, Component::Die, 11, 21),
            (1, Use::Program, Component::Die, 21, 221),
        ]
    );
}

#[test]
fn an_operation_that_is_interrupted() {
    let suspend = Suspend { suspend_ns: 20, resume_ns: 5, most: 1 };
    let order = Order::ReadFirst { starve_ns: 10_000 };
    let schedule = Schedule { suspend: Some(suspend), order, ..Schedule::default() };
    let mut drive = recorded(SERIAL, schedule);
    let erase = drive.erase(3, Cause::Gc);
    let read = drive.at(101).urgent(20);
    drive.times([read, erase]);
    assert_eq!(
        drive.spans(1),
        [
            (0, Use::Erase, Component::Gc, 0, 121),
            (0, Use::Read, Component::Die, 121, 147),
            (0, Use::Transfer, Component::Die, 147, 157),
            (0, Use::Erase, Component::Gc, 157, 157 + 5 + 1400),
        ]
    );
}

#[test]
fn a_page_in_the_cache_register_is_of_the_channel() {
    let schedule = Schedule { cache_register: true, ..Schedule::default() };
    let mut drive = recorded(SERIAL, schedule);
    let tickets = [0, 1].map(|page| drive.program(page, Cause::Host));
    drive.times(tickets);
    let cells = (0, Use::Program, Component::Die, 11, 411);
    assert_eq!(drive.spans(1), [(0, Use::Transfer, Component::Die, 0, 11), cells]);
    let pages = [(1, 11), (12, 22)].map(|(from, to)| (1, Use::Transfer, Component::Bus, from, to));
    assert_eq!(drive.spans(2)[2..], pages);
}

/// A complete request.
fn served(number: u64, arrival_ns: u64, done_ns: u64) -> Served {
    Served { number, arrival_ns, done_ns, blame: Blame::default() }
}

/// Programs one page after another on a drive, each as a request, and returns the recording.
fn programs(recording: Recording, arrivals: &[u64]) -> Recorded {
    let mut drive = drive(Shape { pages_per_block: 64, ..SERIAL });
    drive.clock().record(recording);
    for (number, &arrival) in (0..).zip(arrivals) {
        drive.clock().begin_requests(number..number + 1);
        let program = drive.program(number as u32, Cause::Host);
        let (done_ns, _) = drive.end(program);
        drive.clock().end_request(&served(number, arrival, done_ns));
    }
    drive.recording()
}

#[test]
fn the_window_is_around_the_request_that_took_longest() {
    let recording = Recording { window_ns: 400, around: Around::Worst, spans_max: 100 };
    // Each request ends 211 after the one before it. The third one took longest, and the last one
    // equally long: the first of equals is recorded.
    let found = programs(recording, &[0, 211, 133, 633, 844, 766]);
    assert_eq!(found.served, Some(served(2, 133, 633)));
    assert_eq!((found.from_ns, found.to_ns, found.left_out_ns), (333, 733, 0));
    let expected = [
        (0, Use::Program, Component::Die, 333, 422),
        (0, Use::Transfer, Component::Die, 422, 433),
        (0, Use::Program, Component::Die, 433, 633),
        (0, Use::Transfer, Component::Die, 633, 644),
        (0, Use::Program, Component::Die, 644, 733),
    ];
    assert_eq!(found.spans[..5].iter().map(tuple).collect::<Vec<_>>(), expected);
    assert_eq!(found.dies, [0]);
    // A window at the end of the run ends with it.
    let found = programs(recording, &[0, 211, 422, 633, 844, 700]);
    assert_eq!(found.served, Some(served(5, 700, 1266)));
    assert_eq!((found.from_ns, found.to_ns, found.left_out_ns), (966, 1266, 0));
}

#[test]
fn the_window_is_around_a_time() {
    let recording = Recording { window_ns: 400, around: Around::Time(600), spans_max: 100 };
    let found = programs(recording, &[0, 211, 422, 333, 844, 845]);
    assert_eq!((found.from_ns, found.to_ns), (400, 800));
    assert_eq!(found.served, Some(served(3, 333, 844)), "of those under way then the longest");
    let found = programs(recording, &[0, 211, 122, 333, 544, 845]);
    assert_eq!(found.served, Some(served(2, 122, 633)), "and of the longest the first");
    let later = Recording { around: Around::Time(5000), ..recording };
    let mut drive = drive(SERIAL);
    drive.clock().record(later);
    let program = drive.program(0, Cause::Host);
    drive.times([program]);
    assert_eq!(drive.clock().recorded(), None, "the run has ended before");
}

#[test]
fn a_window_of_too_many_spans_is_made_shorter_and_says_so() {
    let all = Recording { window_ns: 4000, around: Around::Time(2000), spans_max: 100 };
    let arrivals: Vec<u64> = (0..20).map(|number| number * 211).collect();
    let whole = programs(all, &arrivals);
    assert_eq!((whole.from_ns, whole.to_ns, whole.left_out_ns), (0, 4000, 0));
    let found = programs(Recording { spans_max: 12, ..all }, &arrivals);
    assert!(found.spans.len() <= 12 + 2 + 1, "{} spans", found.spans.len());
    assert_eq!(found.left_out_ns, 4000 - (found.to_ns - found.from_ns));
    assert!(found.from_ns < 2000 && 2000 < found.to_ns, "{} {}", found.from_ns, found.to_ns);
    // The recording has all spans of the time that it covers.
    let component = whole.spans.iter().filter_map(|span| span.within(found.from_ns, found.to_ns));
    assert_eq!(found.spans, component.collect::<Vec<_>>());
}
