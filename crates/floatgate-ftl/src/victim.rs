//! Which unit is cleaned next.

mod fifo;
mod greedy;

pub use fifo::Fifo;
pub use greedy::Greedy;

use alloc::boxed::Box;

use crate::addr::Unit;
use crate::blocks::Blocks;

/// Chooses units to clean. Asked once per clean.
pub trait Victim {
    /// A sealed unit, or none if no unit is sealed.
    fn pick(&mut self, blocks: &Blocks) -> Option<Unit>;
}

/// The table of victim policies: config name, type, what it does, where it is from.
macro_rules! victims {
    ($($name:literal $Type:ident, $doc:literal, $source:literal;)*) => {
        /// Name, doc line and source of every victim policy.
        pub const VICTIMS: &[(&str, &str, &str)] = &[$(($name, $doc, $source)),*];

        /// The policy of this name, if there is one.
        pub fn victim(name: &str) -> Option<Box<dyn Victim + Send>> {
            match name {
                $($name => Some(Box::new($Type)),)*
                _ => None,
            }
        }
    };
}

victims! {
    "greedy" Greedy, "Fewest valid pages first; among equals the one longest without a loss.",
        "Bux and Iliadis, Performance Evaluation 67, 2010; Desnoyers, SYSTOR 2012";
    "fifo" Fifo, "The unit that was sealed first.",
        "Desnoyers, SYSTOR 2012 (called LRU cleaning); Xiang and Kurkoski, 2011";
}
