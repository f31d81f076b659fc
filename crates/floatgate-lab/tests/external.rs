//! External policies, written in Rust. They decide like the built-in policies, see every request,
//! and end the run when they fail.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use floatgate_ftl::addr::{Lpn, Ppn, Unit};
use floatgate_ftl::buffer::{BufferConfig, ExternalBuffer};
use floatgate_ftl::counters::Counters;
use floatgate_ftl::geometry::Geometry;
use floatgate_ftl::mapping::{
    Access, AccessKind, Boxed, MapConfig, MapOp, MapStats, Mapping, Prefetch, Residency,
};
use floatgate_ftl::placement::{ExternalPlacement, HostWrite, Relocation};
use floatgate_ftl::policy::Policy;
use floatgate_ftl::request::Request;
use floatgate_ftl::unit_table::{Pool, UnitTable};
use floatgate_ftl::victim::{Victim, VictimConfig};
use floatgate_lab::config::Config;
use floatgate_lab::drive::ExternalPolicies;
use floatgate_lab::result::{Facts, RunResult};
use floatgate_lab::run::{Control, Options, RunError, run_with};
use floatgate_lab::workload::generator;
use serde_json::{Value, json};

/// Record of the calls to the external policies of a run, and the call at which they fail.
#[derive(Default)]
struct Seen {
    /// Requests that were announced and have not begun.
    upcoming: Vec<Request>,
    /// Requests that began after the start state. `in_all` includes earlier requests.
    begun: u64,
    in_all: u64,
    starts: u32,
    /// Number of calls to the policies.
    asked: u64,
    fails_at: Option<u64>,
    /// Number of the latest request when a policy failed.
    failed: Option<u64>,
}

/// State that all external policies share: the record of calls, and the control that ends the run.
#[derive(Clone, Default)]
struct Border {
    seen: Arc<Mutex<Seen>>,
    control: Arc<Control>,
}

impl Border {
    /// Records a call to a policy. The policy may fail, and then ends the run through its control.
    fn ask(&self) {
        let mut seen = self.seen.lock().expect("one thread");
        seen.asked += 1;
        if seen.fails_at == Some(seen.asked) {
            seen.failed = Some(seen.begun);
            self.control.cancel();
        }
    }
}

/// Like `host`: a stream for each handle. With `shared`, the first stream has the pages that
/// cleaning moves.
struct ByHandle {
    shared: bool,
    /// Whether moved pages go to the stream of a new write.
    anew: bool,
    border: Border,
}

impl ExternalPlacement for ByHandle {
    fn stream(&mut self, _: HostWrite, handle: u16) -> u8 {
        self.border.ask();
        u8::from(self.shared) + u8::try_from(handle).expect("there are few")
    }

    fn sorts_moved(&self) -> bool {
        true
    }

    fn moved(&mut self, pages: &[Lpn], handles: &[u16], of: Relocation, streams: &mut Vec<u8>) {
        assert_eq!(pages.len(), handles.len());
        streams.extend(handles.iter().map(|&handle| match (self.anew, self.shared) {
            (true, shared) => u8::from(shared) + u8::try_from(handle).expect("there are few"),
            (false, true) => 0,
            (false, false) => of.stream,
        }));
    }
}

/// Like `greedy`.
struct Emptiest(Border);

impl Victim for Emptiest {
    fn pick(&mut self, table: &mut UnitTable, pool: Pool) -> Option<Unit> {
        self.0.ask();
        table.sealed(pool).min_by_key(|&unit| table.valid(unit))
    }
}

impl Policy for Emptiest {}

floatgate_ftl::state!(Emptiest unsaved);

/// Like `dftl` with plain LRU: entries in a list, with the most recently used entry at the end.
struct Entries {
    geometry: Geometry,
    room: usize,
    cached: Vec<(Lpn, bool)>,
    stats: MapStats,
    border: Border,
}

impl Prefetch for Entries {}

impl Mapping for Entries {
    fn access(&mut self, access: Access, io: &mut Vec<MapOp>) {
        self.border.ask();
        let mut dirty = access.kind != AccessKind::Read;
        if let Some(at) = self.cached.iter().position(|&(lpn, _)| lpn == access.lpn) {
            self.stats.hits += 1;
            dirty |= self.cached.remove(at).1;
        } else {
            self.stats.misses += 1;
            if self.cached.len() == self.room {
                let (lpn, is_dirty) = self.cached.remove(0);
                self.stats.evictions += 1;
                self.stats.dirty_evictions += u64::from(is_dirty);
                io.extend(is_dirty.then(|| MapOp::Update(self.geometry.translation_page(lpn))));
            }
            io.push(MapOp::Fetch(self.geometry.translation_page(access.lpn)));
        }
        self.cached.push((access.lpn, dirty));
    }

