//! Pages of the host on their way to the flash.

use super::PageFtl;
use super::remap::LogPage;
use crate::addr::Lpn;
use crate::mapping::Mapping;
use crate::nand::{Cause, Chain, Nand};

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Programs the medium's register at the next page of a stream, and points the map there.
    #[inline(always)]
    pub(super) fn put(
        &mut self,
        lpn: Lpn,
        target: (u8, Option<LogPage>),
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        match self.works_along {
            false => self.put_page::<false>(lpn, target, chain),
            true => self.put_page_along(lpn, target, chain),
        }
    }

    #[inline(never)]
    fn put_page_along(
        &mut self,
        lpn: Lpn,
        target: (u8, Option<LogPage>),
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        self.put_page::<true>(lpn, target, chain)
    }

    /// Puts a page. `ALONG`: whether the page may also start other work.
    #[inline(always)]
    fn put_page<const ALONG: bool>(
        &mut self,
        lpn: Lpn,
        (stream, log): (u8, Option<LogPage>),
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        self.store.units.tick();
        if ALONG {
            self.program_due_rows()?;
            self.clean_ahead(stream, chain)?;
        }
        let to = self.allocate(stream, chain)?;
        self.store.program(to, lpn, log.and_then(|log| log.original), chain)?;
        if ALONG {
            self.time_row(stream, to);
        }
        self.streams.count_host_page(stream, lpn);
        if log.is_some() {
            // Pinned before the map points there. This may be the unit's last page, which would
            // seal the unit.
            self.store.units.pin(self.store.geometry.unit(to));
            let original = log.and_then(|log| log.original).unwrap_or(lpn);
            self.owners.count_logged(self.owner_of(original, stream));
        }
        if let Some(old) = self.store.point(lpn, to)
            && log.is_some()
        {
            self.store.units.unpin(self.store.geometry.unit(old));
        }
        if self.map.cache.is_on_flash() {
            self.map.cache.assigned(lpn, to, &mut self.map.io);
            self.perform(Cause::Map, chain)?;
        }
        Ok(())
    }
}
