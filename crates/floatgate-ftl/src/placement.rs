//! Placement: chooses the stream, and so the open unit, of each written page.
//!
//! Streams are numbered from cold to hot: stream 0 has the data with the longest expected lifetime.

mod asa;
mod autostream;
mod crc;
mod dac;
mod direct;
mod eti;
mod external;
mod host;
mod inputs;
mod kmeans;
mod length;
mod lru_lists;
mod mbf;
mod mhf;
mod nibbles;
mod oracle;
mod perfect;
mod sepbit;
mod single;
mod wdac;

pub use asa::AsaClock;
pub use crc::Hashes;
pub use eti::{DecayUnit, Extent, MergeValue};
pub use external::{ExternalPlacement, ExternalScheme};
pub use host::Isolation;
pub use inputs::{HostWrite, Reclaimed, Relocation, SampleSource, Samples};
pub use mbf::Insert;
pub use sepbit::History;

use alloc::boxed::Box;
use core::ops::Range;

use crate::addr::Lpn;
use crate::counters::ExtentCounts;
use crate::future::NextUses;
use crate::geometry::Geometry;
use crate::parameters::Refusal;
use crate::saved::State;

/// Sorts pages into streams. The engine calls it once per page write.
///
/// A type in the table also has two functions: `new(&PlacementConfig)`, and
/// `streams(&PlacementConfig)`, which returns the number of its streams, at least 1.
pub trait Placement {
    /// Whether the placement needs a call of [`Placement::set_future`].
    const NEEDS_FUTURE: bool = false;

    /// Whether [`Placement::moved`] may return another stream than the page is in.
    const SORTS_MOVED: bool = false;

    /// Returns the error in the combination of parameters, if there is one. Each parameter by
    /// itself is in its range.
    fn refusal(_config: &PlacementConfig) -> Option<Refusal>
    where
        Self: Sized,
    {
        None
    }

    /// Whether the placement reads the device's clock in nanoseconds. Such a placement sorts
    /// differently if operations take no time.
    fn reads_time(_config: &PlacementConfig) -> bool
    where
        Self: Sized,
    {
        false
    }

    /// Notes the placement handle of a host write, which groups pages that belong together. Called
    /// once for each host write, before it is buffered or programmed.
    #[inline(always)]
    fn labelled(&mut self, _lpns: Range<u32>, _handle: u16) {}

    /// Notes a host command that writes consecutive pages. Called before the pages are written.
    #[inline(always)]
    fn command(&mut self, _first: Lpn, _pages: u32) {}

    /// Returns the stream of a page that the host writes. The scheme also updates its state for the
    /// write here.
    fn stream(&mut self, write: HostWrite) -> u8;

    /// Returns the stream of a page that cleaning moves, if cleaning follows the scheme
    /// ([`Destination::Scheme`](crate::page_ftl::Destination)).
    #[inline(always)]
    fn moved(&mut self, relocation: Relocation) -> u8 {
        relocation.stream
    }

    /// Returns the stream that the page would get in a new classification, without a write.
    #[inline(always)]
    fn classify(&self, relocation: Relocation) -> u8 {
        relocation.stream
    }

    /// Notes that a page was trimmed.
    #[inline(always)]
    fn trimmed(&mut self, _lpn: Lpn) {}

    /// Notes that a unit is about to be cleaned.
    #[inline(always)]
    fn reclaimed(&mut self, _unit: Reclaimed) {}

    /// Requests a sample of pages, if the placement needs one now. One call of
    /// [`Placement::sampled`] follows each request.
    #[inline(always)]
    fn wants_samples(&mut self) -> Option<Samples> {
        None
    }

    /// Receives the sampled pages. No sample is requested before the next
    /// [`Placement::wants_samples`].
    fn sampled(&mut self, _pages: &[Lpn], _clock: u64, _now_ns: u64) {}

    /// Passes on the future writes of the host. Only an oracle uses them.
    fn set_future(&mut self, _future: NextUses) {}

    /// Bytes of the drive's memory that the placement takes.
    fn memory_bytes(&self) -> u64 {
        0
    }

    /// Returns the counts of extents, if the placement keeps extents.
    fn extents(&self) -> Option<ExtentCounts> {
        None
    }

    /// Returns the number of host writes with a handle that the drive does not have.
    fn unknown_handles(&self) -> u64 {
        0
    }

    /// Resets the counts.
    fn reset_counters(&mut self) {}

    /// Returns the state that can be saved, if saving is supported.
    fn state(&mut self) -> Option<&mut dyn State> {
        None
    }

    /// Recomputes derived state and asserts that it agrees.
    fn check(&self) {}
}

