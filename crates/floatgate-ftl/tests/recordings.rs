//! Compares the recording of dies and channels with the counters and completions of a run without
//! recording. The spans must sum to the totals, the request must be the slowest one, and recording
//! must change nothing.

use crate::common::workload::{ANYTHING, Workload};
use crate::common::{ODD, Probe, Rig, SERIAL, STRIPED, TIMING};
use floatgate_ftl::counters::{Counters, DieUse};
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::nand::{
    Around, Blame, Component, Controller, Counted, Order, Recorded, Recording, Schedule, Span,
    Stripe, Suspend, Timed, Use,
};
use floatgate_ftl::queue::Arrivals;
use floatgate_ftl::request::{Completion, Op, Request};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// A longer window and more spans than any run has.
const WHOLE: Recording =
    Recording { window_ns: 1 << 40, around: Around::Time(0), spans_max: 1 << 20 };

const REQUESTS: usize = 400;

/// A drive and its requests.
#[derive(Clone, Copy, Debug)]
struct Case {
    shape: Shape,
    schedule: Schedule,
    mapping: &'static str,
    arrivals: Arrivals,
    /// Whether SHRD is in front of the drive.
    packs: bool,
    seed: u64,
}

/// Results of a run.
struct Ran {
    requests: Vec<Request>,
    done: Vec<Completion>,
    counters: Counters,
    recorded: Option<(Recorded, Option<Request>)>,
}

impl Case {
    fn device(&self) -> Box<dyn Probe> {
        // The log and its translation pages take units, too.
        let (log, more) = if self.packs { (48, 16) } else { (0, 0) };
        let shape = Shape { units: self.shape.units + more, ..self.shape };
        let rig = Rig { log, arrivals: self.arrivals, ..Rig::new(shape, self.mapping, "greedy") };
        let nand = Timed::with_schedule(Counted::default(), rig.geometry(), TIMING, self.schedule);
        match self.packs {
            true => Box::new(rig.behind_shrd(nand, (), false)),
            false => rig.drive(nand, (), false),
        }
    }

    /// Fills the drive, and then runs random requests. The fill is not recorded.
    fn run(&self, recording: Option<Recording>) -> Ran {
        let mut drive = self.device();
        let drive = drive.device();
        let Shape { logical_pages, page_bytes, .. } = self.shape;
        let fill = |page| Workload::pages(Op::Write, page, 1, page_bytes.into());
        drive.run(&(0..logical_pages.into()).map(fill).collect::<Vec<_>>(), &mut vec![]);
        drive.write_back();
        drive.reset_counters();
        if let Some(recording) = recording {
            drive.record(recording);
        }
        let mut workload = Workload::new(self.seed, ANYTHING, logical_pages, page_bytes);
        let requests: Vec<_> = (0..REQUESTS).map(|_| workload.next()).collect();
        let mut done = vec![];
        drive.run(&requests, &mut done);
        let (counters, recorded) = (drive.counters(), drive.recorded());
        Ran { requests, done, counters, recorded }
    }

    fn recorded(&self, recording: Recording) -> (Recorded, Option<Request>) {
        self.run(Some(recording)).recorded.unwrap_or_default()
    }
}

/// Yields the spans of a lane in order.
fn lane(recorded: &Recorded, lane: usize) -> impl Iterator<Item = &Span> {
    recorded.spans.iter().filter(move |span| span.lane as usize == lane)
}

fn use_of<'a>(spans: impl Iterator<Item = &'a Span>) -> DieUse {
    let mut sum = DieUse::default();
    for span in spans {
        *match span.doing {
            Use::Read => &mut sum.read_ns,
            Use::Program => &mut sum.program_ns,
            Use::Erase => &mut sum.erase_ns,
            Use::Transfer => &mut sum.transfer_ns,
            Use::Wait => &mut sum.wait_ns,
        } += span.to_ns - span.from_ns;
    }
    sum
}

/// Asserts that spans sum to the totals, and that adjacent spans neither overlap nor are equal.
fn hold_totals(recorded: &Recorded, counters: &Counters) {
    let lanes = counters.dies.len() + counters.channels.len();
    assert!(recorded.spans.iter().all(|span| (span.lane as usize) < lanes));
    for (at, &used) in counters.dies.iter().enumerate() {
        assert_eq!(use_of(lane(recorded, at)), used, "die {at}");
    }
    for (at, &used) in counters.channels.iter().enumerate() {
        let mut sum = Blame::default();
        for span in lane(recorded, counters.dies.len() + at) {
            assert_eq!(span.doing, Use::Transfer);
            sum.add(span.component, span.to_ns - span.from_ns);
        }
        assert_eq!(sum, used, "channel {at}");
    }
    for pair in recorded.spans.windows(2).filter(|pair| pair[0].lane == pair[1].lane) {
        let (one, next) = (pair[0], pair[1]);
        assert!(one.from_ns < one.to_ns && one.to_ns <= next.from_ns, "{one:?} {next:?}");
        let is_same = (one.doing, one.component) == (next.doing, next.component);
        assert!(!is_same || one.to_ns < next.from_ns, "{one:?} and {next:?} are one");
    }
}

/// Asserts that a recorded window equals that window cut from a recording of the whole run.
fn hold_window(whole: &Recorded, found: &Recorded) {
    let cut = |span: &Span| {
        let (from_ns, to_ns) = (span.from_ns.max(found.from_ns), span.to_ns.min(found.to_ns));
        (from_ns < to_ns).then_some(Span { from_ns, to_ns, ..*span })
    };
    assert_eq!(found.spans, whole.spans.iter().filter_map(cut).collect::<Vec<_>>());
    assert_eq!(found.left_out_ns, 0);
}

