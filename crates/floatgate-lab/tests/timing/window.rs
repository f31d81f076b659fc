//! The recorded window of dies and channels in a result, for every layer between them and the host.

use serde_json::{Value, to_value};

use super::*;

const ALL: Sets<'_> = &[("lanes.window", "1000s"), ("lanes.spans", "10000000")];

/// Drive of four dies on two channels that cleans.
const BUSY: Sets<'_> = &[
    ("flash.channels", "2"),
    ("flash.dies", "2"),
    ("flash.superblock", "2"),
    ("flash.pages_per_block", "16"),
    ("queue.arrivals", "closed"),
];

const SPEC: &str = "uniform:span=4MiB,requests=3k,reads=0.4,trim=0.02,flush=0.01,size=8KiB";

fn served(sets: Sets<'_>) -> RunResult {
    serve(&mut *generator(SPEC, 1).unwrap(), &[BUSY, sets].concat())
}

/// Returns the result without the window and its settings.
fn without_window(result: &RunResult) -> Value {
    let mut document = to_value(result).unwrap();
    let fields = document.as_object_mut().unwrap();
    for name in ["config", "lanes", "engine"] {
        assert!(fields.remove(name).is_some(), "{name}");
    }
    document
}

/// By hand: a write of a page on an empty drive, and a read that arrives meanwhile.
#[test]
fn two_requests() {
    let requests = [ask(Op::Write, 5, 0, 1), ask(Op::Read, 30, 0, 1)];
    let result = asked(&requests, &[EMPTY, ("lanes.window", "200us")]);
    // Arrives at 30 and waits for the program until 215; cells until 265, transfer until 275.
    let request = &result.lanes.request;
    assert_eq!((request.number, request.op.as_deref()), (Some(1), Some("read")));
    assert_eq!((request.offset, request.length), (Some(0), Some(PAGE)));
    assert_eq!((request.arrival_ns, request.done_ns), (Some(30_000), Some(275_000)));
    assert_eq!((request.latency_us, &request.dies), (Some(245.0), &vec![0]));
    let blame = &request.blame_us;
    assert_eq!((blame.die, blame.bus, blame.gc), (Some(235.0), Some(10.0), Some(0.0)));
    let lanes = &result.lanes;
    assert_eq!((lanes.from_ns, lanes.to_ns), (Some(125_000), Some(275_000)), "the run ends");
    let spans = &lanes.spans;
    assert_eq!(spans.lane, [0, 0, 0, 1]);
    assert_eq!(spans.doing, ["program", "read", "transfer", "transfer"]);
    assert_eq!(spans.cause, ["host"; 4]);
    assert_eq!(spans.from_ns, [125_000, 215_000, 265_000, 265_000]);
    assert_eq!(spans.to_ns, [215_000, 265_000, 275_000, 275_000]);
    assert!(result.warnings.iter().all(|warning| !warning.contains("lanes")));
}

/// Returns the share of time of a lane, for chosen kinds and causes of work.
fn share(result: &RunResult, lane: usize, is_counted: impl Fn(&str, &str) -> bool) -> f64 {
    let spans = &result.lanes.spans;
    let of_lane = (0..spans.lane.len()).filter(|&at| spans.lane[at] as usize == lane);
    let counted = of_lane.filter(|&at| is_counted(spans.doing[at], spans.cause[at]));
    let ns: u64 = counted.map(|at| spans.to_ns[at] - spans.from_ns[at]).sum();
    let lanes = &result.lanes;
    ns as f64 / (lanes.to_ns.unwrap() - lanes.from_ns.unwrap()) as f64
}

#[track_caller]
fn assert_whole(result: &RunResult) {
    let (dies, channels) = (&result.dies, &result.channels);
    // The lanes are busy until the end of the last operation. The window lasts until the end of the
    // run.
    let scale = result.lanes.to_ns.unwrap() as f64;
    let busy = |idle: &[f64]| 1.0 - idle.iter().sum::<f64>() / idle.len() as f64;
    let found = (0..4).map(|die| share(result, die, |_, _| true)).sum::<f64>() / 4.0;
    let factor = busy(&dies.idle) / found;
    assert!(scale > 0.0 && (0.999..1.2).contains(&factor), "{factor}");
    let near = |found: f64, expected: f64| {
        assert!((found * factor - expected).abs() < 1e-9, "{found} {expected}");
    };
    for die in 0..4 {
        for (name, shares) in [
            ("read", &dies.read),
            ("program", &dies.program),
            ("erase", &dies.erase),
            ("transfer", &dies.transfer),
            ("wait", &dies.wait),
        ] {
            near(share(result, die, |doing, _| doing == name), shares[die]);
        }
    }
    for channel in 0..2 {
        for (name, shares) in [
            ("host", &channels.host),
            ("map", &channels.map),
            ("gc", &channels.gc),
            ("merge", &channels.merge),
            ("remap", &channels.remap),
        ] {
            near(share(result, 4 + channel, |_, cause| cause == name), shares[channel]);
        }
    }
}

