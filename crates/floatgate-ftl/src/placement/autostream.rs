//! AutoStream, multi-queue: sorts by frequency and recency of the writes to a chunk of addresses
//! (Yang et al., "AutoStream: Automatic Stream Management for Multi-streamed SSDs", SYSTOR 2017;
//! its queues are from Zhou, Philbin and Li, USENIX ATC 2001).
//!
//! The address space is divided into chunks. Chunks are in queues, and a chunk's queue is the
//! stream of its writes. A command is one access to every chunk that it touches. An access moves
//! the chunk to the end of a queue, whose number is the logarithm of the chunk's count. The chunk
//! then expires after one lifetime. The lifetime is the time, in accesses of the drive, between the
//! last two accesses to the hottest chunk. The hottest chunk has the highest count; among equal
//! counts it is the first to get there. With every access, the longest unaccessed chunk of each
//! queue sinks to the queue below if it has expired, and gets another lifetime. If that is the
//! hottest chunk, another chunk becomes the hottest.
//!
//! The paper was not at hand. Its abstract, the patents US 10,656,838 and 11,392,297, and two
//! published re-implementations agree on this description. One re-implementation is in the BlueDBM
//! driver, the other in the code of SepBIT's authors (FAST 2022). They take logarithms to base 10
//! and e. Here the logarithm is to `base`, by default 2 as in the original queues, and rounded
//! down.
//!
//! Decided here:
//!
//! - A command gets its streams before it is counted, as in the patents.
//! - The hottest chunk's successor is the latest chunk in the highest queue.
//! - A chunk that sank keeps its count, as in both re-implementations, so one more access returns
//!   it to its old queue. With `forget` its count is reduced to the minimum of its new queue.
//! - Pages that cleaning moves keep their stream.
//!
//! The cost is a table access per page. Each command costs a few list moves for each chunk and a
//! look at the front of each queue. The drive keeps 20 bytes per chunk: count, last access, expiry,
//! two links.

use alloc::vec;
use alloc::vec::Vec;

use super::{HostWrite, Placement, PlacementConfig, PlacementDemands, PlacementEvent, Relocation};
use crate::addr::Lpn;
use crate::lru::{Links, List};
use crate::parameters::Bytes;
use crate::policy::Policy;

