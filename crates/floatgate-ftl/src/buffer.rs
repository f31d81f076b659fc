//! Write buffers: which written pages are held back from the flash, and when they leave.
//!
//! Pages are held, and leave, block by block: a run of [`Buffer::block_pages`] pages at a multiple
//! of that number. [`Buffer`] knows which pages of which block it holds; a policy
//! ([`EvictionPolicy`]) only says which block leaves next. Neither touches flash or a clock: what
//! must be written to the flash is answered as a [`Flush`], and nothing here holds data.
//!
//! The device tells of each read and write when it enters the command queue ([`Buffer::queued`]),
//! and serves it later part by part, a part being what lies in one block ([`parts`]): it writes the
//! part or reads its pages, and says when that is done ([`Buffer::served`]).
//!
//! Decided for all policies (docs/algorithms.md, 7.1): capacity is counted in pages, and whole
//! blocks leave until the pages of a part fit; the block that is written to is not among them. A
//! hit is a page that was found; overwriting one takes no space. Reads put nothing into the buffer.
//! What is flushed on demand leaves in ascending order of blocks.

mod belady;
mod blocks;
mod bplru;
mod by_size;
mod clc;
mod fab;
mod flush;
mod guest;
mod lru;
mod ncq_lru;
mod page_lru;
mod recency;

pub use flush::{Flush, Group};
pub use guest::GuestBuffer;
pub use ncq_lru::Pin;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use crate::addr::Lpn;
use crate::future::NextUses;
use crate::parameters::{Parameters, Row};
use blocks::BlockTable;

impl BufferConfig {
    /// The default parameters of every policy.
    pub fn new(logical_pages: u32, block_pages: u32, capacity_pages: u32) -> Self {
        Self::defaults(logical_pages, block_pages, capacity_pages)
    }

    /// Blocks that the host can address.
    fn blocks(&self) -> usize {
        self.logical_pages.div_ceil(self.block_pages) as usize
    }

    /// Blocks of which pages can be held at a time.
    fn slots(&self) -> usize {
        self.blocks().min(self.capacity_pages as usize)
    }
}

/// Which block leaves next. Told of blocks by their slots in a table; slots are used anew. A block
/// that holds pages is a candidate, but for the one that is being written to.
trait EvictionPolicy: Send {
    /// Pages of a block: as configured, unless the scheme is one of single pages.
    fn block_pages(config: &BufferConfig) -> u32
    where
        Self: Sized,
    {
        config.block_pages
    }

    /// Whether [`EvictionPolicy::set_future`] should be called.
    fn needs_future() -> bool
    where
        Self: Sized,
    {
        false
    }

    /// Pages of a block have been written: it is a candidate.
    fn put(&mut self, written: &Written);

    /// A block is no candidate any more: it is about to be written to, or holds nothing.
    fn take(&mut self, slot: u32);

    /// The next block to leave, taken; none if there is no candidate.
    fn victim(&mut self) -> Option<u32>;

    /// A block that leaves as all do, taken; none if there is no candidate.
    fn any(&mut self) -> Option<u32> {
        self.victim()
    }

    /// A block that may well be the next to leave, so that it can be fetched from memory.
    fn next(&self) -> Option<u32> {
        None
    }

    /// A page of a candidate has been read from the buffer.
    fn read(&mut self, _slot: u32) {}

    /// A page of a candidate has been trimmed; so many are left.
    fn trimmed(&mut self, _slot: u32, _left: u32) {}

    /// Whether [`EvictionPolicy::queued`] and [`EvictionPolicy::served`] should be called.
    fn listens(&self) -> bool {
        false
    }

    /// A command on these blocks has been queued.
    fn queued(&mut self, _blocks: Range<u32>, _table: &BlockTable) {}

    /// A queued command has done what it needed of a block.
    fn served(&mut self, _block: u32, _table: &BlockTable) {}

    /// Whether blocks that leave are to be padded.
    fn pads(&self) -> bool {
        false
    }

    /// The parts that will be served from now on, by block. Only a bound listens.
    fn set_future(&mut self, _future: NextUses, _table: &BlockTable) {}

    /// Bytes of its bookkeeping.
    fn memory_bytes(&self) -> u64 {
        0
    }

    /// Recomputes what can be recomputed, and asserts that it agrees.
    fn check(&self, _table: &BlockTable) {}
}

