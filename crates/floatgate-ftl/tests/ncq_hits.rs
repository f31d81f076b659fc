//! Gain from looking into the command queue: hit ratios of record-aligned uniform random writes
//! behind a saturated queue, compared with independently computed ratios (docs/algorithms.md, 7.9).
//! Also tests the laws that these ratios follow.

use std::collections::VecDeque;

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::buffer::{BUFFERS, Buffer, BufferConfig, Flush, NcqLruConfig, Pin, parts};
use floatgate_ftl::future::NextUseBuilder;
use floatgate_ftl::parameters::names;
use floatgate_ftl::rng::Rng;

/// Pages of 4 KiB, blocks of 128 KiB, sizes in MiB.
const PER_BLOCK: u32 = 32;
const PER_MIB: u32 = 256;

/// Commands of one size at random places, aligned to that size.
#[derive(Clone, Copy)]
struct Load {
    record_pages: u32,
    span_mib: u32,
    depth: usize,
    commands: usize,
}

/// Workloads of the paper: records of 256 KiB and of 1 MiB, here behind 32 commands.
const W1: Load = Load { record_pages: 64, span_mib: 256, depth: 32, commands: 200_000 };
const W2: Load = Load { record_pages: 256, ..W1 };

impl Load {
    fn pages(&self) -> u32 {
        self.span_mib * PER_MIB
    }

    /// Yields the first page of each command.
    fn commands(&self) -> impl Iterator<Item = u32> {
        let (mut rng, record) = (Rng::new(9), self.record_pages);
        let records = u64::from(self.pages() / record);
        (0..self.commands).map(move |_| rng.below(records) as u32 * record)
    }

    fn config(&self, buffer_pages: u32, pin: Pin) -> BufferConfig {
        let ncq_lru = NcqLruConfig { pin };
        BufferConfig { ncq_lru, ..BufferConfig::new(self.pages(), PER_BLOCK, buffer_pages) }
    }

    fn buffer(&self, name: &str, buffer_pages: u32, pin: Pin) -> Buffer {
        let mut buffer = Buffer::new(name, &self.config(buffer_pages, pin)).unwrap();
        if Buffer::needs_future(name) {
            let mut telling = NextUseBuilder::new(self.pages() / PER_BLOCK);
            let parts = self.commands().flat_map(|c| parts(Lpn::new(c), self.record_pages, 32));
            parts.for_each(|(at, _)| telling.push(Lpn::new(at.get() / PER_BLOCK)).unwrap());
            buffer.set_future(telling.finish());
        }
        buffer
    }

    /// Returns the hit ratio, and each evicted block with the number of the part that evicted it.
    fn run(&self, mut buffer: Buffer) -> (f64, Vec<(usize, u32)>) {
        let (mut coming, mut queue) = (self.commands(), VecDeque::new());
        let (mut flush, mut left) = (Flush::default(), vec![]);
        let (mut hits, mut pages, mut number) = (0, 0, 0);
        loop {
            // A command keeps its place in the queue until it is done.
            while queue.len() < self.depth.max(1)
                && let Some(command) = coming.next()
            {
                buffer.queued(Lpn::new(command), self.record_pages);
                queue.push_back(command);
            }
            let Some(&command) = queue.front() else { break };
            for (at, n) in parts(Lpn::new(command), self.record_pages, buffer.block_pages()) {
                hits += u64::from(buffer.write(at, n, &mut flush));
                left.extend(flush.groups().map(|group| (number, group.block.start / PER_BLOCK)));
                flush.clear();
                buffer.served(at);
                (pages, number) = (pages + u64::from(n), number + 1);
            }
            queue.pop_front();
        }
        buffer.check();
        (hits as f64 / pages as f64, left)
    }

    fn hits(&self, name: &str, buffer_mib: u32, pin: Pin) -> f64 {
        self.run(self.buffer(name, buffer_mib * PER_MIB, pin)).0
    }
}

/// Workload, buffer in MiB, and the hit ratios of LRU, of moves only, and of pins.
const TABLE: &[(&str, Load, u32, [f64; 3])] = &[
    ("W1", W1, 1, [0.004, 0.004, 0.034]),
    ("W1", W1, 4, [0.016, 0.016, 0.046]),
    ("W1", W1, 8, [0.032, 0.053, 0.061]),
    ("W1", W1, 16, [0.064, 0.090, 0.090]),
    ("W2", W2, 1, [0.004, 0.004, 0.029]),
    ("W2", Load { span_mib: 1024, ..W2 }, 1, [0.001, 0.001, 0.018]),
    ("W2", Load { span_mib: 1024, ..W2 }, 16, [0.016, 0.016, 0.046]),
    ("W1", Load { depth: 4, ..W1 }, 1, [0.0041, 0.0069, 0.0069]),
];

