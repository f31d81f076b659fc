//! Write buffers: they keep written pages in memory and decide when the pages go to flash.
//!
//! The buffer manages pages in blocks: runs of [`Buffer::block_pages`] pages, aligned to that
//! number. [`Buffer`] knows the buffered pages of each block. A policy ([`EvictionPolicy`]) only
//! chooses the block to evict next. Neither touches flash or a clock: [`Buffer`] returns the pages
//! to write to flash as a [`Flush`]. No type here stores page data.
//!
//! The device announces each read and write when the command enters the queue ([`Buffer::queued`]).
//! It serves the command later in parts; a part is the piece of a command that lies in one block
//! ([`parts`]). The device writes the part or reads its pages, and then calls [`Buffer::served`].
//!
//! Rules for all policies (docs/algorithms.md, 7.1):
//!
//! - Capacity counts pages. The buffer evicts whole blocks until the pages of a part fit; it never
//!   evicts the block that the part writes to.
//! - A hit is a page that the buffer already holds. Overwriting a buffered page takes no space.
//! - Reads insert nothing into the buffer.
//! - A flush on demand evicts blocks in ascending order.

mod belady;
mod blocks;
mod bplru;
mod by_size;
mod by_use;
mod clc;
mod external;
mod fab;
mod flush;
mod lru;
mod ncq_lru;
mod page_lru;
mod pins;
mod recency;

pub use external::ExternalBuffer;
pub use flush::{Flush, Group};
pub use pins::Pin;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use crate::addr::Lpn;
use crate::future::NextUses;
use crate::parameters::{Parameters, Row};
use crate::policy::Policy;
use blocks::BlockTable;

impl BufferConfig {
    /// Returns a config with the default parameters of every policy.
    pub fn new(logical_pages: u32, block_pages: u32, capacity_pages: u32) -> Self {
        Self::defaults(logical_pages, block_pages, capacity_pages)
    }

    /// Returns the number of blocks that the host can address.
    fn blocks(&self) -> usize {
        self.logical_pages.div_ceil(self.block_pages) as usize
    }

    /// Returns the maximum number of blocks that can have buffered pages at the same time.
    fn slots(&self) -> usize {
        self.blocks().min(self.capacity_pages as usize)
    }
}

/// Policy that chooses the next block to evict. The buffer names blocks by their slots in a table
/// and reuses slots. Every block with buffered pages is a candidate, except the block being
/// written.
///
/// A type in the table also has a function `new(&BufferConfig)`.
trait EvictionPolicy: Policy + Send {
    /// Returns the requirements on the buffer and the device.
    fn demands(_config: &BufferConfig) -> BufferDemands
    where
        Self: Sized,
    {
        BufferDemands::default()
    }

    /// Makes a block a candidate after a use: a write, or another use if no pages were written.
    fn put(&mut self, written: &Written);

    /// Removes a block from the candidates: it is about to be written, or has no buffered pages
    /// left.
    fn take(&mut self, slot: u32);

    /// Chooses the next block to evict and removes it from the candidates. Returns `None` if there
    /// is no candidate.
    fn victim(&mut self) -> Option<u32>;

    /// Removes and returns any candidate, when the caller evicts all of them. Returns `None` if
    /// there is no candidate.
    fn any(&mut self) -> Option<u32> {
        self.victim()
    }

    /// Returns a likely next victim, so that the buffer can prefetch its entry.
    fn next(&self) -> Option<u32> {
        None
    }

    /// Notes an event.
    fn observe(&mut self, _event: BufferEvent, _table: &BlockTable) {}

    /// Asserts that there are this many candidates, and that they agree with the buffered blocks.
    fn check_blocks(&self, _table: &BlockTable, _candidates: usize) {}
}

/// Requirements of a policy on its buffer and the device.
#[derive(Default)]
struct BufferDemands {
    /// Whether a block is a single page, whatever the config.
    single_pages: bool,
    /// Whether the policy uses [`BufferEvent::Queued`] and [`BufferEvent::Served`].
    listens: bool,
    /// Whether the device must pad evicted blocks.
    pads: bool,
    /// Effect of queued commands on the victims.
    pin: Pin,
    /// With pins: whether a read of a buffered page is a use of its block.
    reads_use: bool,
}

