//! Map entries that are cached one by one: not a policy, but what DFTL and its bound keep.

use alloc::vec::Vec;

use super::{MapOp, Residency};
use crate::addr::{Lpn, Tpn};
use crate::geometry::Geometry;

/// A cached entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) lpn: u32,
    /// Whether flash does not have the newest of it.
    pub(super) dirty: bool,
}

crate::state!(blank Entry { lpn, dirty });

impl Entry {
    /// What an unused slot holds.
    pub(super) const UNUSED: Self = Self { lpn: 0, dirty: false };

    /// The translation page that it belongs in.
    #[inline(always)]
    pub(super) fn page(self, geometry: &Geometry) -> Tpn {
        geometry.translation_page(Lpn::new(self.lpn))
    }
}

/// What is cached of an entry, if it is this one or none.
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
