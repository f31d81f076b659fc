//! A mapping behind a pointer.
//!
//! An engine is compiled separately for each type of mapping. That pays off where a drive is
//! simulated at full speed. Verification, power cuts and stored drives use one engine for all
//! mappings of the table, which compiles in a fraction of the time.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{Access, MapOp, Mapping, Residency};
use crate::addr::{Lpn, Ppn, Tpn};
use crate::counters::Counters;
use crate::future::NextUses;
use crate::policy::Policy;
use crate::rng::Rng;
use crate::saved::{Carrier, State};

/// Any mapping with its map on flash, or any mapping with its map in memory.
pub struct Boxed<const ON_FLASH: bool>(Box<dyn Methods + Send>);

/// A mapping, made by the name of its row.
pub enum AnyMapping {
    /// Its map is in translation pages.
    OnFlash(Boxed<true>),
    /// Its map is in memory; accesses are only counted.
    InMemory(Boxed<false>),
}

impl AnyMapping {
    /// Boxes a mapping.
    pub fn boxed<M: Mapping + Send + 'static>(mapping: M) -> Self {
        let mapping = Box::new(mapping);
        if M::ON_FLASH { Self::OnFlash(Boxed(mapping)) } else { Self::InMemory(Boxed(mapping)) }
    }
}

/// Declares the methods of [`Mapping`] as an object-safe trait. [`Mapping`] also has constants, and
/// so cannot be used as a trait object. The brackets of a row state how the method borrows the
/// mapping.
macro_rules! methods {
    ($(fn $name:ident([$($borrow:tt)+] $this:ident $(, $argument:ident: $Type:ty)*)
        $(-> $Answer:ty)?;)*) => {
        trait Methods: Policy + State {
            $(fn $name($($borrow)+ $this $(, $argument: $Type)*) $(-> $Answer)?;)*
        }

        impl<M: Mapping> Methods for M {
            $(fn $name($($borrow)+ $this $(, $argument: $Type)*) $(-> $Answer)? {
                Mapping::$name($this $(, $argument)*)
            })*
        }

        impl<const ON_FLASH: bool> Mapping for Boxed<ON_FLASH> {
            const ON_FLASH: bool = ON_FLASH;

            $(fn $name($($borrow)+ $this $(, $argument: $Type)*) $(-> $Answer)? {
                $this.0.$name($($argument),*)
            })*
        }
    };
}

methods! {
    fn access([&mut] self, access: Access, io: &mut Vec<MapOp>);
    fn relocated([&mut] self, moved: &[(Lpn, Ppn)], io: &mut Vec<MapOp>);
    fn residency([&] self, lpn: Lpn) -> Residency;
    fn draw([&] self, rng: &mut Rng) -> Option<Lpn>;
    fn assigned([&mut] self, lpn: Lpn, to: Ppn, io: &mut Vec<MapOp>);
    fn trim([&mut] self, tpn: Tpn, mapped: &[Lpn], io: &mut Vec<MapOp>);
    fn flush([&mut] self, io: &mut Vec<MapOp>);
}

impl<const ON_FLASH: bool> Policy for Boxed<ON_FLASH> {
    fn set_future(&mut self, future: NextUses) {
        self.0.set_future(future);
    }

    fn memory_bytes(&self) -> u64 {
        self.0.memory_bytes()
    }

    fn report(&self, counters: &mut Counters) {
        self.0.report(counters);
    }

    fn reset_counters(&mut self) {
        self.0.reset_counters();
    }

    fn check(&self) {
        self.0.check();
    }
}

impl<const ON_FLASH: bool> State for Boxed<ON_FLASH> {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        self.0.carry(by);
    }

    fn can_be_saved(&self) -> bool {
        self.0.can_be_saved()
    }
}
