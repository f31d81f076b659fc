//! The caches, the placement and the host layer.

use floatgate_ftl::counters::{ExtentCounts, ExtentSearch, OwnerCounts, StreamCounts};
use floatgate_ftl::device::Counters;
use schemars::JsonSchema;
use serde::Serialize;

use super::readings::Readings;
use crate::metrics::ratio;

/// The cache of the map.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MappingResult {
    /// Hits per look-up, 0 to 1.
    pub hit_ratio: Option<f64>,
    /// Look-ups that found their entry in the cache.
    pub hits: u64,
    /// Look-ups that did not find their entry in the cache.
    pub misses: u64,
    /// Entries, or pages of entries, that left the cache. This and the following counts are None if
    /// a Python policy does not report them.
    pub evictions: Option<u64>,
    /// Evictions of dirty entries, which write to flash.
    pub dirty_evictions: Option<u64>,
    /// Entries loaded before they were accessed.
    pub prefetched: Option<u64>,
    /// Prefetched entries that were accessed later.
    pub prefetch_used: Option<u64>,
    /// Prefetched entries that were evicted without an access.
    pub prefetch_unused: Option<u64>,
    /// Memory of the cache in bytes.
    pub cache_bytes: Option<u64>,
}

impl MappingResult {
    pub(super) fn new(readings: &Readings) -> Self {
        let map = readings.counters.map;
        let unless = |is_unreported: bool, count: u64| (!is_unreported).then_some(count);
        Self {
            hit_ratio: ratio(map.hits, map.hits + map.misses),
            hits: map.hits,
            misses: map.misses,
            evictions: unless(map.unreported.evictions, map.evictions),
            dirty_evictions: unless(map.unreported.dirty_evictions, map.dirty_evictions),
            prefetched: unless(map.unreported.prefetched, map.prefetched),
            prefetch_used: unless(map.unreported.prefetch_used, map.prefetch_used),
            prefetch_unused: unless(map.unreported.prefetch_unused, map.prefetch_unused),
            cache_bytes: unless(map.unreported.cache_bytes, readings.counters.cache_bytes),
        }
    }
}

/// The write buffer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BufferResult {
    /// Hits per page, 0 to 1.
    pub hit_ratio: Option<f64>,
    /// Pages read or written that were in the buffer.
    pub hits: u64,
    /// Pages read or written that were not in the buffer.
    pub misses: u64,
    /// Pages written that were in the buffer.
    pub write_hits: u64,
    /// Pages read that were in the buffer.
    pub read_hits: u64,
    /// Pages evicted or flushed from the buffer to flash.
    pub flushed_pages: u64,
    /// Pages read from flash to pad evicted blocks, and written with them.
    pub padded_pages: u64,
    /// Pages trimmed while they were in the buffer.
    pub trimmed_pages: u64,
    /// Pages in the buffer at the end.
    pub held_pages: u64,
    /// Memory of the bookkeeping in bytes, without the pages.
    pub memory_bytes: u64,
}

impl BufferResult {
    pub(super) fn new(counters: &Counters) -> Self {
        let counts = counters.buffer.unwrap_or_default();
        let hits = counts.read_hits + counts.write_hits;
        let misses = counts.read_misses + counts.write_misses;
        Self {
            hit_ratio: ratio(hits, hits + misses),
            hits,
            misses,
            write_hits: counts.write_hits,
            read_hits: counts.read_hits,
            flushed_pages: counts.flushed,
            padded_pages: counts.padded,
            trimmed_pages: counts.trimmed,
            held_pages: counts.held,
            memory_bytes: counts.memory_bytes,
        }
    }
}

/// Pages written to one stream, and its erase units that cleaning emptied.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StreamPages {
    /// Pages that the host wrote.
    pub host_pages: u64,
    /// Pages among `host_pages` that are hot in truth: those below `perfect.hot_pages`. 0 if that
    /// key is not set.
    pub hot_pages: u64,
    /// Pages that cleaning moved.
    pub gc_pages: u64,
    /// Victims of the stream: erase units, or reclaim units of several erase units, that cleaning
    /// emptied, or that the SLC cache folded. Units emptied to level wear do not count.
    pub victims: u64,
    /// Valid pages of these victims when they were chosen. In incremental cleaning the host can
    /// overwrite some of them before they are copied.
    pub victim_valid_pages: u64,
    /// Mean share of valid pages in these victims, 0 to 1. None without victims.
    pub victim_valid_mean: Option<f64>,
}

impl StreamPages {
    fn new(counts: &StreamCounts) -> Self {
        Self {
            host_pages: counts.host_pages,
            hot_pages: counts.hot_pages,
            gc_pages: counts.gc_pages,
            victims: counts.victims,
            victim_valid_pages: counts.victim_valid_pages,
            victim_valid_mean: ratio(counts.victim_valid_pages, counts.victim_pages),
        }
    }
}

/// Pages of one owner: of a placement handle with `placement.scheme = "host"`, else of a stream of
/// the placement. A page belongs to the handle of its last write, or to the stream that it is in.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OwnerPages {
    /// Pages that the host wrote.
    pub host_pages: u64,
    /// Pages of the owner that cleaning copied.
    pub gc_pages: u64,
    /// The `gc_pages` by owner of the host write that they were copied for: the write waited for
    /// the cleaning, or incremental cleaning ran along with it. The last number is for cleaning
    /// that ran for no write of data, but while the host was idle or for a page of the map.
    pub gc_pages_for: Vec<u64>,
    /// Pages of the owner that wear levelling moved.
    pub wear_pages: u64,
    /// Pages of the owner that were copied out of the SLC cache.
    pub fold_pages: u64,
    /// Pages of the owner in erase units that joined another reclaim unit without copies
    /// (`cleaning.relabel`).
    pub relabelled_pages: u64,
    /// Pages of the owner that were written, copied or moved, per page that the host wrote. None
    /// without a write.
    pub write_amplification: Option<f64>,
}

