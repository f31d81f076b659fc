//! Requests held in memory: a trace.

use std::sync::Arc;

use floatgate_ftl::request::{Op, Request};

use super::columns::{self, period};
use super::digest::Digest;
use super::{Broken, Summary, Workload};
use crate::config::ConfigError;

/// Maximum requests in a chunk. A chunk gets its full memory at once, so it is never copied to
/// grow.
const CHUNK: usize = 1 << 16;

/// Requests as columns: 25 bytes each, without the padding of a struct, and 2 more if there are
/// placement handles.
#[derive(Clone)]
struct Chunk {
    at_ns: Vec<u64>,
    op: Vec<Op>,
    offset: Vec<u64>,
    length: Vec<u64>,
    /// Empty until a request has a handle.
    stream: Vec<u16>,
}

impl Chunk {
    fn new() -> Self {
        Self {
            at_ns: Vec::with_capacity(CHUNK),
            op: Vec::with_capacity(CHUNK),
            offset: Vec::with_capacity(CHUNK),
            length: Vec::with_capacity(CHUNK),
            stream: Vec::new(),
        }
    }
}

/// Recorded workload, played once or several times.
///
/// A clone shares the stored requests and has its own position. The pause between two repeats is
/// the mean time between two requests.
#[derive(Clone)]
pub struct Recorded {
    name: String,
    /// Shared by clones: the same trace runs on many devices.
    chunks: Vec<Arc<Chunk>>,
    repeat: u64,
    time_scale: f64,
    requests: u64,
    span_bytes: u64,
    first_ns: u64,
    last_ns: u64,
    is_closed: bool,
    digest: Digest,
    /// Position of the next request: repeat, chunk, row.
    next: (u64, usize, usize),
}

impl Recorded {
    /// Makes an empty recording that is played `repeat` times (at least 1), with every arrival time
    /// multiplied by `time_scale` (above 0).
    ///
    /// # Errors
    /// An argument is out of range.
    pub fn new(name: &str, repeat: u64, time_scale: f64) -> Result<Self, ConfigError> {
        columns::check_options(repeat, time_scale)?;
        Ok(Self {
            name: name.to_owned(),
            chunks: Vec::new(),
            repeat,
            time_scale,
            requests: 0,
            span_bytes: 0,
            first_ns: u64::MAX,
            last_ns: 0,
            is_closed: false,
            digest: Digest::new(),
            next: (0, 0, 0),
        })
    }

    /// Returns the recording without its times: the drive's queue is kept full.
    #[must_use]
    pub fn closed(self, is_closed: bool) -> Self {
        Self { is_closed, ..self }
    }

    /// Appends requests given as columns: arrival in nanoseconds, code of the operation (0 read, 1
    /// write, 2 trim, 3 flush), first byte, number of bytes. The last two are ignored for a flush.
    ///
    /// # Errors
    /// Columns of different lengths, an invalid code, or a request or an arrival time, repeats
    /// included, beyond 2^64; the message counts rows from 0. Nothing is appended then.
    pub fn push_columns(
        &mut self,
        at_ns: &[u64],
        op: &[u8],
        offset: &[u64],
        length: &[u64],
    ) -> Result<(), ConfigError> {
        let mut requests = Vec::new();
        columns::append_requests(&mut requests, at_ns, op, offset, length)?;
        self.push(&requests)
    }

    /// Appends requests.
    ///
    /// # Errors
    /// A request or an arrival time, repeats included, beyond 2^64. Nothing is appended then.
    pub fn push(&mut self, requests: &[Request]) -> Result<(), ConfigError> {
        let (mut first, mut last) = (self.first_ns, self.last_ns);
        let mut played = Vec::with_capacity(requests.len());
        for (row, request) in requests.iter().enumerate() {
            let request = columns::played(row, *request, self.time_scale)?;
            (first, last) = (first.min(request.at_ns), last.max(request.at_ns));
            played.push(request);
        }
        columns::check_repeats(self.repeat, first, last, self.requests + requests.len() as u64)?;
        (self.first_ns, self.last_ns) = (first, last);
        played.into_iter().for_each(|request| self.append(request));
        Ok(())
    }

    fn append(&mut self, request: Request) {
        let Request { at_ns, op, offset, length, stream } = request;
        self.digest.request(&request);
        self.span_bytes = self.span_bytes.max(offset + length);
        self.requests += 1;
        if self.chunks.last().is_none_or(|chunk| chunk.at_ns.len() == CHUNK) {
            self.chunks.push(Arc::new(Chunk::new()));
        }
        let Some(chunk) = self.chunks.last_mut() else { unreachable!("one was just pushed") };
        let chunk = Arc::make_mut(chunk);
        chunk.at_ns.push(at_ns);
        chunk.op.push(op);
        chunk.offset.push(offset);
        chunk.length.push(length);
        if stream != 0 || !chunk.stream.is_empty() {
            chunk.stream.resize(chunk.at_ns.len() - 1, 0);
            chunk.stream.push(stream);
        }
    }
}

impl Workload for Recorded {
    fn next_batch(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), Broken> {
        let period = period(self.first_ns, self.last_ns, self.requests) as u64;
        // An empty recording has no request that could end the repeats.
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
                stream: chunk.stream.get(row).copied().unwrap_or(0),
            }));
            left -= end - row;
            let done = end == chunk.at_ns.len();
            self.next = if done { (repeat, number + 1, 0) } else { (repeat, number, end) };
        }
        Ok(())
    }

    fn fork(&self) -> Box<dyn Workload + Send> {
        Box::new(self.clone())
    }

    fn has_streams(&self) -> bool {
        self.chunks.iter().any(|chunk| !chunk.stream.is_empty())
    }

    fn summary(&self) -> Summary {
        Summary {
            name: self.name.clone(),
            span_bytes: self.span_bytes,
            requests: self.requests * self.repeat,
            digest: self.digest.repeated(self.repeat),
            closed: self.is_closed,
        }
    }
}
