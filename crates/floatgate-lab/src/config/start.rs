//! The state of the drive before the workload.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Preconditioning: the state of the drive before the workload; no counter includes it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Start {
    /// What is written before the workload.
    pub fill: Fill,
    /// For "random": volumes of random page writes after the fill, 0 to 1000.
    #[schemars(extend("minimum" = 0, "maximum" = 1000))]
    pub overwrites: f64,
    /// For "steady": the relative change of write amplification from one volume to the next at
    /// which the device counts as steady, above 0 and at most 1.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub tolerance: f64,
    /// For "steady": the most volumes written to reach it, 1 to 10000.
    #[schemars(range(min = 1, max = 10_000))]
    pub volumes_max: u32,
    /// Generators that are played after the fill, as fast as the drive takes them, with semicolons
    /// or ends of lines between them, such as "sequential:span=1GiB,writes=8Ki,size=128KiB;
    /// uniform:span=1GiB,writes=1Mi". Not set: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub play: Option<String>,
}

impl Default for Start {
    fn default() -> Self {
        Self {
            fill: Fill::Sequential,
            overwrites: 2.0,
            tolerance: 0.01,
            volumes_max: 40,
            play: None,
        }
    }
}

/// What is written before the workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Fill {
    /// Nothing: all units are free.
    None,
    /// Every page once, in order.
    Sequential,
    /// Every page once, in a random order.
    Shuffled,
    /// Every page once, in order, and then random pages.
    Random,
    /// Random pages until write amplification no longer changes.
    Steady,
}
