//! After a loss of power: the map, from nothing but the out-of-band areas.
//!
//! Every unit is scanned. A page speaks for the logical page in its tag; a page of the log for the
//! one that it was to be remapped to, whether or not the remap has happened, for a remap leaves no
//! mark on flash (algorithms, section 3.8). Of all that speak for a logical page the one with the
//! highest sequence number is right:
//!
//! - (a) of several in the log the newest, (b) one at its place if it is newer than those in the
//!   log;
//! - a copy has the number of its original, for a moved page is no newer than it was;
//! - (c) a page of the log that names no other is nobody's: its write was never acknowledged;
//! - (d) the log is empty afterwards.
//!
//! Power is taken to fail between two requests. In the middle of a clean no unit may be free, and
//! writing the map anew would find no room; nor are pages expected that were programmed in part.
//!
//! A trim leaves no mark either: a page trimmed and not written again may come back. Translation
//! pages may be of any time, so all are written anew. Wear is not on flash, and starts at zero.

use alloc::vec;
use alloc::vec::Vec;

use super::{PageConfig, PageFtl};
use crate::addr::{Lpn, Owner, Ppn, Tag, Tpn, Unit};
use crate::ftl::Ftl;
use crate::geometry::Geometry;
use crate::mapping::Mapping;
use crate::nand::{Cause, Chain, Tagged};

/// The newest page of everything, with its sequence number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scan {
    /// By logical page; nothing for those of the log.
    pub data: Vec<Option<(u64, Ppn)>>,
    /// By translation page.
    pub map: Vec<Option<(u64, Ppn)>>,
    /// The highest sequence number of each unit that is not erased, in ascending order.
    pub units: Vec<(u64, Unit)>,
}

/// Whom a page speaks for after a loss of power. `log` is the first logical page of the log.
fn speaks_for(tag: Tag, log: u32) -> Option<Owner> {
    match (tag.owner, tag.original) {
        (_, Some(original)) => Some(Owner::Data(original)),
        (Owner::Data(lpn), None) if lpn.get() >= log => None,
        (owner, None) => Some(owner),
    }
}

/// Reads the out-of-band area of every page of a drive whose last `log_pages` logical pages are the
/// log.
pub fn scan<N: Tagged>(nand: &N, geometry: &Geometry, log_pages: u32) -> Scan {
    let log = geometry.logical_pages() - log_pages;
    let mut scan = Scan {
        data: vec![None; geometry.logical_pages() as usize],
        map: vec![None; geometry.translation_pages() as usize],
        units: Vec::new(),
    };
    for unit in (0..geometry.units()).map(Unit) {
        let mut last = 0;
        for page in 0..nand.programmed(unit) {
            let ppn = geometry.page(unit, page);
            let Some(tag) = nand.tag(ppn) else { continue };
            last = last.max(tag.sequence);
            let newest = match speaks_for(tag, log) {
                Some(Owner::Data(lpn)) => &mut scan.data[lpn.index()],
                Some(Owner::Translation(tpn)) => &mut scan.map[tpn.index()],
                None => continue,
            };
            if newest.is_none_or(|(sequence, _)| sequence < tag.sequence) {
                *newest = Some((tag.sequence, ppn));
            }
        }
        if nand.programmed(unit) > 0 {
            scan.units.push((last, unit));
        }
    }
    scan.units.sort_unstable();
    scan
}

impl<N: Tagged, M: Mapping> PageFtl<N, M> {
    /// The drive that finds this medium when power is back.
    ///
    /// # Errors
    /// The medium's fault while the map is written anew.
    pub fn recover(
        nand: N,
        mapping: M,
        config: PageConfig,
        log_pages: u32,
    ) -> Result<Self, N::Error> {
        let mut ftl = Self::unformatted(nand, mapping, config, log_pages);
        let found = scan(&ftl.nand, &ftl.geometry, log_pages);
        ftl.sequence = found.units.last().map_or(0, |&(sequence, _)| sequence);
        ftl.table = found.data.iter().map(|newest| newest.map(|(_, ppn)| ppn)).collect();
        if M::ON_FLASH {
            ftl.directory = found.map.iter().map(|newest| newest.map(|(_, ppn)| ppn)).collect();
        }
        let mut open = vec![false; usize::from(ftl.log_stream()) + 1];
        for &(_, unit) in &found.units {
            ftl.restore_unit(unit, &mut open);
        }
        for tpn in (0..ftl.directory.len()).map(|tpn| Tpn::new(tpn as u32)) {
            ftl.program_map(tpn, Cause::Map, &mut Chain::default())?;
        }
        ftl.restart();
        Ok(ftl)
    }

    /// Enters a unit. One that is not full is open again, if it is the first of its stream.
    fn restore_unit(&mut self, unit: Unit, open: &mut [bool]) {
        let programmed = self.nand.programmed(unit);
        let mut wanted = Vec::new();
        for ppn in (0..programmed).map(|page| self.geometry.page(unit, page)) {
            let owner = self.nand.tag(ppn).and_then(|tag| speaks_for(tag, self.log.base()));
            let newest = match owner {
                Some(Owner::Data(lpn)) => self.table[lpn.index()],
                Some(Owner::Translation(tpn)) if M::ON_FLASH => self.directory[tpn.index()],
                _ => None,
            };
            wanted.extend(owner.filter(|_| newest == Some(ppn)).map(|owner| (ppn, owner)));
        }
        let stream = match self.nand.tag(self.geometry.page(unit, 0)).map(|tag| tag.owner) {
            Some(Owner::Translation(_)) => self.map_stream(),
            Some(Owner::Data(lpn)) if self.log.holds(lpn) => self.log_stream(),
            _ => 0,
        };
        let is_open = &mut open[usize::from(stream)];
        let partial = programmed < self.geometry.pages_per_unit();
        let closed = partial && *is_open;
        if partial && !closed {
            *is_open = true;
            self.frontiers.resume(stream, unit, programmed, &self.geometry);
        }
        self.blocks.restore(unit, stream, programmed, &wanted, closed);
    }

    /// The logical pages of a drive, without those of the log.
    pub fn user_pages(&self) -> u32 {
        self.log.base()
    }

    /// The medium, when power is lost.
    pub fn into_nand(self) -> N {
        self.nand
    }

    /// Whether a page of the log holds anything.
    pub fn is_log_empty(&self) -> bool {
        (self.log.base()..self.geometry.logical_pages()).all(|lpn| !self.is_mapped(Lpn::new(lpn)))
    }
}
