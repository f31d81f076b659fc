//! Write buffer in a drive: hits, evictions, acknowledgement.
//!
//! The drive serves a command in parts; a part is the piece of a command that lies in one block of
//! the buffer. Pages that must leave to make room go to flash first, all at once, and the command
//! waits for them. With write-through every buffered page is on flash already, and leaves without a
//! program.

use core::convert::Infallible;
use core::mem;
use core::ops::Range;

use super::extent::Extent;
use super::page_io::{Fetched, PageIo};
use super::{BufferCounts, HostData};
use crate::addr::Lpn;
use crate::buffer::{Buffer, Flush, parts};
use crate::ftl::Ftl;
use crate::future::NextUses;
use crate::mapping::AccessKind;
use crate::nand::{Chain, Clock, Component, Fork, Nand};

crate::choice! {
    /// Time at which a write is acknowledged.
    pub enum Acknowledge {
        /// Once it is in the buffer: until it is flushed, a power loss can lose it.
        WriteBack = "write_back",
        /// Once it is programmed to flash; the pages stay in the buffer for reads.
        WriteThrough = "write_through",
    }
}

/// Write buffer and the costs of its use.
pub struct WriteBuffer {
    buffer: Buffer,
    acknowledge: Acknowledge,
    ram_page_ns: u64,
    counts: BufferCounts,
    flush: Flush,
}

impl WriteBuffer {
    /// Creates an empty write buffer. Copying a page into or out of it takes `ram_page_ns`.
    pub fn new(buffer: Buffer, acknowledge: Acknowledge, ram_page_ns: u64) -> Self {
        let (counts, flush) = (BufferCounts::default(), Flush::default());
        Self { buffer, acknowledge, ram_page_ns, counts, flush }
    }

    /// Announces a command that has entered the queue: the buffer may keep the pages that it will
    /// use.
    pub(super) fn queued(&mut self, extent: Extent) {
        self.buffer.queued(Lpn::new(extent.first), extent.pages);
    }

    /// Prefetches what finds the pages of a later command.
    #[inline(always)]
    pub(super) fn prefetch(&self, lpns: Range<u32>) {
        self.buffer.prefetch(lpns);
    }

    /// Prefetches the blocks of these pages, some commands after [`WriteBuffer::prefetch`].
    #[inline(always)]
    pub(super) fn prefetch_found(&self, lpns: Range<u32>) {
        self.buffer.prefetch_found(lpns);
    }

    /// Yields the first page and the page count of each part of a command.
    fn parts(&self, extent: Extent) -> impl Iterator<Item = (Lpn, u32)> + use<> {
        parts(Lpn::new(extent.first), extent.pages, self.buffer.block_pages())
    }

    pub(super) fn counts(&self) -> BufferCounts {
        let (held, memory_bytes) = (self.buffer.pages(), self.buffer.memory_bytes());
        let writes_through = self.acknowledge == Acknowledge::WriteThrough;
        BufferCounts { held, memory_bytes, writes_through, ..self.counts }
    }

    pub(super) fn reset_counters(&mut self) {
        let held_at_start = self.buffer.pages();
        self.counts = BufferCounts { held_at_start, ..BufferCounts::default() };
    }

    pub(super) fn cut_power(&mut self) {
        self.counts.lost += self.buffer.pages();
        self.buffer.lose();
    }

    pub(super) fn set_future(&mut self, future: NextUses) {
        self.buffer.set_future(future);
    }

    pub(super) fn check(&self) {
        self.buffer.check();
        let BufferCounts { write_misses, flushed, released, trimmed, lost, held, .. } =
            self.counts();
        let entered = self.counts.held_at_start + write_misses;
        assert_eq!(entered, held + flushed + released + trimmed + lost, "each page leaves once");
        let other = match self.acknowledge {
            Acknowledge::WriteBack => released,
            Acknowledge::WriteThrough => flushed,
        };
        assert_eq!(other, 0, "pages leave as {:?} has it", self.acknowledge);
    }
}

