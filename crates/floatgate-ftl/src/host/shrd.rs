//! SHRD: sequentialize in the host, randomize in the device (Kim, Shin, Jeong and Kim, FAST 2017;
//! docs/algorithms.md, 9.2).
//!
//! Small writes, in order of arrival, become one large write to a log, a range of *logical* pages
//! behind those of the user. The drive's map changes there only, in few translation pages:
//!
//! ```text
//!   write 32, 765, 128, 854  ->  twrite 1024..1027 (32, 765, 128, 854)
//!   read 128                 ->  read 1026
//!   remap                    ->  32:1024, 128:1026, 765:1025, 854:1027   in order of the pages
//! ```
//!
//! Later the drive is told to point the pages at what was written to the log. No data is read or
//! written for that, and in the order of pages each translation page is needed once per window.
//!
//! Where the description is silent: a write that is not packed takes the pages that it covers out
//! of the log, or old data would come back (the published driver does not do that). A page that it
//! covers in part is remapped first, because the drive completes it from there. Slots that were
//! overwritten inside the log are dropped with their window, unless `lazy_stale`.

use alloc::vec::Vec;
use core::ops::Range;

use super::HostConfig;
use super::ring::Ring;
use crate::addr::Lpn;
use crate::counters::ShrdCounts;
use crate::parameters::{Bytes, Nanoseconds, round};
use crate::request::{Op, Request};

crate::parameters! {
    /// Parameters of the host layer `shrd`. The defaults are those of the authors' driver.
    pub struct ShrdParameters {
        /// Share of the log's slots in use beyond which a window is remapped.
        remap_threshold: f64 = 0.25, from 0 below 1;
        /// Size of a remap window as a share of the log.
        remap_size: f64 = 0.0625, above 0 to 1;
        /// The most entries of a remap command.
        remap_entries: u32 = 511, from 1 to 65_536;
        /// Whether a window is remapped in the order of the pages; if not, in that of the log,
        /// which has them as they were written.
        sort_remaps: bool = true;
        /// The most bytes of one write to the log.
        twrite: Bytes = Bytes(512 << 10), from 512 to (1 << 30);
        /// The most pages of a write to the log.
        twrite_entries: u32 = 128, from 1 to 65_536;
        /// Free contiguous slots needed to begin a write to the log.
        contiguous: u32 = 128, from 1 to 1_000_000;
        /// Writes that begin below this byte address bypass the log.
        exclude_below: Bytes = Bytes(2 << 20), from 0 to (1_u64 << 40);
        /// Commands in the drive at once: a write to the log is one, and so is a read with all its
        /// sub-reads. Further requests wait in the queue of `queue.depth`.
        commands: u32 = 32, from 1 to 65_536;
        /// Whether no command is sent while a remap is in progress.
        block_during_remap: bool = true;
        /// Whether versions overwritten inside the log stay valid in the drive until a slot is
        /// written again, as in the authors' drive; if not, the remap of their window invalidates
        /// them.
        lazy_stale: bool = false;
        /// Whether odd pages take odd slots and even pages even slots, as the prototype with two
        /// cores requires; skipped slots stay empty.
        parity_align: bool = false;
        /// Whether a read joins pages that are adjacent in the log into one sub-read.
        join_reads: bool = false;
        /// Idle time of the host after which the log is remapped. Not set: never.
        idle_after: Option<Nanoseconds> = None, from 0 to 1e12;
        /// A write to the log with at most this many requests is held back for more.
        low_packing: u32 = 16, from 0 to 65_536;
        /// How many times it is held back; the authors' later drivers use 4.
        low_packing_retries: u32 = 0, from 0 to 1000;
    }
}

