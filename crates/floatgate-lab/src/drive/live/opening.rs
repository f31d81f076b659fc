//! Creates live drives and opens them.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use floatgate_ftl::addr::Unit;
use floatgate_ftl::device::{Acknowledge, ShrdDevice};
use floatgate_ftl::host::Shrd;
use floatgate_ftl::log_block::LogBlocks;
use floatgate_ftl::mapping::Boxed;
use floatgate_ftl::nand::{Clock, Nand, Tagged, Timed};
use floatgate_ftl::queue::Arrivals;
use floatgate_ftl::recovery::Mount;
use serde::{Deserialize, Serialize};

use super::bytes::HostBytes;
use super::front::Front;
use super::{Drive, Flash, Live, OpenError};
use crate::config::{Config, ConfigError, Timing, expect};
use crate::drive::host_side::HostSide;
use crate::drive::{
    Plan, Scheme, log_ftl, page_config, refuse_unrecoverable, start_log_ftl, start_page_ftl,
};
use crate::stored::{Life, Stored};

/// Description of a drive in the header of its image.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Bytes that the host can address.
    pub bytes: u64,
    /// Seed of the random choices of policies.
    pub seed: u64,
    /// Whether the drive was filled and overwritten before its first client, as `[start]` in the
    /// config states. Older images lack this field.
    #[serde(default, skip_serializing_if = "is_false")]
    pub aged: bool,
    /// Whether hosts see the drive in zones (NVMe ZNS). Older images lack this field.
    #[serde(default, skip_serializing_if = "is_false")]
    pub zoned: bool,
    /// The config, with all defaults resolved.
    pub config: Config,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(is: &bool) -> bool {
    !is
}

/// Whether a live drive has a clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Timekeeping {
    /// Requests take no simulated time; a request is as slow as the file.
    #[default]
    None,
    /// The duration of each request is simulated.
    Simulated,
}

/// Kind of a new drive.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Erased,
    Aged,
    Zoned,
}

impl Description {
    /// Reads the description in an image, and plans its drive.
    ///
    /// # Errors
    /// A text that describes no drive, or a drive of another geometry than the image.
    pub fn read(path: &Path, stored: &Stored) -> Result<(Self, Plan), OpenError> {
        let wrong = |text: &str| OpenError::description(path, text);
        let description: Self = toml::from_str(stored.text())
            .map_err(|error: toml::de::Error| wrong(error.message().trim()))?;
        let plan = description.plan().map_err(|error| wrong(&error.to_string()))?;
        if plan.geometry != *stored.geometry() || plan.medium != *stored.medium_geometry() {
            return Err(wrong("its config makes a drive of another geometry than its header"));
        }
        Ok((description, plan))
    }

    /// Checks the config, and plans the drive.
    fn plan(&self) -> Result<Plan, ConfigError> {
        let Self { bytes, config, .. } = self;
        config.check()?;
        refuse_unrecoverable(config)?;
        if *bytes == 0 {
            return Err(ConfigError::new("a drive of 0 bytes: expected at least 1"));
        }
        Plan::new(config, *bytes)
    }

    /// Returns the description of a new drive, its plan, and the description as text for the
    /// image's header. The drive always gets a journal.
    fn new(
        config: &Config,
        bytes: u64,
        seed: u64,
        kind: Kind,
    ) -> Result<(Self, Plan, String), ConfigError> {
        let (aged, zoned) = (kind == Kind::Aged, kind == Kind::Zoned);
        let mut description = Self { bytes, seed, aged, zoned, config: config.clone() };
        description.config.ftl.journal = true;
        let plan = match description.plan() {
            Err(error) if config.ftl.journal => return Err(error),
            Err(error) => description.raise_marks().ok_or(error)?,
            Ok(plan) => plan,
        };
        let text = toml::to_string(&description)
            .map_err(|error| ConfigError::new(format!("the config cannot be written: {error}")))?;
        Ok((description, plan, text))
    }

    /// Adds one to the config's thresholds of free units, because the journal takes one unit.
    /// Returns the new plan, or None if the config sets no `low_water` or the plan still fails.
    fn raise_marks(&mut self) -> Option<Plan> {
        let marks = &mut self.config.cleaning;
        marks.low_water = Some(marks.low_water?.checked_add(1)?);
        marks.high_water = marks.high_water.map(|high| high.saturating_add(1));
        self.plan().ok()
    }

    /// Adapts the config for running: sets the clock, and, with a clock, open arrivals, as clients
    /// decide when their requests arrive.
    fn running(mut self, time: Timekeeping) -> Result<Self, ConfigError> {
        let config = &mut self.config;
        match time {
            Timekeeping::None => config.timing = Timing::None,
            Timekeeping::Simulated => {
                let given = "\"scheduled\", as the drive is to have a clock";
                let has_clock = config.timing == Timing::Scheduled;
                expect(has_clock, "timing", &"\"none\"", given.into())?;
                config.queue.arrivals.0 = Arrivals::Open;
            }
        }
        Ok(self)
    }
}

