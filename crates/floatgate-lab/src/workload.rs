//! Workloads: streams of host requests, generated or recorded.
//!
//! A generator is named by a text such as `hotcold:span=1GiB,r=0.9,f=0.1,writes=10M`. It stores no
//! requests: the same text and seed give the same requests on every machine. Random numbers are
//! drawn in the order of the requests, so that the batch size does not matter.

mod columns;
mod digest;
mod feed;
mod fitted;
mod hotcold;
mod iometer;
mod keys;
mod mix;
mod one_size;
mod recorded;
pub(crate) mod scatter;
mod sequential;
mod shuffled;
mod streamed;
mod synthetic;
mod tenants;
mod uniform;
mod zipf;
mod zones;

use floatgate_ftl::request::{Op, Request};
use floatgate_ftl::rng::Rng;

pub use columns::append_requests;
pub(crate) use digest::Digest;
pub use feed::{Feed, RunSlots, Seat};
pub use keys::KeyRow;
pub use recorded::Recorded;
pub use streamed::{Extent, Reader, Rows, Streamed};

use crate::config::ConfigError;
use crate::suggest::hint;
use fitted::Fitted;
use hotcold::HotCold;
use iometer::Iometer;
use keys::Keys;
use one_size::{OneSize, Space};
use sequential::Sequential;
use shuffled::Shuffled;
use synthetic::Synthetic;
use tenants::Tenants;
use uniform::Uniform;
use zipf::Zipf;
use zones::Zones;

/// Facts about a workload that are available before it runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summary {
    /// Name: the full text of a generator, or the name of a recording.
    pub name: String,
    /// The first byte beyond every request.
    pub span_bytes: u64,
    /// Requests, repeats included.
    pub requests: u64,
    /// Digest that distinguishes workloads: equal for requests from the same text and seed, or for
    /// the same records. For a recording that is read during its run, the digest is 0 until the
    /// recording has been read to its end.
    pub digest: u64,
    /// Whether requests wait for each other (a fixed number outstanding) and have no times.
    pub closed: bool,
}

/// Reason why requests are not available.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Broken {
    /// A recording cannot be read, or its content has changed.
    Unreadable(String),
    /// The reader was stopped.
    Stopped,
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreadable(why) => f.write_str(why),
            Self::Stopped => f.write_str("interrupted"),
        }
    }
}

/// Stream of host requests, in the order in which they are sent.
pub trait Workload {
    /// Appends up to `max` requests; none after the last request.
    ///
    /// # Errors
    /// There are more requests, but they are not available.
    fn next_batch(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), Broken>;

    /// Returns an independent workload with the requests that are still to come.
    fn fork(&self) -> Box<dyn Workload + Send>;

    /// Returns the facts that are available in advance. Only the digest changes while requests are
    /// taken.
    fn summary(&self) -> Summary;

    /// Returns the name of the trace that this workload imitates, so that nobody mistakes it for
    /// the trace.
    fn stands_for(&self) -> Option<String> {
        None
    }

    /// Returns whether requests may have placement handles.
    fn has_streams(&self) -> bool {
        false
    }

    /// The first byte beyond every request.
    fn span_bytes(&self) -> u64 {
        self.summary().span_bytes
    }

    /// Requests, repeats included.
    fn requests(&self) -> u64 {
        self.summary().requests
    }
}

/// Addresses of requests: the part of a generator that differs between generators.
trait AddressSource: Clone + Sized {
    /// Keys that this source has in addition to the keys of every generator.
    const KEYS: &'static [&'static [KeyRow]];

    /// Reads the keys. `first` gives the random numbers that are drawn once, before the first
    /// request.
    fn new(keys: &mut Keys, first: &mut Rng) -> Result<Self, ConfigError>;

    /// The first byte beyond every request.
    fn span_bytes(&self) -> u64;

    /// Returns the name of the trace that this source imitates.
    fn stands_for(&self) -> Option<String> {
        None
    }

    /// Returns the first byte and the length of the next request. It is not called for flushes.
    fn next(&mut self, op: Op, rng: &mut Rng) -> (u64, u64);

    /// Returns the first byte and the length of a trim that takes the place of the next write, if
    /// the host trims before that write.
    fn discard(&mut self, _: &mut Rng) -> Option<(u64, u64)> {
        None
    }

    /// Returns the placement handle of the latest request, if it has one.
    fn stream(&self) -> Option<u16> {
        None
    }
}

/// Addresses of requests that all have one size: an offset for each request except flushes.
trait Pattern: Clone + Sized {
    /// Keys of this pattern only.
    const KEYS: &'static [KeyRow] = &[];

    /// Reads the pattern's keys. `first` gives the random numbers that are drawn once, before the
    /// first request.
    fn new(keys: &mut Keys, space: Space, first: &mut Rng) -> Result<Self, ConfigError>;

    /// Returns the first byte of the next request.
    fn offset(&mut self, space: Space, rng: &mut Rng) -> u64;