/// SHRD for a log of some size. Sizes without a unit are pages, or slots of the log, which is the
/// same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShrdConfig {
    /// Log2 of the bytes of a page.
    pub log2_page: u32,
    /// Pages of the user; the log lies behind them.
    pub user_pages: u32,
    /// Slots of the log.
    pub slots: u32,
    /// Bytes up to which a write counts as random.
    pub threshold: u64,
    /// Writes that begin before this byte are not packed.
    pub exclude_below: u64,
    /// The most pages of a twrite.
    pub twrite_pages: u32,
    /// A twrite is begun if so many slots are left in a row.
    pub contiguous: u32,
    /// Pages are remapped when more slots than this are used.
    pub remap_threshold: u32,
    /// How many slots are remapped at once.
    pub remap_size: u32,
    /// The most entries of a remap command.
    pub remap_entries: u32,
    /// Whether a window is remapped in the order of the pages, and not in that of the log.
    pub sort_remaps: bool,
    /// Whether an odd page goes to an odd slot and an even one to an even slot.
    pub parity_align: bool,
    /// Whether what was overwritten in the log stays in the drive until its slot is written again.
    pub lazy_stale: bool,
    /// Whether a read takes neighbours in the log together.
    pub join_reads: bool,
}

impl ShrdConfig {
    /// The default parameters for a log of `slots`, shares rounded down, and nothing excluded.
    pub fn new(log2_page: u32, user_pages: u32, slots: u32) -> Self {
        let (remap_threshold, remap_size) = (slots / 4, (slots / 16).max(1));
        let given = Self::from(&HostConfig::new(log2_page, user_pages, slots, 16 << 10));
        Self { exclude_below: 0, remap_threshold, remap_size, ..given }
    }
}

impl From<&HostConfig> for ShrdConfig {
    /// Shares of the log as slots, and sizes as pages.
    fn from(host: &HostConfig) -> Self {
        let HostConfig { log2_page, user_pages, slots, threshold, shrd, .. } = *host;
        let slots_of = |share: f64| round(share * f64::from(slots)) as u32;
        let twrite = u32::try_from(shrd.twrite.0 >> log2_page).unwrap_or(u32::MAX);
        Self {
            log2_page,
            user_pages,
            slots,
            threshold,
            exclude_below: shrd.exclude_below.0,
            twrite_pages: shrd.twrite_entries.min(twrite).max(1),
            contiguous: shrd.contiguous,
            remap_threshold: slots_of(shrd.remap_threshold),
            remap_size: slots_of(shrd.remap_size).max(1),
            remap_entries: shrd.remap_entries,
            sort_remaps: shrd.sort_remaps,
            parity_align: shrd.parity_align,
            lazy_stale: shrd.lazy_stale,
            join_reads: shrd.join_reads,
        }
    }
}

/// A write to the log: header and data.
#[derive(Clone, Copy, Debug)]
pub struct Twrite<'a> {
    /// The first logical page of the log that is written.
    pub first: Lpn,
    /// Whose page each one is; none for one that is left empty.
    pub entries: &'a [Option<Lpn>],
}

/// One page that is to change its logical address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Remapping {
    /// Where the host wrote it: a page of the log.
    pub from: Lpn,
    /// Whose page it is.
    pub to: Lpn,
}

/// A window of the log that is remapped.
#[derive(Clone, Debug)]
pub struct Batch<'a> {
    /// The pages, in ascending order of where they go, or of where they are with `sort_remaps` off.
    pub entries: &'a [Remapping],
    /// The logical pages of the window. All that the drive still has there afterwards is out of
    /// date.
    pub window: Range<u32>,
    /// Whether the drive is to drop what it still has in the window.
    pub drop_rest: bool,
    /// The most entries of one command.
    pub per_command: usize,
}

impl<'a> Batch<'a> {
    /// The entries of each command.
    pub fn commands(&self) -> impl Iterator<Item = &'a [Remapping]> {
        let only_drop = (self.entries.is_empty() && self.drop_rest).then_some(&[][..]);
        self.entries.chunks(self.per_command).chain(only_drop)
    }
}

/// Consecutive pages that are read by one command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// The first page as the drive is asked for it.
    pub from: Lpn,
    /// The first page as the user asked for it.
    pub original: Lpn,
    /// How many.
    pub pages: u32,
}