/// Event that a policy may use in its next choices.
enum BufferEvent {
    /// The host read a buffered page of a candidate.
    Read { slot: u32 },
    /// The host trimmed a page of a candidate or of a postponed victim ([`pins`]). The block keeps
    /// `left` buffered pages.
    Trimmed { slot: u32, left: u32 },
    /// A command on these blocks has entered the queue.
    Queued { blocks: Range<u32> },
    /// The part of a queued command in this block has been served.
    Served { block: u32 },
}

/// A write to one block, or another use of it.
#[derive(Clone, Debug)]
struct Written {
    slot: u32,
    block: u32,
    /// Whether the block had no buffered page before the write.
    is_new: bool,
    /// Written pages, counted from the start of the block; empty for a use without a write.
    pages: Range<u32>,
    /// Buffered pages of the block after the write.
    buffered: u32,
    /// Pages in the block; the drive's last block can be shorter.
    whole: u32,
}

/// Declares the table of buffers: config name, type and parameters, description, source.
macro_rules! buffers {
    ($($name:ident $Type:ident($($Own:ident)?), $doc:literal, $source:literal;)*) => {
        crate::axis! {
            /// Every buffer.
            pub const BUFFERS;
            /// Parameters for creating any buffer.
            pub struct BufferConfig {
                /// Pages that the host can address.
                logical_pages: u32,
                /// Pages per block, at least 1. `page_lru` ignores this: its blocks are single
                /// pages.
                block_pages: u32,
                /// Capacity in pages, at least one block.
                capacity_pages: u32,
            }
            $($name $Type($($Own)?), $doc, $source;)*
        }

        $(
            use $name::$Type;
            $(pub use $name::$Own;)?
        )*

        impl Buffer {
            /// Creates an empty buffer with the named policy. Returns `None` for an unknown name.
            pub fn new(name: &str, config: &BufferConfig) -> Option<Self> {
                match name {
                    $(stringify!($name) => {
                        let demands = $Type::demands(config);
                        let block_pages = if demands.single_pages { 1 } else { config.block_pages };
                        let config = BufferConfig { block_pages, ..*config };
                        let BufferDemands { pin, reads_use, .. } = demands;
                        let order = pins::pinned($Type::new(&config), pin, reads_use, &config);
                        Some(Self::with(order, &config, &demands))
                    })*
                    _ => None,
                }
            }

            /// Returns whether the named policy needs the host's future accesses.
            pub fn needs_future(name: &str) -> bool {
                match name {
                    $(stringify!($name) => $Type::needs_future(),)*
                    _ => false,
                }
            }
        }
    };
}

buffers! {
    page_lru PageLru(), "Single pages, evicted in LRU order.",
        "the reference of every buffer paper";
    lru Lru(), "Whole logical blocks, evicted in LRU order.",
        "the LRU that Kim and Kim improve on, 2013";
    ncq_lru NcqLru(NcqLruConfig), "As lru, but pins blocks that queued commands will access.",
        "Kim and Kim, Exploiting the Future Reference in Write Buffer Management, 2013";
    fab Fab(FabConfig), "Evicts the block with the most buffered pages.",
        "Jo, Kang, Park, Kim and Lee, IEEE Trans. Consumer Electronics 52, 2006";
    bplru Bplru(BplruConfig),
        "As lru, for writes only; evicts sequential blocks first; pads victims.",
        "Kim and Ahn, FAST 2008";
    clc Clc(ClcConfig), "Evicts the block with the most pages, sparing recently used blocks.",
        "Kang, Park, Jung, Shim and Cha, IEEE Trans. Computers 58, 2009";
    belady Belady(), "Evicts what is used farthest ahead: an offline bound for whole-block writes.",
        "Belady, IBM Systems Journal 5, 1966";
}

/// Row for a drive without a buffer, listed with the buffers in [`BUFFERS`].
pub const NONE: Row = Row {
    name: "none",
    doc: "No write buffer: every write goes to the flash.",
    source: "the reference of every buffer paper",
    parameters: <() as Parameters>::table,
};

