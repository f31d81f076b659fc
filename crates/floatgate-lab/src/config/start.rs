//! Config table of the drive's state before the workload.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Preconditioning: the state of the drive before the workload. No counter includes it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Start {
    /// Writes before the workload.
    pub fill: Fill,
    /// For "random": random page writes after the fill, in multiples of the user capacity, 0 to
    /// 1000.
    #[schemars(extend("minimum" = 0, "maximum" = 1000))]
    pub overwrites: f64,
    /// For "steady": relative change of write amplification from one volume (the user capacity) to
    /// the next at which the device counts as steady, above 0 and at most 1.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub tolerance: f64,
    /// For "steady": maximum number of volumes written to reach the steady state, 1 to 10000.
    #[schemars(range(min = 1, max = 10_000))]
    pub volumes_max: u32,
    /// Generators played after the fill, as fast as the drive takes the requests. Separate them
    /// with semicolons or line ends: "sequential:span=1GiB,writes=8Ki,size=128KiB;
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

/// Writes before the workload.
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
