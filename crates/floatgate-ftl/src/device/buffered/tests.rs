//! Hand-computed cases of a drive with a write buffer: contents, counters and times.

use std::vec;

use super::*;
use crate::buffer::BufferConfig;
use crate::device::{Device, Inspect, Ssd};
use crate::geometry::{Geometry, Shape};
use crate::mapping::{Ideal, MapConfig};
use crate::nand::{Cause, Counted, Timed, Timing};
use crate::page_ftl::{Cleaning, PageConfig, PageFtl};
use crate::placement::{AnyPlacement, PlacementConfig};
use crate::queue::{Arrivals, Queue};
use crate::request::{Op, Request};
use crate::unit_table::FreeOrder;
use crate::victim::{VictimConfig, victim};

const SHAPE: Shape = Shape { units: 16, logical_pages: 32, ..Shape::SMALL };
const RAM_NS: u64 = 3;
const NO_TIME: Timing =
    Timing { read_ns: 0, program_ns: 0, erase_ns: 0, transfer_ns: 0, command_ns: 0 };

struct Drive(Ssd<PageFtl<Timed<Counted>, Ideal>, ()>);

impl Drive {
    /// A buffer of two blocks of four pages, evicted in LRU order. Flash operations take no time.
    fn new(acknowledge: Acknowledge) -> Self {
        let geometry = Geometry::new(SHAPE).unwrap();
        let config = PageConfig {
            geometry,
            placement: AnyPlacement::new("single", &PlacementConfig::new(geometry)).unwrap(),
            victim: victim("greedy", &VictimConfig::new(SHAPE.units, 1)).unwrap(),
            cleaning: Cleaning::new(2),
            free_order: FreeOrder::First,
            verify: false,
            pages_per_map_page: 1,
            journal: None,
            reclaim_units: std::vec::Vec::new(),
            flush_after_ns: None,
        };
        let mapping = Ideal::new(&MapConfig::new(geometry, 0));
        let nand = Timed::new(Counted::default(), geometry, NO_TIME);
        let ftl = PageFtl::new(nand, mapping, config).unwrap();
        let queue = Queue::new(1, Arrivals::Closed);
        let buffer = Buffer::new("lru", &BufferConfig::new(SHAPE.logical_pages, 4, 8)).unwrap();
        let buffer = WriteBuffer::new(buffer, acknowledge, RAM_NS);
        Self(Ssd::new(ftl, (), queue, &geometry).with_buffer(Some(buffer)))
    }

    /// Runs one request. Returns its duration, and asserts that the buffer accounts for all of it.
    fn run(&mut self, op: Op, pages: Range<u64>) -> u64 {
        let (offset, length) = (64 * pages.start, 64 * (pages.end - pages.start));
        let mut done = vec![];
        self.0.run(&[Request { at_ns: 0, op, offset, length, stream: 0 }], &mut done);
        self.0.check();
        assert_eq!(done[0].blame.0[Component::Buffer as usize], done[0].blame.total());
        done[0].blame.total()
    }

    fn counts(&self) -> BufferCounts {
        self.0.counters().buffer.unwrap()
    }

    /// Returns pages read from flash and programmed for the host, and reads of unmapped pages.
    fn flash(&self) -> (u64, u64, u64) {
        let (counters, host) = (self.0.counters(), Cause::Host as usize);
        (counters.flash.reads[host], counters.flash.programs[host], counters.host.empty_reads)
    }
}

const BOTH: [Acknowledge; 2] = [Acknowledge::WriteBack, Acknowledge::WriteThrough];

#[test]
fn a_buffer_is_empty_after_a_loss_of_power() {
    for acknowledge in BOTH {
        let mut drive = Drive::new(acknowledge);
        assert_eq!(drive.run(Op::Write, 0..3), 3 * RAM_NS);
        assert_eq!(drive.run(Op::Write, 1..3), 2 * RAM_NS);
        // The pages of a read do not wait for each other.
        assert_eq!(drive.run(Op::Read, 0..4), RAM_NS);
        let before = drive.counts();
        drive.0.cut_power();
        drive.0.check();
        assert_eq!(drive.counts(), BufferCounts { held: 0, lost: 3, ..before });
        assert_eq!(drive.run(Op::Read, 0..4), 0);
        let expected = BufferCounts {
            write_misses: 3,
            write_hits: 2,
            read_hits: 3,
            read_misses: 1 + 4,
            lost: 3,
            writes_through: acknowledge == Acknowledge::WriteThrough,
            memory_bytes: before.memory_bytes,
            ..BufferCounts::default()
        };
        assert_eq!(drive.counts(), expected);
        // Pages that were only in the buffer are lost. Pages that were written through are on
        // flash.
        let flash = if expected.writes_through { (3, 5, 1 + 1) } else { (0, 0, 1 + 4) };
        assert_eq!(drive.flash(), flash);
    }
}

#[test]
fn each_page_that_enters_leaves_once() {
    for acknowledge in BOTH {
        let mut drive = Drive::new(acknowledge);
        let through = acknowledge == Acknowledge::WriteThrough;
        let of = |back: u64, other: u64| if through { other } else { back };
        let left = |drive: &Drive| {
            let BufferCounts { flushed, released, trimmed, held, .. } = drive.counts();
            (flushed, released, trimmed, held)
        };
        drive.run(Op::Write, 0..8);
        assert_eq!(left(&drive), (0, 0, 0, 8));
        // The first block leaves to make room for the third: it is written to flash, or dropped if
        // the buffer writes through.
        drive.run(Op::Write, 8..12);
        assert_eq!(left(&drive), (of(4, 0), of(0, 4), 0, 8));
        assert_eq!(drive.flash(), (0, of(4, 12), 0));
        drive.run(Op::Trim, 4..6);
        assert_eq!(left(&drive), (of(4, 0), of(0, 4), 2, 6));
        assert_eq!(drive.0.counters().host.trimmed_pages, 2);
        // A flush does nothing if all pages are on flash.
        drive.run(Op::Flush, 0..0);
        assert_eq!(left(&drive), (of(10, 0), of(0, 4), 2, of(0, 6)));
        assert_eq!(drive.flash(), (0, of(10, 12), 0));
        // Resetting the counters does not empty the buffer.
        drive.0.reset_counters();
        let expected = BufferCounts {
            held: of(0, 6),
            held_at_start: of(0, 6),
            writes_through: through,
            memory_bytes: drive.counts().memory_bytes,
            ..BufferCounts::default()
        };
        assert_eq!(drive.counts(), expected);
        drive.0.check();
        assert_eq!(drive.run(Op::Read, 8..9), of(0, RAM_NS));
    }
}