/// Returns the config of a live drive of `bytes` bytes: with a journal, and with one more free unit
/// for it if cleaning could not work otherwise.
///
/// # Errors
/// A config that makes no live drive.
pub fn live_config(config: &Config, bytes: u64) -> Result<Config, ConfigError> {
    Ok(Description::new(config, bytes, 0, Kind::Erased)?.0.config)
}

/// Creates an image with a formatted, erased drive of `bytes` bytes.
///
/// # Errors
/// A config that makes no live drive, a file that exists, or one that cannot be written. After an
/// error no new file remains.
pub fn create(path: &Path, config: &Config, bytes: u64, seed: u64) -> Result<(), OpenError> {
    create_as(path, Description::new(config, bytes, seed, Kind::Erased)?)
}

/// Creates an image like [`create`], of a drive that hosts see in zones.
///
/// # Errors
/// As [`create`]. Whether the config suits zones shows when the drive is served.
pub fn create_zoned(path: &Path, config: &Config, bytes: u64, seed: u64) -> Result<(), OpenError> {
    create_as(path, Description::new(config, bytes, seed, Kind::Zoned)?)
}

fn create_as(
    path: &Path,
    (description, plan, text): (Description, Plan, String),
) -> Result<(), OpenError> {
    let journal_units = plan.medium.units() - plan.geometry.units();
    let stored = Stored::create(path, *plan.geometry.shape(), journal_units, &text)?;
    let maker = Maker { description: &description, plan: &plan, stored, is_new: true };
    let formatted = maker.make().map_err(OpenError::from).and_then(|mut drive| {
        drive.shut_down().map_err(|error| OpenError::Fault {
            path: path.to_path_buf(),
            error: error.to_string(),
        })
    });
    if formatted.is_err() {
        // The caller gets the error of the format; an error of the removal matters less.
        let _ = fs::remove_file(path);
    }
    formatted
}

/// An open drive, with its description and plan.
pub struct Opened {
    /// The drive.
    pub drive: Box<dyn Live>,
    /// Its description, with the config as it runs.
    pub description: Description,
    /// Its size.
    pub plan: Plan,
}

/// Stands for the path in error messages of a drive in memory.
const MEMORY: &str = "memory";

/// Creates a formatted, erased drive of `bytes` bytes with its image in memory.
///
/// # Errors
/// A config that makes no live drive, or too little memory.
pub fn in_memory(
    config: &Config,
    bytes: u64,
    seed: u64,
    time: Timekeeping,
) -> Result<Opened, OpenError> {
    new_in_memory(Description::new(config, bytes, seed, Kind::Erased)?, time)
}

/// Formats a drive in memory whose image states that it is aged. The caller ages it before use.
pub(crate) fn to_be_aged(
    config: &Config,
    bytes: u64,
    seed: u64,
    time: Timekeeping,
) -> Result<Opened, OpenError> {
    new_in_memory(Description::new(config, bytes, seed, Kind::Aged)?, time)
}

fn new_in_memory(
    (description, mut plan, text): (Description, Plan, String),
    time: Timekeeping,
) -> Result<Opened, OpenError> {
    plan.is_timed = time == Timekeeping::Simulated;
    let journal_units = plan.medium.units() - plan.geometry.units();
    let path = Path::new(MEMORY);
    let stored = Stored::in_memory(path, *plan.geometry.shape(), journal_units, &text)?;
    let description = description.running(time)?;
    let maker = Maker { description: &description, plan: &plan, stored, is_new: true };
    let mut drive = maker.make()?;
    begin(drive.as_mut(), Life::default(), time);
    Ok(Opened { drive, description, plan })
}

/// Opens the drive of an image, for this process alone. Its clock is frozen.
///
/// # Errors
/// A file that is in use, is no image, or holds no drive that recovery can use.
pub fn open(path: &Path) -> Result<Box<dyn Live>, OpenError> {
    Ok(open_with(path, Timekeeping::None)?.drive)
}

/// Opens the drive of an image, for this process alone.
///
/// # Errors
/// As [`open`], and a simulated clock for a drive whose config has no timing.
pub fn open_with(path: &Path, time: Timekeeping) -> Result<Opened, OpenError> {
    let stored = Stored::open(path)?;
    let life = stored.life();
    find(path, stored, life, time)
}

/// Opens a drive again after its power failed. It recovers from its image alone, in the file or in
/// memory.
///
/// # Errors
/// As [`open_with`].
pub fn reopen(
    drive: Box<dyn Live>,
    path: Option<&Path>,
    time: Timekeeping,
) -> Result<Opened, OpenError> {
    let ((store, _), life) = (drive.medium().shared(), drive.life());
    drop(drive);
    let path = path.unwrap_or(Path::new(MEMORY));
    find(path, Stored::open_store(path, store)?, life, time)
}