    fn relocated(&mut self, moved: &[(Lpn, Ppn)], io: &mut Vec<MapOp>) {
        let mut pages = Vec::new();
        for &(lpn, _) in moved {
            match self.cached.iter_mut().find(|entry| entry.0 == lpn) {
                Some(entry) => entry.1 = true,
                None => pages.push(self.geometry.translation_page(lpn)),
            }
        }
        pages.dedup();
        io.extend(pages.into_iter().map(MapOp::Update));
    }

    fn residency(&self, lpn: Lpn) -> Residency {
        match self.cached.iter().find(|entry| entry.0 == lpn) {
            None => Residency::Absent,
            Some((_, false)) => Residency::Clean,
            Some((_, true)) => Residency::Dirty,
        }
    }

    fn flush(&mut self, io: &mut Vec<MapOp>) {
        let mut pages: Vec<_> = self.cached.iter_mut().filter(|entry| entry.1).collect();
        pages.sort_unstable_by_key(|entry| entry.0.get());
        let of = |entry: &mut &mut (Lpn, bool)| self.geometry.translation_page(entry.0);
        let mut pages: Vec<_> = pages.iter_mut().map(of).collect();
        pages.dedup();
        io.extend(pages.into_iter().map(MapOp::Update));
        self.cached.iter_mut().for_each(|entry| entry.1 = false);
    }
}

impl Policy for Entries {
    fn memory_bytes(&self) -> u64 {
        8 * self.cached.len() as u64
    }

    fn report(&self, counters: &mut Counters) {
        counters.map = self.stats;
    }

    fn reset_counters(&mut self) {
        self.stats = MapStats::default();
    }
}

floatgate_ftl::state!(Entries unsaved);

/// Like `lru`: blocks in the order of their uses.
struct LastUsed {
    used: Vec<u32>,
    border: Border,
}

impl ExternalBuffer for LastUsed {
    fn written(&mut self, block: u32, _: Range<u32>, _: u32) {
        self.read(block);
    }

    fn read(&mut self, block: u32) {
        self.used.retain(|&one| one != block);
        self.used.push(block);
    }

    fn trimmed(&mut self, _: u32, _: u32) {}

    fn victim(&mut self, blocks: &[u32]) -> u32 {
        self.border.ask();
        *self.used.iter().find(|block| blocks.contains(block)).expect("it was written")
    }
}

/// External policies for the axes that name "python:ours".
struct Ours {
    shared: bool,
    anew: bool,
    axes: Vec<&'static str>,
    border: Border,
}

impl Ours {
    fn is_on(&self, axis: &str) -> Option<Border> {
        self.axes.contains(&axis).then(|| self.border.clone())
    }
}

impl ExternalPolicies for Ours {
    fn placement(&mut self, _: &Geometry) -> Option<Box<dyn ExternalPlacement>> {
        let (shared, anew) = (self.shared, self.anew);
        self.is_on(PLACEMENT).map(|border| Box::new(ByHandle { shared, anew, border }) as _)
    }

    fn victim(&mut self, _: &Geometry, _: &VictimConfig) -> Option<Box<dyn Victim + Send>> {
        self.is_on(VICTIM).map(|border| Box::new(Emptiest(border)) as _)
    }

    fn mapping(&mut self, config: &MapConfig) -> Option<Boxed> {
        let (geometry, room) = (config.geometry, (config.cache_bytes / 8) as usize);
        let (cached, stats) = (Vec::new(), MapStats::default());
        self.is_on(MAPPING)
            .map(|border| Boxed::new(Entries { geometry, room, cached, stats, border }))
    }

    fn buffer(&mut self, _: &Geometry, _: &BufferConfig) -> Option<Box<dyn ExternalBuffer>> {
        self.is_on(BUFFER).map(|border| Box::new(LastUsed { used: Vec::new(), border }) as _)
    }

