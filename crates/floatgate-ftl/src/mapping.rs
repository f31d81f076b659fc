//! Mapping caches: which part of the map the drive under study has in its memory.
//!
//! The simulator itself keeps the whole map (`PageFtl` owns it). A mapping only decides which
//! translation pages the drive would have had to read and write, and answers with that as
//! plain [`MapOp`]s. It touches no flash.

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

pub use boxed::{AnyMapping, Boxed};
pub use dftl::Replacement;
pub use page_cache::ForCleaning;
pub use tlllp::{FetchMode, NodeVictim};

use alloc::vec::Vec;

use crate::addr::{Lpn, Ppn, Tpn};
pub use crate::counters::{MapStats, MapUntold};
use crate::future::NextUses;
use crate::geometry::Geometry;
use crate::parameters::Refusal;
use crate::rng::Rng;
use crate::saved::State;

/// What the host does with a map entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessKind {
    /// To look it up.
    Read,
    /// To point it at a new page.
    Write,
    /// To clear it.
    Trim,
}

/// One page of a host request, as the mapping sees it.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The page.
    pub lpn: Lpn,
    /// What for.
    pub kind: AccessKind,
    /// Pages from this one to the end of the request, this one included.
    pub remaining: u32,
    /// Whether it is the first page of the request.
    pub first: bool,
    /// Whether the page has ever been written (and not been trimmed since).
    pub mapped: bool,
}

/// Flash work that a mapping asks for. Returned, never performed, by the policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapOp {
    /// Read a translation page.
    Fetch(Tpn),
    /// Read a translation page, change entries, and program it anew.
    Update(Tpn),
    /// Program a translation page anew that the drive has in memory as a whole.
    Rewrite(Tpn),
}

impl MapOp {
    /// Whether two operations, one after the other, are of the same kind and within the same
    /// `pages` translation pages.
    pub fn goes_with(&self, next: &Self, pages: u32) -> bool {
        match (self, next) {
            (Self::Fetch(a), Self::Fetch(b))
            | (Self::Update(a), Self::Update(b))
            | (Self::Rewrite(a), Self::Rewrite(b)) => a.get() / pages == b.get() / pages,
            _ => false,
        }
    }
}

/// What a mapping has of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Residency {
    /// Nothing: the entry is on flash only.
    Absent,
    /// The same as flash has.
    Clean,
    /// Newer than what flash has.
    Dirty,
}

crate::state!(Residency = Absent | Clean | Dirty);

/// Units that a clean may open for the map beside the first: more than none if a map page is
/// `pages_per_map_page` translation pages and the changes of a unit's pages do not fit into a unit.
pub fn extra_map_units(
    pages_per_unit: u32,
    translation_pages: u32,
    pages_per_map_page: u32,
) -> u32 {
    let most = pages_per_unit.saturating_mul(pages_per_map_page).min(translation_pages);
    most.div_ceil(pages_per_unit).saturating_sub(1)
}

/// What a mapping asks of the drive that it is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Demands {
    /// The fewest bytes of cache that it can do with.
    pub cache_bytes: u64,
    /// What they are for.
    pub cache_for: &'static str,
    /// Bytes of an entry on flash; none: as the drive has it.
    pub entry_bytes: Option<u32>,
    /// Translation pages that are read and written as one: [`Mapping::pages_per_map_page`].
    pub pages_per_map_page: u32,
    /// Whether its entries have the ages of their pages.
    pub keeps_ages: bool,
}

impl Default for Demands {
    /// Nothing.
    fn default() -> Self {
        Self {
            cache_bytes: 0,
            cache_for: "nothing",
            entry_bytes: None,
            pages_per_map_page: 1,
            keeps_ages: false,
        }
    }
}

/// A mapping cache. Asked several times per page.
pub trait Mapping {
    /// Whether the map lives on flash, in translation pages. If not, accesses are only counted.
    const ON_FLASH: bool = true;
    /// Whether [`Mapping::set_future`] should be called.
    const NEEDS_FUTURE: bool = false;

    /// What it asks of its drive, beside the future.
    fn demands(_config: &MapConfig) -> Demands
    where
        Self: Sized,
    {
        Demands::default()
    }

    /// What is wrong with its parameters, each of which is in its range.
    fn refusal(_config: &MapConfig) -> Option<Refusal>
    where
        Self: Sized,
    {
        None
    }

    /// The host accesses an entry. Appends, in order, the flash work that this costs.
    fn access(&mut self, access: Access, io: &mut Vec<MapOp>);

    /// Cleaning moved the pages of one victim to these places; `moved` is in ascending order of
    /// LPN. Appends the flash work that pointing their entries there costs: no more programs than
    /// [`Mapping::pages_per_map_page`] for each page moved, and no more than there are translation
    /// pages, for cleaning has reserved that room.
    fn relocated(&mut self, moved: &[(Lpn, Ppn)], io: &mut Vec<MapOp>);

    /// Translation pages that are read and written as one: as many programs as the smallest change
    /// of the map costs.
    #[inline(always)]
    fn pages_per_map_page(&self) -> u32 {
        1
    }

