//! Prefetches what later requests look up: each look-up would otherwise wait for memory.

use core::convert::Infallible;
use core::ops::Range;

use super::Ssd;
use crate::device::HostData;
use crate::ftl::Ftl;
use crate::nand::Nand;
use crate::request::Request;

/// Map entries are prefetched this many requests ahead.
const ENTRY_AHEAD: usize = 32;
/// Pages and cached entries are prefetched this many requests ahead.
const PAGE_AHEAD: usize = 16;
/// Largest number of pages of a request that are prefetched.
const PAGES_AHEAD: u64 = 8;

impl<F, D> Ssd<F, D>
where
    F: Ftl<Medium: Nand<Error = Infallible>>,
    D: HostData<F::Medium>,
{
    /// Prefetches the memory that the next requests will need.
    #[inline(always)]
    pub(super) fn look_ahead(&self, requests: &[Request], at: usize) {
        if let Some(lpns) = self.first_pages(requests, at + ENTRY_AHEAD) {
            if let Some(buffer) = &self.buffer {
                buffer.prefetch(lpns.clone());
            }
            self.io.ftl.prefetch_entries(lpns);
        }
        if let Some(lpns) = self.first_pages(requests, at + PAGE_AHEAD) {
            if let Some(buffer) = &self.buffer {
                buffer.prefetch_found(lpns.clone());
            }
            self.io.ftl.prefetch_pages(lpns);
        }
    }

    /// Returns the first pages of a request, at least one; `None` if there is no such request.
    #[inline(always)]
    fn first_pages(&self, requests: &[Request], at: usize) -> Option<Range<u32>> {
        let &Request { offset, length, .. } = requests.get(at)?;
        let first = offset >> self.io.log2_page;
        let count = (length >> self.io.log2_page).clamp(1, PAGES_AHEAD) as u32;
        let is_page = first < self.io.logical_pages;
        is_page.then(|| first as u32..(first as u32).saturating_add(count))
    }
}