/// The table of placements: config name, type and parameters, summary, source.
/// Calls a method of the placement in a [`Scheme`], whichever it is, without a virtual call.
macro_rules! each {
    ($scheme:expr, [$($Type:ident)*], $method:ident $arguments:tt) => {
        match $scheme {
            $(Scheme::$Type(placement) => placement.$method $arguments,)*
            Scheme::External(placement) => placement.$method $arguments,
        }
    };
}

macro_rules! placements {
    ($($name:ident $Type:ident($($Config:ident)?), $doc:literal, $source:literal;)*) => {
        crate::axis! {
            /// Every placement.
            pub const PLACEMENTS;
            /// Configuration of every placement.
            pub struct PlacementConfig {
                /// Shape of the drive.
                geometry: Geometry,
                /// Whether the entries of the map include the ages of their pages.
                ages_in_map: bool,
                /// For `host`: number of placement handles of the drive, at least 1.
                handles: u8,
                /// For `host`: whether cleaning keeps the data of different handles apart.
                isolation: Isolation,
            }
            $($name $Type($($Config)?), $doc, $source;)*
        }

        $(pub use $name::{$Type, $($Config)?};)*

        impl PlacementConfig {
            /// Configures every placement with its default parameters, for a map without ages.
            pub fn new(geometry: Geometry) -> Self {
                Self::defaults(geometry, false, 8, Isolation::Initially)
            }

            /// Returns the first error in the parameters of any placement.
            pub fn refusal(&self) -> Option<Refusal> {
                None$(.or_else(|| <$Type as Placement>::refusal(self)))*
            }
        }

        /// Returns the number of streams of the named placement, if there is such a placement.
        pub fn streams(name: &str, config: &PlacementConfig) -> Option<u8> {
            match name {
                $(stringify!($name) => Some($Type::streams(config)),)*
                _ => None,
            }
        }

        #[derive(Debug)]
        enum Scheme {
            $($Type($Type),)*
            External(ExternalScheme),
        }

        /// Any placement of the table, without a virtual call per page, or an external policy.
        #[derive(Debug)]
        pub struct AnyPlacement {
            scheme: Scheme,
            streams: u8,
        }

        impl AnyPlacement {
            /// Returns the number of streams.
            pub fn streams(&self) -> u8 {
                self.streams
            }

            /// Whether the placement may sort pages moved by cleaning into another stream.
            pub fn sorts_moved(&self) -> bool {
                match &self.scheme {
                    $(Scheme::$Type(_) => $Type::SORTS_MOVED,)*
                    Scheme::External(external) => external.sorts_moved(),
                }
            }

            /// Wraps an external policy that sorts the pages of a drive into `streams` streams, at
            /// least 1.
            pub fn external(
                policy: Box<dyn ExternalPlacement>,
                streams: u8,
                geometry: &Geometry,
            ) -> Self {
                assert!(streams > 0, "a placement has a stream");
                let external = ExternalScheme::new(policy, geometry.logical_pages());
                Self { scheme: Scheme::External(external), streams }
            }

            /// Returns the external policy, if the placement is one.
            pub fn as_external(&mut self) -> Option<&mut ExternalScheme> {
                match &mut self.scheme {
                    Scheme::External(external) => Some(external),
                    _ => None,
                }
            }

            /// Makes the named placement, if there is one.
            pub fn new(name: &str, config: &PlacementConfig) -> Option<Self> {
                let scheme = match name {
                    $(stringify!($name) => Scheme::$Type($Type::new(config)),)*
                    _ => return None,
                };
                Some(Self { scheme, streams: streams(name, config)? })
            }

            /// Whether the named placement reads the device's clock in nanoseconds.
            pub fn reads_time(name: &str, config: &PlacementConfig) -> bool {
                match name {
                    $(stringify!($name) => <$Type as Placement>::reads_time(config),)*
                    _ => false,
                }
            }

            /// Whether the named placement needs the future writes of the host.
            pub fn needs_future(name: &str) -> bool {
                match name {
                    $(stringify!($name) => <$Type as Placement>::NEEDS_FUTURE,)*
                    _ => false,
                }
            }
        }

        impl Placement for AnyPlacement {
            #[inline(always)]
            fn labelled(&mut self, lpns: Range<u32>, handle: u16) {
                each!(&mut self.scheme, [$($Type)*], labelled (lpns, handle))
            }

            #[inline(always)]
            fn command(&mut self, first: Lpn, pages: u32) {
                each!(&mut self.scheme, [$($Type)*], command (first, pages))
            }

            #[inline(always)]
            fn stream(&mut self, write: HostWrite) -> u8 {
                each!(&mut self.scheme, [$($Type)*], stream (write))
            }

            #[inline]
            fn moved(&mut self, relocation: Relocation) -> u8 {
                each!(&mut self.scheme, [$($Type)*], moved (relocation))
            }

            #[inline]
            fn classify(&self, relocation: Relocation) -> u8 {
                each!(&self.scheme, [$($Type)*], classify (relocation))
            }

            #[inline]
            fn trimmed(&mut self, lpn: Lpn) {
                each!(&mut self.scheme, [$($Type)*], trimmed (lpn))
            }

            #[inline]
            fn reclaimed(&mut self, unit: Reclaimed) {
                each!(&mut self.scheme, [$($Type)*], reclaimed (unit))
            }

            #[inline(always)]
            fn wants_samples(&mut self) -> Option<Samples> {
                each!(&mut self.scheme, [$($Type)*], wants_samples ())
            }

            fn sampled(&mut self, pages: &[Lpn], clock: u64, now_ns: u64) {
                each!(&mut self.scheme, [$($Type)*], sampled (pages, clock, now_ns))
            }

            fn set_future(&mut self, future: NextUses) {
                each!(&mut self.scheme, [$($Type)*], set_future (future))
            }

            fn memory_bytes(&self) -> u64 {
                each!(&self.scheme, [$($Type)*], memory_bytes ())
            }

            fn extents(&self) -> Option<ExtentCounts> {
                each!(&self.scheme, [$($Type)*], extents ())
            }

            fn unknown_handles(&self) -> u64 {
                each!(&self.scheme, [$($Type)*], unknown_handles ())
            }

            fn reset_counters(&mut self) {
                each!(&mut self.scheme, [$($Type)*], reset_counters ())
            }

            fn state(&mut self) -> Option<&mut dyn State> {
                each!(&mut self.scheme, [$($Type)*], state ())
            }

            fn check(&self) {
                each!(&self.scheme, [$($Type)*], check ())
            }
        }
    };
}