    fn upcoming(&mut self, before: u64, requests: &[Request]) {
        let mut seen = self.border.seen.lock().expect("one thread");
        assert_eq!(before, seen.begun);
        assert!(seen.upcoming.is_empty(), "all that was announced has been begun");
        seen.upcoming.extend(requests);
    }

    fn begin(&mut self, number: u64, request: &Request) {
        let mut seen = self.border.seen.lock().expect("one thread");
        assert_eq!((number, seen.upcoming.remove(0)), (seen.begun, *request));
        seen.begun += 1;
        seen.in_all += 1;
    }

    fn started(&mut self) {
        let mut seen = self.border.seen.lock().expect("one thread");
        seen.begun = 0;
        seen.starts += 1;
    }
}

const PLACEMENT: &str = "placement.scheme";
const VICTIM: &str = "cleaning.victim";
const MAPPING: &str = "mapping.scheme";
const BUFFER: &str = "buffer.scheme";

type Sets<'a> = Vec<(&'a str, &'a str)>;

const TENANTS: &str =
    "tenants:span=2764800,size=512,writes=20k,random=2,reads=0.2,trim=0.02,flush=0.001";

fn play(
    spec: &str,
    sets: &[(&str, &str)],
    policies: Option<Box<dyn ExternalPolicies>>,
    control: &Control,
) -> Result<RunResult, RunError> {
    let small = [
        ("flash.page", "512B"),
        ("flash.pages_per_block", "16"),
        ("flash.blocks", "400"),
        ("capacity.spare_factor", "0.12"),
        ("mapping.cache", "2KiB"),
        ("buffer.capacity", "32KiB"),
        ("buffer.block_pages", "4"),
        ("dftl.replacement", "lru"),
    ];
    let of = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
    let sets: Vec<_> = small.iter().chain(sets).map(of).collect();
    let config = Config::load(None, None, &sets).expect("these settings are right");
    let mut workload = generator(spec, 1).expect(spec);
    let span_bytes = workload.span_bytes();
    let options = Options { span_bytes, seed: 5, verify: true, start_cache: None };
    run_with(&config, policies, &mut *workload, Facts::default(), options, control)
}

/// Returns a result without the names of policies and the elapsed time.
fn counted(result: &RunResult) -> Value {
    let mut document = json!(result);
    let table = document.as_object_mut().expect("a table");
    table.remove("config");
    table.remove("engine");
    for section in ["placement", "buffer"] {
        // The memory of an external policy is unknown.
        table[section].as_object_mut().expect("a table").remove("memory_bytes");
    }
    // The owners of pages are handles with the built-in policy, and streams with an external one.
    table["placement"].as_object_mut().expect("a table").remove("owners");
    document
}

fn ours(axes: &[&'static str], shared: bool, anew: bool) -> (Border, Box<dyn ExternalPolicies>) {
    let border = Border::default();
    let policies = Ours { shared, anew, axes: axes.to_vec(), border: border.clone() };
    (border, Box::new(policies))
}

/// Returns `sets`, with external policies on these axes.
fn named<'a>(sets: &[(&'a str, &'a str)], axes: &[&'a str], streams: &'a str) -> Sets<'a> {
    let mut sets = sets.to_vec();
    sets.extend(axes.iter().map(|&axis| (axis, "python:ours")));
    sets.extend(axes.contains(&PLACEMENT).then_some(("placement.streams", streams)));
    sets
}

