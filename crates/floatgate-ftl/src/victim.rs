//! Victim policies: choose the next unit to clean.

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

pub use greedy::Tie;
pub use kinetic::Age;
pub use random::Redraw;

use alloc::boxed::Box;

use crate::addr::Unit;
use crate::policy::Policy;
use crate::saved::State;
use crate::unit_table::{Pool, UnitTable};

/// Chooses units to clean. The engine calls it once per clean.
pub trait Victim: Policy + State {
    /// Returns whether the policy uses [`UnitTable::take_changed`].
    fn follows_changes(&self) -> bool {
        false
    }

    /// Returns a sealed unit of the pool, or none if the pool has none. It stands for its reclaim
    /// unit: [`UnitTable::valid_share`] has the pages of all its erase units.
    fn pick(&mut self, table: &mut UnitTable, pool: Pool) -> Option<Unit>;
}

/// The table of victim policies: config name, type and parameters, summary, source.
macro_rules! victims {
    ($($name:ident $Type:ident($($Own:ident)?), $doc:literal, $source:literal;)*) => {
        crate::axis! {
            /// Every victim policy.
            pub const VICTIMS;
            /// Configuration of every victim policy.
            pub struct VictimConfig {
                /// Erase units of the drive.
                units: u32,
                /// Reclaim units that these erase units make, each as large as the largest one.
                reclaim_units: u32,
                /// Streams of the drive, including the streams of the FTL itself.
                streams: u8,
                /// For `greedy`: which stream is cleaned first if units of several streams are
                /// equally good.
                tie: Tie,
                /// Seed for random draws.
                seed: u64,
            }
            $($name $Type($($Own)?), $doc, $source;)*
        }

        $(pub use $name::{$Type, $($Own)?};)*

        /// Makes the policy of this name, if there is one.
        pub fn victim(name: &str, config: &VictimConfig) -> Option<Box<dyn Victim + Send>> {
            match name {
                $(stringify!($name) => Some(Box::new($Type::new(config))),)*
                _ => None,
            }
        }
    };
}

impl VictimConfig {
    /// Configures every policy with its default parameters, for reclaim units of one erase unit.
    pub fn new(units: u32, streams: u8) -> Self {
        Self::defaults(units, units, streams, Tie::Cold, 1)
    }
}

victims! {
    greedy Greedy(), "Fewest valid pages; ties by least recent invalidation.",
        "Bux and Iliadis, Performance Evaluation 67, 2010; Desnoyers, SYSTOR 2012";
    fifo Fifo(), "The unit that was sealed first.",
        "Desnoyers, SYSTOR 2012 (called LRU cleaning); Xiang and Kurkoski, 2011";
    windowed Windowed(WindowedConfig), "Fewest valid pages in a window of the units sealed first.",
        "Hu, Eleftheriou, Haas, Iliadis and Pletka, SYSTOR 2009";
    d_choices DChoices(DChoicesConfig), "Fewest valid pages of d units drawn at random.",
        "Van Houdt, SIGMETRICS 2013; Li, Lee and Lui, SIGMETRICS 2013";
    random Random(RandomConfig),
        "A unit drawn at random; optionally redrawn if it has few invalid pages.",
        "Van Houdt, SIGMETRICS 2013; MQSim (Tavakkol et al., FAST 2018)";
    cost_benefit CostBenefit(), "Greatest age (1-u)/2u; age since the last invalidation.",
        "Kawaguchi, Nishioka and Motoda, USENIX 1995";
    lfs_cost_benefit LfsCostBenefit(LfsCostBenefitConfig),
        "Greatest age (1-u)/(1+u), as for LFS segments.",
        "Rosenblum and Ousterhout, ACM TOCS 10(1), 1992";
    cat Cat(CatConfig), "Greatest age (1-u)/u, divided by the erase count.",
        "Chiang and Chang, Journal of Systems and Software 48, 1999";
}