/// Write buffer: its policy and the set of buffered pages.
pub struct Buffer {
    blocks: BlockTable,
    order: Box<dyn EvictionPolicy>,
    capacity_pages: u64,
    logical_pages: u32,
    pads: bool,
    listens: bool,
    /// Candidate blocks with their slots; scratch space for [`Buffer::drain`].
    sorted: Vec<(u32, u32)>,
}

impl Buffer {
    /// Creates an empty buffer with an external policy.
    pub fn external(policy: Box<dyn ExternalBuffer>, config: &BufferConfig) -> Self {
        let order = Box::new(external::ExternalEviction::new(policy, config));
        Self::with(order, config, &BufferDemands::default())
    }

    fn with(
        order: Box<dyn EvictionPolicy>,
        config: &BufferConfig,
        demands: &BufferDemands,
    ) -> Self {
        let BufferConfig { logical_pages, block_pages, capacity_pages, .. } = *config;
        assert!(logical_pages > 0 && block_pages > 0, "{config:?}");
        assert!(block_pages <= capacity_pages, "a buffer holds a block: {config:?}");
        Self {
            blocks: BlockTable::new(block_pages, config.blocks(), config.slots()),
            pads: demands.pads,
            listens: demands.listens || demands.pin != Pin::None,
            order,
            capacity_pages: capacity_pages.into(),
            logical_pages,
            sorted: Vec::new(),
        }
    }

    /// Returns the pages per block. The device cuts commands into parts at block boundaries.
    pub fn block_pages(&self) -> u32 {
        self.blocks.block_pages()
    }

    /// Prefetches what finds the blocks of pages that will be accessed soon.
    #[inline(always)]
    pub fn prefetch(&self, lpns: Range<u32>) {
        self.blocks.of(lpns).for_each(|block| self.blocks.prefetch(block));
    }

    /// Prefetches the blocks of these pages, some requests after [`Buffer::prefetch`].
    #[inline(always)]
    pub fn prefetch_found(&self, lpns: Range<u32>) {
        self.blocks.of(lpns).for_each(|block| self.blocks.prefetch_found(block));
    }

    /// Announces that a read or write has entered the command queue.
    #[inline]
    pub fn queued(&mut self, first: Lpn, pages: u32) {
        assert!(pages > 0);
        if self.listens {
            let block = self.blocks.place(first.get()).0;
            let last = self.blocks.place(first.get() + pages - 1).0;
            self.order.observe(BufferEvent::Queued { blocks: block..last + 1 }, &self.blocks);
        }
    }

    /// Writes pages of one block. Appends to `flush`, in order, the pages that the device must
    /// write to flash first. Returns how many of the written pages were already buffered.
    #[inline]
    pub fn write(&mut self, first: Lpn, pages: u32, flush: &mut Flush) -> u32 {
        let (block, start) = self.blocks.place(first.get());
        let range = start..start + pages;
        assert!(pages > 0 && range.end <= self.block_pages(), "a part is of one block");
        assert!(first.get() + pages <= self.logical_pages, "no such page");
        let found = self.blocks.find(block);
        let hits = found.map_or(0, |slot| {
            self.order.take(slot);
            self.blocks.count(slot, &range)
        });
        while self.blocks.pages() + u64::from(pages - hits) > self.capacity_pages {
            let victim = self.order.victim().expect("the buffer is larger than a block");
            self.evict(victim, flush);
        }
        let slot = found.unwrap_or_else(|| self.blocks.add(block));
        self.blocks.set(slot, &range);
        self.order.put(&Written {
            slot,
            block,
            is_new: found.is_none(),
            pages: range,
            buffered: self.blocks.buffered(slot),
            whole: self.block_end(block) - block * self.block_pages(),
        });
        hits
    }

    /// Reads a page. Returns whether it is buffered.
    #[inline]
    pub fn read(&mut self, lpn: Lpn) -> bool {
        let (block, page) = self.blocks.place(lpn.get());
        let found = self.blocks.find(block).filter(|&slot| self.blocks.holds(slot, page));
        if let Some(slot) = found {
            self.order.observe(BufferEvent::Read { slot }, &self.blocks);
        }
        found.is_some()
    }

