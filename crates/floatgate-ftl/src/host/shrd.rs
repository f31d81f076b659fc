//! SHRD: sequentialize in the host, randomize in the device (Kim, Shin, Jeong and Kim, FAST 2017;
//! docs/algorithms.md, 9.2).
//!
//! Small writes, in order of arrival, become one large write to a log: a range of *logical* pages
//! behind the user's pages. The drive's map changes only in the log, in few translation pages:
//!
//! ```text
//!   write 32, 765, 128, 854  ->  twrite 1024..1027 (32, 765, 128, 854)
//!   read 128                 ->  read 1026
//!   remap                    ->  32:1024, 128:1026, 765:1025, 854:1027   in order of the pages
//! ```
//!
//! Later the host commands the drive to point the pages at the data in the log. The drive reads and
//! writes no data for that. In page order it needs each translation page once per window.
//!
//! Rules that the paper leaves open:
//!
//! - A write that is not packed removes the pages that it covers from the log; otherwise old data
//!   would return. The published driver does not do that.
//! - A page that such a write covers only partially is remapped first, because the drive completes
//!   the page from its original address.
//! - Slots that were overwritten inside the log are dropped with their window, unless `lazy_stale`
//!   is set.

use alloc::vec::Vec;
use core::ops::Range;

use super::HostConfig;
use super::ring::Ring;
use crate::addr::Lpn;
use crate::counters::ShrdCounts;
use crate::parameters::{Bytes, Nanoseconds, round};
use crate::request::{Op, Request};

crate::parameters! {
    /// Parameters of the host layer `shrd`. The defaults are taken from the authors' driver.
    pub struct ShrdParameters {
        /// Share of the log's slots in use beyond which a window is remapped.
        remap_threshold: f64 = 0.25, from 0 below 1;
        /// Size of a remap window as a share of the log.
        remap_size: f64 = 0.0625, above 0 to 1;
        /// The most entries of a remap command.
        remap_entries: u32 = 511, from 1 to 65_536;
        /// Whether a window is remapped in page order; otherwise it is remapped in log order, the
        /// order of the writes.
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
        /// A write to the log with at most this many requests waits for more requests.
        low_packing: u32 = 16, from 0 to 65_536;
        /// Maximum number of such waits; the authors' later drivers use 4.
        low_packing_retries: u32 = 0, from 0 to 1000;
    }
}

/// SHRD configuration for one log size. Sizes without a unit count pages, or slots of one page
/// each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShrdConfig {
    /// Log2 of the page size in bytes.
    pub log2_page: u32,
    /// Number of user pages; the log lies behind them.
    pub user_pages: u32,
    /// Slots of the log.
    pub slots: u32,
    /// Largest write in bytes that counts as random.
    pub threshold: u64,
    /// Writes that begin below this byte address are not packed.
    pub exclude_below: u64,
    /// Maximum number of pages of a twrite.
    pub twrite_pages: u32,
    /// Number of free consecutive slots needed to begin a twrite.
    pub contiguous: u32,
    /// Number of used slots above which pages are remapped.
    pub remap_threshold: u32,
    /// Number of slots that one remap takes.
    pub remap_size: u32,
    /// Maximum number of entries of a remap command.
    pub remap_entries: u32,
    /// Whether a window is remapped in page order; otherwise it is remapped in log order.
    pub sort_remaps: bool,
    /// Whether odd pages go to odd slots and even pages to even slots.
    pub parity_align: bool,
    /// Whether data overwritten in the log stays in the drive until its slot is written again.
    pub lazy_stale: bool,
    /// Whether a read joins pages that are adjacent in the log.
    pub join_reads: bool,
}

impl ShrdConfig {
    /// Returns the default parameters for a log of `slots` slots. Shares are rounded down, and no
    /// address is excluded.
    pub fn new(log2_page: u32, user_pages: u32, slots: u32) -> Self {
        let (remap_threshold, remap_size) = (slots / 4, (slots / 16).max(1));
        let given = Self::from(&HostConfig::new(log2_page, user_pages, slots, 16 << 10));
        Self { exclude_below: 0, remap_threshold, remap_size, ..given }
    }
}

impl From<&HostConfig> for ShrdConfig {
    /// Converts shares of the log to slots, and sizes to pages.
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

/// Write to the log: header and data.
#[derive(Clone, Copy, Debug)]
pub struct Twrite<'a> {
    /// First logical page of the log to write.
    pub first: Lpn,
    /// Original address of each page; `None` for a page that stays empty.
    pub entries: &'a [Option<Lpn>],
}

/// Change of one page's logical address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Remapping {
    /// Log page to which the host wrote the data.
    pub from: Lpn,
    /// Original address of the page.
    pub to: Lpn,
}