/// The host layer.
#[derive(Clone, Debug)]
pub struct Shrd {
    config: ShrdConfig,
    ring: Ring,
    /// The twrite that is being packed: its first slot, the room there, and what is in it.
    first: u32,
    room: u32,
    entries: Vec<Option<Lpn>>,
    window: Vec<(Lpn, u32)>,
    batch: Vec<Remapping>,
    found: Vec<Lpn>,
    counts: ShrdCounts,
}

impl Shrd {
    pub(super) const KEEPS_LOG: bool = true;

    /// An empty log.
    pub fn new(config: ShrdConfig) -> Self {
        assert!(config.contiguous >= 1 && config.contiguous <= config.slots);
        assert!(config.remap_size >= 1 && config.remap_entries >= 1 && config.twrite_pages >= 1);
        let window = Vec::with_capacity(config.remap_size as usize);
        Self {
            config,
            ring: Ring::new(config.slots),
            first: 0,
            room: 0,
            entries: Vec::with_capacity(config.twrite_pages as usize),
            window,
            batch: Vec::with_capacity(config.remap_size as usize),
            found: Vec::new(),
            counts: ShrdCounts::default(),
        }
    }

    /// The parameters.
    pub fn config(&self) -> &ShrdConfig {
        &self.config
    }

    /// What has been counted since the last [`Shrd::reset_counters`].
    pub fn counts(&self) -> ShrdCounts {
        self.counts
    }

    /// Counters back to zero; the log stays.
    pub fn reset_counters(&mut self) {
        self.counts = ShrdCounts::default();
    }

    /// Bytes of memory of the table, the ring and what a window is sorted in.
    pub fn memory_bytes(&self) -> u64 {
        let window = self.window.capacity() * size_of::<(Lpn, u32)>();
        let batch = self.batch.capacity() * size_of::<Remapping>();
        self.ring.bytes() + (window + batch) as u64
    }

    /// Slots in use, and pages that are in the log.
    pub fn fill(&self) -> (u32, usize) {
        (self.ring.used(), self.ring.pages())
    }

    fn pages(&self, request: &Request) -> Range<u32> {
        let page = 1 << self.config.log2_page;
        let end = (request.offset + request.length).div_ceil(page);
        ((request.offset >> self.config.log2_page) as u32)..end as u32
    }

    /// Whether a request is one that belongs into the log: a small write of whole pages.
    #[inline]
    pub fn is_small(&self, request: &Request) -> bool {
        let in_page = (1 << self.config.log2_page) - 1;
        request.op == Op::Write
            && request.length > 0
            && request.length <= self.config.threshold
            && (request.offset | request.length) & in_page == 0
            && request.offset >= self.config.exclude_below
            && request.length >> self.config.log2_page <= u64::from(self.config.twrite_pages)
    }

    /// Begins a twrite. The answer is whether there is room; if not, the small write is to be sent
    /// as it is.
    #[inline]
    pub fn begin(&mut self) -> bool {
        self.entries.clear();
        self.room = self.ring.find_room(self.config.contiguous).min(self.config.twrite_pages);
        self.first = self.ring.next();
        self.room > 0
    }

    /// Packs a small write if it still fits.
    #[inline]
    pub fn add(&mut self, request: &Request) -> bool {
        let pages = self.pages(request);
        let most = pages.len() as u32 * if self.config.parity_align { 2 } else { 1 };
        if self.entries.len() as u32 + most > self.room {
            return false;
        }
        self.counts.packed += 1;
        self.counts.packed_pages += pages.len() as u64;
        for lpn in pages.map(Lpn::new) {
            if self.config.parity_align
                && (self.temporal(self.ring.next()).get() ^ lpn.get()) & 1 == 1
            {
                self.ring.skip();
                self.entries.push(None);
                self.counts.padded += 1;
            }
            self.ring.put(lpn);
            self.entries.push(Some(lpn));
        }
        true
    }

