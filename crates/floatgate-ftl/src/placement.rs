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
pub use eti::{AlphaOf, DecayUnit, Extent, Judged, MergeValue};
pub use external::{ExternalPlacement, ExternalScheme};
pub use host::{HandleStreams, Isolation, MovedPages};
pub use inputs::{HostWrite, PlacementEvent, Reclaimed, Relocation, SampleSource, Samples};
pub use mbf::Insert;
pub use sepbit::History;

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::addr::Lpn;
use crate::geometry::Geometry;
use crate::parameters::Refusal;
use crate::policy::Policy;
use crate::saved::{Carrier, State};

/// Requirements of a placement on its drive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlacementDemands {
    /// Number of streams, at least 1.
    pub streams: u8,
    /// Whether [`Placement::moved`] may move a page to another stream.
    pub sorts_moved: bool,
    /// Whether the placement reads the device's clock in nanoseconds. Such a placement sorts
    /// differently if operations take no time.
    pub reads_time: bool,
    /// Error in the combination of parameters, if there is one. Each parameter by itself is in its
    /// range.
    pub refusal: Option<Refusal>,
}

impl PlacementDemands {
    /// Requires this many streams and nothing else.
    pub fn streams(streams: u8) -> Self {
        Self { streams, sorts_moved: false, reads_time: false, refusal: None }
    }
}

/// Sorts pages into streams. The engine calls it once per page write.
///
/// Each type in [`PLACEMENTS`] also has a function `new(&PlacementConfig)`.
pub trait Placement: Policy + State {
    /// Returns the requirements on the drive. The default is one stream.
    fn demands(_config: &PlacementConfig) -> PlacementDemands
    where
        Self: Sized,
    {
        PlacementDemands::streams(1)
    }

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

    /// Notes an event. Always inline this function, so that a placement pays nothing for events
    /// that it ignores.
    #[inline(always)]
    fn observe(&mut self, _event: PlacementEvent) {}

    /// Requests a sample of pages, if the placement needs one now. One call of
    /// [`Placement::sampled`] follows each request.
    #[inline(always)]
    fn wants_samples(&mut self) -> Option<Samples> {
        None
    }

    /// Receives the sampled pages. No sample is requested before the next
    /// [`Placement::wants_samples`].
    fn sampled(&mut self, _pages: &[Lpn], _clock: u64, _now_ns: u64) {}
}

/// Evaluates an expression for the placement in a [`Scheme`], whichever it is, without a virtual
/// call.
macro_rules! each {
    ($scheme:expr, [$($Type:ident)*], $placement:ident => $value:expr) => {
        match $scheme {
            $(Scheme::$Type($placement) => $value,)*
            Scheme::External($placement) => $value,
        }
    };
}

/// The table of placements: config name, type and parameters, summary, source.
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
                /// For `host` with persistent isolation: the unit that takes moved pages.
                moved_pages: MovedPages,
            }
            $($name $Type($($Config)?), $doc, $source;)*
        }

        $(pub use $name::{$Type, $($Config)?};)*

        impl PlacementConfig {
            /// Configures every placement with its default parameters, for a map without ages.
            pub fn new(geometry: Geometry) -> Self {
                let moved_pages = MovedPages::WithWrites;
                Self::defaults(geometry, false, 8, Isolation::Initially, moved_pages)
            }

            /// Returns the first error in the parameters of any placement.
            pub fn refusal(&self) -> Option<Refusal> {
                None$(.or_else(|| $Type::demands(self).refusal))*
            }
        }

        /// Returns the requirements of the named placement on its drive, if there is such a
        /// placement.
        pub fn demands(name: &str, config: &PlacementConfig) -> Option<PlacementDemands> {
            match name {
                $(stringify!($name) => Some($Type::demands(config)),)*
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
            sorts_moved: bool,
            hot_pages: u32,
        }

        impl AnyPlacement {
            /// Makes the named placement, if there is one.
            pub fn new(name: &str, config: &PlacementConfig) -> Option<Self> {
                let scheme = match name {
                    $(stringify!($name) => Scheme::$Type($Type::new(config)),)*
                    _ => return None,
                };
                let PlacementDemands { streams, sorts_moved, .. } = demands(name, config)?;
                let hot_pages = config.perfect.hot_pages.unwrap_or(0);
                Some(Self { scheme, streams, sorts_moved, hot_pages })
            }

            /// Returns whether the named placement needs the future writes of the host.
            pub fn needs_future(name: &str) -> bool {
                match name {
                    $(stringify!($name) => $Type::needs_future(),)*
                    _ => false,
                }
            }

            /// Returns the placement as a policy.
            pub fn policy(&self) -> &dyn Policy {
                each!(&self.scheme, [$($Type)*], placement => placement)
            }

            /// Returns the placement as a policy.
            pub fn policy_mut(&mut self) -> &mut dyn Policy {
                each!(&mut self.scheme, [$($Type)*], placement => placement)
            }

            /// As [`Placement::stream`].
            #[inline(always)]
            pub fn stream(&mut self, write: HostWrite) -> u8 {
                each!(&mut self.scheme, [$($Type)*], placement => placement.stream(write))
            }

            /// As [`Placement::moved`].
            #[inline]
            pub fn moved(&mut self, relocation: Relocation) -> u8 {
                each!(&mut self.scheme, [$($Type)*], placement => placement.moved(relocation))
            }

            /// As [`Placement::classify`].
            #[inline]
            pub fn classify(&self, relocation: Relocation) -> u8 {
                each!(&self.scheme, [$($Type)*], placement => placement.classify(relocation))
            }

            /// As [`Placement::observe`].
            #[inline(always)]
            pub fn observe(&mut self, event: PlacementEvent) {
                each!(&mut self.scheme, [$($Type)*], placement => placement.observe(event));
            }

            /// As [`Placement::wants_samples`].
            #[inline(always)]
            pub fn wants_samples(&mut self) -> Option<Samples> {
                each!(&mut self.scheme, [$($Type)*], placement => placement.wants_samples())
            }

            /// As [`Placement::sampled`].
            pub fn sampled(&mut self, pages: &[Lpn], clock: u64, now_ns: u64) {
                each!(
                    &mut self.scheme,
                    [$($Type)*],
                    placement => placement.sampled(pages, clock, now_ns)
                );
            }
        }

        impl State for AnyPlacement {
            fn carry(&mut self, by: &mut Carrier<'_>) {
                each!(&mut self.scheme, [$($Type)*], placement => placement.carry(by));
            }

            fn can_be_saved(&self) -> bool {
                each!(&self.scheme, [$($Type)*], placement => placement.can_be_saved())
            }
        }
    };
}

