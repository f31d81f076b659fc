//! Common parts of all generators: kinds and times of requests.

use floatgate_ftl::request::{Op, Request};
use floatgate_ftl::rng::Rng;

use super::digest::Digest;
use super::keys::{KeyRow, Keys};
use super::mix::Mix;
use super::{AddressSource, Broken, Summary, Workload};
use crate::config::ConfigError;

/// Keys of every generator.
pub(super) const KEYS: &[KeyRow] = &[
    KeyRow { name: "writes", default: "", doc: "Write requests; this or requests must be given." },
    KeyRow { name: "requests", default: "", doc: "Requests of all kinds, instead of writes." },
    KeyRow { name: "reads", default: "0", doc: "Share of the requests that are reads." },
    KeyRow { name: "trim", default: "0", doc: "Share of the requests that are trims." },
    KeyRow { name: "flush", default: "0", doc: "Share of the requests that are flushes." },
    KeyRow {
        name: "arrivals",
        default: "closed",
        doc: "closed (no times: the queue is kept full), fixed or exponential; fixed is the \
              default if there is an interarrival.",
    },
    KeyRow {
        name: "interarrival",
        default: "100us",
        doc: "Mean time between two requests, unless arrivals=closed.",
    },
    KeyRow {
        name: "burst",
        default: "",
        doc: "So many requests arrive at once, the next so much later that the mean time stays.",
    },
    KeyRow { name: "seed", default: "", doc: "Seed of all random choices, instead of --seed." },
];

#[derive(Clone, Copy, Debug)]
enum Arrivals {
    Fixed,
    Exponential,
    Closed,
}

/// Generator with addresses from a source.
#[derive(Clone)]
pub(super) struct Synthetic<S> {
    source: S,
    mix: Mix,
    arrivals: Arrivals,
    interarrival_ns: u64,
    /// Requests that arrive at once. `left` counts those that are still to come.
    burst: u64,
    left: u64,
    now_ns: u64,
    rng: Rng,
    summary: Summary,
}

impl<S: AddressSource + Send + 'static> Synthetic<S> {
    /// Reads all keys.
    pub(super) fn boxed(
        mut keys: Keys,
        seed: u64,
    ) -> Result<Box<dyn Workload + Send>, ConfigError> {
        let seed = keys.count("seed")?.unwrap_or(seed);
        keys.resolve("seed", &seed);
        let mut rng = Rng::new(seed);
        let source = S::new(&mut keys, &mut rng)?;
        let mix = Mix::new(&mut keys)?;
        let (arrivals, interarrival_ns) = arrivals(&mut keys, mix.total())?;
        let burst = burst(&mut keys, arrivals, mix.total())?;
        let name = keys.finish();
        let mut digest = Digest::new();
        digest.text(&name);
        let summary = Summary {
            name,
            span_bytes: source.span_bytes(),
            requests: mix.total(),
            digest: digest.value(),
            closed: matches!(arrivals, Arrivals::Closed),
        };
        let now_ns = 0;
        Ok(Box::new(Self {
            source,
            mix,
            arrivals,
            interarrival_ns,
            burst,
            left: burst,
            now_ns,
            rng,
            summary,
        }))
    }
}

/// Reads the arrival process and the mean time between two requests. By default arrivals are
/// closed: any fixed rate would overload some drive, whose latencies would then describe a backlog.
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

/// Reads how many requests arrive at once.
fn burst(keys: &mut Keys, arrivals: Arrivals, requests: u64) -> Result<u64, ConfigError> {
    let Some(burst) = keys.count("burst")? else { return Ok(1) };
    if matches!(arrivals, Arrivals::Closed) {
        return Err(keys.error("burst has no meaning with arrivals=closed"));
    }
    if !(1..=requests).contains(&burst) {
        return Err(keys.error("burst: expected at least 1 request, and no more than there are"));
    }
    Ok(burst)
}

impl<S: AddressSource> Synthetic<S> {
    #[inline]
    fn next(&mut self) -> Option<Request> {
        let op = self.mix.next(&mut self.rng)?;
        let at_ns = self.now_ns;
        self.left -= 1;
        if self.left == 0 {
            self.left = self.burst;
            self.now_ns += self.burst * self.gap_ns();
        }
        if op == Op::Flush {
            return Some(Request { at_ns, op, offset: 0, length: 0, stream: 0 });
        }
        let discarded = match op {
            Op::Write => self.source.discard(&mut self.rng),
            _ => None,
        };
        if let Some((offset, length)) = discarded {
            return Some(Request { at_ns, op: Op::Trim, offset, length, stream: 0 });
        }
        let (offset, length) = self.source.next(op, &mut self.rng);
        let stream = self.source.stream().unwrap_or(0);
        Some(Request { at_ns, op, offset, length, stream })
    }
}

impl<S> Synthetic<S> {
    /// Returns the time between two requests without bursts.
    #[inline]
    fn gap_ns(&mut self) -> u64 {
        match self.arrivals {
            Arrivals::Fixed => self.interarrival_ns,
            Arrivals::Exponential => {
                let gap = -libm::log(1.0 - self.rng.unit()) * self.interarrival_ns as f64;
                gap.round() as u64
            }
            Arrivals::Closed => 0,
        }
    }
}

impl<S: AddressSource + Send + 'static> Workload for Synthetic<S> {
    fn next_batch(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), Broken> {
        for _ in 0..max {
            let Some(request) = self.next() else { break };
            out.push(request);
        }
        Ok(())
    }

    fn fork(&self) -> Box<dyn Workload + Send> {
        Box::new(self.clone())
    }

    fn summary(&self) -> Summary {
        self.summary.clone()
    }

    fn stands_for(&self) -> Option<String> {
        self.source.stands_for()
    }

    fn has_streams(&self) -> bool {
        self.source.stream().is_some()
    }
}
