//! All activity of dies and channels in a window of time.

use floatgate_ftl::nand::{COMPONENTS, Component, Recorded, Served, Span};
use floatgate_ftl::request::Request;
use schemars::JsonSchema;
use serde::Serialize;

use super::latency::BlameTimes;

/// Activity of each die and each channel in a window of the run, and the request that the window
/// shows. Empty if no window was requested, or if the run ended before the window.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LanesResult {
    /// Start of the window, in nanoseconds of simulated time from the start of the run.
    pub from_ns: Option<u64>,
    /// End of the window, in the same unit.
    pub to_ns: Option<u64>,
    /// Nanoseconds by which the window was shortened, because it would have had more than
    /// `lanes.spans` spans.
    pub left_out_ns: u64,
    /// The request that the window shows.
    pub request: LookedAtResult,
    /// Activity of dies and channels.
    pub spans: SpansResult,
}

/// The slowest read or write, and the first one if several are equally slow. If `lanes.around` is a
/// time, only requests in progress at that time count. Empty if there was none.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LookedAtResult {
    /// Number of the request in the workload, from 0.
    pub number: Option<u64>,
    /// "read" or "write".
    pub op: Option<String>,
    /// First byte of the request.
    pub offset: Option<u64>,
    /// Length of the request in bytes.
    pub length: Option<u64>,
    /// Arrival of the request, in nanoseconds of simulated time from the start of the run.
    pub arrival_ns: Option<u64>,
    /// Completion of the request, in the same unit.
    pub done_ns: Option<u64>,
    /// Response time of the request in microseconds.
    pub latency_us: Option<f64>,
    /// Components of the response time, in microseconds.
    pub blame_us: BlameTimes,
    /// Dies that worked for the request, including reads and writes of its translation pages. Dies
    /// of cleaning, merges and evictions that the request waited for do not count.
    pub dies: Vec<u32>,
}

/// Activity of dies and channels, one entry per span. In a span, a lane (a die or a channel) did
/// the same for the same cause. Spans are sorted by lane, then by time. Spans of a lane do not
/// overlap; between them the lane was idle.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SpansResult {
    /// Number of the lane: dies are numbered as in `dies`, and channels follow.
    pub lane: Vec<u32>,
    /// "read", "program" or "erase" of cells, "transfer" of a page or a command, or "wait" for the
    /// channel; channels only transfer.
    pub doing: Vec<&'static str>,
    /// Cause of the activity: "host", "map", "gc", "merge" or "remap".
    pub cause: Vec<&'static str>,
    /// Start of each span, in nanoseconds of simulated time from the start of the run.
    pub from_ns: Vec<u64>,
    /// End of each span, in the same unit.
    pub to_ns: Vec<u64>,
}

/// Returns the cause of an operation.
fn cause(component: Component) -> &'static str {
    match component {
        Component::Die | Component::Bus => "host",
        component => Component::NAMES[component as usize],
    }
}

impl SpansResult {
    fn new(spans: &[Span]) -> Self {
        Self {
            lane: spans.iter().map(|span| span.lane).collect(),
            doing: spans.iter().map(|span| span.doing.name()).collect(),
            cause: spans.iter().map(|span| cause(span.component)).collect(),
            from_ns: spans.iter().map(|span| span.from_ns).collect(),
            to_ns: spans.iter().map(|span| span.to_ns).collect(),
        }
    }
}

impl LookedAtResult {
    fn new(served: Option<&Served>, request: Option<Request>, dies: &[u32]) -> Self {
        let blame = served.map_or([0; COMPONENTS], |served| served.blame.0);
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