impl OwnerPages {
    fn new(counts: &OwnerCounts) -> Self {
        let OwnerCounts { host_pages, wear_pages, fold_pages, relabelled_pages, .. } = *counts;
        let gc_pages = counts.gc_pages.iter().sum();
        let programs = host_pages + gc_pages + wear_pages + fold_pages;
        Self {
            host_pages,
            gc_pages,
            gc_pages_for: counts.gc_pages.clone(),
            wear_pages,
            fold_pages,
            relabelled_pages,
            write_amplification: ratio(programs, host_pages),
        }
    }
}

/// Searches for the extents in which write commands begin, as ETI's paper describes them. A step
/// compares the page with one extent, and steps are means per command. All fields are None if the
/// policy tracks no extents, and steps without a command.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExtentSearchResult {
    /// Write commands.
    pub commands: Option<u64>,
    /// Write commands that begin in the extent found last.
    pub in_last: Option<u64>,
    /// Steps of a walk along the extents, from the first one.
    pub walk: Option<f64>,
    /// Steps of a walk from the extent found last, in either direction.
    pub walk_from_last: Option<f64>,
    /// Steps of a binary search among all extents.
    pub halving: Option<f64>,
    /// Steps of a search from the extent found last, by doubled distances and then by halving.
    pub halving_from_last: Option<f64>,
}

impl ExtentSearchResult {
    fn new(extents: Option<ExtentCounts>) -> Self {
        let mean = |steps: fn(&ExtentSearch) -> u64| {
            extents.and_then(|counts| ratio(steps(&counts.search), counts.commands))
        };
        Self {
            commands: extents.map(|counts| counts.commands),
            in_last: extents.map(|counts| counts.search.in_last),
            walk: mean(|search| search.walk),
            walk_from_last: mean(|search| search.walk_from_last),
            halving: mean(|search| search.halving),
            halving_from_last: mean(|search| search.halving_from_last),
        }
    }
}

/// Placement: which data shared erase units.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlacementResult {
    /// The streams, cold to hot.
    pub streams: Vec<StreamPages>,
    /// The owners of pages: a row for each placement handle with `placement.scheme = "host"`, else
    /// for each stream of the placement.
    pub owners: Vec<OwnerPages>,
    /// Memory of the policy in bytes.
    pub memory_bytes: u64,
    /// Extents that the policy tracks at the end. This and the following two are None if the policy
    /// tracks no extents.
    pub extents: Option<u32>,
    /// Mean number of extents at the end of a write command.
    pub extents_mean: Option<f64>,
    /// Largest number of extents at the end of a write command.
    pub extents_most: Option<u32>,
    /// Searches for the extents in which write commands begin.
    pub extent_search: ExtentSearchResult,
    /// Translation pages read to sample page ages.
    pub sample_reads: u64,
    /// Writes of the host with a placement handle that the drive does not have; the drive used
    /// handle 0.
    pub unknown_handles: u64,
}

impl PlacementResult {
    pub(super) fn new(readings: &Readings) -> Self {
        let extents = readings.counters.extents;
        Self {
            streams: readings.counters.streams.iter().map(StreamPages::new).collect(),
            owners: readings.counters.owners.iter().map(OwnerPages::new).collect(),
            memory_bytes: readings.counters.placement_bytes,
            extents: extents.map(|extents| extents.now),
            extents_mean: extents.and_then(|all| ratio(all.sum, all.commands)),
            extents_most: extents.map(|extents| extents.most),
            extent_search: ExtentSearchResult::new(extents),
            sample_reads: readings.counters.sample_reads,
            unknown_handles: readings.counters.unknown_handles,
        }
    }
}

/// The host layer above the drive.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HostResult {
    /// Commands sent to the drive. Without a host layer every request is one command. A write to
    /// the log is two commands, its header and its data.
    pub commands: u64,
    /// Remap commands.
    pub remaps: u64,
    /// Pages remapped by these commands.
    pub remapped_pages: u64,
    /// Reads that touch a page in the log.
    pub redirected_reads: u64,
    /// Windows of the log remapped.
    pub windows: u64,
    /// Writes to the log.
    pub twrites: u64,
    /// Requests packed into writes to the log.
    pub packed_requests: u64,
    /// Pages of the packed requests.
    pub packed_pages: u64,
    /// Pages in the log invalidated by larger writes and trims.
    pub dropped_pages: u64,
    /// Small writes that found no room in the log.
    pub log_full: u64,
    /// Slots of the log in use at the end.
    pub log_pages_used: u32,
    /// Memory of the layer on the host, in bytes.
    pub memory_bytes: u64,
}

impl HostResult {
    pub(super) fn new(counters: &Counters) -> Self {
        let layer = counters.layer.unwrap_or_default();
        let shrd = layer.shrd;
        let requests = counters.host.requests.iter().sum::<u64>();
        Self {
            commands: if counters.layer.is_some() { shrd.commands } else { requests },
            remaps: shrd.remaps,
            remapped_pages: shrd.remapped_pages,
            redirected_reads: shrd.redirected_reads,
            windows: shrd.windows,
            twrites: shrd.twrites,
            packed_requests: shrd.packed,
            packed_pages: shrd.packed_pages,
            dropped_pages: shrd.dropped,
            log_full: shrd.log_full,
            log_pages_used: layer.slots_used,
            memory_bytes: layer.memory_bytes,
        }
    }
}