/// Compares runs with external policies on `axes` with runs of `sets`, which name built-in
/// policies.
fn assert_equal(sets: &[(&str, &str)], axes: &[&'static str], shared: bool, anew: bool) -> Value {
    let theirs = play(TENANTS, sets, None, &Control::default()).expect("a result");
    let (border, policies) = ours(axes, shared, anew);
    let sets = named(sets, axes, if shared { "5" } else { "4" });
    let mine = play(TENANTS, &sets, Some(policies), &border.control).expect("a result");
    assert_eq!(counted(&mine), counted(&theirs), "{axes:?} {sets:?}");
    let seen = border.seen.lock().expect("one thread");
    assert!(seen.asked > 100, "{axes:?} were asked {} times", seen.asked);
    counted(&mine)
}

#[test]
fn policies_from_outside_decide_as_those_of_the_tables() {
    let tables = [
        (PLACEMENT, "host"),
        ("placement.handles", "4"),
        (VICTIM, "greedy"),
        (MAPPING, "dftl"),
        (BUFFER, "lru"),
        ("start.fill", "random"),
    ];
    for axis in [PLACEMENT, VICTIM, MAPPING, BUFFER] {
        assert_equal(&tables, &[axis], true, false);
    }
    let all = assert_equal(&tables, &[PLACEMENT, VICTIM, MAPPING, BUFFER], true, false);
    for (section, count) in
        [("mapping", "evictions"), ("mapping", "dirty_evictions"), ("buffer", "flushed_pages")]
    {
        assert!(all[section][count].as_u64() > Some(1000), "{section}.{count}");
    }
    assert!(all["flash"]["programs"]["gc"].as_u64() > Some(1000));
}

#[test]
fn a_placement_from_outside_has_the_handles_that_host_has() {
    for (isolation, shared) in [("initially", true), ("persistently", false)] {
        for buffer in ["none", "lru"] {
            for (destination, anew) in [("scheme", false), ("reclassify", true)] {
                let sets = [
                    (PLACEMENT, "host"),
                    ("placement.handles", "4"),
                    ("placement.isolation", isolation),
                    ("placement.gc_destination", destination),
                    (BUFFER, buffer),
                ];
                let result = assert_equal(&sets, &[PLACEMENT], shared, anew);
                let streams = result["placement"]["streams"].as_array().expect("a list");
                let written = |stream: &&Value| stream["host_pages"].as_u64() > Some(100);
                assert_eq!(streams.iter().filter(written).count(), 4, "{sets:?}");
            }
        }
    }
}

/// Each request is announced, and begins under its number. Numbers restart at 0 after the fill.
#[test]
fn external_policies_get_every_request() {
    let (border, policies) = ours(&[VICTIM], false, false);
    let sets = named(&[("start.fill", "sequential")], &[VICTIM], "");
    let result = play(TENANTS, &sets, Some(policies), &border.control).expect("a result");
    let seen = border.seen.lock().expect("one thread");
    let pages = (result.drive.logical_bytes / 512, result.workload.requests);
    assert_eq!((seen.in_all - seen.begun, seen.begun), pages);
    assert_eq!((seen.starts, seen.upcoming.len(), seen.failed), (1, 0, None));
}

/// Returns the request at which the policy on `axis` fails in its `nth` call, and whether this
/// request belongs to the workload.
fn failure(axis: &'static str, nth: u64, fill: &'static str) -> (bool, u64) {
    let (border, policies) = ours(&[axis], false, false);
    border.seen.lock().expect("one thread").fails_at = Some(nth);
    let sets = named(&[("start.fill", fill)], &[axis], "1");
    let spec = "sequential:span=2MiB,size=512,writes=20k";
    let error = play(spec, &sets, Some(policies), &border.control).expect_err("it fails");
    assert!(matches!(error, RunError::Cancelled), "{axis}: {error}");
    let seen = border.seen.lock().expect("one thread");
    let failed = seen.failed.expect("it was asked as often");
    assert!((failed..failed + 1024).contains(&seen.begun), "{axis}: {failed}, {}", seen.begun);
    (seen.starts == 1, failed)
}

#[test]
fn a_failing_external_policy_ends_the_run_and_names_the_request() {
    // One call for each page: a look-up and a program.
    assert_eq!(failure(PLACEMENT, 700, "none"), (true, 700));
    assert_eq!(failure(MAPPING, 3000, "none"), (true, 3000));
    // The fill writes 5632 logical pages (of 6400 physical ones) before the workload.
    assert_eq!(failure(PLACEMENT, 700, "sequential"), (false, 700));
    assert_eq!(failure(PLACEMENT, 5632, "sequential"), (false, 5632));
    assert_eq!(failure(PLACEMENT, 5632 + 700, "sequential"), (true, 700));
    // Blocks of 4 pages in a buffer of 64 pages: page 65 evicts the first block, and page 69 the
    // next.
    assert_eq!(failure(BUFFER, 1, "none"), (true, 65));
    assert_eq!(failure(BUFFER, 3, "none"), (true, 73));
    // There are 400 units of 16 pages. Of the reserve units some are usable, and the rest stay
    // free: page 6401 needs one more unit. Units written in order are empty when they are cleaned,
    // so each clean frees 16 pages.
    for nth in 1..20 {
        assert_eq!(failure(VICTIM, nth, "none"), (true, 6401 + 16 * (nth - 1)));
    }
}
