//! One reading of a workload for several runs, and recordings that are read during the run.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use floatgate_ftl::request::{Op, Request};
use floatgate_lab::workload::{
    Broken, Extent, Feed, Reader, Recorded, Rows, RunSlots, Streamed, Summary, Workload, generator,
};
use proptest::prelude::*;

const SPEC: &str = "hotcold:span=4MiB,r=0.9,f=0.1,requests=700k,reads=0.3,flush=0.01";

/// Returns all requests of a workload, taken in batches of `size`.
fn all(workload: &mut dyn Workload, size: usize) -> Result<Vec<Request>, Broken> {
    let mut found = Vec::new();
    loop {
        let before = found.len();
        workload.next_batch(&mut found, size)?;
        if found.len() == before {
            return Ok(found);
        }
    }
}

fn alone() -> Vec<Request> {
    all(generator(SPEC, 7).expect(SPEC).as_mut(), 1024).expect(SPEC)
}

#[test]
fn every_seat_gets_every_request() {
    let expected = alone();
    for turns in [None, Some(1), Some(2)] {
        let turns = turns.map(|count| Arc::new(RunSlots::new(count)));
        let (_, seats) = Feed::new(generator(SPEC, 7).unwrap(), 5, turns.clone());
        thread::scope(|scope| {
            for (number, mut seat) in seats.into_iter().enumerate() {
                let (expected, turns) = (&expected, &turns);
                scope.spawn(move || {
                    let mut read = || all(&mut seat, 1000 + 77 * number).unwrap();
                    let found = match turns {
                        Some(turns) => turns.with(read),
                        None => read(),
                    };
                    assert!(found == *expected, "seat {number}");
                });
            }
        });
    }
}

#[test]
fn one_that_is_alone_is_read_ahead() {
    let found = Feed::ahead(generator(SPEC, 7).unwrap(), |seat| all(seat, 1024).unwrap());
    assert!(found == alone());
}

#[test]
fn a_fork_of_a_seat_is_the_whole_workload() {
    let (_, mut seats) = Feed::new(generator(SPEC, 7).unwrap(), 1, None);
    let mut fork = seats[0].fork();
    assert!(all(fork.as_mut(), 999).unwrap() == all(&mut seats[0], 1024).unwrap());
}

/// Workload that counts the requests that it has given.
struct Counted(Box<dyn Workload + Send>, Arc<AtomicUsize>);

impl Workload for Counted {
    fn next_batch(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), Broken> {
        let before = out.len();
        self.0.next_batch(out, max)?;
        self.1.fetch_add(out.len() - before, Ordering::Relaxed);
        Ok(())
    }

    fn fork(&self) -> Box<dyn Workload + Send> {
        self.0.fork()
    }

    fn summary(&self) -> Summary {
        self.0.summary()
    }
}

#[test]
fn no_run_is_far_ahead_and_a_leaving_run_blocks_no_other() {
    let read = Arc::new(AtomicUsize::new(0));
    let counted = Counted(generator(SPEC, 7).unwrap(), Arc::clone(&read));
    let (_, seats) = Feed::new(Box::new(counted), 3, None);
    let [mut first, mut slow, idle] = <[_; 3]>::try_from(seats).ok().unwrap();
    thread::scope(|scope| {
        scope.spawn(move || all(&mut first, 1024).unwrap());
        let mut given = Vec::new();
        slow.next_batch(&mut given, 100_000).unwrap();
        thread::sleep(std::time::Duration::from_millis(50));
        let most = 32 << 13;
        assert!(read.load(Ordering::Relaxed) <= most, "the idle seat has seen nothing yet");
        drop(idle);
        drop(slow);
    });
    assert_eq!(read.load(Ordering::Relaxed), alone().len());
}

#[test]
fn a_stop_ends_waiting_runs() {
    let (feed, seats) = Feed::new(generator(SPEC, 7).unwrap(), 2, None);
    let [mut first, idle] = <[_; 2]>::try_from(seats).ok().unwrap();
    thread::scope(|scope| {
        let waits = scope.spawn(move || all(&mut first, 1024));
        thread::sleep(std::time::Duration::from_millis(20));
        feed.stop();
        assert_eq!(waits.join().unwrap(), Err(Broken::Stopped));
    });
    drop(idle);
}

/// Recording in memory, in chunks. A reading ends with `broken`.
struct Chunks(Vec<Vec<Request>>, Option<Broken>);

struct ChunkReader(Vec<Vec<Request>>, Option<Broken>);

