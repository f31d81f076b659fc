//! Random samples of pages for a placement.

use alloc::vec::Vec;

use super::PageFtl;
use crate::addr::Lpn;
use crate::mapping::{Mapping, Residency};
use crate::nand::{Cause, Chain, Nand};
use crate::placement::{SampleSource, Samples};
use crate::rng::Rng;

/// Draws for one sample before it is skipped, because an almost empty drive has few pages to draw.
const DRAWS: u32 = 64;

/// Draws pages, and counts the cost of reading their entries.
#[derive(Debug)]
pub(super) struct Sampler {
    rng: Rng,
    /// Translation pages read.
    pub(super) reads: u64,
}

crate::state!(Sampler { rng } fixed { reads });

impl Sampler {
    pub(super) fn new() -> Self {
        Self { rng: Rng::new(1), reads: 0 }
    }
}

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Draws pages, and passes them to the placement. The host does not wait for the reads.
    #[cold]
    #[inline(never)]
    pub(super) fn show_samples(&mut self, want: Samples, chain: &Chain) -> Result<(), N::Error> {
        let mut pages = Vec::with_capacity(want.count as usize);
        let mut work = chain.work();
        for _ in 0..want.count {
            let cached = match want.source {
                SampleSource::Cached => self.map.cache.draw(&mut self.sampler.rng),
                SampleSource::Written => None,
            };
            let Some(lpn) = cached.or_else(|| self.draw_written()) else { continue };
            let absent =
                self.map.cache.is_on_flash() && self.map.cache.residency(lpn) == Residency::Absent;
            if want.source == SampleSource::Written && absent {
                self.read_map(self.store.geometry.translation_page(lpn), Cause::Map, &mut work)?;
                self.sampler.reads += 1;
            }
            pages.push(lpn);
        }
        self.placement.sampled(&pages, self.store.units.now(), self.store.now_ns());
        Ok(())
    }

    fn draw_written(&mut self) -> Option<Lpn> {
        let pages = u64::from(self.store.geometry.logical_pages());
        let drawn = (0..DRAWS).map(|_| Lpn::new(self.sampler.rng.below(pages) as u32));
        drawn.into_iter().find(|lpn| self.store.table[lpn.index()].is_some())
    }
}