    /// Records that the device has served the part of a queued command in one block.
    #[inline]
    pub fn served(&mut self, first: Lpn) {
        if self.listens {
            let block = self.blocks.place(first.get()).0;
            self.order.observe(BufferEvent::Served { block }, &self.blocks);
        }
    }

    /// Drops a page. Returns whether it was buffered.
    pub fn trim(&mut self, lpn: Lpn) -> bool {
        let (block, page) = self.blocks.place(lpn.get());
        let Some(slot) = self.blocks.find(block).filter(|&slot| self.blocks.holds(slot, page))
        else {
            return false;
        };
        self.blocks.clear(slot, page);
        match self.blocks.buffered(slot) {
            0 => {
                self.order.take(slot);
                self.blocks.remove(slot);
            }
            left => self.order.observe(BufferEvent::Trimmed { slot, left }, &self.blocks),
        }
        true
    }

    /// Evicts all blocks in ascending order.
    pub fn drain(&mut self, flush: &mut Flush) {
        let mut sorted = core::mem::take(&mut self.sorted);
        while let Some(slot) = self.order.any() {
            sorted.push((self.blocks.block(slot), slot));
        }
        sorted.sort_unstable();
        sorted.drain(..).for_each(|(_, slot)| self.evict(slot, flush));
        self.sorted = sorted;
    }

    /// Drops all buffered pages, as a power failure does. Queued commands stay known.
    pub fn lose(&mut self) {
        while let Some(slot) = self.order.any() {
            self.blocks.remove(slot);
        }
    }

    /// Returns whether a page is buffered, without counting as a use.
    pub fn holds(&self, lpn: Lpn) -> bool {
        let (block, page) = self.blocks.place(lpn.get());
        self.blocks.find(block).is_some_and(|slot| self.blocks.holds(slot, page))
    }

    /// Returns the number of buffered pages.
    pub fn pages(&self) -> u64 {
        self.blocks.pages()
    }

    /// Returns the maximum number of buffered pages.
    pub fn capacity_pages(&self) -> u64 {
        self.capacity_pages
    }

    /// Passes the future, the order in which later parts use blocks, to an offline bound.
    pub fn set_future(&mut self, future: NextUses) {
        self.order.set_future(future);
    }

    /// Returns the bytes of the buffer's bookkeeping, without the page data.
    pub fn memory_bytes(&self) -> u64 {
        self.blocks.memory_bytes() + self.order.memory_bytes()
    }

    /// Recomputes the redundant state and asserts that it is consistent.
    pub fn check(&self) {
        self.blocks.check();
        assert!(self.pages() <= self.capacity_pages);
        self.order.check_blocks(&self.blocks, self.blocks.len());
    }

    #[inline]
    fn evict(&mut self, slot: u32, flush: &mut Flush) {
        let block = self.blocks.block(slot);
        let first = block * self.block_pages();
        self.blocks.pages_of(slot).for_each(|page| flush.push(Lpn::new(first + page)));
        flush.close(first..self.block_end(block), self.pads);
        self.blocks.remove(slot);
        if let Some(next) = self.order.next() {
            self.blocks.prefetch_slot(next);
        }
    }

    /// Returns the first page after a block.
    fn block_end(&self, block: u32) -> u32 {
        (block * self.block_pages()).saturating_add(self.block_pages()).min(self.logical_pages)
    }
}

/// Cuts a command at block boundaries. Yields the first page and the page count of each part.
pub fn parts(first: Lpn, pages: u32, block_pages: u32) -> impl Iterator<Item = (Lpn, u32)> {
    let (mut at, end) = (first.get(), first.get() + pages);
    core::iter::from_fn(move || {
        let start = at;
        at += (block_pages - within(start, block_pages)).min(end - start);
        (start < end).then(|| (Lpn::new(start), at - start))
    })
}

/// Returns `page % block_pages`, without a division if `block_pages` is a power of two.
#[inline(always)]
fn within(page: u32, block_pages: u32) -> u32 {
    if block_pages.is_power_of_two() { page & (block_pages - 1) } else { page % block_pages }
}

#[cfg(test)]
mod tests;