placements! {
    single Single(), "All data in one stream: no separation.",
        "the reference of every separation paper, e.g. Desnoyers, SYSTOR 2012";
    eti Eti(EtiConfig), "A counter per extent; extents are cut by writes and merged as they cool.",
        "Shafaei, Desnoyers and Fitzpatrick, HotStorage 2016";
    mbf Mbf(MbfConfig), "Bloom filters, cleared in turn; hot if many or recent ones have the page.",
        "Park and Du, MSST 2011";
    mhf Mhf(MhfConfig), "A counting Bloom filter, halved periodically.",
        "Hsieh, Kuo and Chang, ACM Transactions on Storage 2, 2006";
    direct Direct(DirectConfig), "A counter per page, halved periodically: what MHF approximates.",
        "the ideal of Hsieh, Kuo and Chang, ACM Transactions on Storage 2, 2006";
    length Length(LengthConfig), "Short writes are hot.",
        "Im and Shin, ComboFTL, Journal of Systems Architecture 56, 2010";
    lru_lists LruLists(LruListsConfig),
        "Two LRU lists, candidates and hot; a second write promotes to hot.",
        "Chang and Kuo, RTAS 2002";
    wdac Wdac(WdacConfig), "The writes of a window, weighted by recency: what MBF approximates.",
        "the baseline of Park and Du, MSST 2011";
    asa Asa(AsaConfig), "Hot, warm or cold by age at overwrite; thresholds from sampled ages.",
        "Xie and Chen, CCGrid 2014";
    dac Dac(DacConfig), "A page is promoted when written and demoted when cleaned.",
        "Chiang, Lee and Chang, Software: Practice and Experience 29(3), 1999";
    sepbit Sepbit(SepbitConfig),
        "By the lifespan of the overwritten version; pages copied by GC by their age.",
        "Wang, Li, Lee, Ouyang, Shi and Huang, FAST 2022";
    autostream Autostream(AutostreamConfig),
        "By frequency and recency of the writes to a chunk of addresses.",
        "Yang et al., AutoStream, SYSTOR 2017";
    host Host(), "As the host says by placement handles (flexible data placement).",
        "NVM Express, TP4146 Flexible Data Placement, 2022";
    perfect Perfect(PerfectConfig),
        "The first pages are hot: exact for a workload with this hot set.",
        "the perfect classifier of Desnoyers, SYSTOR 2012";
    oracle Oracle(OracleConfig),
        "By the remaining lifetime, known from the trace: an offline bound.",
        "the future knowledge of SepBIT, FAST 2022, in ranges of our own";
}

#[cfg(test)]
mod tests;