/// What has been written to a block.
#[derive(Clone, Debug)]
struct Written {
    slot: u32,
    block: u32,
    /// Whether nothing of the block was buffered before.
    is_new: bool,
    /// The pages, counted from the start of the block.
    pages: Range<u32>,
    /// Pages of the block that are buffered now.
    buffered: u32,
    /// Pages that the block has: fewer than others if it is the drive's last.
    whole: u32,
}

/// The table of buffers: config name, type and parameters, what it does, where it is from.
macro_rules! buffers {
    ($($name:ident $Type:ident($($Own:ident)?), $doc:literal, $source:literal;)*) => {
        crate::axis! {
            /// Every buffer.
            pub const BUFFERS;
            /// What every buffer is made from.
            pub struct BufferConfig {
                /// Pages that the host can address.
                logical_pages: u32,
                /// Pages of a block, at least 1. For `page_lru` a block is a page, whatever this
                /// says.
                block_pages: u32,
                /// Pages that the buffer holds, at least one block.
                capacity_pages: u32,
            }
            $($name $Type($($Own)?), $doc, $source;)*
        }

        $(
            use $name::$Type;
            $(pub use $name::$Own;)?
        )*

        impl Buffer {
            /// An empty buffer with the policy of this name, if there is one.
            pub fn new(name: &str, config: &BufferConfig) -> Option<Self> {
                match name {
                    $(stringify!($name) => {
                        let block_pages = <$Type as EvictionPolicy>::block_pages(config);
                        let config = BufferConfig { block_pages, ..*config };
                        Some(Self::with(Box::new($Type::new(&config)), &config))
                    })*
                    _ => None,
                }
            }

            /// Whether the buffer of this name wants to be told what the host will use.
            pub fn needs_future(name: &str) -> bool {
                match name {
                    $(stringify!($name) => <$Type as EvictionPolicy>::needs_future(),)*
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
    fab Fab(), "Evicts the block with the most buffered pages.",
        "Jo, Kang, Park, Kim and Lee, IEEE Trans. Consumer Electronics 52, 2006";
    bplru Bplru(BplruConfig),
        "As lru, for writes only; evicts sequential blocks first; pads victims.",
        "Kim and Ahn, FAST 2008";
    clc Clc(ClcConfig), "Evicts the block with the most pages, sparing recently used blocks.",
        "Kang, Park, Jung, Shim and Cha, IEEE Trans. Computers 58, 2009";
    belady Belady(), "Evicts what is used farthest ahead: an offline bound for whole-block writes.",
        "Belady, IBM Systems Journal 5, 1966";
}

/// No buffer, as it stands beside the others in what a drive can have.
pub const NONE: Row = Row {
    name: "none",
    doc: "No write buffer: every write goes to the flash.",
    source: "the reference of every buffer paper",
    parameters: <() as Parameters>::table,
};

/// Commands from the first fetch from memory to the second, that depends on it.
const AHEAD: usize = 8;

/// A buffer and what is in it.
pub struct Buffer {
    blocks: BlockTable,
    order: Box<dyn EvictionPolicy>,
    capacity_pages: u64,
    logical_pages: u32,
    pads: bool,
    listens: bool,
    /// The first blocks of the commands that were queued last, and which is the oldest: where they
    /// are in the table has been fetched, what is there has not.
    ahead: ([u32; AHEAD], usize),
    /// Slots by block; for [`Buffer::drain`].
    sorted: Vec<(u32, u32)>,
}

impl Buffer {
    /// An empty buffer with a policy from outside.
    pub fn guest(policy: Box<dyn GuestBuffer>, config: &BufferConfig) -> Self {
        Self::with(Box::new(guest::Guest::new(policy, config)), config)
    }

    fn with(order: Box<dyn EvictionPolicy>, config: &BufferConfig) -> Self {
        let BufferConfig { logical_pages, block_pages, capacity_pages, .. } = *config;
        assert!(logical_pages > 0 && block_pages > 0, "{config:?}");
        assert!(block_pages <= capacity_pages, "a buffer holds a block: {config:?}");
        Self {
            blocks: BlockTable::new(block_pages, config.blocks(), config.slots()),
            pads: order.pads(),
            listens: order.listens(),
            order,
            capacity_pages: capacity_pages.into(),
            logical_pages,
            ahead: ([0; AHEAD], 0),
            sorted: Vec::new(),
        }
    }

    /// Pages of a block: commands are served in parts that do not cross its ends.
    pub fn block_pages(&self) -> u32 {
        self.blocks.block_pages()
    }

    /// A read or a write has entered the command queue.
    #[inline]
    pub fn queued(&mut self, first: Lpn, pages: u32) {
        assert!(pages > 0);
        let block = self.blocks.place(first.get()).0;
        self.blocks.prefetch(block);
        let (ahead, oldest) = &mut self.ahead;
        self.blocks.prefetch_found(core::mem::replace(&mut ahead[*oldest], block));
        *oldest = (*oldest + 1) % AHEAD;
        if self.listens {
            let last = self.blocks.place(first.get() + pages - 1).0;
            self.order.queued(block..last + 1, &self.blocks);
        }
    }

    /// Writes pages of one block. Appends to `flush` what must be written to the flash first, in
    /// order. The answer: how many of the pages were buffered already.
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

    /// Reads a page: whether it is buffered.
    #[inline]
    pub fn read(&mut self, lpn: Lpn) -> bool {
        let (block, page) = self.blocks.place(lpn.get());
        let found = self.blocks.find(block).filter(|&slot| self.blocks.holds(slot, page));
        if let Some(slot) = found {
            self.order.read(slot);
        }
        found.is_some()
    }

    /// The part of a queued command that lies in one block has been served.
    #[inline]
    pub fn served(&mut self, first: Lpn) {
        if self.listens {
            self.order.served(self.blocks.place(first.get()).0, &self.blocks);
        }
    }

    /// Drops a page, whether it is buffered or not; the answer is whether it was.
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
            left => self.order.trimmed(slot, left),
        }
        true
    }

    /// Everything leaves, in ascending order.
    pub fn drain(&mut self, flush: &mut Flush) {
        let mut sorted = core::mem::take(&mut self.sorted);
        while let Some(slot) = self.order.any() {
            sorted.push((self.blocks.block(slot), slot));
        }
        sorted.sort_unstable();
        sorted.drain(..).for_each(|(_, slot)| self.evict(slot, flush));
        self.sorted = sorted;
    }

    /// Everything is lost, as when the power fails; what is queued is still known.
    pub fn lose(&mut self) {
        while let Some(slot) = self.order.any() {
            self.blocks.remove(slot);
        }
    }

    /// Whether a page is buffered; nobody is told.
    pub fn holds(&self, lpn: Lpn) -> bool {
        let (block, page) = self.blocks.place(lpn.get());
        self.blocks.find(block).is_some_and(|slot| self.blocks.holds(slot, page))
    }

    /// Pages that are buffered.
    pub fn pages(&self) -> u64 {
        self.blocks.pages()
    }

    /// Pages that can be.
    pub fn capacity_pages(&self) -> u64 {
        self.capacity_pages
    }

    /// Tells a bound the parts that will be served from now on, each by its block's number.
    pub fn set_future(&mut self, future: NextUses) {
        self.order.set_future(future, &self.blocks);
    }

    /// Bytes of its bookkeeping, without the pages themselves.
    pub fn memory_bytes(&self) -> u64 {
        self.blocks.memory_bytes() + self.order.memory_bytes()
    }

    /// Recomputes what can be recomputed, and asserts that it agrees.
    pub fn check(&self) {
        self.blocks.check();
        assert!(self.pages() <= self.capacity_pages);
        self.order.check(&self.blocks);
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

    /// The first page behind a block.
    fn block_end(&self, block: u32) -> u32 {
        (block * self.block_pages()).saturating_add(self.block_pages()).min(self.logical_pages)
    }
}

/// Cuts a command into what lies in one block each: first page, and how many.
pub fn parts(first: Lpn, pages: u32, block_pages: u32) -> impl Iterator<Item = (Lpn, u32)> {
    let (mut at, end) = (first.get(), first.get() + pages);
    core::iter::from_fn(move || {
        let start = at;
        at += (block_pages - within(start, block_pages)).min(end - start);
        (start < end).then(|| (Lpn::new(start), at - start))
    })
}

/// The remainder, without a division if that can be.
#[inline(always)]
fn within(page: u32, block_pages: u32) -> u32 {
    if block_pages.is_power_of_two() { page & (block_pages - 1) } else { page % block_pages }
}

#[cfg(test)]
mod tests;
