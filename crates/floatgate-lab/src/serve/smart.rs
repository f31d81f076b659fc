//! Health of a drive over its life. The control socket and NVMe report the same numbers.

use floatgate_ftl::addr::Unit;
use floatgate_ftl::device::Device;
use serde_json::{Value, json};

use super::backend::ServeError;
use super::state::State;
use crate::drive::live::Opened;
use crate::metrics::ratio;
use crate::stored::Life;

/// Remaining spare space, in percent. Live drives have no faults and keep no spare units to replace
/// failed ones, so none are used up.
pub(super) const SPARE_PERCENT: u8 = 100;

/// Remaining spare space, in percent, below which a drive warns.
pub(super) const SPARE_THRESHOLD_PERCENT: u8 = 10;

#[derive(Clone, Debug)]
pub(super) struct Smart {
    /// Totals over the drive's life.
    pub life: Life,
    /// Bytes of a page, and of an erase unit.
    pub page_bytes: u64,
    pub unit_bytes: u64,
    /// Pages programmed over the drive's life, as counted by the flash itself.
    programs_ever: u64,
    /// Erases of each unit over the drive's life.
    erases: Vec<u32>,
    /// Erases that a unit endures.
    endurance: u32,
    /// Reason that the drive reads and writes nothing any more.
    failure: Option<String>,
    pub is_read_only: bool,
}

impl Smart {
    /// Looks at a drive.
    ///
    /// # Errors
    /// The reason why the drive does not serve.
    pub fn new(state: &State) -> Result<Self, ServeError> {
        let Opened { drive, description, plan } = state.opened()?;
        let page_bytes = u64::from(plan.geometry.shape().page_bytes);
        Ok(Self {
            life: drive.life(),
            page_bytes,
            unit_bytes: u64::from(plan.geometry.pages_per_unit()) * page_bytes,
            programs_ever: drive.medium().programs_ever(),
            erases: lifetime_erases(drive.device()),
            endurance: description.config.flash.endurance,
            failure: state.failure(),
            is_read_only: state.faults.read_only,
        })
    }

    /// Returns the erases of the least and of the most worn unit.
    pub fn erases(&self) -> (Option<u32>, Option<u32>) {
        (self.erases.iter().copied().min(), self.erases.iter().copied().max())
    }

    fn erases_mean(&self) -> f64 {
        let sum = self.erases.iter().map(|&erases| f64::from(erases)).sum::<f64>();
        sum / self.erases.len().max(1) as f64
    }

    /// Returns the mean number of erases of a unit, in percent of its rated erases.
    pub fn used_percent(&self) -> f64 {
        self.erases_mean() / f64::from(self.endurance) * 100.0
    }

    /// Returns the bytes that all units take over their rated life.
    pub fn endurance_bytes(&self) -> u64 {
        self.unit_bytes * self.erases.len() as u64 * u64::from(self.endurance)
    }

    pub fn media_bytes_read(&self) -> u64 {
        self.life.media_reads * self.page_bytes
    }

    pub fn media_bytes_written(&self) -> u64 {
        self.life.programs * self.page_bytes
    }

    pub fn media_bytes_erased(&self) -> u64 {
        self.life.erases * self.unit_bytes
    }

    pub fn media_errors(&self) -> u64 {
        self.life.damaged_reads + self.life.failed_reads
    }

    fn is_worn(&self) -> bool {
        self.used_percent() >= 100.0
    }

    /// Returns whether the drive is worn, has failed, or has lost data.
    pub fn is_degraded(&self) -> bool {
        self.failure.is_some() || self.is_worn() || self.life.damaged_reads > 0
    }

    fn critical_warnings(&self) -> Vec<String> {
        let mut critical: Vec<_> = self.failure.iter().cloned().collect();
        if self.is_worn() {
            critical.push(format!(
                "the flash is worn: its units were erased {:.0} times, of {}",
                self.erases_mean(),
                self.endurance
            ));
        }
        if self.is_read_only {
            critical.push("the drive is read-only".to_owned());
        }
        if self.life.damaged_reads > 0 {
            let reads = self.life.damaged_reads;
            critical.push(format!("{reads} reads of pages that are damaged"));
        }
        critical
    }

    /// Returns the document of the control socket.
    pub fn document(&self) -> Value {
        let life = &self.life;
        let (erases_min, erases_max) = self.erases();
        json!({
            "host_bytes_written": life.written_bytes,
            "host_bytes_read": life.read_bytes,
            "host_writes": life.writes,
            "host_reads": life.reads,
            "media_bytes_written": self.media_bytes_written(),
            "media_bytes_read": self.media_bytes_read(),
            "media_bytes_erased": self.media_bytes_erased(),
            "write_amplification": ratio(self.media_bytes_written(), life.written_bytes),
            "lifetime_media_bytes_written": self.programs_ever * self.page_bytes,
            "power_cycles": life.power_cycles,
            "unsafe_shutdowns": life.unsafe_shutdowns,
            "media_errors": self.media_errors(),
            "available_spare_percent": f64::from(SPARE_PERCENT),
            "available_spare_threshold_percent": f64::from(SPARE_THRESHOLD_PERCENT),
            "percentage_used": self.used_percent(),
            "endurance_erases": self.endurance,
            "erases_mean": self.erases_mean(),
            "erases_max": erases_max,
            "erases_min": erases_min,
            "critical_warnings": self.critical_warnings(),
        })
    }
}

/// Returns the erases of each unit over the drive's whole life.
pub(super) fn lifetime_erases(device: &dyn Device) -> Vec<u32> {
    let units = device.units();
    (0..).map(Unit).zip(units.wear()).map(|(unit, _)| units.lifetime_erases(unit)).collect()
}
