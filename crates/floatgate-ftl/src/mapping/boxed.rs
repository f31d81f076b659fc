//! A mapping behind a pointer.
//!
//! An engine is compiled separately for each type of mapping. That pays off where a drive is
//! simulated at full speed. Verification, power cuts and stored drives use one engine for all
//! mappings of the table, which compiles in a fraction of the time.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{Access, MapOp, MapStats, Mapping, Residency};
use crate::addr::{Lpn, Ppn, Tpn};
use crate::future::NextUses;
use crate::geometry::Geometry;
use crate::rng::Rng;
use crate::saved::State;

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
        trait Methods {
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
    fn pages_per_map_page([&] self) -> u32;
    fn extra_units([&] self, geometry: &Geometry) -> u32;
    fn residency([&] self, lpn: Lpn) -> Residency;
    fn draw([&] self, rng: &mut Rng) -> Option<Lpn>;
    fn assigned([&mut] self, lpn: Lpn, to: Ppn, io: &mut Vec<MapOp>);
    fn trim([&mut] self, tpn: Tpn, mapped: &[Lpn], io: &mut Vec<MapOp>);
    fn set_future([&mut] self, future: NextUses);
    fn flush([&mut] self, io: &mut Vec<MapOp>);
    fn stats([&] self) -> MapStats;
    fn cache_bytes([&] self) -> u64;
    fn reset_counters([&mut] self);
    fn state([&mut] self) -> Option<&mut dyn State>;
    fn check([&] self);
}
