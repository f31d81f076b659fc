//! Requests held in memory: a trace.

use std::sync::Arc;

use floatgate_ftl::request::{Op, Request};

use super::digest::Digest;
use super::{Summary, Workload};
use crate::config::ConfigError;

/// Requests in a piece of memory. All pieces are of one size, so that none is moved to grow.
const CHUNK: usize = 1 << 16;

/// Requests as columns: 25 bytes each, without the padding of a struct.
#[derive(Clone)]
struct Chunk {
    at_ns: Vec<u64>,
    op: Vec<Op>,
    offset: Vec<u64>,
    length: Vec<u64>,
}

impl Chunk {
    fn new() -> Self {
        Self {
            at_ns: Vec::with_capacity(CHUNK),
            op: Vec::with_capacity(CHUNK),
            offset: Vec::with_capacity(CHUNK),
            length: Vec::with_capacity(CHUNK),
        }
    }
}

/// A recorded workload, given once or several times over.
///
/// A clone shares the requests and goes on by itself. A repeat begins one mean time between
/// requests after the last request of the repeat before.
#[derive(Clone)]
pub struct Recorded {
    name: String,
    /// Shared by clones: the same trace is run on many devices.
    chunks: Vec<Arc<Chunk>>,
    repeat: u64,
    time_scale: f64,
    requests: u64,
    span_bytes: u64,
    first_ns: u64,
    last_ns: u64,
    digest: Digest,
    /// The next request: repeat, chunk, row.
    next: (u64, usize, usize),
}

impl Recorded {
    /// An empty recording that will be given `repeat` times (at least 1), with every arrival time
    /// multiplied by `time_scale` (above 0).
    ///
    /// # Errors
    /// One of the two is out of range.
    pub fn new(name: &str, repeat: u64, time_scale: f64) -> Result<Self, ConfigError> {
        if repeat == 0 {
            return Err(ConfigError::new("repeat = 0: expected at least 1"));
        }
        if !(time_scale > 0.0 && time_scale.is_finite()) {
            let text = format!("time scale = {time_scale}: expected a number above 0");
            return Err(ConfigError::new(text));
        }
        Ok(Self {
            name: name.to_owned(),
            chunks: Vec::new(),
            repeat,
            time_scale,
            requests: 0,
            span_bytes: 0,
            first_ns: u64::MAX,
            last_ns: 0,
            digest: Digest::new(),
            next: (0, 0, 0),
        })
    }

    /// Appends requests given as columns: arrival in nanoseconds, code of the operation (0 read,
    /// 1 write, 2 trim, 3 flush), first byte, number of bytes. A flush's last two do not count.
    ///
    /// # Errors
    /// Columns of different lengths; a code that is none; a request or an arrival time, repeats
    /// included, beyond 2^64. Rows are counted from 0. Nothing is appended then.
    pub fn push_columns(
        &mut self,
        at_ns: &[u64],
        op: &[u8],
        offset: &[u64],
        length: &[u64],
    ) -> Result<(), ConfigError> {
        let rows = at_ns.len();
        if [op.len(), offset.len(), length.len()] != [rows; 3] {
            return Err(ConfigError::new(format!(
                "columns of {rows}, {}, {} and {} rows: expected the same number in each",
                op.len(),
                offset.len(),
                length.len()
            )));
        }
        let mut requests = Vec::with_capacity(rows);
        for row in 0..rows {
            let Some(op) = Op::from_code(op[row]) else {
                let code = op[row];
                return Err(ConfigError::new(format!(
                    "row {row}: operation {code}: expected 0 (read), 1 (write), 2 (trim) or \
                     3 (flush)"
                )));
            };
            let (offset, length) = (offset[row], length[row]);
            requests.push(Request { at_ns: at_ns[row], op, offset, length });
        }
        self.push(&requests)
    }

