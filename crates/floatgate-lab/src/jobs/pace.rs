//! When a job may send: rates and pauses.

use floatgate_ftl::rng::Rng;

use super::spec::JobSpec;

const SECOND: f64 = 1e9;

/// Rates of a job by kind of request, and its pauses.
#[derive(Clone)]
pub(super) struct Pace {
    /// Nanoseconds per byte; none without a rate.
    ns_per_byte: [Option<f64>; 2],
    /// When the rate allows the next request of a kind. A slow drive does not delay it: the job
    /// catches up.
    due_ns: [f64; 2],
    /// Draws the time between two requests of a Poisson process.
    poisson: Option<Rng>,
    think_ns: u64,
    think_requests: u64,
    rate_ignores_think: bool,
    /// Data requests since the last pause.
    since_pause: u64,
    /// End of the last pause.
    pause_end_ns: u64,
}

impl Pace {
    pub(super) fn new(spec: &JobSpec, seed: u64) -> Self {
        let rate = |at: usize| {
            let rate = spec.directions.get(at)?.rate?;
            Some(SECOND / rate as f64)
        };
        Self {
            ns_per_byte: [rate(0), rate(1)],
            due_ns: [0.0; 2],
            poisson: spec.poisson.then(|| Rng::new(seed ^ 0x504f_4953)),
            think_ns: spec.think_ns,
            think_requests: spec.think_requests,
            rate_ignores_think: spec.rate_ignores_think,
            since_pause: 0,
            pause_end_ns: 0,
        }
    }

    /// Starts the rates.
    pub(super) fn start(&mut self, now: u64) {
        self.due_ns = [now as f64; 2];
        self.pause_end_ns = now;
    }

    /// Returns the kind of the next request: the drawn kind, unless its rate does not allow it yet
    /// and the other kind's rate allows a request sooner.
    pub(super) fn pick(&self, drawn: usize, kinds: usize, now: u64) -> usize {
        let other = 1 - drawn;
        let is_late = kinds == 2 && self.due(drawn) > now && self.due(other) < self.due(drawn);
        if is_late { other } else { drawn }
    }

    /// Returns when the rate allows the next request of a kind.
    pub(super) fn due(&self, kind: usize) -> u64 {
        if self.ns_per_byte[kind].is_some() { self.due_ns[kind] as u64 } else { 0 }
    }

    /// Returns the end of the last pause.
    pub(super) fn pause_end(&self) -> u64 {
        self.pause_end_ns
    }

    /// Notes that a data request of a kind was sent.
    pub(super) fn sent(&mut self, kind: usize, bytes: u64) {
        self.since_pause += 1;
        let Some(ns_per_byte) = self.ns_per_byte[kind] else { return };
        let factor = match &mut self.poisson {
            Some(rng) => -libm::log(1.0 - rng.unit()),
            None => 1.0,
        };
        self.due_ns[kind] += bytes as f64 * ns_per_byte * factor;
    }

    /// Whether a pause follows the requests that are outstanding.
    #[inline]
    pub(super) fn wants_pause(&self) -> bool {
        self.think_ns > 0 && self.since_pause >= self.think_requests
    }

    /// Begins a pause.
    pub(super) fn pause(&mut self, now: u64) {
        self.since_pause = 0;
        self.pause_end_ns = now + self.think_ns;
        if self.rate_ignores_think {
            self.due_ns.iter_mut().for_each(|due| *due += self.think_ns as f64);
        }
    }
}