    /// The twrite as it is to be sent.
    pub fn twrite(&mut self) -> Twrite<'_> {
        self.counts.twrites += 1;
        self.counts.commands += 2;
        Twrite { first: self.temporal(self.first), entries: &self.entries }
    }

    /// A small write found no room, and is sent as it is.
    pub fn count_full(&mut self) {
        self.counts.log_full += 1;
    }

    /// A command is sent that is none of the layer's own.
    pub fn count_command(&mut self) {
        self.counts.commands += 1;
    }

    /// The logical page of a slot.
    fn temporal(&self, slot: u32) -> Lpn {
        Lpn::new(self.config.user_pages + slot)
    }

    /// Where in the log a page is.
    #[inline]
    pub fn lookup(&self, lpn: Lpn) -> Option<Lpn> {
        self.ring.slot(lpn).map(|slot| self.temporal(slot))
    }

    /// Splits a read: what is in the log is read there, page by page unless neighbours are joined,
    /// and the rest at its place. The answer is whether anything is in the log.
    pub fn redirect(&mut self, pages: Range<u32>, pieces: &mut Vec<Piece>) -> bool {
        pieces.clear();
        let mut redirected = false;
        for original in pages.map(Lpn::new) {
            let (from, logged) = match self.lookup(original) {
                Some(temporal) => (temporal, true),
                None => (original, false),
            };
            redirected |= logged;
            match pieces.last_mut() {
                Some(last)
                    if last.from.get() + last.pages == from.get()
                        && (last.from == last.original) != logged
                        && (!logged || self.config.join_reads) =>
                {
                    last.pages += 1;
                }
                _ => pieces.push(Piece { from, original, pages: 1 }),
            }
        }
        self.counts.redirected_reads += u64::from(redirected);
        self.counts.commands += pieces.len() as u64;
        redirected
    }

    /// Pages are about to be written or trimmed at their place: what the log has of them is out of
    /// date. Appends where that is.
    pub fn drop_pages(&mut self, pages: Range<u32>, dropped: &mut Vec<Remapping>) {
        if self.ring.pages() == 0 {
            return;
        }
        let mut found = core::mem::take(&mut self.found);
        self.ring.within(pages, &mut found);
        for lpn in found.drain(..) {
            let slot = self.ring.remove(lpn, false).expect("it was found there");
            dropped.push(Remapping { from: self.temporal(slot), to: lpn });
            self.counts.dropped += 1;
        }
        self.found = found;
    }

    /// A page is about to be written in part: if it is in the log, it must be remapped before.
    pub fn remap_alone(&mut self, lpn: Lpn) -> Option<Remapping> {
        let slot = self.ring.remove(lpn, true)?;
        self.counts.commands += 1;
        self.counts.remaps += 1;
        self.counts.remapped_pages += 1;
        self.counts.remapped_alone += 1;
        Some(Remapping { from: self.temporal(slot), to: lpn })
    }

    /// Whether so much of the log is used that a window should be remapped.
    #[inline]
    pub fn is_low(&self) -> bool {
        self.ring.used() > self.config.remap_threshold
    }

    /// Takes the oldest window out of the log, to be remapped. None if the log is empty, or if
    /// there is nothing in the window that the drive must be told.
    pub fn remap(&mut self) -> Option<Batch<'_>> {
        loop {
            if self.ring.used() == 0 {
                return None;
            }
            self.window.clear();
            let (slots, stale) = self.ring.take_window(self.config.remap_size, &mut self.window);
            let drop_rest = stale && !self.config.lazy_stale;
            if self.window.is_empty() && !drop_rest {
                continue;
            }
            if self.config.sort_remaps {
                self.window.sort_unstable();
            }
            let base = self.config.user_pages;
            let from = |slot| Lpn::new(base + slot);
            self.batch.clear();
            self.batch
                .extend(self.window.iter().map(|&(to, slot)| Remapping { from: from(slot), to }));
            let per_command = self.config.remap_entries as usize;
            let window = base + slots.start..base + slots.end;
            let batch = Batch { entries: &self.batch, window, drop_rest, per_command };
            let commands = batch.commands().count() as u64;
            self.counts.commands += commands;
            self.counts.remaps += commands;
            self.counts.windows += 1;
            self.counts.remapped_pages += batch.entries.len() as u64;
            return Some(batch);
        }
    }

    /// Asserts that the log and its table agree.
    pub fn check(&self) {
        self.ring.check();
    }
}

#[cfg(test)]
mod tests;
