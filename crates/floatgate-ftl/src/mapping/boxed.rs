//! A mapping behind a pointer.
//!
//! An engine is compiled anew for each type of mapping. That is worth its while where a drive is
//! simulated at full speed; where it is verified, cut off from power or stored, one engine for all
//! mappings of the table compiles in a fraction of the time.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{Access, MapOp, MapStats, Mapping, Residency};
use crate::addr::{Lpn, Ppn, Tpn};
use crate::future::NextUses;
use crate::geometry::Geometry;
use crate::rng::Rng;
use crate::saved::State;

/// Any mapping of which the map is on flash, or any of which it is not.
pub struct Boxed<const ON_FLASH: bool>(Box<dyn Methods + Send>);

/// A mapping by the name of its row.
pub enum AnyMapping {
    /// Its map lives in translation pages.
    OnFlash(Boxed<true>),
    /// Accesses are only counted.
    InMemory(Boxed<false>),
}

impl AnyMapping {
    /// A mapping behind a pointer.
    pub fn of<M: Mapping + Send + 'static>(mapping: M) -> Self {
        let mapping = Box::new(mapping);
        if M::ON_FLASH { Self::OnFlash(Boxed(mapping)) } else { Self::InMemory(Boxed(mapping)) }
    }
}

/// The methods of [`Mapping`], which has constants too and so cannot stand behind a pointer itself.
/// A row says in brackets how a method borrows the mapping.
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
