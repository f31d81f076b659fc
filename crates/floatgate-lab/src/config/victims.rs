//! The tables of a config that are victim policies' parameters: every key with its default, its
//! range and its doc line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the victim policy `windowed`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Windowed {
    /// The units sealed first that are chosen from, as a share of the drive's, above 0 and at most
    /// 1. The smallest window, one unit, is "fifo"; 1 is "greedy".
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub window: f64,
}

impl Default for Windowed {
    fn default() -> Self {
        Self { window: 0.1 }
    }
}

/// Parameters of the victim policy `d_choices`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DChoices {
    /// Units that are drawn, of which the emptiest is cleaned, 1 to 1000000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub d: u32,
}

impl Default for DChoices {
    fn default() -> Self {
        Self { d: 10 }
    }
}

/// Parameters of the victim policy `random`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Random {
    /// Which units are drawn again.
    pub redraw: Redraw,
}

impl Default for Random {
    fn default() -> Self {
        Self { redraw: Redraw::None }
    }
}

/// Which units are drawn again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Redraw {
    /// None.
    None,
    /// Those without an invalid page: random+, MQSim's RANDOM_P.
    Full,
    /// Those that are not emptier than the average: random++, MQSim's RANDOM_PP.
    Average,
}

/// Parameters of the victim policy `lfs_cost_benefit`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LfsCostBenefit {
    /// Since when a unit ages.
    pub age: Age,
}

impl Default for LfsCostBenefit {
    fn default() -> Self {
        Self { age: Age::Sealed }
    }
}

/// Parameters of the victim policy `cat`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cat {
    /// Since when a unit ages.
    pub age: Age,
}

impl Default for Cat {
    fn default() -> Self {
        Self { age: Age::Opened }
    }
}

/// Since when a unit ages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Age {
    /// Since it was opened.
    Opened,
    /// Since it was sealed: since data last came into it.
    Sealed,
    /// Since it was sealed or lost a page, whichever came last.
    Modified,
}
