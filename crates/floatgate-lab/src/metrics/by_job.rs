//! Measurements of one job of a run.

use floatgate_ftl::nand::{Blame, COMPONENTS};
use floatgate_ftl::request::{Completion, Op, Request};

use super::Latencies;

/// Kinds of requests whose latencies are measured.
const MEASURED: usize = 3;

/// Measurements of a job, from the end of its ramp time on.
#[derive(Clone, Debug, Default)]
pub struct JobMetrics {
    /// Requests by kind: reads, writes, trims, flushes.
    pub requests: [u64; 4],
    /// Bytes by kind.
    pub bytes: [u64; 4],
    /// Latencies of reads, writes and trims. Absent without such requests.
    latencies: [Option<Box<Latencies>>; MEASURED],
    /// Sum of each latency component over the reads and writes.
    pub blame_ns: [u128; COMPONENTS],
    /// First request sent, and last completion, in nanoseconds of the device's clock.
    pub span_ns: Option<(u64, u64)>,
    /// Bytes of the writes by placement handle, in ascending order of the handles.
    pub handles: Vec<(u16, u64)>,
}

impl JobMetrics {
    /// Counts a request of a drive without a clock.
    #[inline]
    pub fn count(&mut self, request: &Request) {
        let kind = request.op as usize;
        self.requests[kind] += 1;
        self.bytes[kind] += request.length;
        if request.op == Op::Write {
            self.count_handle(request.stream, request.length);
        }
    }

    /// Records a completed request.
    #[inline]
    pub fn record(&mut self, request: &Request, completion: &Completion) {
        self.count(request);
        let Completion { arrival_ns, done_ns, blame } = completion;
        let (begin, end) = self.span_ns.get_or_insert((*arrival_ns, 0));
        *begin = (*begin).min(*arrival_ns);
        *end = (*end).max(*done_ns);
        if let Some(latencies) = self.latencies.get_mut(request.op as usize) {
            latencies.get_or_insert_default().record(done_ns - arrival_ns);
        }
        if request.op.is_measured() {
            self.add_blame(blame);
        }
    }

    fn add_blame(&mut self, blame: &Blame) {
        for (sum, ns) in self.blame_ns.iter_mut().zip(blame.0) {
            *sum += u128::from(ns);
        }
    }

    /// Adds the bytes of a write to its handle. A job has few handles, and mostly one.
    #[inline]
    fn count_handle(&mut self, handle: u16, bytes: u64) {
        match self.handles.iter_mut().find(|(known, _)| *known >= handle) {
            Some((known, sum)) if *known == handle => *sum += bytes,
            _ => {
                let at = self.handles.partition_point(|&(known, _)| known < handle);
                self.handles.insert(at, (handle, bytes));
            }
        }
    }

    /// Returns the latencies of a kind of request.
    pub fn latencies(&self, op: Op) -> Option<&Latencies> {
        self.latencies.get(op as usize)?.as_deref()
    }
}
