//! Config table of fault injection.

use floatgate_ftl::nand::{Faults as FtlFaults, LAST};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Config, ConfigError, expect};

/// Fault injection. Each share is a probability of failure per operation or unit, 0 to 0.5. If all
/// shares are 0 and `wear_out` is off, nothing fails. With faults, every page is verified.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// Share of erase units that are bad from the factory.
    #[schemars(range(min = 0.0, max = 0.5))]
    pub factory_bad: f64,
    /// Share of programs that fail. The contents of the unit are then moved to a spare unit.
    #[schemars(range(min = 0.0, max = 0.5))]
    pub program: f64,
    /// Share of erases that fail.
    #[schemars(range(min = 0.0, max = 0.5))]
    pub erase: f64,
    /// Share of reads and copies of host data that leave the page uncorrectable.
    #[schemars(range(min = 0.0, max = 0.5))]
    pub read: f64,
    /// Share of reads and copies of host data that return wrong data; the checksum detects it.
    #[schemars(range(min = 0.0, max = 0.5))]
    pub corrupt: f64,
    /// Whether a unit wears out after flash.endurance erases, plus or minus 10 %.
    pub wear_out: bool,
    /// Spare erase units that replace bad ones, in addition to the units of the capacity, 3 to
    /// 1000000. With two spares left the drive is read-only. Not set: 2 % of the units, at least 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 3, max = 1_000_000))]
    pub spare_units: Option<u32>,
}

impl Faults {
    fn rates(&self) -> [f64; 5] {
        [self.factory_bad, self.program, self.erase, self.read, self.corrupt]
    }

    /// Whether any fault is enabled.
    pub(crate) fn any(&self) -> bool {
        self.wear_out || self.rates().iter().any(|&rate| rate > 0.0)
    }
}

impl Config {
    /// Returns the faults of a flash with `units` units, or None if no fault is enabled.
    pub(crate) fn faults_of(&self, units: u32) -> Option<FtlFaults> {
        let given = &self.faults;
        if !given.any() {
            return None;
        }
        let rate = |share: f64| (share * 1e9).round() as u32;
        Some(FtlFaults {
            factory_bad: rate(given.factory_bad),
            program: rate(given.program),
            erase: rate(given.erase),
            read: rate(given.read),
            corrupt: rate(given.corrupt),
            endurance: given.wear_out.then_some(self.flash.endurance),
            spares: given.spare_units.unwrap_or((units / 50).max(8)),
            seed: 0,
        })
    }

    /// Checks that `faults.spare_units` comes with a fault, and that no policy looks ahead: a
    /// worn-out drive refuses writes that the policy foresaw.
    pub(super) fn check_faults(&self) -> Result<(), ConfigError> {
        let faults = &self.faults;
        if !faults.any() {
            let unset = faults.spare_units.is_none();
            let given = faults.spare_units.unwrap_or(0);
            let text = "a fault of [faults] to be enabled as well";
            return expect(unset, "faults.spare_units", &given, text.into());
        }
        const { assert!(LAST == 2, "as the key says") };
        for (key, name) in self.offline_policies() {
            let text = "another with [faults]: it looks ahead, and a worn-out drive refuses writes";
            expect(false, key, &format!("\"{name}\""), text.into())?;
        }
        Ok(())
    }
}