    /// Appends requests.
    ///
    /// # Errors
    /// A request or an arrival time, repeats included, beyond 2^64. Nothing is appended then.
    pub fn push(&mut self, requests: &[Request]) -> Result<(), ConfigError> {
        let (mut first, mut last) = (self.first_ns, self.last_ns);
        for (row, request) in requests.iter().enumerate() {
            let Request { offset, length, .. } = *request;
            if request.op != Op::Flush && offset.checked_add(length).is_none() {
                return Err(ConfigError::new(format!(
                    "row {row}: offset {offset} + length {length}: expected less than 2^64"
                )));
            }
            let Some(at) = self.scaled(request.at_ns) else {
                let scale = self.time_scale;
                return Err(ConfigError::new(format!(
                    "row {row}: time {} ns x {scale}: expected less than 2^64 ns",
                    request.at_ns
                )));
            };
            (first, last) = (first.min(at), last.max(at));
        }
        let count = self.requests + requests.len() as u64;
        let repeats = u128::from(self.repeat - 1).saturating_mul(period(first, last, count));
        let end = u128::from(last).saturating_add(repeats);
        if end > u128::from(u64::MAX) || count.checked_mul(self.repeat).is_none() {
            let repeat = self.repeat;
            return Err(ConfigError::new(format!(
                "repeat = {repeat}: expected less than 2^64 ns, and requests, in all repeats"
            )));
        }
        (self.first_ns, self.last_ns) = (first, last);
        requests.iter().for_each(|request| self.append(*request));
        Ok(())
    }

    fn append(&mut self, request: Request) {
        let at_ns = self.scaled(request.at_ns).expect("checked before");
        // A flush has neither.
        let (offset, length) = match request.op {
            Op::Flush => (0, 0),
            _ => (request.offset, request.length),
        };
        for word in [at_ns, request.op as u64, offset, length] {
            self.digest.word(word);
        }
        self.span_bytes = self.span_bytes.max(offset + length);
        self.requests += 1;
        if self.chunks.last().is_none_or(|chunk| chunk.at_ns.len() == CHUNK) {
            self.chunks.push(Arc::new(Chunk::new()));
        }
        let Some(chunk) = self.chunks.last_mut() else { unreachable!("one was just pushed") };
        let chunk = Arc::make_mut(chunk);
        chunk.at_ns.push(at_ns);
        chunk.op.push(request.op);
        chunk.offset.push(offset);
        chunk.length.push(length);
    }

    fn scaled(&self, at_ns: u64) -> Option<u64> {
        // Not through a floating-point number if that can be avoided: it has 53 bits.
        if self.time_scale == 1.0 {
            return Some(at_ns);
        }
        let scaled = (at_ns as f64 * self.time_scale).round();
        (scaled < u64::MAX as f64).then_some(scaled as u64)
    }
}

/// From the start of one repeat to the start of the next: the duration and one mean time between
/// requests.
fn period(first_ns: u64, last_ns: u64, requests: u64) -> u128 {
    let duration = u128::from(last_ns.saturating_sub(first_ns));
    duration + duration / u128::from(requests.saturating_sub(1).max(1))
}

impl Workload for Recorded {
    fn next_batch(&mut self, out: &mut Vec<Request>, max: usize) {
        let period = period(self.first_ns, self.last_ns, self.requests) as u64;
        // Without requests there would be nothing to end the repeats.
        let mut left = if self.requests == 0 { 0 } else { max };
        while left > 0 && self.next.0 < self.repeat {
            let (repeat, number, row) = self.next;
            let Some(chunk) = self.chunks.get(number) else {
                self.next = (repeat + 1, 0, 0);
                continue;
            };
            let shift = repeat * period;
            let end = chunk.at_ns.len().min(row.saturating_add(left));
            out.extend((row..end).map(|row| Request {
                at_ns: chunk.at_ns[row] + shift,
                op: chunk.op[row],
                offset: chunk.offset[row],
                length: chunk.length[row],
            }));
            left -= end - row;
            let done = end == chunk.at_ns.len();
            self.next = if done { (repeat, number + 1, 0) } else { (repeat, number, end) };
        }
    }

    fn fork(&self) -> Box<dyn Workload + Send> {
        Box::new(self.clone())
    }

    fn summary(&self) -> Summary {
        let mut digest = self.digest;
        digest.word(self.repeat);
        Summary {
            name: self.name.clone(),
            span_bytes: self.span_bytes,
            requests: self.requests * self.repeat,
            digest: digest.value(),
            closed: false,
        }
    }
}