impl AnyPlacement {
    /// Wraps an external policy that sorts the pages of a drive into `streams` streams, at least 1.
    pub fn external(
        policy: Box<dyn ExternalPlacement>,
        streams: u8,
        config: &PlacementConfig,
    ) -> Self {
        assert!(streams > 0, "a placement has a stream");
        let sorts_moved = policy.sorts_moved();
        let external = ExternalScheme::new(policy, config.geometry.logical_pages());
        let hot_pages = config.perfect.hot_pages.unwrap_or(0);
        Self { scheme: Scheme::External(external), streams, sorts_moved, hot_pages }
    }

    /// Returns the external policy, if the placement is one.
    pub fn as_external(&mut self) -> Option<&mut ExternalScheme> {
        match &mut self.scheme {
            Scheme::External(external) => Some(external),
            _ => None,
        }
    }

    /// Returns the number of streams.
    pub fn streams(&self) -> u8 {
        self.streams
    }

    /// Returns how many of the drive's first pages are truly hot. 0 if unknown.
    pub fn hot_pages(&self) -> u32 {
        self.hot_pages
    }

    /// Returns the handle of a page's last write, if the placement obeys handles.
    #[inline]
    pub fn handle_of_page(&self, lpn: Lpn) -> Option<u8> {
        match &self.scheme {
            Scheme::Host(host) => Some(host.handle_of_page(lpn)),
            _ => None,
        }
    }

    fn host(&self) -> Option<&Host> {
        match &self.scheme {
            Scheme::Host(host) => Some(host),
            _ => None,
        }
    }

    /// Returns the number of handles that the placement obeys.
    pub fn handles(&self) -> u8 {
        self.host().map_or(0, Host::handles)
    }

    /// Returns the stream of new writes of a handle, if the placement obeys the handle.
    pub fn stream_of_handle(&self, handle: u8) -> Option<u8> {
        self.host()?.stream_of_handle(handle)
    }

    /// Returns the handle whose new writes go to a stream, if the placement obeys handles.
    pub fn handle_written_to(&self, stream: u8) -> Option<u8> {
        self.host()?.handle_written_to(stream)
    }

    /// Returns the owner of each stream: a handle if the placement obeys handles, else the stream
    /// itself. Streams that pages of several handles share have none.
    pub fn owners(&self) -> Vec<Option<u8>> {
        let of_stream = |stream| match &self.scheme {
            Scheme::Host(host) => host.handle_of_stream(stream),
            _ => Some(stream),
        };
        (0..self.streams).map(of_stream).collect()
    }

    /// Returns the destination of the pages that cleaning moves out of a stream, if all of them go
    /// to one stream.
    pub fn stream_of_moved(&self, stream: u8) -> Option<u8> {
        match &self.scheme {
            Scheme::Host(host) => Some(host.stream_of_moved(stream)),
            _ => (!self.sorts_moved).then_some(stream),
        }
    }

    /// Returns whether the placement may sort pages moved by cleaning into another stream.
    pub fn sorts_moved(&self) -> bool {
        self.sorts_moved
    }
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