    /// Returns the first byte and the length of a trim that takes the place of the next write, if
    /// the host trims before that write.
    fn discard(&mut self, _: Space, _: &mut Rng) -> Option<(u64, u64)> {
        None
    }
}

/// Row of the table of generators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GeneratorRow {
    /// Name, before the colon.
    pub name: &'static str,
    /// Description in one line.
    pub doc: &'static str,
    /// Valid example text.
    pub example: &'static str,
    /// Source of the generator.
    pub source: &'static str,
    keys: &'static [&'static [KeyRow]],
}

impl GeneratorRow {
    /// Returns all keys of the generator: first its own, then those that all generators share.
    pub fn keys(&self) -> impl Iterator<Item = &'static KeyRow> {
        self.keys.iter().copied().chain([synthetic::KEYS]).flatten()
    }
}

/// Makes the table of generators from rows of name, type, description, example and source.
macro_rules! generators {
    ($($name:literal $Type:ty, $doc:literal, $example:literal, $source:literal;)*) => {
        /// All generators.
        pub const GENERATORS: &[GeneratorRow] = &[$(GeneratorRow {
            name: $name, doc: $doc, example: $example, source: $source,
            keys: <$Type as AddressSource>::KEYS,
        }),*];

        fn by_name(
            name: &str, keys: Keys, seed: u64,
        ) -> Option<Result<Box<dyn Workload + Send>, ConfigError>> {
            match name {
                $($name => Some(Synthetic::<$Type>::boxed(keys, seed)),)*
                _ => None,
            }
        }
    };
}

generators! {
    "uniform" OneSize<Uniform>, "Every place is as likely as any other.",
        "uniform:span=1GiB,writes=1M",
        "the random writes of every write amplification model, e.g. Desnoyers, SYSTOR 2012";
    "hotcold" OneSize<HotCold>,
        "Share r of the requests to the first share f of the span, evenly in each class.",
        "hotcold:span=1GiB,r=0.9,f=0.1,writes=10M,size=4KiB",
        "Rosenblum and Ousterhout, TOCS 10, 1992; Desnoyers, SYSTOR 2012";
    "zipf" OneSize<Zipf>, "The k-th most popular place as often as k^-theta, anywhere in the span.",
        "zipf:span=1GiB,theta=0.99,writes=1M",
        "sampled as in Hormann and Derflinger, TOMACS 6, 1996; theta of YCSB, SoCC 2010";
    "sequential" OneSize<Sequential>,
        "One request after the other; at the end of the span again from 0.",
        "sequential:span=1GiB,writes=256Ki,size=64KiB",
        "the sequential fill of every benchmark";
    "shuffled" OneSize<Shuffled>,
        "Every place once in random order, then again in another.",
        "shuffled:span=1GiB,writes=256Ki",
        "the shuffled fill of SSD-iq (Haas et al., PVLDB 18, 2025)";
    "zones" OneSize<Zones>,
        "Zones at random, each from its start to its end, `active` of them at a time.",
        "zones:span=1GiB,zone=16MiB,active=4,size=512KiB,writes=100k",
        "the zones of SSD-iq (Haas et al., PVLDB 18, 2025)";
    "iometer" OneSize<Iometer>,
        "Share random of the requests jump to a multiple of align, the others follow the last.",
        "iometer:span=1GiB,size=2KiB,random=1,reads=0.67,requests=1M",
        "Iometer's access specifications (Intel, 1998)";
    "tenants" Tenants,
        "Tenants with a share of the span each, that write it in order or at random.",
        "tenants:span=1GiB,tenants=4,random=1,writes=1M",
        "the mixed tenants of flexible data placement, e.g. Allison et al., EuroSys 2025";
    "fitted" Fitted, "A stand-in for a trace: as many hot and cold pages as a row of a table says.",
        "fitted:row=src2_0,writes=1M",
        "made for floatgate; the rows are Table 1 of Shafaei, Desnoyers and Fitzpatrick, \
         HotStorage 2016";
}

/// Makes the generator that a text names, `NAME:key=value,...`. A `seed` in the text overrides
/// `seed`.
///
/// # Errors
/// A text of another form, or an invalid name, key or value.
pub fn generator(spec: &str, seed: u64) -> Result<Box<dyn Workload + Send>, ConfigError> {
    let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
    let name = name.trim();
    let Some(row) = GENERATORS.iter().find(|row| row.name == name) else {
        let names: Vec<&str> = GENERATORS.iter().map(|row| row.name).collect();
        let hint = hint(name, &names);
        let names = names.join(", ");
        let unknown = format!("unknown generator `{name}`; {hint}expected one of {names}");
        return Err(ConfigError::new(unknown));
    };
    let keys = Keys::parse(row, rest)?;
    by_name(name, keys, seed).unwrap_or_else(|| unreachable!("{name} is in the table"))
}
