//! Requests of one job, pass by pass.
//!
//! We found the rules by running fio. A pass ends when a request finds no offset, or
//! when all loops together have sent their bytes. Another pass follows for each further loop, and
//! for the bytes that `io_size` has in addition to the region. A job with `time_based` has a single
//! pass, whose offsets begin anew at the end of the region.

use floatgate_ftl::request::{Op, Request};
use floatgate_ftl::rng::Rng;

use super::offsets::{Layout, Offsets, PassStart};
use super::spec::{JobSpec, Kind};

/// Next request of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// A flush.
    Flush,
    /// A request of the first or second kind.
    Data(usize),
    /// Nothing: the job has sent all requests.
    End,
}

/// Generator of a job's requests.
#[derive(Clone)]
pub(super) struct Requests {
    layout: Layout,
    ops: Vec<Op>,
    first_byte: u64,
    read_percent: u64,
    offsets: Offsets,
    /// Draws the kinds of requests.
    mix: Rng,
    /// State at the begin of each pass, if all passes are equal.
    first: Option<(Rng, PassStart)>,
    /// Drawn offset and length of a kind, which the next request of this kind has.
    drawn: Option<(usize, (u64, u64))>,
    limits: Limits,
    flush: Flushes,
    handles: Turns,
    sent: Sent,
}

/// When passes end.
#[derive(Clone)]
struct Limits {
    time_based: bool,
    loops: u64,
    io_bytes: u64,
    continues: bool,
    requests_max: Option<u64>,
    largest: u64,
    /// Loops that have not begun.
    loops_left: u64,
}

/// When flushes are sent.
#[derive(Clone)]
struct Flushes {
    every: Vec<u64>,
    at_end: bool,
    /// Whether the last request was a flush, or no request was sent in this pass.
    is_done: bool,
    /// Whether the pass has ended, but not its last flush.
    is_due: bool,
}

/// Placement handles of writes.
#[derive(Clone)]
struct Turns {
    handles: Vec<u16>,
    next: usize,
    /// Draws handles, unless they take turns.
    rng: Option<Rng>,
}

/// Data requests that were sent.
#[derive(Clone, Default)]
struct Sent {
    bytes: u64,
    requests: u64,
    writes: u64,
    in_pass: u64,
}

impl Requests {
    /// Starts before the first request. `handles` are the placement handles of the drive.
    pub(super) fn new(spec: &JobSpec, seed: u64, handles: u16) -> Self {
        let layout = Layout::new(spec);
        let offsets = Offsets::new(spec, &layout, seed);
        let mix = Rng::new(seed ^ 0x4d49_5845);
        let first = spec.repeats.then(|| (mix.clone(), offsets.pass_start()));
        let largest = spec.directions.iter().map(|one| one.sizes.high).max().unwrap_or(0);
        Self {
            layout,
            ops: spec.directions.iter().map(|one| op(one.op)).collect(),
            first_byte: spec.offset,
            read_percent: spec.read_percent,
            offsets,
            mix,
            first,
            drawn: None,
            limits: Limits {
                time_based: spec.time_based,
                loops: spec.loops,
                io_bytes: spec.io_bytes,
                continues: spec.continues,
                requests_max: spec.requests_max,
                largest,
                loops_left: spec.loops - 1,
            },
            flush: Flushes {
                every: spec.flush_every.clone(),
                at_end: spec.flushes_at_end,
                is_done: true,
                is_due: false,
            },
            handles: Turns::new(spec, seed, handles),
            sent: Sent::default(),
        }
    }

    /// Chooses what to send next. `pick` replaces the drawn kind of a request, whose rate may not
    /// allow it yet.
    #[inline]
    pub(super) fn choose(&mut self, pick: impl Fn(usize) -> usize) -> Next {
        loop {
            if self.limits.is_reached(&self.sent) {
                if !self.end_pass() {
                    return self.last_flush();
                }
                continue;
            }
            if self.flush.due(self.sent.writes) {
                return Next::Flush;
            }
            let kind = pick(self.kind());
            if let Some(found) = self.offsets.next(&self.layout, kind) {
                self.drawn = Some((kind, found));
                return Next::Data(kind);
            }
            if !self.end_pass() {
                return self.last_flush();
            }
        }
    }

