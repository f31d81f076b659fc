//! Conservation laws, compared with the log of the medium.

use std::collections::BTreeMap;

use floatgate_ftl::addr::Owner;
use floatgate_ftl::counters::CAUSES;
use floatgate_ftl::device::{Counters, Device};
use floatgate_ftl::geometry::Geometry;
use floatgate_ftl::nand::Cause;
use floatgate_ftl::request::Completion;

use super::Rig;
use super::log::{Event, Kind, Log};

/// Number of times that each case occurred, so that a test can require it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub cleans: u64,
    pub map_cleans: u64,
    pub copies: u64,
    pub cleans_inside_evictions: u64,
    pub dirty_evictions: u64,
    pub trimmed: u64,
    pub partial_page_reads: u64,
    pub empty_reads: u64,
    pub emergencies: u64,
    /// SHRD: windows remapped, reads redirected, pages dropped from the log.
    pub windows: u64,
    pub redirected: u64,
    pub dropped: u64,
    /// Runs after which the map cache could be written back completely.
    pub clean_maps: u64,
}

impl std::ops::AddAssign for Seen {
    fn add_assign(&mut self, other: Self) {
        self.cleans += other.cleans;
        self.map_cleans += other.map_cleans;
        self.copies += other.copies;
        self.cleans_inside_evictions += other.cleans_inside_evictions;
        self.dirty_evictions += other.dirty_evictions;
        self.trimmed += other.trimmed;
        self.partial_page_reads += other.partial_page_reads;
        self.empty_reads += other.empty_reads;
        self.emergencies += other.emergencies;
        self.windows += other.windows;
        self.redirected += other.redirected;
        self.dropped += other.dropped;
        self.clean_maps += other.clean_maps;
    }
}

/// Independent account of the flash.
#[derive(Debug)]
pub struct Laws {
    geometry: Geometry,
    log: Log,
    /// Whether a unit is fully programmed when it is erased.
    full_units: bool,
    /// By unit: pages programmed since its last erase, and whether they are translation pages.
    written: BTreeMap<u32, (u32, bool)>,
    at_start: u64,
    at_erase: u64,
    reads: [u64; CAUSES],
    programs: [u64; CAUSES],
    erases: [u64; CAUSES],
    seen: Seen,
    /// Owner of the last map read, if only cleaning has happened since.
    pending: Option<Owner>,
    cleaned: u64,
}

impl Laws {
    /// Creates an account for a freshly formatted drive; `log` contains the formatting.
    pub fn new(rig: &Rig, log: Log) -> Self {
        Self::with(rig.geometry(), log, true)
    }

    /// Creates an account; `full_units` states whether units are fully programmed when they are
    /// erased.
    pub fn with(geometry: Geometry, log: Log, full_units: bool) -> Self {
        let (written, seen, zero) = (BTreeMap::new(), Seen::default(), [0; CAUSES]);
        let (reads, programs, erases) = (zero, zero, zero);
        let mut laws = Self {
            geometry,
            log,
            full_units,
            written,
            at_start: 0,
            at_erase: 0,
            reads,
            programs,
            erases,
            seen,
            pending: None,
            cleaned: 0,
        };
        laws.account();
        laws.at_start = laws.written.values().map(|&(pages, _)| u64::from(pages)).sum();
        (laws.reads, laws.programs, laws.erases) = (zero, zero, zero);
        laws
    }

    /// Adds the events logged since the last call.
    pub fn account(&mut self) -> Vec<Event> {
        let events = self.log.take();
        for event in &events {
            self.enter(event);
            self.watch_eviction(event);
        }
        events
    }

    fn enter(&mut self, event: &Event) {
        let cause = event.cause as usize;
        let (read, programmed) = match event.kind {
            Kind::Read(..) => (1, None),
            Kind::Program(to, owner) => (0, Some((to, owner))),
            Kind::Copy(_, to, owner) => (1, Some((to, owner))),
            Kind::Erase(unit) => {
                let (pages, _) = self.written.remove(&unit.0).expect("only a written unit");
                let full = pages == self.geometry.pages_per_unit();
                assert!(full || !self.full_units, "{unit:?} was not full");
                self.at_erase += u64::from(pages);
                self.erases[cause] += 1;
                (0, None)
            }
        };
        self.reads[cause] += read;
        if let Some((to, owner)) = programmed {
            self.programs[cause] += 1;
            let is_map = matches!(owner, Owner::Translation(_));
            let unit = self.written.entry(self.geometry.unit(to).0).or_insert((0, is_map));
            assert_eq!(unit.1, is_map, "data and translation pages share a unit");
            unit.0 += 1;
        }
    }

