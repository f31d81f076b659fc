//! Which unit is cleaned next.

mod cat;
mod cost_benefit;
mod d_choices;
mod fifo;
mod greedy;
mod kinetic;
mod lfs_cost_benefit;
mod random;
mod roster;
#[cfg(test)]
mod tests;
mod tournament;
mod windowed;

pub use cat::Cat;
pub use cost_benefit::CostBenefit;
pub use d_choices::DChoices;
pub use fifo::Fifo;
pub use greedy::{Greedy, Tie};
pub use kinetic::Age;
pub use lfs_cost_benefit::LfsCostBenefit;
pub use random::{Random, Redraw};
pub use windowed::Windowed;

use alloc::boxed::Box;

use crate::addr::Unit;
use crate::blocks::{Blocks, Pool};

/// Chooses units to clean. Asked once per clean.
pub trait Victim {
    /// Whether [`Blocks::take_changed`] is used.
    fn follows_changes(&self) -> bool {
        false
    }

    /// A sealed unit of the pool, or none if none is sealed.
    fn pick(&mut self, blocks: &mut Blocks, pool: Pool) -> Option<Unit>;
}

/// What every victim policy is made from.
#[derive(Clone, Copy, Debug)]
pub struct VictimConfig {
    /// Units of the drive.
    pub units: u32,
    /// Streams of the drive, those of the FTL itself included.
    pub streams: u8,
    /// Which stream is cleaned first if units of several are equally good; for `greedy`.
    pub tie: Tie,
    /// Units sealed first that are chosen from; for `windowed`.
    pub window: u32,
    /// Units drawn; for `d_choices`.
    pub choices: u32,
    /// Which units are drawn again; for `random`.
    pub redraw: Redraw,
    /// Since when a unit ages; for `lfs_cost_benefit`.
    pub lfs_age: Age,
    /// Since when a unit ages; for `cat`.
    pub cat_age: Age,
    /// Seed of what is drawn at random.
    pub seed: u64,
}

impl VictimConfig {
    /// The default parameters of every policy.
    pub fn new(units: u32, streams: u8) -> Self {
        Self {
            units,
            streams,
            tie: Tie::Cold,
            window: (units / 10).max(1),
            choices: 10,
            redraw: Redraw::None,
            lfs_age: Age::Sealed,
            cat_age: Age::Opened,
            seed: 1,
        }
    }
}

/// The table of victim policies: config name, type, what it does, where it is from.
macro_rules! victims {
    ($($name:literal $Type:ident, $doc:literal, $source:literal;)*) => {
        /// Name, doc line and source of every victim policy.
        pub const VICTIMS: &[(&str, &str, &str)] = &[$(($name, $doc, $source)),*];

        /// The policy of this name, if there is one.
        pub fn victim(name: &str, config: &VictimConfig) -> Option<Box<dyn Victim + Send>> {
            match name {
                $($name => Some(Box::new($Type::new(config))),)*
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
    "windowed" Windowed, "Fewest valid pages first, among the units that were sealed first.",
        "Hu, Eleftheriou, Haas, Iliadis and Pletka, SYSTOR 2009";
    "d_choices" DChoices, "The emptiest of a few units that are drawn at random.",
        "Van Houdt, SIGMETRICS 2013; Li, Lee and Lui, SIGMETRICS 2013";
    "random" Random, "A unit drawn at random; on demand drawn again if it is full.",
        "Van Houdt, SIGMETRICS 2013; MQSim (Tavakkol et al., FAST 2018)";
    "cost_benefit" CostBenefit, "Greatest age times space over cost; age since the last loss.",
        "Kawaguchi, Nishioka and Motoda, USENIX 1995";
    "lfs_cost_benefit" LfsCostBenefit, "Greatest age times space over cost, as of LFS segments.",
        "Rosenblum and Ousterhout, ACM TOCS 10(1), 1992";
    "cat" Cat, "Greatest age times space over cost and wear.",
        "Chiang and Chang, Journal of Systems and Software 48, 1999";
}
