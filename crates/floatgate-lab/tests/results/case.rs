//! A run, the host's requests in a naive model, and a replay of the drive request by request.

use std::collections::BTreeSet;
use std::ops::Range;

use floatgate_ftl::counters::{Counters, StreamCounts};
use floatgate_ftl::request::{Completion, Op, Request};
use floatgate_ftl::rng::Rng;
use floatgate_lab::config::Config;
use floatgate_lab::drive::{Plan, build};
use floatgate_lab::result::Facts;
use floatgate_lab::run::{Control, Options, RunError, run};
use floatgate_lab::workload::{Recorded, Workload};
use serde_json::Value;

pub(crate) const PAGE: u64 = 512;
pub(crate) const UNIT_PAGES: u64 = 16;
pub(crate) const SPAN: u64 = 1 << 20;
/// Not a multiple of the timeline's 256 intervals. Each has 16 requests, and the last has 5.
pub(crate) const REQUESTS: u64 = 4005;
pub(crate) const INTERVAL: usize = 16;

/// Returns the config of a small drive with these settings, over a preset's settings.
pub(crate) fn config(preset: Option<&str>, sets: &[(&str, &str)]) -> Config {
    let small = [
        ("flash.page", "512B"),
        ("flash.pages_per_block", "16"),
        ("flash.endurance", "700"),
        ("capacity.spare_factor", "0.15"),
    ];
    let sets = [&small, sets].concat();
    let sets: Vec<_> = sets.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    Config::load(preset, None, &sets).unwrap()
}

/// Returns reads, writes, trims and flushes of up to 8 pages, anywhere, in bursts and after pauses.
pub(crate) fn requests() -> Vec<Request> {
    let (mut rng, mut at_ns) = (Rng::new(7), 50_000);
    let mut draw = |_| {
        at_ns += rng.below(8_000_000);
        let length = 1 + rng.below(8 * PAGE);
        let offset = rng.below(SPAN - length);
        let whole =
            Request { at_ns, op: Op::Write, offset: offset / PAGE * PAGE, length: PAGE, stream: 0 };
        match rng.below(100) {
            0..30 => Request { at_ns, op: Op::Read, offset, length, stream: 0 },
            30..40 => Request { at_ns, op: Op::Trim, offset, length, stream: 0 },
            40..43 => Request { at_ns, op: Op::Flush, offset: 0, length: 0, stream: 0 },
            43..70 => Request { at_ns, op: Op::Write, offset, length, stream: 0 },
            _ => whole,
        }
    };
    (0..REQUESTS).map(&mut draw).collect()
}

/// Returns the pages that a request touches.
pub(crate) fn touched(request: &Request) -> Range<u64> {
    request.offset / PAGE..(request.offset + request.length).div_ceil(PAGE)
}

/// Counts of the host's requests to a drive that is full at first.
#[derive(Default)]
pub(crate) struct Host {
    pub(crate) requests: [u64; 4],
    pub(crate) read_pages: u64,
    pub(crate) empty_reads: u64,
    pub(crate) write_pages: u64,
    /// Pages of writes of up to four pages.
    pub(crate) short_pages: u64,
    pub(crate) partial_page_reads: u64,
    pub(crate) trimmed_pages: u64,
    pub(crate) bytes: [u64; 2],
    pub(crate) footprint: BTreeSet<u64>,
    pub(crate) trimmed: BTreeSet<u64>,
}

impl Host {
    pub(crate) fn new(requests: &[Request]) -> Self {
        let mut host = Self::default();
        requests.iter().for_each(|request| host.ask(request));
        host
    }

    pub(crate) fn ask(&mut self, request: &Request) {
        self.requests[request.op as usize] += 1;
        let (begin, end) = (request.offset, request.offset + request.length);
        if matches!(request.op, Op::Read | Op::Write) {
            self.bytes[request.op as usize] += request.length;
            self.footprint.extend(touched(request));
        }
        let pages = touched(request);
        let short = pages.end - pages.start <= 4;
        for page in pages {
            let is_whole = begin <= page * PAGE && (page + 1) * PAGE <= end;
            match request.op {
                Op::Read => {
                    self.read_pages += 1;
                    self.empty_reads += u64::from(self.trimmed.contains(&page));
                }
                Op::Write => {
                    let was_empty = self.trimmed.remove(&page);
                    self.write_pages += 1;
                    self.short_pages += u64::from(short);
                    self.partial_page_reads += u64::from(!is_whole && !was_empty);
                }
                Op::Trim if is_whole => self.trimmed_pages += u64::from(self.trimmed.insert(page)),
                Op::Trim | Op::Flush => {}
            }
        }
    }
}