    /// Counts a clean between the read and the program of one write-back as a clean inside an
    /// eviction.
    fn watch_eviction(&mut self, event: &Event) {
        match (event.cause, event.kind) {
            (Cause::Gc | Cause::GcMap, Kind::Erase(_)) => self.cleaned += 1,
            (Cause::Gc | Cause::GcMap, _) => {}
            (Cause::Map, Kind::Read(_, owner)) => {
                (self.pending, self.cleaned) = (Some(owner), 0);
            }
            (Cause::Map, Kind::Program(_, owner)) => {
                if self.pending == Some(owner) {
                    self.seen.cleans_inside_evictions += self.cleaned;
                }
                self.pending = None;
            }
            _ => self.pending = None,
        }
    }

    /// Compares a completion with the rules of the clock.
    pub fn hold_completion(&self, completion: &Completion) {
        let Completion { arrival_ns, done_ns, blame } = *completion;
        assert!(done_ns >= arrival_ns);
        assert_eq!(blame.total(), done_ns - arrival_ns, "the blame explains the latency");
    }

    /// Compares the counters of a drive without operations in progress with this account.
    pub fn hold(&self, drive: &dyn Device) -> Counters {
        let counters = self.hold_counts(drive);
        let (occupation, shape) = (counters.occupation, self.geometry.shape());
        let dies = u64::from(shape.channels * shape.dies);
        assert!(occupation.busy_ns <= occupation.end_ns * dies);
        assert!(occupation.busiest_ns <= occupation.end_ns);
        counters
    }

    /// Compares the counts that do not depend on the clock with this account.
    pub fn hold_counts(&self, drive: &dyn Device) -> Counters {
        let counters = drive.counters();
        let Counters { flash, ref streams, .. } = counters;
        assert_eq!(flash.reads, self.reads, "reads by cause");
        assert_eq!(flash.programs, self.programs, "programs by cause");
        assert_eq!(flash.erases, self.erases, "erases by cause");
        let (data_reads, data_programs) = data_traffic(&counters);
        assert_eq!(flash.programs[Cause::Host as usize], data_programs);
        assert_eq!(flash.reads[Cause::Host as usize], data_reads);
        let host_pages = streams.iter().map(|stream| stream.host_pages).sum::<u64>();
        let gc_pages = streams.iter().map(|stream| stream.gc_pages).sum::<u64>();
        let expected = (data_programs, flash.programs[Cause::Gc as usize]);
        assert!(streams.is_empty() || (host_pages, gc_pages) == expected, "traffic by stream");
        let wear = drive.units().wear().map(u64::from).sum::<u64>();
        assert_eq!(wear, flash.erases.iter().sum::<u64>(), "wear is erases");
        let written = self.written.values().map(|&(pages, _)| u64::from(pages)).sum::<u64>();
        let programs = flash.programs.iter().sum::<u64>();
        assert_eq!(programs, written - self.at_start + self.at_erase, "law 5");
        let free = self.geometry.units() - self.written.len() as u32;
        assert!(drive.units().free_units() <= free, "a free unit is erased");
        counters
    }

    /// Returns the cases that occurred so far.
    pub fn seen(&self, counters: &Counters) -> Seen {
        let layer = counters.layer.unwrap_or_default().shrd;
        Seen {
            cleans: counters.flash.erases.iter().sum(),
            map_cleans: counters.flash.erases[Cause::GcMap as usize],
            copies: counters.flash.programs[Cause::Gc as usize],
            dirty_evictions: counters.map.dirty_evictions,
            trimmed: counters.host.trimmed_pages,
            partial_page_reads: counters.host.partial_page_reads,
            empty_reads: counters.host.empty_reads,
            emergencies: counters.cleans.emergency,
            windows: layer.windows,
            redirected: layer.redirected_reads,
            dropped: layer.dropped,
            ..self.seen
        }
    }
}

/// Returns the flash reads and programs of host data that the counters imply: reads that miss the
/// buffer, and pages that the buffer flushes. Asserts that each buffered page leaves once.
fn data_traffic(counters: &Counters) -> (u64, u64) {
    let host = counters.host;
    let (reads, writes) =
        (host.read_pages - host.empty_reads + host.partial_page_reads, host.write_pages);
    match counters.buffer {
        None => (reads, writes),
        Some(buffer) => {
            let held = buffer.held + buffer.trimmed + buffer.lost;
            let left = buffer.flushed + buffer.released + held;
            let entered = buffer.held_at_start + buffer.write_misses;
            assert_eq!(entered, left, "left + buffered = distinct dirty pages: {buffer:?}");
            let reads = reads - buffer.read_hits + buffer.padded;
            let programs = buffer.flushed + buffer.padded;
            (reads, if buffer.writes_through { writes } else { programs })
        }
    }
}
