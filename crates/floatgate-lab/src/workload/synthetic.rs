//! What all generators share: kinds, times and sizes of requests.

use floatgate_ftl::request::{Op, Request};
use floatgate_ftl::rng::Rng;

use super::digest::Digest;
use super::keys::Keys;
use super::mix::Mix;
use super::{Pattern, Summary, Workload};
use crate::config::ConfigError;

/// Offsets of an unaligned workload are multiples of a sector.
const SECTOR: u64 = 512;

/// Where requests can go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Space {
    /// Bytes of a request.
    pub size: u64,
    /// Bytes from one place to the next.
    pub step: u64,
    /// Places at which a whole request fits in the span.
    pub places: u64,
}

#[derive(Clone, Copy, Debug)]
enum Arrivals {
    Fixed,
    Exponential,
    Closed,
}

/// A generator whose addresses follow a pattern.
#[derive(Clone)]
pub(super) struct Synthetic<P> {
    pattern: P,
    space: Space,
    mix: Mix,
    arrivals: Arrivals,
    interarrival_ns: u64,
    now_ns: u64,
    rng: Rng,
    summary: Summary,
}

impl<P: Pattern + Send + 'static> Synthetic<P> {
    /// Reads all keys.
    pub(super) fn boxed(
        mut keys: Keys,
        seed: u64,
    ) -> Result<Box<dyn Workload + Send>, ConfigError> {
        let seed = keys.count("seed")?.unwrap_or(seed);
        keys.resolve("seed", &seed);
        let span_bytes = keys.size("span", None)?;
        let size = keys.size("size", Some(4096))?;
        let aligned = keys.choice("aligned", &[("true", true), ("false", false)])?;
        if size > span_bytes {
            return Err(keys.error(&format!("size={size}: expected at most span ({span_bytes})")));
        }
        let step = if aligned { size } else { SECTOR };
        let space = Space { size, step, places: (span_bytes - size) / step + 1 };
        let mix = Mix::new(&mut keys)?;
        let (arrivals, interarrival_ns) = arrivals(&mut keys, mix.total())?;
        let mut rng = Rng::new(seed);
        let pattern = P::new(&mut keys, space, &mut rng)?;
        let name = keys.finish()?;
        let mut digest = Digest::new();
        digest.text(&name);
        let (requests, digest) = (mix.total(), digest.value());
        let closed = matches!(arrivals, Arrivals::Closed);
        let summary = Summary { name, span_bytes, requests, digest, closed };
        let now_ns = 0;
        Ok(Box::new(Self { pattern, space, mix, arrivals, interarrival_ns, now_ns, rng, summary }))
    }
}

/// When requests arrive, and the mean time between two. Without a time they wait for each other:
/// any fixed rate would be above what some drive can do, and its latencies those of a backlog.
fn arrivals(keys: &mut Keys, requests: u64) -> Result<(Arrivals, u64), ConfigError> {
    let mut choices = [
        ("closed", Arrivals::Closed),
        ("fixed", Arrivals::Fixed),
        ("exponential", Arrivals::Exponential),
    ];
    if keys.has("interarrival") {
        choices.rotate_left(1);
    }
    let arrivals = keys.choice("arrivals", &choices)?;
    if matches!(arrivals, Arrivals::Closed) {
        if keys.has("interarrival") {
            return Err(keys.error("interarrival has no meaning with arrivals=closed"));
        }
        return Ok((arrivals, 0));
    }
    let mean = keys.time("interarrival", 100_000)?;
    // The longest exponential gap is 53 ln 2 = 36.7 means.
    if u128::from(mean) * u128::from(requests) * 37 > u128::from(u64::MAX) {
        return Err(keys.error("requests x interarrival: expected at most 15 years"));
    }
    Ok((arrivals, mean))
}

impl<P: Pattern> Synthetic<P> {
    #[inline]
    fn next(&mut self) -> Option<Request> {
        let op = self.mix.next(&mut self.rng)?;
        let at_ns = self.now_ns;
        self.now_ns += match self.arrivals {
            Arrivals::Fixed => self.interarrival_ns,
            Arrivals::Exponential => {
                let gap = -libm::log(1.0 - self.rng.unit()) * self.interarrival_ns as f64;
                gap.round() as u64
            }
            Arrivals::Closed => 0,
        };
        if op == Op::Flush {
            return Some(Request { at_ns, op, offset: 0, length: 0 });
        }
        let offset = self.pattern.offset(self.space, &mut self.rng);
        Some(Request { at_ns, op, offset, length: self.space.size })
    }
}

impl<P: Pattern + Send + 'static> Workload for Synthetic<P> {
    fn next_batch(&mut self, out: &mut Vec<Request>, max: usize) {
        for _ in 0..max {
            let Some(request) = self.next() else { return };
            out.push(request);
        }
    }

    fn fork(&self) -> Box<dyn Workload + Send> {
        Box::new(self.clone())
    }

    fn summary(&self) -> Summary {
        self.summary.clone()
    }
}
