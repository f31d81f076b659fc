//! Config table of the drive's state before the workload.

use floatgate_ftl::queue::Dispatch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cleaning, Config, ConfigError, Pacing, WearLeveling, expect};

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
    /// For "steady" and "sampled": relative change of write amplification from one volume (the user
    /// capacity) to the next at which the device counts as steady, above 0 and at most 1.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub tolerance: f64,
    /// For "steady" and "sampled": maximum number of volumes written to reach the steady state, 1
    /// to 10000.
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
    /// Nearly the steady state, from a smaller drive.
    Sampled,
}

/// Victim policies whose choice depends only on valid pages, the order of sealing, and chance.
const SAMPLED_VICTIMS: [&str; 5] = ["greedy", "fifo", "windowed", "d_choices", "random"];

impl Config {
    /// Checks that the steady state of a smaller drive describes this drive.
    pub(super) fn check_start(&self) -> Result<(), ConfigError> {
        if self.start.fill != Fill::Sampled {
            return Ok(());
        }
        match self.unsampled().into_iter().find(|(is_set, _)| *is_set) {
            Some((_, with)) => {
                expect(false, "start.fill", &"\"sampled\"", format!("\"steady\" with {with}"))
            }
            None => Ok(()),
        }
    }

    /// Returns the settings with which no state can be sampled, and whether the config has them.
    fn unsampled(&self) -> Vec<(bool, String)> {
        let Cleaning { foreground_below, background_below, lazy, idle_after, .. } = &self.cleaning;
        let victim = &self.cleaning.victim;
        let has_share = foreground_below.is_some() || background_below.is_some();
        let is_static = self.cleaning.wear_leveling == WearLeveling::Static;
        let overtakes = self.queue.queues > 1 && self.queue.dispatch.0 == Dispatch::Parallel;
        let text = |key: &str, value: &str| format!("{key} = \"{value}\"");
        vec![
            (self.logs_least().is_some(), text("ftl.scheme", &self.ftl.scheme)),
            (self.mapping.scheme != "ideal", text("mapping.scheme", &self.mapping.scheme)),
            (self.placement.scheme != "single", text("placement.scheme", &self.placement.scheme)),
            (self.placement.reclaim_unit.is_some(), "placement.reclaim_unit".into()),
            (!SAMPLED_VICTIMS.contains(&victim.as_str()), text("cleaning.victim", victim)),
            (has_share, "thresholds of cleaning that are shares".into()),
            (self.cleaning.pacing != Pacing::None, text("cleaning.pacing", "proportional")),
            (lazy.is_some(), "cleaning.lazy".into()),
            (idle_after.is_some(), "cleaning.idle_after".into()),
            (is_static, text("cleaning.wear_leveling", "static")),
            (self.slc().is_some(), "an SLC cache ([slc])".into()),
            (self.buffer.exists(), text("buffer.scheme", &self.buffer.scheme)),
            (self.host.keeps_log(), text("host.scheme", &self.host.scheme)),
            (self.faults.any(), "[faults]".into()),
            (overtakes, text("queue.dispatch", "parallel") + " and several queues"),
            (self.controller.flush_after.is_some(), "controller.flush_after".into()),
        ]
    }
}
