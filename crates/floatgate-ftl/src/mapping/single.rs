//! Map entries that are cached one by one, for DFTL and its bound. Not a policy.

use alloc::vec::Vec;

use super::{MapOp, Residency};
use crate::addr::{Lpn, Tpn};
use crate::geometry::Geometry;

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) lpn: u32,
    /// Whether the entry is newer than on flash.
    pub(super) dirty: bool,
}

crate::state!(blank Entry { lpn, dirty });

impl Entry {
    pub(super) const UNUSED: Self = Self { lpn: 0, dirty: false };

    #[inline(always)]
    pub(super) fn page(self, geometry: &Geometry) -> Tpn {
        geometry.translation_page(Lpn::new(self.lpn))
    }
}

/// Returns the residency of an entry, given its slot if it is cached.
pub(super) fn residency(entry: Option<&Entry>) -> Residency {
    match entry {
        None => Residency::Absent,
        Some(Entry { dirty: true, .. }) => Residency::Dirty,
        Some(_) => Residency::Clean,
    }
}

/// Writes back every dirty entry, with one rewrite per translation page, in ascending order.
pub(super) fn flush(entries: &mut [Entry], geometry: &Geometry, io: &mut Vec<MapOp>) {
    let dirty = entries.iter().filter(|entry| entry.dirty);
    let mut pages: Vec<Tpn> = dirty.map(|entry| entry.page(geometry)).collect();
    entries.iter_mut().for_each(|entry| entry.dirty = false);
    pages.sort_unstable();
    pages.dedup();
    io.extend(pages.into_iter().map(MapOp::Update));
}