#[test]
fn hit_ratios_are_those_of_the_table() {
    let mut wrong = vec![];
    for (name, load, buffer_mib, expected) in TABLE {
        let measured = [
            load.hits("lru", *buffer_mib, Pin::Counted),
            load.hits("ncq_lru", *buffer_mib, Pin::MoveOnly),
            load.hits("ncq_lru", *buffer_mib, Pin::Counted),
        ];
        let (span, depth) = (load.span_mib, load.depth);
        for (measured, expected) in measured.iter().zip(expected) {
            if (measured - expected).abs() > (0.1 * expected).max(0.002) {
                wrong.push((name, span, depth, buffer_mib, *measured, *expected));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns loads and buffers for testing the laws: all rows of the table, and some odd ones.
fn cases() -> impl Iterator<Item = (Load, u32)> {
    let table = TABLE.iter().map(|&(_, load, buffer_mib, _)| (load, buffer_mib));
    let odd = [(3, 1, 2), (96, 5, 7), (500, 2, 100)].map(|(record_pages, buffer_mib, depth)| {
        (Load { record_pages, span_mib: 64, depth, ..W1 }, buffer_mib)
    });
    table.chain(odd).map(|(load, mib)| (Load { commands: 20_000, ..load }, mib))
}

#[test]
fn of_uniform_writes_lru_finds_the_share_that_is_buffered() {
    for (_, load, buffer_mib, _) in TABLE {
        let share = f64::from(*buffer_mib) / f64::from(load.span_mib);
        // All pages of a command hit, or none does.
        let deviation = (share / load.commands as f64).sqrt();
        let hits = load.hits("lru", *buffer_mib, Pin::Counted);
        assert!((hits - share).abs() < 5.0 * deviation, "{hits}, not {share}");
    }
}

#[test]
fn pins_never_lose_and_never_beat_the_bound() {
    for (load, buffer_mib) in cases() {
        let hits = |name, pin| load.hits(name, buffer_mib, pin);
        let (lru, bound) = (hits("lru", Pin::Counted), hits("belady", Pin::Counted));
        let (pins, on_arrival) =
            (hits("ncq_lru", Pin::Counted), hits("ncq_lru", Pin::OnArrivalOnly));
        let record = load.record_pages;
        assert!(lru <= pins && on_arrival <= pins, "{lru} {on_arrival} {pins} {record}");
        assert!(pins <= bound || !record.is_multiple_of(PER_BLOCK), "{pins} {bound}");
    }
}

#[test]
fn every_policy_stays_below_the_bound() {
    let load = Load { commands: 30_000, ..W1 };
    for buffer_mib in [1, 8, 64] {
        let bound = load.hits("belady", buffer_mib, Pin::Counted);
        for name in names(BUFFERS) {
            let hits = load.hits(name, buffer_mib, Pin::Counted);
            assert!(hits <= bound, "{name}: {hits}, bound {bound}");
        }
    }
}

#[test]
fn moves_alone_gain_nothing_from_a_queue_larger_than_the_buffer() {
    for (load, buffer_mib) in [(W1, 1), (W1, 4), (W2, 1), (W2, 16)] {
        let load = Load { span_mib: 1024, ..load };
        let queued = (load.depth as u32 - 1) * load.record_pages;
        assert!(buffer_mib * PER_MIB < queued);
        let (lru, moved) = (
            load.hits("lru", buffer_mib, Pin::Counted),
            load.hits("ncq_lru", buffer_mib, Pin::MoveOnly),
        );
        assert!((moved - lru).abs() < 0.02 * lru, "{lru} {moved}");
    }
    // With a buffer twice as large, moves get as many hits as pins.
    let (moved, pinned) =
        (W1.hits("ncq_lru", 16, Pin::MoveOnly), W1.hits("ncq_lru", 16, Pin::Counted));
    assert!((moved - pinned).abs() < 0.01 * pinned, "{moved} {pinned}");
}

/// A single command still pins its own blocks, so that it does not evict them itself. That makes no
/// difference if the buffer size is a multiple of the record size.
#[test]
fn without_others_in_the_queue_it_is_lru() {
    let is_whole = |(load, mib): &(Load, u32)| (mib * PER_MIB).is_multiple_of(load.record_pages);
    for (load, buffer_mib) in cases().filter(is_whole) {
        let load = Load { depth: 1, commands: 5000, ..load };
        let run = |name, pin| load.run(load.buffer(name, buffer_mib * PER_MIB, pin));
        let expected = run("lru", Pin::Counted);
        for pin in [Pin::Counted, Pin::OnArrivalOnly, Pin::MoveOnly] {
            assert!(run("ncq_lru", pin) == expected, "{pin:?}: other hits or other victims");
        }
    }
}
