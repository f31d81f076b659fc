//! Mapping caches. They model which entries of the map a drive has in its memory.
//!
//! The simulator itself keeps the whole map (`PageFtl` owns it). A mapping only decides which
//! translation pages the drive would have to read and write. It returns this work as plain
//! [`MapOp`]s, and touches no flash.

mod asa;
mod belady;
mod boxed;
mod cdftl;
mod dftl;
mod frames;
mod heap;
mod ideal;
mod none;
mod page_cache;
mod sftl;
mod single;
mod tlllp;
mod tpftl;
mod two_level;

pub use boxed::Boxed;
pub use dftl::Replacement;
pub use page_cache::ForCleaning;
pub use tlllp::{Evicted, FetchMode, NodeVictim, PrefetchCount};

use alloc::vec::Vec;

use crate::addr::{Lpn, Ppn, Tpn};
pub use crate::counters::{MapStats, MapUnreported};
use crate::geometry::Geometry;
use crate::parameters::Refusal;
use crate::policy::Policy;
use crate::rng::Rng;
use crate::saved::State;

/// Kind of a host access to a map entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessKind {
    /// Looks the entry up.
    Read,
    /// Points the entry at a new page.
    Write,
    /// Clears the entry.
    Trim,
}

/// One page of a host request, as the mapping sees it.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The logical page.
    pub lpn: Lpn,
    /// Kind of the access.
    pub kind: AccessKind,
    /// Number of pages from this page to the end of the request, this page included.
    pub remaining: u32,
    /// Whether the page is the first of the request.
    pub first: bool,
    /// Whether the page has ever been written (and not been trimmed since).
    pub mapped: bool,
}

/// Flash work that a mapping requests. The engine performs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapOp {
    /// Read a translation page.
    Fetch(Tpn),
    /// Read a translation page, change entries, and program it.
    Update(Tpn),
    /// Program a translation page that the drive has completely in memory.
    Rewrite(Tpn),
}

impl MapOp {
    /// Returns whether two consecutive operations are of the same kind and within the same map page
    /// of `pages` translation pages.
    pub fn goes_with(&self, next: &Self, pages: u32) -> bool {
        match (self, next) {
            (Self::Fetch(a), Self::Fetch(b))
            | (Self::Update(a), Self::Update(b))
            | (Self::Rewrite(a), Self::Rewrite(b)) => a.get() / pages == b.get() / pages,
            _ => false,
        }
    }
}

/// State of an entry in a mapping cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Residency {
    /// Not cached: the entry is on flash only.
    Absent,
    /// Cached, and equal to the entry on flash.
    Clean,
    /// Cached, and newer than the entry on flash.
    Dirty,
}

crate::state!(Residency = Absent | Clean | Dirty);

/// Returns the maximum number of units that cleaning a victim may open for the map, after the first
/// unit. It is above 0 only if a map page has several translation pages (`pages_per_map_page`) or a
/// victim several erase units, and the victim's map updates do not fit into one unit.
pub fn extra_map_units(
    pages_per_unit: u32,
    units_per_victim: u32,
    translation_pages: u32,
    pages_per_map_page: u32,
) -> u32 {
    let pages = pages_per_unit.saturating_mul(units_per_victim);
    let most = pages.saturating_mul(pages_per_map_page).min(translation_pages);
    most.div_ceil(pages_per_unit).saturating_sub(1)
}

/// Requirements of a mapping on its drive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MapDemands {
    /// Smallest cache that works, in bytes.
    pub cache_bytes: u64,
    /// Contents of that smallest cache.
    pub cache_for: &'static str,
    /// Bytes of an entry on flash. None: as configured for the drive.
    pub entry_bytes: Option<u32>,
    /// Translation pages of a map page, which is read and written as a whole. The smallest change
    /// of the map costs this many programs.
    pub pages_per_map_page: u32,
    /// Whether the entries on flash include the ages of their pages.
    pub keeps_ages: bool,
    /// Error in the combination of parameters, if there is one. Each parameter by itself is in its
    /// range.
    pub refusal: Option<Refusal>,
    /// Whether the map is on flash; equal to [`Mapping::is_on_flash`].
    pub on_flash: bool,
}

