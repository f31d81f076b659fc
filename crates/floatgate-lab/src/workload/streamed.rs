//! Recordings that are read during the run, once for each repeat.

use std::sync::{Arc, Mutex, OnceLock};

use floatgate_ftl::request::{Op, Request};

use super::columns::{check_options, check_repeats, period, played};
use super::digest::Digest;
use super::{Broken, Summary, Workload};
use crate::config::ConfigError;

/// Recorded requests that can be read from the start any number of times.
pub trait Rows: Send + Sync {
    /// Begins to read.
    ///
    /// # Errors
    /// The recording can no longer be read.
    fn open(&self) -> Result<Box<dyn Reader>, Broken>;
}

/// One pass over recorded requests.
pub trait Reader: Send + Sync {
    /// Appends some requests, or none at the end. Returns whether there may be more.
    ///
    /// # Errors
    /// Requests that cannot be read.
    fn read(&mut self, out: &mut Vec<Request>) -> Result<bool, Broken>;
}

/// Facts about a recording, from one pass over it.
#[derive(Clone, Debug)]
pub struct Extent {
    /// Name of the recording.
    pub name: String,
    /// Number of requests in one repeat.
    pub requests: u64,
    /// Upper bound of the bytes that requests address.
    pub span_bytes: u64,
    /// Upper bound of the arrival times, before they are scaled.
    pub last_ns: u64,
}

/// Recorded workload of any length, played once or several times like [`super::Recorded`]. Only the
/// last chunk that was read is in memory.
#[derive(Clone)]
pub struct Streamed {
    extent: Extent,
    rows: Arc<dyn Rows>,
    repeat: u64,
    time_scale: f64,
    is_closed: bool,
    /// Digest, set by the first clone that reaches the end.
    digest: Arc<OnceLock<u64>>,
    /// Locked by a clone that reads the recording only for its digest, so that no other clone does,
    /// too.
    digesting: Arc<Mutex<()>>,
    /// Requests that a fork skips, because the original workload already gave them.
    skip: u64,
    reading: ReadPosition,
}

/// Position in the recording.
#[derive(Default)]
struct ReadPosition {
    reader: Option<Box<dyn Reader>>,
    round: u64,
    chunk: Vec<Request>,
    row: usize,
    /// Requests read in this round. `given` counts the requests given to the caller in all rounds.
    seen: u64,
    given: u64,
    /// Facts about the first round: first and last time, and the digest.
    times: Option<(u64, u64)>,
    digest: Digest,
    period: u64,
}

/// A clone begins anew.
impl Clone for ReadPosition {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Streamed {
    /// Makes a recording that is played `repeat` times (at least 1), with every arrival time
    /// multiplied by `time_scale` (above 0).
    ///
    /// # Errors
    /// An argument is out of range.
    pub fn new(
        rows: Arc<dyn Rows>,
        extent: Extent,
        repeat: u64,
        time_scale: f64,
    ) -> Result<Self, ConfigError> {
        check_options(repeat, time_scale)?;
        let last =
            Request { at_ns: extent.last_ns, op: Op::Flush, offset: 0, length: 0, stream: 0 };
        let last_ns = played(0, last, time_scale)?.at_ns;
        check_repeats(repeat, 0, last_ns, extent.requests)?;
        Ok(Self {
            extent,
            rows,
            repeat,
            time_scale,
            is_closed: false,
            digest: Arc::default(),
            digesting: Arc::default(),
            skip: 0,
            reading: ReadPosition::default(),
        })
    }

    /// Returns the recording without its times: the drive's queue is kept full.
    #[must_use]
    pub fn closed(self, is_closed: bool) -> Self {
        Self { is_closed, ..self }
    }

    /// Returns the digest. Reads the recording once more if no clone has read it to the end.
    ///
    /// # Errors
    /// The recording can no longer be read.
    pub fn digest(&self) -> Result<u64, Broken> {
        if let Some(digest) = self.digest.get() {
            return Ok(*digest);
        }
        let _alone = self.digesting.lock();
        let mut reader = self.clone();
        while self.digest.get().is_none() && reader.read()? {}
        Ok(self.digest.get().copied().unwrap_or_default())
    }