crate::parameters! {
    /// Parameters of AutoStream's multi-queue.
    pub struct AutostreamConfig {
        /// Number of queues, and so of streams.
        queues: u8 = 8, from 1 to 64;
        /// Size of a chunk, the addresses that share an access count; at least a page.
        chunk: Bytes = Bytes(1 << 20), from 512 to (1 << 30);
        /// Base of the logarithm of the access count that gives the queue.
        base: u32 = 2, from 2 to 1000;
        /// Whether a demoted chunk's access count is cut to the minimum of its new queue.
        forget: bool = false;
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Chunk {
    queue: u8,
    /// Number of accesses. Zero: the chunk is in no queue.
    count: u64,
    accessed: u64,
    expires: u64,
}

crate::state!(blank Chunk { queue, count, accessed, expires });

/// AutoStream: chunks in queues.
#[derive(Clone, Debug)]
pub struct Autostream {
    config: AutostreamConfig,
    /// Pages of a chunk.
    chunk_pages: u32,
    chunks: Vec<Chunk>,
    links: Links,
    /// Queues from cold to hot. The front of each queue was accessed longest ago.
    queues: Vec<List>,
    /// Accesses of the drive: its clock.
    accesses: u64,
    hottest: u32,
    /// Time between the last two accesses to the hottest chunk.
    lifetime: u64,
    /// The last command, which is not counted yet.
    pending: Option<(Lpn, u32)>,
}

crate::state!(
    Autostream { chunks, links, queues, accesses, hottest, lifetime, pending }
    fixed { config, chunk_pages }
);

impl Autostream {
    /// Starts with no chunk in any queue.
    pub fn new(config: &PlacementConfig) -> Self {
        let AutostreamConfig { queues, chunk, base, .. } = config.autostream;
        let page_bytes = u64::from(config.geometry.shape().page_bytes);
        let chunk_pages = (chunk.0 / page_bytes).max(1) as u32;
        assert!(queues > 0 && base > 1, "{:?}", config.autostream);
        let chunks = config.geometry.logical_pages().div_ceil(chunk_pages) as usize;
        Self {
            config: config.autostream,
            chunk_pages,
            chunks: vec![Chunk::default(); chunks],
            links: Links::new(chunks),
            queues: vec![List::EMPTY; queues.into()],
            accesses: 0,
            hottest: 0,
            lifetime: 0,
            pending: None,
        }
    }

    /// Counts the accesses of the last command before this one.
    fn command(&mut self, first: Lpn, pages: u32) {
        if let Some((first, pages)) = self.pending.replace((first, pages)) {
            let last = Lpn::new(first.get() + pages.saturating_sub(1));
            for chunk in self.chunk_of(first)..=self.chunk_of(last) {
                self.promote(chunk);
                self.demote();
            }
        }
    }

    fn chunk_of(&self, lpn: Lpn) -> u32 {
        lpn.get() / self.chunk_pages
    }

    /// Returns the queue of a count.
    fn queue_for(&self, count: u64) -> u8 {
        let queue = count.ilog(self.config.base.into());
        queue.min(u32::from(self.config.queues) - 1) as u8
    }

    /// Counts one access to a chunk.
    fn promote(&mut self, at: u32) {
        self.accesses += 1;
        let Chunk { queue, mut count, accessed, .. } = self.chunks[at as usize];
        if count > 0 {
            self.links.remove(&mut self.queues[usize::from(queue)], at);
        }
        count += 1;
        if count > self.chunks[self.hottest as usize].count || at == self.hottest {
            (self.hottest, self.lifetime) = (at, self.accesses - accessed);
        }
        let queue = self.queue_for(count);
        let (accessed, expires) = (self.accesses, self.accesses + self.lifetime);
        self.chunks[at as usize] = Chunk { queue, count, accessed, expires };
        self.links.push_back(&mut self.queues[usize::from(queue)], at);
    }

    /// Moves expired chunks to the queue below.
    fn demote(&mut self) {
        for queue in (1..self.config.queues).rev() {
            let Some(at) = self.queues[usize::from(queue)].front() else { continue };
            if self.chunks[at as usize].expires >= self.accesses {
                continue;
            }
            self.links.remove(&mut self.queues[usize::from(queue)], at);
            if at == self.hottest {
                let highest = self.queues.iter().rev().find_map(List::back);
                self.hottest = highest.unwrap_or(at);
            }
            let chunk = &mut self.chunks[at as usize];
            chunk.queue = queue - 1;
            chunk.expires = self.accesses + self.lifetime;
            if self.config.forget {
                chunk.count = u64::from(self.config.base).pow(u32::from(queue) - 1);
            }
            self.links.push_back(&mut self.queues[usize::from(queue) - 1], at);
        }
    }
}

impl Placement for Autostream {
    fn demands(config: &PlacementConfig) -> PlacementDemands {
        PlacementDemands::streams(config.autostream.queues)
    }

    #[inline]
    fn stream(&mut self, write: HostWrite) -> u8 {
        self.chunks[self.chunk_of(write.lpn) as usize].queue
    }

    fn classify(&self, relocation: Relocation) -> u8 {
        self.chunks[self.chunk_of(relocation.lpn) as usize].queue
    }

    #[inline(always)]
    fn observe(&mut self, event: PlacementEvent) {
        if let PlacementEvent::Command { first, pages } = event {
            self.command(first, pages);
        }
    }
}

impl Policy for Autostream {
    fn memory_bytes(&self) -> u64 {
        20 * self.chunks.len() as u64
    }

    fn check(&self) {
        let mut chunks = 0;
        for (list, queue) in self.queues.iter().zip(0..) {
            let mut at = list.front();
            while let Some(chunk) = at {
                assert_eq!(self.chunks[chunk as usize].queue, queue, "chunk {chunk}");
                assert!(self.chunks[chunk as usize].count > 0);
                chunks += 1;
                at = self.links.next(chunk);
            }
        }
        let counted = self.chunks.iter().filter(|chunk| chunk.count > 0).count();
        assert_eq!(chunks, counted, "a chunk that was accessed is in one queue");
    }
}

#[cfg(test)]
mod tests;