#[test]
fn the_window_of_the_whole_run_has_all_of_it_and_changes_nothing() {
    let drives: [Sets<'_>; 7] = [
        &[],
        &[("mapping.scheme", "dftl"), ("mapping.cache", "1KiB")],
        &[("ftl.scheme", "bast")],
        &[("host.scheme", "shrd"), ("host.log", "2MiB")],
        &[("buffer.scheme", "lru"), ("buffer.capacity", "64KiB")],
        &[("queue.queues", "4"), ("ftl.journal", "true")],
        &[
            ("schedule.order", "read_first"),
            ("schedule.suspend", "20us"),
            ("flash.cache_register", "true"),
            ("controller.translate", "3us"),
            ("controller.blocking", "true"),
        ],
    ];
    for sets in drives {
        let plain = served(sets);
        assert!(plain.lanes.to_ns.is_none() && plain.lanes.spans.lane.is_empty());
        let result = served(&[sets, ALL].concat());
        assert!(without_window(&plain) == without_window(&result), "{sets:?}");
        assert_whole(&result);
        let longest = result.latency.all.max_us.unwrap();
        let latency = result.lanes.request.latency_us.unwrap();
        assert!((latency / longest - 1.0).abs() < 1e-3, "{latency} of {longest}: {sets:?}");
        let short = served(&[sets, &[("lanes.window", "1ms")]].concat());
        assert_eq!(short.lanes.request.number, result.lanes.request.number);
        assert!(short.lanes.to_ns.unwrap() - short.lanes.from_ns.unwrap() <= 1_000_000);
        assert!(short.lanes.spans.lane.len() < result.lanes.spans.lane.len() / 10);
    }
}

#[test]
fn a_window_around_a_time() {
    let sets = [("lanes.window", "2ms"), ("lanes.around", "50ms")];
    let lanes = served(&sets).lanes;
    assert_eq!((lanes.from_ns, lanes.to_ns), (Some(49_000_000), Some(51_000_000)));
    let request = lanes.request;
    assert!(request.arrival_ns <= Some(50_000_000) && request.done_ns >= Some(50_000_000));
}

#[test]
fn missing_spans_give_a_warning() {
    let warning = |sets: Sets<'_>| {
        let result = served(sets);
        let found = result.warnings.iter().find(|warning| warning.contains("lanes")).cloned();
        (result.lanes, found)
    };
    let (lanes, found) = warning(&[ALL[0], ("lanes.spans", "200")]);
    assert!(lanes.spans.lane.len() <= 200 + 2 * 6 && lanes.left_out_ns > 0);
    let expected = format!("{} ms of lanes.window", lanes.left_out_ns as f64 / 1e6);
    assert!(found.is_some_and(|text| text.starts_with(&expected)));
    let (lanes, found) = warning(&[ALL[0], ALL[1], ("lanes.around", "100s")]);
    assert!(lanes.to_ns.is_none_or(|to| lanes.from_ns < Some(to)));
    assert_eq!(found, None, "a window of 1000 s reaches back to the run");
    let (lanes, found) = warning(&[("lanes.window", "1ms"), ("lanes.around", "100s")]);
    assert_eq!((lanes.to_ns, lanes.request.number), (None, None));
    assert!(found.is_some_and(|text| text.contains("lanes.around = \"100s\"")));
    let (_, found) = warning(&[]);
    assert_eq!(found, None, "nothing was asked for");
}

#[test]
fn an_impossible_recording_is_refused() {
    let error = |sets: Sets<'_>| load(sets).unwrap_err();
    assert_eq!(
        error(&[("lanes.window", "10ms"), ("timing", "none")]),
        "lanes.window = \"10ms\": expected none with timing = \"none\": no time passes"
    );
    assert_eq!(
        error(&[("lanes.around", "3s")]),
        "lanes.around = \"3s\": expected lanes.window to be set as well"
    );
    assert_eq!(
        error(&[("lanes.around", "best")]),
        "lanes.around = \"best\": expected \"worst\", or a duration such as \"1.25s\""
    );
    assert_eq!(
        error(&[("lanes.window", "0ns")]),
        "lanes.window = \"0ns\": expected a duration from 1ns to 1000s, such as \"10ms\""
    );
    assert_eq!(
        error(&[("lanes.spans", "10")]),
        "lanes.spans = 10: expected an integer from 100 to 10000000"
    );
}