impl<F, D> PageIo<F, D>
where
    F: Ftl<Medium: Nand<Error = Infallible>>,
    D: HostData<F::Medium>,
{
    pub(super) fn read_buffered(
        &mut self,
        cache: &mut WriteBuffer,
        extent: Extent,
        start: Chain,
    ) -> Chain {
        self.counts.read_pages += u64::from(extent.pages);
        self.ftl.store_mut().begin_command();
        let mut fork = Fork::new(start);
        for (first, pages) in cache.parts(extent) {
            for lpn in (first.get()..first.get() + pages).map(Lpn::new) {
                let mut chain = fork.branch();
                if cache.buffer.read(lpn) {
                    cache.counts.read_hits += 1;
                    self.data.recall(lpn);
                    self.clock().delay(&mut chain, cache.ram_page_ns, Component::Buffer);
                } else {
                    cache.counts.read_misses += 1;
                    self.read_page(extent, lpn, lpn, &mut chain);
                }
                fork.join(chain, self.clock());
            }
            cache.buffer.served(first);
        }
        fork.end()
    }

    pub(super) fn write_buffered(
        &mut self,
        cache: &mut WriteBuffer,
        extent: Extent,
        start: Chain,
    ) -> Chain {
        self.begin_write(extent);
        let mut chain = start;
        for (first, pages) in cache.parts(extent) {
            let part = Extent::whole(first.get(), pages);
            if self.complete_part(cache, extent, part, &mut chain) {
                self.write_part(cache, part, &mut chain);
            } else {
                self.counts.unwritten_pages += u64::from(pages);
            }
            cache.buffer.served(first);
        }
        chain
    }

    /// Reads those pages of a part that the command covers only partially and that are not
    /// buffered. Returns whether all of them could be read.
    fn complete_part(
        &mut self,
        cache: &WriteBuffer,
        command: Extent,
        part: Extent,
        chain: &mut Chain,
    ) -> bool {
        let mut is_complete = true;
        for lpn in part.lpns().map(Lpn::new) {
            if command.covers_in_part(lpn) && !cache.buffer.holds(lpn) {
                self.translate(command.access(lpn, AccessKind::Read), chain);
                is_complete &= self.complete(lpn, chain);
            }
        }
        is_complete
    }

    /// Puts pages of one block into the buffer. First writes out the pages that must leave to make
    /// room.
    fn write_part(&mut self, cache: &mut WriteBuffer, part: Extent, chain: &mut Chain) {
        let mut flush = mem::take(&mut cache.flush);
        let hits = u64::from(cache.buffer.write(Lpn::new(part.first), part.pages, &mut flush));
        cache.counts.write_hits += hits;
        cache.counts.write_misses += u64::from(part.pages) - hits;
        self.write_out(cache, &mut flush, chain);
        cache.flush = flush;
        part.lpns().for_each(|lpn| self.data.accept(Lpn::new(lpn)));
        let copied = u64::from(part.pages) * cache.ram_page_ns;
        self.clock().delay(chain, copied, Component::Buffer);
        if cache.acknowledge == Acknowledge::WriteThrough {
            *chain = self.program(part, *chain);
        }
    }

    /// Drops trimmed pages, and counts the pages that were only in the buffer.
    pub(super) fn trim_buffered(&mut self, cache: &mut WriteBuffer, lpns: Range<u32>) {
        for lpn in lpns.map(Lpn::new) {
            if cache.buffer.trim(lpn) {
                cache.counts.trimmed += 1;
                self.counts.trimmed_pages += u64::from(!self.ftl.is_mapped(lpn));
            }
        }
    }

    /// Writes all buffered pages to flash, unless the buffer writes through.
    pub(super) fn drain(&mut self, cache: &mut WriteBuffer, chain: &mut Chain) {
        if cache.acknowledge == Acknowledge::WriteBack {
            let mut flush = mem::take(&mut cache.flush);
            cache.buffer.drain(&mut flush);
            self.write_out(cache, &mut flush, chain);
            cache.flush = flush;
        }
    }

    /// Writes the pages that leave the buffer to flash, all at once.
    fn write_out(&mut self, cache: &mut WriteBuffer, flush: &mut Flush, chain: &mut Chain) {
        if !flush.is_empty() && cache.acknowledge == Acknowledge::WriteBack {
            let mut fork = Fork::new(chain.work());
            self.ftl.store_mut().begin_command();
            for group in flush.groups() {
                cache.counts.flushed += group.pages.len() as u64;
                let mut run = Extent::whole(0, 0);
                for (lpn, is_buffered) in group.whole() {
                    let pads = group.pad && !is_buffered && self.ftl.is_mapped(lpn);
                    let is_read = pads && self.read_to_pad(lpn, &mut fork);
                    cache.counts.padded += u64::from(is_read);
                    cache.counts.unpadded += u64::from(pads && !is_read);
                    if !is_buffered && !is_read {
                        continue;
                    }
                    if run.lpns().end != lpn.get() {
                        let programmed = self.program(run, fork.branch());
                        fork.join(programmed, self.clock());
                        run = Extent::whole(lpn.get(), 0);
                    }
                    run.pages += 1;
                }
                let programmed = self.program(run, fork.branch());
                fork.join(programmed, self.clock());
            }
            self.clock().wait(chain, fork.end(), Component::Buffer);
        } else {
            cache.counts.released += flush.pages() as u64;
            let pages = flush.groups().flat_map(|group| group.pages);
            pages.for_each(|&lpn| self.data.release(lpn));
        }
        flush.clear();
    }

    /// Reads a page from flash to pad a block. Returns whether it could be read.
    fn read_to_pad(&mut self, lpn: Lpn, fork: &mut Fork) -> bool {
        let mut chain = fork.branch();
        self.translate(Extent::whole(lpn.get(), 1).access(lpn, AccessKind::Read), &mut chain);
        let fetched = self.fetch(lpn, lpn, &mut chain);
        fork.join(chain, self.clock());
        fetched != Fetched::Lost
    }
}

#[cfg(test)]
mod tests;
