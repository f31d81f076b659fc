//! The write buffer at work: hits, evictions, acknowledgement.
//!
//! A command is served part by part, a part being what lies in one block of the buffer. What must
//! leave to make room is written to the flash first, all of it at once, and the command waits for
//! it. With write-through what is buffered is on the flash, too, and leaves without a word.

use core::mem;
use core::ops::Range;

use super::{BufferCounts, HostData, Ssd, access, later};
use crate::addr::Lpn;
use crate::buffer::{Buffer, Flush, parts};
use crate::ftl::Ftl;
use crate::future::Future;
use crate::mapping::{Access, Touch};
use crate::nand::{Chain, Nand, Part};
use crate::request::{Op, Request};

/// When a write is acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acknowledge {
    /// When it is in the buffer.
    WriteBack,
    /// When it is on the flash, too.
    WriteThrough,
}

/// A buffer, and what it costs to use it.
pub struct WriteBuffer {
    buffer: Buffer,
    acknowledge: Acknowledge,
    ram_page_ns: u64,
    counts: BufferCounts,
    flush: Flush,
}

impl WriteBuffer {
    /// An empty buffer, into and out of which a page is copied in `ram_page_ns`.
    pub fn new(buffer: Buffer, acknowledge: Acknowledge, ram_page_ns: u64) -> Self {
        let (counts, flush) = (BufferCounts::default(), Flush::default());
        Self { buffer, acknowledge, ram_page_ns, counts, flush }
    }

    pub(super) fn counts(&self) -> BufferCounts {
        let (held, memory_bytes) = (self.buffer.pages(), self.buffer.memory_bytes());
        let writes_through = self.acknowledge == Acknowledge::WriteThrough;
        BufferCounts { held, memory_bytes, writes_through, ..self.counts }
    }

    pub(super) fn restart(&mut self) {
        let held_at_start = self.buffer.pages();
        self.counts = BufferCounts { held_at_start, ..BufferCounts::default() };
    }

    pub(super) fn cut_power(&mut self) {
        self.counts.lost += self.buffer.pages();
        self.buffer.lose();
    }