/// Window of the log to remap.
#[derive(Clone, Debug)]
pub struct RemapBatch<'a> {
    /// Pages in ascending order of their original addresses, or of their log pages with
    /// `sort_remaps` off.
    pub entries: &'a [Remapping],
    /// Logical pages of the window. After the remap every page that the drive still maps there is
    /// out of date.
    pub window: Range<u32>,
    /// Whether the drive must drop the pages that it still maps in the window.
    pub drop_rest: bool,
    /// Maximum number of entries per command.
    pub per_command: usize,
}

impl<'a> RemapBatch<'a> {
    /// Yields the entries of each command.
    pub fn commands(&self) -> impl Iterator<Item = &'a [Remapping]> {
        let only_drop = (self.entries.is_empty() && self.drop_rest).then_some(&[][..]);
        self.entries.chunks(self.per_command).chain(only_drop)
    }
}

/// Consecutive pages that one command reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// First page in the drive's address space.
    pub from: Lpn,
    /// First page in the user's address space.
    pub original: Lpn,
    /// Number of pages.
    pub pages: u32,
}

/// The host layer SHRD.
#[derive(Clone, Debug)]
pub struct Shrd {
    config: ShrdConfig,
    ring: Ring,
    /// The twrite that is being packed: its first slot, its room, and its pages.
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

    /// Creates a host layer with an empty log.
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

    /// Returns the parameters.
    pub fn config(&self) -> &ShrdConfig {
        &self.config
    }

    /// Returns the counts since the last [`Shrd::reset_counters`].
    pub fn counts(&self) -> ShrdCounts {
        self.counts
    }

    /// Resets the counters to zero; the log stays.
    pub fn reset_counters(&mut self) {
        self.counts = ShrdCounts::default();
    }

    /// Returns the memory in bytes of the table, the ring and the buffers for sorting a window.
    pub fn memory_bytes(&self) -> u64 {
        let window = self.window.capacity() * size_of::<(Lpn, u32)>();
        let batch = self.batch.capacity() * size_of::<Remapping>();
        self.ring.bytes() + (window + batch) as u64
    }

    /// Returns the number of used slots and the number of pages in the log.
    pub fn fill(&self) -> (u32, usize) {
        (self.ring.used(), self.ring.pages())
    }

    fn pages(&self, request: &Request) -> Range<u32> {
        let page = 1 << self.config.log2_page;
        let end = (request.offset + request.length).div_ceil(page);
        ((request.offset >> self.config.log2_page) as u32)..end as u32
    }

    /// Returns whether a request belongs in the log: a small write of whole pages.
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

    /// Begins a twrite. Returns whether there is room; if not, the small write must go to its
    /// original address.
    #[inline]
    pub fn begin(&mut self) -> bool {
        self.entries.clear();
        self.room = self.ring.find_room(self.config.contiguous).min(self.config.twrite_pages);
        self.first = self.ring.next();
        self.room > 0
    }

    /// Packs a small write, and returns whether it fitted.
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

    /// Returns the packed twrite, to be sent.
    pub fn twrite(&mut self) -> Twrite<'_> {
        self.counts.twrites += 1;
        self.counts.commands += 2;
        Twrite { first: self.temporal(self.first), entries: &self.entries }
    }

    /// Counts a small write that found no room and goes to its original address.
    pub fn count_full(&mut self) {
        self.counts.log_full += 1;
    }

    /// Counts a command that the layer did not create itself.
    pub fn count_command(&mut self) {
        self.counts.commands += 1;
    }

    /// Returns the logical page of a slot.
    fn temporal(&self, slot: u32) -> Lpn {
        Lpn::new(self.config.user_pages + slot)
    }

    /// Returns the log page of a page, if it is in the log.
    #[inline]
    pub fn lookup(&self, lpn: Lpn) -> Option<Lpn> {
        self.ring.slot(lpn).map(|slot| self.temporal(slot))
    }

    /// Splits a read. Pages in the log are read there, page by page unless adjacent pages are
    /// joined. Other pages are read at their original addresses. Returns whether any page is in the
    /// log.
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

    /// Removes pages from the log that are about to be written or trimmed at their original
    /// addresses. Appends their log pages.
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

    /// Removes a page from the log that is about to be written partially. Returns the remap that
    /// the drive must do first, if the page was in the log.
    pub fn remap_alone(&mut self, lpn: Lpn) -> Option<Remapping> {
        let slot = self.ring.remove(lpn, true)?;
        self.counts.commands += 1;
        self.counts.remaps += 1;
        self.counts.remapped_pages += 1;
        self.counts.remapped_alone += 1;
        Some(Remapping { from: self.temporal(slot), to: lpn })
    }

    /// Returns whether the log is full enough that a window should be remapped.
    #[inline]
    pub fn is_low(&self) -> bool {
        self.ring.used() > self.config.remap_threshold
    }

    /// Takes the oldest window out of the log for a remap. Returns `None` if no window needs a
    /// command to the drive.
    pub fn remap(&mut self) -> Option<RemapBatch<'_>> {
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
            let batch = RemapBatch { entries: &self.batch, window, drop_rest, per_command };
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