impl Default for MapDemands {
    /// No requirements, except for room for the map on flash.
    fn default() -> Self {
        Self {
            cache_bytes: 0,
            cache_for: "nothing",
            entry_bytes: None,
            pages_per_map_page: 1,
            keeps_ages: false,
            refusal: None,
            on_flash: true,
        }
    }
}

/// Prefetches of the memory that the next accesses to a mapping cache will need.
pub trait Prefetch {
    /// Prefetches what finds the entry of a page. The host will access it soon.
    #[inline(always)]
    fn prefetch(&self, _lpn: Lpn) {}

    /// Prefetches the entry of a page, if it is cached, some requests after
    /// [`Prefetch::prefetch`].
    #[inline(always)]
    fn prefetch_entry(&self, _lpn: Lpn) {}
}

/// A mapping cache. The engine calls it several times per page.
///
/// Each type in [`MAPPINGS`] also has the functions `new(&MapConfig)` and `demands(&MapConfig)`;
/// the latter returns the mapping's requirements on the drive. The policy's [`Policy::report`]
/// fills in [`Counters::map`](crate::counters::Counters::map).
pub trait Mapping: Policy + State + Prefetch {
    /// Returns whether the map is on flash, in translation pages. If not, accesses are only
    /// counted.
    #[inline(always)]
    fn is_on_flash(&self) -> bool {
        true
    }

    /// Handles a host access to an entry. Appends, in order, the flash work of this access.
    fn access(&mut self, access: Access, io: &mut Vec<MapOp>);

    /// Handles the move of a victim's pages to new places. `moved` is in ascending order of LPN.
    /// Appends the flash work to update their entries: at most [`MapDemands::pages_per_map_page`]
    /// programs for each page moved, and at most one per translation page. Cleaning reserves no
    /// more room.
    fn relocated(&mut self, moved: &[(Lpn, Ppn)], io: &mut Vec<MapOp>);

    /// Returns whether an entry is cached, and whether it is dirty.
    fn residency(&self, lpn: Lpn) -> Residency;

    /// Draws a cached entry; each has the same probability. None if no entry is cached, if the
    /// whole map is cached, or if the scheme does not support draws.
    fn draw(&self, _rng: &mut Rng) -> Option<Lpn> {
        None
    }

    /// Handles the program of a host write at `to`. The entry that was accessed for this write now
    /// names `to`.
    #[inline(always)]
    fn assigned(&mut self, _lpn: Lpn, _to: Ppn, _io: &mut Vec<MapOp>) {}

    /// Handles a trim of consecutive entries of translation page `tpn`. `mapped` are the entries
    /// that were set. A cached entry costs an access; so does a single entry that is not cached.
    /// Several entries that are not cached are cleared with one update of the translation page. If
    /// no entry was set, the drive has to read the page to find that out.
    fn trim(&mut self, tpn: Tpn, mapped: &[Lpn], io: &mut Vec<MapOp>) {
        let absent = mapped.iter().filter(|&&l| self.residency(l) == Residency::Absent).count();
        for &lpn in mapped {
            if absent <= 1 || self.residency(lpn) != Residency::Absent {
                let (kind, remaining) = (AccessKind::Trim, 1);
                self.access(Access { lpn, kind, remaining, first: true, mapped: true }, io);
            }
        }
        match (mapped.len(), absent) {
            (0, _) => io.push(MapOp::Fetch(tpn)),
            (_, 0 | 1) => {}
            _ => io.push(MapOp::Update(tpn)),
        }
    }

    /// Writes back all dirty entries. They stay cached, as clean entries.
    fn flush(&mut self, _io: &mut Vec<MapOp>) {}
}

