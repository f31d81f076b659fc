//! A mapping behind a pointer.
//!
//! An engine is compiled separately for each type of mapping. One engine for all mappings of the
//! table compiles in a fraction of the time, and costs a virtual call per access to the map.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{Access, MapOp, Mapping, Prefetch, Residency};
use crate::addr::{Lpn, Ppn, Tpn};
use crate::counters::Counters;
use crate::future::NextUses;
use crate::policy::Policy;
use crate::rng::Rng;
use crate::saved::{Carrier, State};

/// Any mapping.
pub struct Boxed {
    mapping: Box<dyn Mapping + Send>,
    /// A copy, because the engine reads it several times per page.
    is_on_flash: bool,
}

impl Boxed {
    /// Boxes a mapping.
    pub fn new<M: Mapping + Send + 'static>(mapping: M) -> Self {
        Self { is_on_flash: mapping.is_on_flash(), mapping: Box::new(mapping) }
    }
}

impl Prefetch for Boxed {
    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        self.mapping.prefetch(lpn);
    }

    #[inline(always)]
    fn prefetch_entry(&self, lpn: Lpn) {
        self.mapping.prefetch_entry(lpn);
    }
}

impl Mapping for Boxed {
    #[inline(always)]
    fn is_on_flash(&self) -> bool {
        self.is_on_flash
    }

    #[inline(always)]
    fn access(&mut self, access: Access, io: &mut Vec<MapOp>) {
        self.mapping.access(access, io);
    }

    fn relocated(&mut self, moved: &[(Lpn, Ppn)], io: &mut Vec<MapOp>) {
        self.mapping.relocated(moved, io);
    }

    fn residency(&self, lpn: Lpn) -> Residency {
        self.mapping.residency(lpn)
    }

    fn draw(&self, rng: &mut Rng) -> Option<Lpn> {
        self.mapping.draw(rng)
    }

    #[inline(always)]
    fn assigned(&mut self, lpn: Lpn, to: Ppn, io: &mut Vec<MapOp>) {
        self.mapping.assigned(lpn, to, io);
    }

    fn trim(&mut self, tpn: Tpn, mapped: &[Lpn], io: &mut Vec<MapOp>) {
        self.mapping.trim(tpn, mapped, io);
    }

    fn flush(&mut self, io: &mut Vec<MapOp>) {
        self.mapping.flush(io);
    }
}

impl Policy for Boxed {
    fn set_future(&mut self, future: NextUses) {
        self.mapping.set_future(future);
    }

    fn memory_bytes(&self) -> u64 {
        self.mapping.memory_bytes()
    }

    fn report(&self, counters: &mut Counters) {
        self.mapping.report(counters);
    }

    fn reset_counters(&mut self) {
        self.mapping.reset_counters();
    }

    fn check(&self) {
        self.mapping.check();
    }
}

impl State for Boxed {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        self.mapping.carry(by);
    }

    fn can_be_saved(&self) -> bool {
        self.mapping.can_be_saved()
    }
}