impl Rows for Chunks {
    fn open(&self) -> Result<Box<dyn Reader>, Broken> {
        let chunks = self.0.iter().rev().cloned().collect();
        Ok(Box::new(ChunkReader(chunks, self.1.clone())))
    }
}

impl Reader for ChunkReader {
    fn read(&mut self, out: &mut Vec<Request>) -> Result<bool, Broken> {
        match (self.0.pop(), &self.1) {
            (Some(chunk), _) => out.extend(chunk),
            (None, Some(broken)) => return Err(broken.clone()),
            (None, None) => return Ok(false),
        }
        Ok(true)
    }
}

fn streamed(chunks: Vec<Vec<Request>>, repeat: u64, scale: f64) -> Streamed {
    let requests = chunks.concat();
    let span_bytes = requests.iter().map(|one| one.offset + one.length).max().unwrap_or(0);
    let last_ns = requests.last().map_or(0, |last| last.at_ns);
    let count = requests.len() as u64;
    let extent = Extent { name: "it".to_owned(), requests: count, span_bytes, last_ns };
    Streamed::new(Arc::new(Chunks(chunks, None)), extent, repeat, scale).expect("in range")
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    let op = prop_oneof![Just(Op::Read), Just(Op::Write), Just(Op::Trim), Just(Op::Flush)];
    let one = (0..1_000_000_u64, op, 0..1_000_u64, 1..1_000_u64);
    let one = one.prop_map(|(at_ns, op, offset, length)| {
        let (offset, length) = if op == Op::Flush { (0, 0) } else { (offset, length) };
        Request { at_ns, op, offset, length, stream: 0 }
    });
    prop::collection::vec(one, 0..50).prop_map(|mut all| {
        all.sort_by_key(|one| one.at_ns);
        all
    })
}

proptest! {
    #[test]
    fn a_stream_equals_the_recording_in_memory(
        requests in requests(), chunk in 1..20_usize, size in 1..30_usize,
        repeat in 1..4_u64, scale in prop_oneof![Just(1.0), Just(0.3), Just(2.5)],
        given in 0..60_usize,
    ) {
        let mut held = Recorded::new("it", repeat, scale).unwrap();
        held.push(&requests).unwrap();
        let chunks: Vec<_> = requests.chunks(chunk).map(<[_]>::to_vec).collect();
        let mut stream = streamed(chunks, repeat, scale);
        let known = Summary { digest: 0, ..held.summary() };
        prop_assert_eq!(stream.summary(), known);
        prop_assert_eq!(stream.clone().digest().unwrap(), held.summary().digest);
        prop_assert_eq!(&stream.summary(), &held.summary(), "clones share what one has found");
        let mut some = Vec::new();
        stream.next_batch(&mut some, given).unwrap();
        let mut fork = stream.fork();
        let rest = all(&mut stream, size).unwrap();
        prop_assert_eq!(&all(fork.as_mut(), size).unwrap(), &rest);
        some.extend(rest);
        prop_assert_eq!(some, all(&mut held, 1024).unwrap());
    }
}

#[test]
fn a_recording_that_changes_or_breaks_is_an_error() {
    let write = |offset| Request { at_ns: 0, op: Op::Write, offset, length: 512, stream: 0 };
    let extent =
        |requests| Extent { name: "it".to_owned(), requests, span_bytes: 4096, last_ns: 0 };
    let changed = Broken::Unreadable("it changed while it was read: start again".to_owned());
    let broken = Broken::Unreadable("a torn page".to_owned());
    for (chunk, end, expected) in [
        (vec![write(0)], None, &changed),
        (vec![write(0), write(0), write(0)], None, &changed),
        (vec![write(0), write(4096)], None, &changed),
        (vec![write(0)], Some(broken.clone()), &broken),
    ] {
        let rows = Arc::new(Chunks(vec![chunk], end));
        let stream = Streamed::new(rows, extent(2), 1, 1.0).unwrap();
        assert_eq!(stream.digest().as_ref(), Err(expected));
        let (_, seats) = Feed::new(Box::new(stream), 2, None);
        let failed = Mutex::new(0);
        thread::scope(|scope| {
            for mut seat in seats {
                let failed = &failed;
                scope.spawn(move || {
                    assert_eq!(all(&mut seat, 1024).as_ref(), Err(expected));
                    *failed.lock().unwrap() += 1;
                });
            }
        });
        assert_eq!(*failed.lock().unwrap(), 2);
    }
}