    /// Returns the chosen request.
    #[inline]
    pub(super) fn take(&mut self, next: Next, at_ns: u64) -> Request {
        let Some((kind, (offset, length))) = self.drawn.take_if(|_| matches!(next, Next::Data(_)))
        else {
            (self.flush.is_done, self.flush.is_due) = (true, false);
            return Request { at_ns, op: Op::Flush, offset: 0, length: 0, stream: 0 };
        };
        let op = self.ops[kind];
        self.sent.bytes += length;
        self.sent.requests += 1;
        self.sent.in_pass += 1;
        self.flush.is_done = false;
        let mut stream = 0;
        if op == Op::Write {
            self.sent.writes += 1;
            stream = self.handles.next();
        }
        Request { at_ns, op, offset: self.first_byte + offset, length, stream }
    }

    /// Draws the kind of the next request.
    #[inline]
    fn kind(&mut self) -> usize {
        match self.ops.len() {
            1 => 0,
            _ => usize::from(self.mix.below(100) >= self.read_percent),
        }
    }

    /// Ends a pass, and begins the next one. Returns whether there is one.
    fn end_pass(&mut self) -> bool {
        let has_sent = std::mem::take(&mut self.sent.in_pass) > 0;
        self.flush.is_due |= has_sent && self.flush.at_end && self.sent.writes > 0;
        if !has_sent || !self.limits.has_next_pass(&self.sent) {
            return false;
        }
        self.offsets.restart(self.first.as_ref().map(|(_, start)| start));
        if let Some((mix, _)) = &self.first {
            self.mix = mix.clone();
        }
        self.flush.is_done = false;
        true
    }

    fn last_flush(&self) -> Next {
        if self.flush.is_due { Next::Flush } else { Next::End }
    }
}

impl Limits {
    /// Whether all loops together have sent their bytes or their requests.
    #[inline]
    fn is_reached(&self, sent: &Sent) -> bool {
        let most = self.requests_max.map_or(u64::MAX, |most| most.saturating_mul(self.loops));
        let is_full = sent.bytes >= self.io_bytes.saturating_mul(self.loops);
        (is_full && !self.time_based) || sent.requests >= most
    }

    /// Takes a loop that has not begun. Without one, another pass sends the rest of `io_bytes`, if
    /// the largest request fits in it.
    fn has_next_pass(&mut self, sent: &Sent) -> bool {
        if self.loops_left > 0 {
            self.loops_left -= 1;
            return true;
        }
        let left = self.io_bytes.saturating_sub(sent.bytes);
        self.continues && left > 0 && left >= self.largest
    }
}

impl Flushes {
    /// Whether a flush is next: a pass has ended, or enough writes were sent since the last flush.
    #[inline]
    fn due(&self, writes: u64) -> bool {
        if self.is_due {
            return true;
        }
        let is_multiple = || self.every.iter().any(|every| writes.is_multiple_of(*every));
        !self.is_done && writes > 0 && is_multiple()
    }
}

impl Turns {
    fn new(spec: &JobSpec, seed: u64, all: u16) -> Self {
        let Some(given) = &spec.handles else {
            return Self { handles: vec![0], next: 0, rng: None };
        };
        let is_listed = !given.numbers.is_empty();
        let handles = if is_listed { given.numbers.clone() } else { (0..all.max(1)).collect() };
        let rng = given.random.then(|| Rng::new(seed ^ 0x4841_4e44));
        Self { handles, next: 0, rng }
    }

    #[inline]
    fn next(&mut self) -> u16 {
        if let [only] = self.handles[..] {
            return only;
        }
        let at = match &mut self.rng {
            Some(rng) => rng.below(self.handles.len() as u64) as usize,
            None => self.next,
        };
        self.next = if self.next + 1 == self.handles.len() { 0 } else { self.next + 1 };
        self.handles[at]
    }
}

fn op(kind: Kind) -> Op {
    match kind {
        Kind::Read => Op::Read,
        Kind::Write => Op::Write,
        Kind::Trim => Op::Trim,
    }
}