    /// Units that a clean may open for the map beside the first.
    fn extra_units(&self, geometry: &Geometry) -> u32 {
        extra_map_units(
            geometry.pages_per_unit(),
            geometry.translation_pages(),
            self.pages_per_map_page(),
        )
    }

    /// What is cached of an entry.
    fn residency(&self, lpn: Lpn) -> Residency;

    /// An entry of those that are cached, each as likely as the others. None if nothing is cached,
    /// everything is, or the scheme cannot tell.
    fn draw(&self, _rng: &mut Rng) -> Option<Lpn> {
        None
    }

    /// The host's write of a page has been programmed at `to`: the entry that was accessed for it
    /// now says so.
    #[inline(always)]
    fn assigned(&mut self, _lpn: Lpn, _to: Ppn, _io: &mut Vec<MapOp>) {}

    /// The host trims consecutive entries of translation page `tpn`; `mapped` are those that were
    /// set. Of one entry the drive makes an access; more that are not cached it clears in the
    /// translation page itself, at once; if none was set it has to look, to know that.
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

    /// What the host will access from now on. Only a bound on what mappings can do listens.
    fn set_future(&mut self, _future: NextUses) {}

    /// Writes back everything dirty; it stays cached, clean.
    fn flush(&mut self, _io: &mut Vec<MapOp>) {}

    /// What has been counted since the last [`Mapping::reset_counters`].
    fn stats(&self) -> MapStats {
        MapStats::default()
    }

    /// Bytes of memory that the cache takes in the drive now.
    fn cache_bytes(&self) -> u64 {
        0
    }

    /// Counters back to zero; the cache stays as it is.
    fn reset_counters(&mut self) {}

    /// What changes in it, if it can be saved.
    fn state(&mut self) -> Option<&mut dyn State> {
        None
    }

    /// Recomputes what can be recomputed, and asserts that it agrees.
    fn check(&self) {}
}

/// The entries of one victim, translation page by translation page.
fn by_page<'a>(
    geometry: &'a Geometry,
    moved: &'a [(Lpn, Ppn)],
) -> impl Iterator<Item = (Tpn, &'a [(Lpn, Ppn)])> {
    let page = |entry: &(Lpn, Ppn)| geometry.translation_page(entry.0);
    moved.chunk_by(move |a, b| page(a) == page(b)).map(move |group| (page(&group[0]), group))
}

/// The table of mappings: config name, type and parameters, what it does, where it is from.
/// `$then!` gets the rows.
#[macro_export]
macro_rules! mappings {
    ($then:ident) => {
        $then! {
            ideal Ideal(), "The whole map in memory: no translation traffic, the upper bound.",
                "the page-mapped baseline of DFTL, ASPLOS 2009";
            none NoCache(), "No cache: an access reads its translation page, a write rewrites it.",
                "the No Cache baseline of TLLLP";
            dftl Dftl(DftlConfig),
                "Single entries cached on demand; a dirty victim is written back.",
                "Gupta, Kim and Urgaonkar, ASPLOS 2009";
            asa Asa(AsaConfig), "DFTL with the age of each page beside its entry, twice the size.",
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
    };
}

macro_rules! name_rows {
    ($($name:ident $Type:ident($($Own:ident)?), $doc:literal, $source:literal;)*) => {
        crate::axis! {
            /// Every mapping.
            pub const MAPPINGS;
            /// What every mapping is made from.
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
            /// A cache with the default parameters of every policy.
            pub fn new(geometry: Geometry, cache_bytes: u64) -> Self {
                Self::defaults(geometry, cache_bytes)
            }

            /// What is wrong with the parameters of any mapping.
            pub fn refusal(&self) -> Option<Refusal> {
                None$(.or_else(|| <$Type as Mapping>::refusal(self)))*
            }
        }

        /// What the mapping of this name asks of its drive, if there is one.
        pub fn demands(name: &str, config: &MapConfig) -> Option<Demands> {
            match name {
                $(stringify!($name) => Some(<$Type as Mapping>::demands(config)),)*
                _ => None,
            }
        }

        /// Whether the mapping of this name has its map on flash.
        pub fn on_flash(name: &str) -> bool {
            match name {
                $(stringify!($name) => <$Type as Mapping>::ON_FLASH,)*
                _ => false,
            }
        }

        /// Whether the mapping of this name wants to be told what the host will access.
        pub fn needs_future(name: &str) -> bool {
            match name {
                $(stringify!($name) => <$Type as Mapping>::NEEDS_FUTURE,)*
                _ => false,
            }
        }

        impl AnyMapping {
            /// The mapping of a row; none if the name is in none.
            pub fn new(name: &str, config: &MapConfig) -> Option<Self> {
                Some(match name {
                    $(stringify!($name) => Self::of($Type::new(config)),)*
                    _ => return None,
                })
            }
        }
    };
}

mappings!(name_rows);

#[cfg(test)]
mod drive_tests;
#[cfg(test)]
mod tests;