    pub(super) fn foresee(&mut self, future: Future) {
        self.buffer.foresee(future);
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

impl<F, D> Ssd<F, D>
where
    F: Ftl<Medium: Nand<Error = core::convert::Infallible>>,
    D: HostData<F::Medium>,
{
    /// A command has come to stand in the queue: the buffer may want to keep what it will use.
    pub(super) fn announce(&mut self, request: &Request) {
        if !matches!(request.op, Op::Read | Op::Write) || request.length == 0 {
            return;
        }
        let extent = self.extent(request);
        if let Some(WriteBuffer { buffer, .. }) = &mut self.buffer {
            buffer.queued(Lpn::new(extent.first), extent.pages);
        }
    }

    /// Works with the buffer beside the rest of the drive.
    fn with_buffer_out<T>(&mut self, work: impl FnOnce(&mut Self, &mut WriteBuffer) -> T) -> T {
        let mut buffer = self.buffer.take().expect("only a drive with a buffer comes here");
        let answer = work(self, &mut buffer);
        self.buffer = Some(buffer);
        answer
    }

    pub(super) fn read_buffered(&mut self, request: &Request, start: Chain) -> Chain {
        let extent = self.extent(request);
        self.host.read_pages += u64::from(extent.pages);
        self.with_buffer_out(|drive, cache| {
            let mut last = start;
            for (first, pages) in
                parts(Lpn::new(extent.first), extent.pages, cache.buffer.block_pages())
            {
                for page in first.get()..first.get() + pages {
                    let mut chain = start;
                    let access = access(extent, page - extent.first, Touch::Read);
                    if cache.buffer.read(access.lpn) {
                        cache.counts.read_hits += 1;
                        drive.data.recall(access.lpn);
                        chain.wait(chain.now + cache.ram_page_ns, Part::Buffer);
                    } else {
                        cache.counts.read_misses += 1;
                        let Ok(()) = drive.ftl.translate(access, &mut chain);
                        let found = drive.fetch(access.lpn, &mut chain);
                        drive.host.empty_reads += u64::from(!found);
                        let failed = found && drive.ftl.nand().read_failed();
                        drive.host.failed_pages += u64::from(failed);
                    }
                    last = later(last, chain);
                }
                cache.buffer.served(first);
            }
            last
        })
    }

    pub(super) fn write_buffered(&mut self, request: &Request, start: Chain) -> Chain {
        let extent = self.extent(request);
        self.host.write_pages += u64::from(extent.pages);
        self.with_buffer_out(|drive, cache| {
            let mut chain = start;
            for (first, pages) in
                parts(Lpn::new(extent.first), extent.pages, cache.buffer.block_pages())
            {
                let mut is_lost = false;
                for page in first.get()..first.get() + pages {
                    let covered = !drive.covers_in_part(extent, page - extent.first);
                    if !covered && !cache.buffer.holds(Lpn::new(page)) {
                        let access = access(extent, page - extent.first, Touch::Read);
                        let Ok(()) = drive.ftl.translate(access, &mut chain);
                        let found = drive.fetch(access.lpn, &mut chain);
                        drive.host.merge_reads += u64::from(found);
                        is_lost |= found && drive.ftl.nand().read_failed();
                    }
                }
                if is_lost {
                    drive.host.unwritten_pages += u64::from(pages);
                    cache.buffer.served(first);
                    continue;
                }
                let mut flush = mem::take(&mut cache.flush);
                let hits = u64::from(cache.buffer.write(first, pages, &mut flush));
                cache.counts.write_hits += hits;
                cache.counts.write_misses += u64::from(pages) - hits;
                drive.write_out(cache, &mut flush, &mut chain);
                cache.flush = flush;
                let lpns = first.get()..first.get() + pages;
                lpns.clone().for_each(|lpn| drive.data.accept(Lpn::new(lpn)));
                chain.wait(chain.now + u64::from(pages) * cache.ram_page_ns, Part::Buffer);
                if cache.acknowledge == Acknowledge::WriteThrough {
                    chain = drive.program_run(lpns, chain);
                }
                cache.buffer.served(first);
            }
            chain
        })
    }

    /// Drops trimmed pages; the answer is how many of them were nowhere but in the buffer.
    pub(super) fn trim_buffered(&mut self, lpns: Range<u32>) -> u64 {
        let Some(cache) = &mut self.buffer else { return 0 };
        let mut only_here = 0;
        for lpn in lpns.map(Lpn::new) {
            if cache.buffer.trim(lpn) {
                cache.counts.trimmed += 1;
                only_here += u64::from(!self.ftl.is_mapped(lpn));
            }
        }
        only_here
    }

    /// Writes all that is buffered to the flash, unless it is there anyway.
    pub(super) fn drain(&mut self, chain: &mut Chain) {
        match &self.buffer {
            Some(cache) if cache.acknowledge == Acknowledge::WriteBack => {}
            _ => return,
        }
        self.with_buffer_out(|drive, cache| {
            let mut flush = mem::take(&mut cache.flush);
            cache.buffer.drain(&mut flush);
            drive.write_out(cache, &mut flush, chain);
            cache.flush = flush;
        });
    }

    /// Writes what leaves the buffer to the flash, all of it at once.
    fn write_out(&mut self, cache: &mut WriteBuffer, flush: &mut Flush, chain: &mut Chain) {
        if !flush.is_empty() && cache.acknowledge == Acknowledge::WriteBack {
            let (begin, mut end) = (Chain::at(chain.now), chain.now);
            for group in flush.groups() {
                cache.counts.flushed += group.pages.len() as u64;
                let mut run = 0..0;
                for (lpn, is_buffered) in group.whole() {
                    let page = lpn.get();
                    let pads = group.pad && !is_buffered && self.ftl.is_mapped(lpn);
                    let is_read = pads && self.read_to_pad(lpn, begin, &mut end);
                    cache.counts.padded += u64::from(is_read);
                    cache.counts.unpadded += u64::from(pads && !is_read);
                    if !is_buffered && !is_read {
                        continue;
                    }
                    if run.end != page {
                        end = end.max(self.program_run(run, begin).now);
                        run = page..page;
                    }
                    run.end = page + 1;
                }
                end = end.max(self.program_run(run, begin).now);
            }
            chain.wait(end, Part::Buffer);
        } else {
            cache.counts.released += flush.pages() as u64;
            let pages = flush.groups().flat_map(|group| group.pages);
            pages.for_each(|&lpn| self.data.release(lpn));
        }
        flush.clear();
    }

    /// The answer is whether it could be read.
    fn read_to_pad(&mut self, lpn: Lpn, begin: Chain, end: &mut u64) -> bool {
        let mut chain = begin;
        let touch = Touch::Read;
        let access = Access { lpn, touch, remaining: 1, first: true, mapped: false };
        let Ok(()) = self.ftl.translate(access, &mut chain);
        let found = self.fetch(lpn, &mut chain);
        *end = (*end).max(chain.now);
        !(found && self.ftl.nand().read_failed())
    }

    /// Writes consecutive pages to the flash, each a chain of its own.
    fn program_run(&mut self, lpns: Range<u32>, mut start: Chain) -> Chain {
        let pages = lpns.end - lpns.start;
        if pages == 0 {
            return start;
        }
        let Ok(()) = self.ftl.command(Lpn::new(lpns.start), pages, &mut start);
        let mut last = start;
        for page in lpns.clone() {
            let (mut chain, lpn) = (start, Lpn::new(page));
            let (remaining, first) = (lpns.end - page, page == lpns.start);
            let access = Access { lpn, touch: Touch::Write, remaining, first, mapped: false };
            let Ok(()) = self.ftl.translate(access, &mut chain);
            self.data.load(lpn, self.ftl.nand_mut());
            let Ok(()) = self.ftl.write(lpn, pages, &mut chain);
            last = later(last, chain);
        }
        last
    }
}

#[cfg(test)]
mod tests;