fn latency(done: &Completion) -> u64 {
    done.done_ns - done.arrival_ns
}

/// Asserts that the recorded request is the slowest one among those that count.
fn hold_request(
    run: &Ran,
    found: &(Recorded, Option<Request>),
    counts: impl Fn(&Completion) -> bool,
) {
    let pairs = run.requests.iter().zip(&run.done);
    let measured =
        pairs.filter(|(request, done)| matches!(request.op, Op::Read | Op::Write) && counts(done));
    let longest = measured.map(|(_, done)| latency(done)).max();
    let served = found.0.served;
    assert_eq!(served.map(|served| served.latency_ns()), longest);
    if let Some(served) = served {
        let done = run.done[served.number as usize];
        let Completion { arrival_ns, done_ns, blame } = done;
        assert_eq!((served.arrival_ns, served.done_ns), (arrival_ns, done_ns));
        assert_eq!(served.blame, blame);
        assert_eq!(found.1, Some(run.requests[served.number as usize]));
    }
}

fn hold(case: Case) {
    let plain = case.run(None);
    assert!(plain.recorded.is_none());
    let whole = case.run(Some(WHOLE));
    assert_eq!((&plain.done, &plain.counters), (&whole.done, &whole.counters), "{case:?}");
    let (all, _) = whole.recorded.unwrap();
    let cleans = |span: &Span| (span.doing, span.component) == (Use::Erase, Component::Gc);
    assert!(case.packs || all.spans.iter().any(cleans), "nothing was cleaned");
    hold_totals(&all, &plain.counters);
    for window_ns in [200, 5_000, 80_000] {
        let worst = Recording { window_ns, around: Around::Worst, ..WHOLE };
        let found = case.recorded(worst);
        hold_window(&all, &found.0);
        hold_request(&plain, &found, |_| true);
        let done_ns = found.0.served.unwrap().done_ns;
        assert_eq!(found.0.from_ns, done_ns.saturating_sub(window_ns - window_ns / 4));
        assert_eq!(found.0.to_ns, (done_ns + window_ns / 4).min(all.to_ns));
        let at = all.to_ns / 3;
        let found = case.recorded(Recording { around: Around::Time(at), ..worst });
        hold_window(&all, &found.0);
        hold_request(&plain, &found, |done| (done.arrival_ns..=done.done_ns).contains(&at));
    }
}

const SUSPENDED: Schedule = Schedule {
    stripe: Stripe::PlaneDieChannel,
    cache_register: false,
    order: Order::ReadFirst { starve_ns: 2_000 },
    suspend: Some(Suspend { suspend_ns: 20, resume_ns: 5, most: 3 }),
    pages: None,
    slc: None,
    controller: CONTROLLER,
};

const CONTROLLER: Controller = Controller {
    cores: 1,
    task_ns: [0; 4],
    blocking: false,
    write_pages: None,
    power_protected: false,
    in_order: false,
    head_of_line: false,
};

const SCHEDULES: [Schedule; 4] = [
    Schedule { order: Order::Fifo, suspend: None, ..SUSPENDED },
    SUSPENDED,
    Schedule { cache_register: true, ..SUSPENDED },
    Schedule {
        controller: Controller { task_ns: [3; 4], blocking: true, ..CONTROLLER },
        ..SUSPENDED
    },
];

#[test]
fn a_drive_behind_shrd_is_recorded() {
    for mapping in ["ideal", "dftl"] {
        let arrivals = Arrivals::Open;
        let schedule = SCHEDULES[0];
        hold(Case { shape: STRIPED, schedule, mapping, arrivals, packs: true, seed: 3 });
    }
}

#[test]
fn the_dies_of_a_request_are_those_of_its_operations() {
    let case = Case {
        shape: STRIPED,
        schedule: Schedule { stripe: Stripe::PlaneDieChannel, ..SCHEDULES[0] },
        mapping: "ideal",
        arrivals: Arrivals::Closed,
        packs: false,
        seed: 1,
    };
    let mut drive = case.device();
    let drive = drive.device();
    // Pages lie on each plane of the first two dies: the first four pages of a unit's first row.
    let write = |first, pages| Workload::pages(Op::Write, first, pages, 64);
    for (pages, dies) in [(1, vec![0]), (2, vec![0]), (4, vec![0, 1]), (8, vec![0, 1, 2, 3])] {
        drive.reset_counters();
        drive.record(Recording { around: Around::Worst, ..WHOLE });
        let rest = 8 - pages;
        drive.run(&[write(0, pages)], &mut vec![]);
        let (recorded, request) = drive.recorded().unwrap();
        assert_eq!((recorded.dies, request), (dies, Some(write(0, pages))));
        if rest > 0 {
            drive.run(&[write(100, rest)], &mut vec![]);
        }
    }
}

fn any_case() -> impl Strategy<Value = Case> {
    let shapes = prop::sample::select(vec![SERIAL, STRIPED, ODD]);
    let mappings = prop::sample::select(vec!["ideal", "dftl", "tpftl"]);
    let arrivals = prop::sample::select(vec![Arrivals::Open, Arrivals::Closed]);
    let schedules = prop::sample::select(SCHEDULES.to_vec());
    (shapes, schedules, mappings, arrivals, any::<u64>()).prop_map(
        |(shape, schedule, mapping, arrivals, seed)| Case {
            shape,
            schedule,
            mapping,
            arrivals,
            packs: false,
            seed,
        },
    )
}

fn property() -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 64;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(2018);
    }
    config
}

proptest! {
    #![proptest_config(property())]

    #[test]
    fn spans_sum_to_the_totals_and_windows_are_cut_out_of_them(case in any_case()) {
        hold(case);
    }
}
