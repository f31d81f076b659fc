//! Images as the command line handles them: create, inspect, check, read, and dump page by page.
//!
//! All operations except `create` are read-only. All refuse an image that a drive is using.

mod check;
mod dump;
mod owners;
mod read;

pub use check::{Finding, FoundPages, Report, check};
pub use dump::{Selection, dump};
pub use read::Reader;

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use floatgate_ftl::addr::Unit;
use floatgate_ftl::journal::Layout;
use floatgate_ftl::nand::Tagged;
use floatgate_ftl::recovery::scan;
use serde_json::{Value, json};

pub use crate::drive::live::{OpenError, create, create_zoned};

use crate::drive::Plan;
use crate::drive::live::Description;
use crate::stored::Stored;

/// An image opened for inspection, with its description.
struct View {
    stored: Stored,
    description: Description,
    plan: Plan,
    journal: Layout,
}

impl View {
    fn open(path: &Path) -> Result<Self, OpenError> {
        let stored = Stored::open_read_only(path)?;
        let (description, plan) = Description::read(path, &stored)?;
        let journal = Layout::new(plan.geometry);
        Ok(Self { stored, description, plan, journal })
    }

    /// All units, including the units of the journal.
    fn units(&self) -> impl Iterator<Item = Unit> + use<> {
        (0..self.plan.medium.units()).map(Unit)
    }

    /// Fails if the file could not be read at some point so far.
    fn sound(&self, path: &Path) -> Result<(), OpenError> {
        match self.stored.fault() {
            Some(error) => Err(OpenError::fault(path, error)),
            None => Ok(()),
        }
    }
}

/// Returns facts about an image as JSON: its drive, its config, how full and how worn it is.
///
/// # Errors
/// A file that is in use, is no image, or cannot be read.
pub fn info(path: &Path) -> Result<Value, OpenError> {
    let view = View::open(path)?;
    let View { stored, description, plan, journal } = &view;
    let (geometry, medium) = (&plan.geometry, &plan.medium);
    let programmed = |unit: Unit| stored.programmed(unit);
    let pages: u64 = view.units().map(|unit| u64::from(programmed(unit))).sum();
    let data_units = || (0..geometry.units()).map(Unit);
    let erased = data_units().filter(|&unit| programmed(unit) == 0).count();
    let checkpoint = journal.find(stored);
    let found = scan(stored, geometry, plan.log_pages, checkpoint.clone());
    view.sound(path)?;
    let metadata = path.metadata().map_err(|error| OpenError::fault(path, &error))?;
    let wear = checkpoint.as_ref().map(|_| wear(&found.erases));
    Ok(json!({
        "path": path.display().to_string(),
        "bytes": description.bytes,
        "geometry": {
            "page_bytes": geometry.shape().page_bytes,
            "pages_per_unit": geometry.pages_per_unit(),
            "units": geometry.units(),
            "journal_units": medium.units() - geometry.units(),
            "logical_pages": geometry.logical_pages(),
            "physical_pages": medium.physical_pages(),
        },
        "pages": {
            "programmed": pages,
            "mapped": found.table.iter().flatten().count(),
            "torn": stored.torn_pages(),
        },
        "erased_units": erased,
        "journal": checkpoint.map(|checkpoint| json!({
            "checkpoint_serial": checkpoint.stamp.serial,
            "checkpoint_sequence": checkpoint.stamp.sequence,
            "trims": checkpoint.trims.len(),
            "pages_since": found.stamp.serial.saturating_sub(checkpoint.stamp.serial),
        })),
        "wear": wear,
        "file": {
            "bytes": metadata.size(),
            "disk_bytes": metadata.blocks() * 512,
        },
        "seed": description.seed,
        "aged": description.aged,
        "zoned": description.zoned,
        "config": description.config,
    }))
}

fn wear(erases: &[u32]) -> Value {
    let sum: u64 = erases.iter().map(|&erases| u64::from(erases)).sum();
    json!({
        "erases_min": erases.iter().min(),
        "erases_mean": sum as f64 / erases.len().max(1) as f64,
        "erases_max": erases.iter().max(),
    })
}