    /// Reads the next chunk. Returns false after the last repeat.
    fn read(&mut self) -> Result<bool, Broken> {
        let reading = &mut self.reading;
        reading.chunk.clear();
        reading.row = 0;
        if self.extent.requests == 0 || reading.round == self.repeat {
            self.digest.get_or_init(|| reading.digest.repeated(self.repeat));
            return Ok(false);
        }
        let reader = match &mut reading.reader {
            Some(reader) => reader,
            none => none.insert(self.rows.open()?),
        };
        if reader.read(&mut reading.chunk)? {
            self.take_in()?;
            return Ok(true);
        }
        reading.reader = None;
        if reading.seen != self.extent.requests {
            return Err(self.changed());
        }
        if reading.round == 0 {
            self.digest.get_or_init(|| reading.digest.repeated(self.repeat));
            let (first, last) = reading.times.unwrap_or_default();
            reading.period = period(first, last, reading.seen) as u64;
        }
        reading.seen = 0;
        reading.round += 1;
        Ok(reading.round < self.repeat)
    }

    /// Converts the chunk just read to the form in which it is played.
    fn take_in(&mut self) -> Result<(), Broken> {
        let reading = &mut self.reading;
        for request in &mut reading.chunk {
            *request = played(0, *request, self.time_scale)
                .map_err(|error| Broken::Unreadable(error.to_string()))?;
            if request.offset + request.length > self.extent.span_bytes {
                return Err(self.changed());
            }
            if reading.round == 0 {
                reading.digest.request(request);
                let (first, last) = reading.times.unwrap_or((u64::MAX, 0));
                reading.times = Some((first.min(request.at_ns), last.max(request.at_ns)));
            }
        }
        reading.seen += reading.chunk.len() as u64;
        Ok(())
    }

    fn changed(&self) -> Broken {
        let name = &self.extent.name;
        Broken::Unreadable(format!("{name} changed while it was read: start again"))
    }

    /// Skips the requests given before the fork.
    fn catch_up(&mut self) -> Result<(), Broken> {
        let mut passed = Vec::new();
        let skip = std::mem::take(&mut self.skip);
        while self.reading.given < skip {
            let most = (skip - self.reading.given).min(1 << 16) as usize;
            self.next_batch(&mut passed, most)?;
            if passed.is_empty() {
                break;
            }
            passed.clear();
        }
        Ok(())
    }
}

impl Workload for Streamed {
    fn next_batch(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), Broken> {
        if self.skip > 0 {
            self.catch_up()?;
        }
        let mut left = max;
        while left > 0 {
            if self.reading.row == self.reading.chunk.len() {
                if !self.read()? {
                    break;
                }
                continue;
            }
            let reading = &mut self.reading;
            let end = reading.chunk.len().min(reading.row.saturating_add(left));
            let shift = reading.round * reading.period;
            let chunk = &reading.chunk[reading.row..end];
            out.extend(chunk.iter().map(|one| Request { at_ns: one.at_ns + shift, ..*one }));
            left -= chunk.len();
            reading.given += chunk.len() as u64;
            reading.row = end;
        }
        Ok(())
    }

    fn fork(&self) -> Box<dyn Workload + Send> {
        let mut fork = self.clone();
        fork.skip = self.skip.max(self.reading.given);
        Box::new(fork)
    }

    /// Handles may be present: this is unknown until the requests are read.
    fn has_streams(&self) -> bool {
        true
    }

    fn summary(&self) -> Summary {
        Summary {
            name: self.extent.name.clone(),
            span_bytes: self.extent.span_bytes,
            requests: self.extent.requests * self.repeat,
            digest: self.digest.get().copied().unwrap_or_default(),
            closed: self.is_closed,
        }
    }
}
