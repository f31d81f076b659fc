//! All that dies and channels did in a window of time.

use floatgate_ftl::nand::{PARTS, Part, Recorded, Served, Span};
use floatgate_ftl::request::Request;
use schemars::JsonSchema;
use serde::Serialize;

use super::latency::BlameTimes;

/// What each die and each channel did in a window of the run, and the request that it is around.
/// Nothing is in it if none was asked for, or if the run had ended before.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LanesResult {
    /// Begin of the window, in nanoseconds of simulated time from the start of the run.
    pub from_ns: Option<u64>,
    /// Its end.
    pub to_ns: Option<u64>,
    /// Nanoseconds that it should be longer, and would have more than `lanes.spans` spans.
    pub left_out_ns: u64,
    /// The request that the window is around.
    pub request: LookedAtResult,
    /// What dies and channels did.
    pub spans: SpansResult,
}

/// The read or write that took longest, the first of them; with a time as `lanes.around` of those
/// that were under way then. Nothing is in it if there was none.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LookedAtResult {
    /// Its place in the workload, from 0.
    pub number: Option<u64>,
    /// "read" or "write".
    pub op: Option<String>,
    /// Its first byte.
    pub offset: Option<u64>,
    /// How many bytes.
    pub length: Option<u64>,
    /// When it arrived, in nanoseconds of simulated time from the start of the run.
    pub arrival_ns: Option<u64>,
    /// When it was complete.
    pub done_ns: Option<u64>,
    /// Its response time in microseconds.
    pub latency_us: Option<f64>,
    /// What it waited for, in microseconds.
    pub blame_us: BlameTimes,
    /// The dies of its own operations, its translation pages included; not those of cleaning,
    /// merges and evictions that it waited for.
    pub dies: Vec<u32>,
}

/// What dies and channels did: an entry per span, in which a lane did the same for the same cause.
/// By lane, and then by time; no two of a lane overlap, and in what is between them it was idle.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SpansResult {
    /// Which lane: the dies are numbered as in `dies`, and the channels follow.
    pub lane: Vec<u32>,
    /// "read", "program" or "erase" of cells, "transfer" of a page or a command, or "wait" for
    /// the channel; a channel transfers.
    pub doing: Vec<&'static str>,
    /// For what: "host", "map", "gc", "merge" or "remap".
    pub cause: Vec<&'static str>,
    /// From when, in nanoseconds of simulated time from the start of the run.
    pub from_ns: Vec<u64>,
    /// Until when.
    pub to_ns: Vec<u64>,
}

/// The cause of an operation.
fn cause(part: Part) -> &'static str {
    match part {
        Part::Die | Part::Bus => "host",
        part => Part::NAMES[part as usize],
    }
}

impl SpansResult {
    fn new(spans: &[Span]) -> Self {
        Self {
            lane: spans.iter().map(|span| span.lane).collect(),
            doing: spans.iter().map(|span| span.doing.name()).collect(),
            cause: spans.iter().map(|span| cause(span.part)).collect(),
            from_ns: spans.iter().map(|span| span.from_ns).collect(),
            to_ns: spans.iter().map(|span| span.to_ns).collect(),
        }
    }
}

impl LookedAtResult {
    fn new(served: Option<&Served>, request: Option<Request>, dies: &[u32]) -> Self {
        let blame = served.map_or([0; PARTS], |served| served.blame.0);
        Self {
            number: served.map(|served| served.number),
            op: request.map(|request| request.op.name().to_owned()),
            offset: request.map(|request| request.offset),
            length: request.map(|request| request.length),
            arrival_ns: served.map(|served| served.arrival_ns),
            done_ns: served.map(|served| served.done_ns),
            latency_us: served.map(|served| served.latency_ns() as f64 / 1000.0),
            blame_us: BlameTimes::new(blame.map(u128::from), u64::from(served.is_some())),
            dies: dies.to_vec(),
        }
    }
}

impl LanesResult {
    pub(crate) fn new(recorded: Option<&(Recorded, Option<Request>)>) -> Self {
        let none = (Recorded::default(), None);
        let (window, request) = recorded.unwrap_or(&none);
        Self {
            from_ns: recorded.map(|_| window.from_ns),
            to_ns: recorded.map(|_| window.to_ns),
            left_out_ns: window.left_out_ns,
            request: LookedAtResult::new(window.served.as_ref(), *request, &window.dies),
            spans: SpansResult::new(&window.spans),
        }
    }
}