/// Splits the entries of one victim by translation page.
fn by_page<'a>(
    geometry: &'a Geometry,
    moved: &'a [(Lpn, Ppn)],
) -> impl Iterator<Item = (Tpn, &'a [(Lpn, Ppn)])> {
    let page = |entry: &(Lpn, Ppn)| geometry.translation_page(entry.0);
    moved.chunk_by(move |a, b| page(a) == page(b)).map(move |group| (page(&group[0]), group))
}

macro_rules! mappings {
    ($($name:ident $Type:ident($($Own:ident)?), $doc:literal, $source:literal;)*) => {
        crate::axis! {
            /// Every mapping.
            pub const MAPPINGS;
            /// Configuration of every mapping.
            pub struct MapConfig {
                /// Shape of the drive.
                geometry: Geometry,
                /// Bytes of memory for the cache.
                cache_bytes: u64,
            }
            $($name $Type($($Own)?), $doc, $source;)*
        }

        $(pub use $name::{$Type, $($Own)?};)*

        impl MapConfig {
            /// Configures a cache with the default parameters of every policy.
            pub fn new(geometry: Geometry, cache_bytes: u64) -> Self {
                Self::defaults(geometry, cache_bytes)
            }

            /// Returns the first error in the parameters of any mapping.
            pub fn refusal(&self) -> Option<Refusal> {
                None$(.or_else(|| $Type::demands(self).refusal))*
            }
        }

        /// Returns the requirements of the named mapping on its drive, if there is such a mapping.
        pub fn demands(name: &str, config: &MapConfig) -> Option<MapDemands> {
            match name {
                $(stringify!($name) => Some($Type::demands(config)),)*
                _ => None,
            }
        }

        /// Returns whether the named mapping needs the future accesses of the host.
        pub fn needs_future(name: &str) -> bool {
            match name {
                $(stringify!($name) => $Type::needs_future(),)*
                _ => false,
            }
        }

        impl Boxed {
            /// Makes the mapping of this name; none for an unknown name.
            pub fn by_name(name: &str, config: &MapConfig) -> Option<Self> {
                match name {
                    $(stringify!($name) => Some(Self::new($Type::new(config))),)*
                    _ => None,
                }
            }
        }
    };
}

mappings! {
    ideal Ideal(), "The whole map in memory: no translation traffic, the upper bound.",
        "the page-mapped baseline of DFTL, ASPLOS 2009";
    none NoCache(), "No cache: an access reads its translation page, a write rewrites it.",
        "the No Cache baseline of TLLLP";
    dftl Dftl(DftlConfig),
        "Single entries cached on demand; a dirty victim is written back.",
        "Gupta, Kim and Urgaonkar, ASPLOS 2009";
    asa Asa(AsaConfig), "DFTL with the age of each page next to its entry, twice the size.",
        "Xie and Chen, CCGrid 2014";
    page_cache PageCache(PageCacheConfig), "Whole map pages, evicted in LRU order.",
        "the baseline of SHRD (Kim, Shin, Jeong and Kim, FAST 2017)";
    cdftl Cdftl(CdftlConfig),
        "Two levels: entries, and whole translation pages to batch updates.",
        "Qin, Wang, Liu and Guan, RTAS 2011";
    sftl Sftl(SftlConfig),
        "Whole translation pages, compressed; a buffer delays sparse updates.",
        "Jiang, Zhang, Yuan, Hu and Liu, MSST 2011";
    belady Belady(), "Evicts the entry whose next use is farthest: an offline bound.",
        "Belady, IBM Systems Journal 5, 1966";
    tlllp Tlllp(TlllpConfig),
        "Prefetches by request and history; evicts whole nodes of entries.",
        "Yin et al., Improve SSD performance by prefetch strategy, 2017";
    tpftl Tpftl(TpftlConfig),
        "Loads a request's entries together, writes back a page's together.",
        "Zhou, Wu, Huang, He and Xie, EuroSys 2015";
}

#[cfg(test)]
mod drive_tests;
#[cfg(test)]
mod tests;
