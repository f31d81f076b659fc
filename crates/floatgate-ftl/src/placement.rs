//! Which data goes together: the stream, and so the open unit, of each written page.
//!
//! Streams are numbered from cold to hot: 0 holds what is expected to live longest.

mod asa;
mod autostream;
mod crc;
mod dac;
mod direct;
mod eti;
mod guest;
mod host;
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
mod told;
mod wdac;

pub use asa::AsaClock;
pub use crc::Hashes;
pub use eti::{DecayUnit, Extent, MergeValue};
pub use guest::{Guest, GuestPlacement};
pub use host::Isolation;
pub use mbf::Insert;
pub use sepbit::History;
pub use told::{HostWrite, Reclaimed, Relocation, SampleSource, Samples};

use alloc::boxed::Box;
use core::ops::Range;

use crate::addr::Lpn;
use crate::counters::ExtentCounts;
use crate::future::NextUses;
use crate::geometry::Geometry;
use crate::parameters::Refusal;
use crate::saved::State;

/// Sorts pages into streams. Asked once per page write.
///
/// A type in the table has two functions beside: `new(&PlacementConfig)`, and
/// `streams(&PlacementConfig)`, how many streams it sorts into, at least 1.
pub trait Placement {
    /// Whether [`Placement::set_future`] should be called.
    const NEEDS_FUTURE: bool = false;

    /// Whether [`Placement::moved`] may answer another stream than the page is in.
    const SORTS_MOVED: bool = false;

    /// What is wrong with its parameters, each of which is in its range.
    fn refusal(_config: &PlacementConfig) -> Option<Refusal>
    where
        Self: Sized,
    {
        None
    }

    /// Whether it looks at the nanoseconds of the device's clock: where nothing takes time it sorts
    /// otherwise.
    fn reads_time(_config: &PlacementConfig) -> bool
    where
        Self: Sized,
    {
        false
    }

    /// The host says with what pages that it writes are to lie together: its placement handle.
    /// Called once for each of its writes, before they are buffered or programmed.
    #[inline(always)]
    fn labelled(&mut self, _lpns: Range<u32>, _handle: u16) {}

    /// The host writes consecutive pages by one command. Called before its pages are.
    #[inline(always)]
    fn command(&mut self, _first: Lpn, _pages: u32) {}

    /// The stream of a page that the host writes. What the scheme learns of the write, it learns
    /// here.
    fn stream(&mut self, write: HostWrite) -> u8;

    /// The stream of a page that cleaning moves, if the scheme has its say
    /// ([`Destination::Scheme`](crate::page_ftl::Destination)).
    #[inline(always)]
    fn moved(&mut self, relocation: Relocation) -> u8 {
        relocation.stream
    }

    /// The stream that a page would be put in now if it were judged anew, without being written.
    #[inline(always)]
    fn classify(&self, relocation: Relocation) -> u8 {
        relocation.stream
    }

    /// A page holds nothing any more.
    #[inline(always)]
    fn trimmed(&mut self, _lpn: Lpn) {}

    /// A unit is about to be cleaned.
    #[inline(always)]
    fn reclaimed(&mut self, _unit: Reclaimed) {}

    /// How many pages it wants to be shown now, for its own purposes: as many calls of
    /// [`Placement::sampled`] follow.
    #[inline(always)]
    fn wants_samples(&mut self) -> Option<Samples> {
        None
    }

    /// The pages that were drawn; none is asked for again before the next
    /// [`Placement::wants_samples`].
    fn sampled(&mut self, _pages: &[Lpn], _clock: u64, _now_ns: u64) {}

    /// What the host will write from now on. Only an oracle listens.
    fn set_future(&mut self, _future: NextUses) {}

    /// Bytes of memory that it takes in the drive.
    fn memory_bytes(&self) -> u64 {
        0
    }

    /// Extents that it keeps, if that is what it keeps.
    fn extents(&self) -> Option<ExtentCounts> {
        None
    }

