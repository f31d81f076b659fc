//! The number of entries that a miss loads, by Equation 1 of TLLLP.
//!
//! `prefetch_num = min(fetch_num + 1, min_fetch_num)`.
//!
//! `min_fetch_num` is the window. It is a multiple of the pages from this page to the end of the
//! request. The factor is 2 for the first page of a request and the first page in a new translation
//! page, and 4 for any other page (T3). The window is computed again for each page (T4).
//!
//! `fetch_num` comes from the history (T5). In mode `run` it is the length of the run of
//! consecutive pages accessed just before, hit or miss, across requests. In mode `prev` it is the
//! result of Equation 1 for the last miss of that run, before translation page, drive and memory
//! cut it short.
//!
//! A miss loads `prefetch_num` entries, or one more (T6). With prefetching off it loads one.

use super::{FetchMode, PrefetchCount, TlllpConfig};
use crate::addr::{Lpn, Tpn};
use crate::mapping::Access;

/// History of page accesses.
#[derive(Clone, Debug)]
pub(super) struct History {
    mode: FetchMode,
    rule2_first: bool,
    counted: PrefetchCount,
    previous: Option<(Lpn, Tpn)>,
    /// The current page access determines this field and `same_page`.
    fetch_num: u32,
    same_page: bool,
}

crate::state!(History { previous, fetch_num, same_page } fixed { mode, rule2_first, counted });

impl History {
    pub(super) fn new(config: &TlllpConfig) -> Self {
        let TlllpConfig { fetch_mode: mode, rule2_first, prefetch: counted, .. } = *config;
        Self { mode, rule2_first, counted, previous: None, fetch_num: 0, same_page: false }
    }

    /// Notes a host access to a page. The mapping calls it for every access, hit or miss.
    #[inline(always)]
    pub(super) fn reaches(&mut self, access: &Access, tpn: Tpn) {
        let Access { lpn, first, .. } = *access;
        let follows = |(previous, _): (Lpn, Tpn)| previous.get() + 1 == lpn.get();
        self.fetch_num = match (self.previous.is_some_and(follows), self.mode) {
            (false, _) | (true, FetchMode::None) => 0,
            (true, FetchMode::Run) => self.fetch_num.saturating_add(1),
            (true, FetchMode::Prev) => self.fetch_num,
        };
        let stays = self.previous.is_some_and(|(_, previous)| previous == tpn);
        self.same_page = stays && (!first || self.rule2_first);
        self.previous = Some((lpn, tpn));
    }

    /// Returns the prefetch limit from the current request.
    pub(super) fn min_fetch_num(&self, access: &Access) -> u32 {
        access.remaining.saturating_mul(if self.same_page { 4 } else { 2 })
    }

    /// Returns how many entries to load for a miss of the current page, including the page's own
    /// entry.
    pub(super) fn entries_to_load(&mut self, access: &Access) -> u32 {
        let prefetch_num = self.fetch_num.saturating_add(1).min(self.min_fetch_num(access));
        if self.mode == FetchMode::Prev {
            self.fetch_num = prefetch_num;
        }
        match (self.mode, self.counted) {
            (FetchMode::None, _) => 1,
            (_, PrefetchCount::With) => prefetch_num,
            (_, PrefetchCount::Extra) => prefetch_num.saturating_add(1),
        }
    }
}