/// Drive that served the requests one by one.
pub(crate) struct Played {
    pub(crate) plan: Plan,
    pub(crate) done: Vec<Completion>,
    /// Counters at the start of each request.
    pub(crate) counters: Vec<Counters>,
    pub(crate) wear: Vec<u32>,
    pub(crate) valid: Vec<u32>,
    pub(crate) cache_bytes: u64,
    pub(crate) streams: Vec<StreamCounts>,
}

/// Fills a drive in order, and then sends the requests one by one.
pub(crate) fn play(config: &Config, requests: &[Request]) -> Played {
    let plan = Plan::new(config, SPAN).unwrap();
    let mut device = build(config, &plan, 5, false).unwrap();
    let fill = (0..u64::from(plan.user_pages())).map(|page| Request {
        at_ns: 0,
        op: Op::Write,
        offset: page * PAGE,
        length: PAGE,
        stream: 0,
    });
    device.run(&fill.collect::<Vec<_>>(), &mut Vec::new());
    device.write_back();
    device.reset_counters();
    let (mut done, mut counters) = (Vec::new(), Vec::new());
    for request in requests {
        device.run_ahead(&[*request], 1, &mut done);
        counters.push(device.counters());
    }
    device.run_ahead(&[], 0, &mut done);
    Played {
        done,
        counters,
        wear: device.units().wear().collect(),
        valid: device.units().valid_pages().collect(),
        cache_bytes: device.counters().cache_bytes,
        streams: device.counters().streams,
        plan,
    }
}

/// Returns the document of a verified run.
pub(crate) fn result(config: &Config, workload: &mut dyn Workload, span_bytes: u64) -> Value {
    let options = Options { span_bytes, seed: 5, verify: true, start_cache: None };
    let [device, name] = ["a device", "a name"].map(String::from);
    let notes = vec!["a note".into()];
    let facts = Facts { device, name, skipped: 3, notes, ..Facts::default() };
    let digest = format!("{:016x}", workload.summary().digest);
    match run(config, workload, facts, options, &Control::default()) {
        Ok(result) => {
            let result = serde_json::to_value(&result).unwrap();
            assert_eq!(result["workload"]["hash"], digest);
            result
        }
        Err(RunError::Config(error)) => panic!("{error}"),
        Err(error) => panic!("{error:?}"),
    }
}

/// A run, the host's requests, and the replay of its drive.
pub(crate) struct Case {
    pub(crate) config: Config,
    pub(crate) requests: Vec<Request>,
    pub(crate) result: Value,
    pub(crate) host: Host,
    pub(crate) played: Played,
    pub(crate) last: Counters,
}

impl Case {
    pub(crate) fn new(sets: &[(&str, &str)]) -> Self {
        let (config, requests) = (config(None, sets), requests());
        let mut recorded = Recorded::new("requests", 1, 1.0).unwrap();
        recorded.push(&requests).unwrap();
        let result = result(&config, &mut recorded, SPAN);
        let (host, played) = (Host::new(&requests), play(&config, &requests));
        let last = played.counters.last().unwrap().clone();
        Self { config, requests, result, host, played, last }
    }

    /// Returns first arrival and last completion.
    pub(crate) fn span_ns(&self) -> (u64, u64) {
        let begin = self.played.done.iter().map(|done| done.arrival_ns).min().unwrap();
        (begin, self.played.done.iter().map(|done| done.done_ns).max().unwrap())
    }

    pub(crate) fn seconds(&self) -> f64 {
        let (begin, end) = self.span_ns();
        (end - begin) as f64 / 1e9
    }

    /// Returns the latencies of these requests in ascending order, in nanoseconds.
    pub(crate) fn latencies(&self, range: Range<usize>, ops: &[Op]) -> Vec<u64> {
        let served = self.requests.iter().zip(&self.played.done);
        let chosen = served.skip(range.start).take(range.len());
        let chosen = chosen.filter(|(request, _)| ops.contains(&request.op));
        let mut latencies: Vec<u64> =
            chosen.map(|(_, done)| done.done_ns - done.arrival_ns).collect();
        latencies.sort_unstable();
        latencies
    }
}