    /// Writes of the host with a handle that the drive does not have.
    fn unknown_handles(&self) -> u64 {
        0
    }

    /// What it has counted so far is not to be reported.
    fn reset_counters(&mut self) {}

    /// What changes in it, if it can be saved.
    fn state(&mut self) -> Option<&mut dyn State> {
        None
    }

    /// Recomputes what can be recomputed, and asserts that it agrees.
    fn check(&self) {}
}

/// The table of placements: config name, type and parameters, what it does, where it is from.
macro_rules! placements {
    ($($name:ident $Type:ident($($Config:ident)?), $doc:literal, $source:literal;)*) => {
        crate::axis! {
            /// Every placement.
            pub const PLACEMENTS;
            /// What every placement is made from.
            pub struct PlacementConfig {
                /// Shape of the drive.
                geometry: Geometry,
                /// Whether the entries of the map have the ages of their pages.
                ages_in_map: bool,
                /// For `host`: placement handles of the drive, at least 1.
                handles: u8,
                /// For `host`: whether cleaning keeps their data apart.
                isolation: Isolation,
            }
            $($name $Type($($Config)?), $doc, $source;)*
        }

        $(pub use $name::{$Type, $($Config)?};)*

        impl PlacementConfig {
            /// The default parameters of every placement, beside a map without ages.
            pub fn new(geometry: Geometry) -> Self {
                Self::defaults(geometry, false, 8, Isolation::Initially)
            }

            /// What is wrong with the parameters of any placement.
            pub fn refusal(&self) -> Option<Refusal> {
                None$(.or_else(|| <$Type as Placement>::refusal(self)))*
            }
        }

        /// How many streams the placement of this name sorts into, if there is one.
        pub fn streams(name: &str, config: &PlacementConfig) -> Option<u8> {
            match name {
                $(stringify!($name) => Some($Type::streams(config)),)*
                _ => None,
            }
        }

        #[derive(Debug)]
        enum Scheme {
            $($Type($Type),)*
            Guest(Guest),
        }

        /// Any placement of the table, without a virtual call per page, or one from outside.
        #[derive(Debug)]
        pub struct AnyPlacement {
            scheme: Scheme,
            streams: u8,
        }

        impl AnyPlacement {
            /// How many streams it sorts into.
            pub fn streams(&self) -> u8 {
                self.streams
            }

            /// Whether it may sort what cleaning moves into another stream.
            pub fn sorts_moved(&self) -> bool {
                match &self.scheme {
                    $(Scheme::$Type(_) => $Type::SORTS_MOVED,)*
                    Scheme::Guest(guest) => guest.sorts_moved(),
                }
            }

            /// A placement from outside, that sorts the pages of a drive into so many streams, at
            /// least 1.
            pub fn guest(
                policy: Box<dyn GuestPlacement>,
                streams: u8,
                geometry: &Geometry,
            ) -> Self {
                assert!(streams > 0, "a placement has a stream");
                let guest = Guest::new(policy, geometry.logical_pages());
                Self { scheme: Scheme::Guest(guest), streams }
            }

            /// The placement from outside, if it is one.
            pub fn as_guest(&mut self) -> Option<&mut Guest> {
                match &mut self.scheme {
                    Scheme::Guest(guest) => Some(guest),
                    _ => None,
                }
            }

            /// The placement of this name, if there is one.
            pub fn new(name: &str, config: &PlacementConfig) -> Option<Self> {
                let scheme = match name {
                    $(stringify!($name) => Scheme::$Type($Type::new(config)),)*
                    _ => return None,
                };
                Some(Self { scheme, streams: streams(name, config)? })
            }

            /// Whether the placement of this name looks at the nanoseconds of the device's clock.
            pub fn reads_time(name: &str, config: &PlacementConfig) -> bool {
                match name {
                    $(stringify!($name) => <$Type as Placement>::reads_time(config),)*
                    _ => false,
                }
            }

            /// Whether the placement of this name wants to be told what the host will write.
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
                match &mut self.scheme {
                    $(Scheme::$Type(placement) => placement.labelled(lpns, handle),)*
                    Scheme::Guest(placement) => placement.labelled(lpns, handle),
                }
            }

            #[inline(always)]
            fn command(&mut self, first: Lpn, pages: u32) {
                match &mut self.scheme {
                    $(Scheme::$Type(placement) => placement.command(first, pages),)*
                    Scheme::Guest(placement) => placement.command(first, pages),
                }
            }

            #[inline(always)]
            fn stream(&mut self, write: HostWrite) -> u8 {
                match &mut self.scheme {
                    $(Scheme::$Type(placement) => placement.stream(write),)*
                    Scheme::Guest(placement) => placement.stream(write),
                }
            }

            #[inline]
            fn moved(&mut self, relocation: Relocation) -> u8 {
                match &mut self.scheme {
                    $(Scheme::$Type(placement) => placement.moved(relocation),)*
                    Scheme::Guest(placement) => placement.moved(relocation),
                }
            }

            #[inline]
            fn classify(&self, relocation: Relocation) -> u8 {
                match &self.scheme {
                    $(Scheme::$Type(placement) => placement.classify(relocation),)*
                    Scheme::Guest(placement) => placement.classify(relocation),
                }
            }

            #[inline]
            fn trimmed(&mut self, lpn: Lpn) {
                match &mut self.scheme {
                    $(Scheme::$Type(placement) => placement.trimmed(lpn),)*
                    Scheme::Guest(placement) => placement.trimmed(lpn),
                }
            }

            #[inline]
            fn reclaimed(&mut self, unit: Reclaimed) {
                match &mut self.scheme {
                    $(Scheme::$Type(placement) => placement.reclaimed(unit),)*
                    Scheme::Guest(placement) => placement.reclaimed(unit),
                }
            }

            #[inline(always)]
            fn wants_samples(&mut self) -> Option<Samples> {
                match &mut self.scheme {
                    $(Scheme::$Type(placement) => placement.wants_samples(),)*
                    Scheme::Guest(placement) => placement.wants_samples(),
                }
            }

            fn sampled(&mut self, pages: &[Lpn], clock: u64, now_ns: u64) {
                match &mut self.scheme {
                    $(Scheme::$Type(placement) => placement.sampled(pages, clock, now_ns),)*
                    Scheme::Guest(placement) => placement.sampled(pages, clock, now_ns),
                }
            }

            fn set_future(&mut self, future: NextUses) {
                match &mut self.scheme {
                    $(Scheme::$Type(placement) => placement.set_future(future),)*
                    Scheme::Guest(placement) => placement.set_future(future),
                }
            }

            fn memory_bytes(&self) -> u64 {
                match &self.scheme {
                    $(Scheme::$Type(placement) => placement.memory_bytes(),)*
                    Scheme::Guest(placement) => placement.memory_bytes(),
                }
            }

            fn extents(&self) -> Option<ExtentCounts> {
                match &self.scheme {
                    $(Scheme::$Type(placement) => placement.extents(),)*
                    Scheme::Guest(placement) => placement.extents(),
                }
            }

            fn unknown_handles(&self) -> u64 {
                match &self.scheme {
                    $(Scheme::$Type(placement) => placement.unknown_handles(),)*
                    Scheme::Guest(placement) => placement.unknown_handles(),
                }
            }

            fn reset_counters(&mut self) {
                match &mut self.scheme {
                    $(Scheme::$Type(placement) => placement.reset_counters(),)*
                    Scheme::Guest(placement) => placement.reset_counters(),
                }
            }

            fn state(&mut self) -> Option<&mut dyn State> {
                match &mut self.scheme {
                    $(Scheme::$Type(placement) => placement.state(),)*
                    Scheme::Guest(placement) => placement.state(),
                }
            }

            fn check(&self) {
                match &self.scheme {
                    $(Scheme::$Type(placement) => placement.check(),)*
                    Scheme::Guest(placement) => placement.check(),
                }
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