/// Recovers the drive from its flash, with `life` as its life so far.
fn find(path: &Path, stored: Stored, life: Life, time: Timekeeping) -> Result<Opened, OpenError> {
    let (description, mut plan) = Description::read(path, &stored)?;
    let description = description.running(time)?;
    plan.is_timed = time == Timekeeping::Simulated;
    let maker = Maker { description: &description, plan: &plan, stored, is_new: false };
    // Recovery trusts the records that a drive writes. If a synced record is damaged, or somebody
    // forged the file, recovery may find a drive that contradicts itself and fails an assertion.
    // This function checks the drive at once and catches the panic, so that the process continues.
    // It drops the partly built drive.
    let found = catch_unwind(AssertUnwindSafe(|| {
        let drive = maker.make()?;
        drive.check();
        Ok::<_, ConfigError>(drive)
    }));
    let mut drive = found.map_err(|panic| {
        let words = panic.downcast_ref::<&str>().map(ToString::to_string);
        let text = words.or_else(|| panic.downcast_ref::<String>().cloned());
        let text = text.unwrap_or_else(|| "it contradicts itself".into());
        OpenError::Unusable { path: path.to_path_buf(), text }
    })??;
    if let Some(error) = drive.medium().fault() {
        return Err(OpenError::fault(path, error));
    }
    begin(drive.as_mut(), life, time);
    Ok(Opened { drive, description, plan })
}

/// Marks the drive as powered on after it was made or recovered. With a simulated clock, time
/// begins here.
fn begin(drive: &mut dyn Live, life: Life, time: Timekeeping) {
    drive.turn_on(life);
    if time == Timekeeping::Simulated {
        drive.device_mut().thaw();
    }
}

/// Maker of a drive on an erased image, or of one that recovers from the image.
struct Maker<'a> {
    description: &'a Description,
    plan: &'a Plan,
    stored: Stored,
    is_new: bool,
}

impl Maker<'_> {
    fn make(self) -> Result<Box<dyn Live>, ConfigError> {
        let Self { description: Description { config, seed, .. }, plan, .. } = self;
        match Scheme::new(config, plan, *seed)? {
            Scheme::PageMapped(mapping) => self.page_mapped(mapping),
            Scheme::BlockMapped(scheme) => self.block_mapped(scheme),
        }
    }

    fn page_mapped(self, mapping: Boxed) -> Result<Box<dyn Live>, ConfigError> {
        let Self { description, plan, stored, is_new } = self;
        let page = page_config(&description.config, plan, description.seed, false, &mut ())?;
        let flash = under_clock(stored, plan);
        let (ftl, mount) = start_page_ftl((flash, is_new), mapping, page, plan);
        let mut side = HostSide::new(&description.config, plan)?;
        let shrd = side.take_shrd();
        let drive = side.drive(ftl, host_bytes(&description.config, plan));
        Ok(match shrd {
            Some((shrd, sent)) => {
                finish(description, ShrdDevice::new(drive, Shrd::new(shrd), sent), mount)
            }
            None => finish(description, drive, mount),
        })
    }

    fn block_mapped(self, scheme: Box<dyn LogBlocks + Send>) -> Result<Box<dyn Live>, ConfigError> {
        let Self { description, plan, stored, is_new } = self;
        let engine = log_ftl::engine(&description.config, plan);
        let flash = under_clock(stored, plan);
        let (ftl, mount) = start_log_ftl((flash, is_new), scheme, engine);
        let data = host_bytes(&description.config, plan);
        let drive = HostSide::new(&description.config, plan)?.drive(ftl, data);
        Ok(finish(description, drive, mount))
    }
}

/// Puts the flash of an image under a frozen clock.
fn under_clock(stored: Stored, plan: &Plan) -> Flash {
    let modes: Vec<_> = (0..plan.medium.units()).map(|unit| stored.mode(Unit(unit))).collect();
    let mut flash = Timed::with_schedule(stored, plan.medium, plan.timing, plan.schedule);
    (0..).map(Unit).zip(modes).for_each(|(unit, mode)| flash.set_mode(unit, mode));
    flash.clock_mut().freeze();
    flash
}

fn host_bytes(config: &Config, plan: &Plan) -> HostBytes {
    let buffer = &config.buffer;
    let keeps = buffer.exists() && buffer.acknowledge.0 == Acknowledge::WriteThrough;
    HostBytes::new(plan.geometry.shape().page_bytes, keeps)
}

fn finish(description: &Description, front: impl Front, mount: Mount) -> Box<dyn Live> {
    Box::new(Drive { front, bytes: description.bytes, mount, before: Life::default() })
}
