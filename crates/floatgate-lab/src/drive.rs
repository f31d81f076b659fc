//! From a config to a drive: its size in units, and its layers.

use std::convert::Infallible;

use floatgate_ftl::device::Paced;
use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::journal::Layout;
use floatgate_ftl::log_block::LogBlocks;
use floatgate_ftl::log_ftl::{LogFtl, LogFtlConfig, MERGE_RESERVE};
use floatgate_ftl::mapping::{Boxed, Ideal, Mapping};
use floatgate_ftl::nand::{Counted, Faults, Schedule, Tagged, Timed, Timing};
use floatgate_ftl::page_ftl::{Cleaning, PageConfig, PageFtl};
use floatgate_ftl::recovery::Mount;

use crate::config::{self, Config, ConfigError, WearLeveling};
pub use buffer::block_pages;
use cleaning::{cleaning, map_units, with_shares};
pub use external::ExternalPolicies;
use external::Guided;
use flash::{NewFlash, Verified};
use host_side::HostSide;
use page_mapped::{free_order, page_config, streams_of};
use sizing::Size;

mod buffer;
mod cleaning;
pub mod cut;
mod external;
mod flash;
mod host_side;
#[cfg(unix)]
pub mod live;
mod log_ftl;
mod page_mapped;
mod sizing;

/// With fewer units in service than this, cleaning has little choice of victims.
pub const UNITS_FEW: u32 = 128;

/// A drive whose size is decided.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Shape of the drive.
    pub geometry: Geometry,
    /// Logical pages of the host's log, at the end of the logical pages.
    pub log_pages: u32,
    /// Shape of the drive's flash: with a journal, the journal's units follow the drive's units.
    pub medium: Geometry,
    /// Pages programmed between two checkpoints, if there is a journal.
    pub journal: Option<u64>,
    /// Shape of all of the flash: if units can fail, spare units follow all others.
    pub flash: Geometry,
    /// Faults of the flash, if it has any.
    pub faults: Option<Faults>,
    /// Whether time is simulated.
    pub is_timed: bool,
    /// Durations of the flash operations.
    pub timing: Timing,
    /// Rules for what the flash does in parallel, and in which order.
    pub schedule: Schedule,
    /// When the cleaner works, and to which units it copies valid pages.
    pub cleaning: Cleaning,
    /// Erase units in a reclaim unit, by stream of the placement. Empty if each erase unit is a
    /// reclaim unit.
    pub reclaim_units: Vec<u32>,
    /// Units that hold data: T in the spare factor. The rest is the reserve.
    pub units_in_service: u32,
    /// Units added to those that the spare factor gives, because the drive could not clean without
    /// them.
    pub units_added: u32,
    /// Translation pages on the flash; they occupy part of the spare space.
    pub translation_pages: u32,
    /// Units kept to replace failed blocks; the simulated drive never uses them.
    pub kept_units: u32,
}

/// Returns the units, in addition to the open ones, that cannot be cleaned yet.
fn held_units(log_pages: u32, pages_per_unit: u32, reclaim_units: &[u32]) -> u32 {
    // The cleaner takes no unit of the host's log before the log is remapped. Two more of its units
    // may be partly filled.
    let log = if log_pages > 0 { log_pages.div_ceil(pages_per_unit) + 2 } else { 0 };
    // A reclaim unit is not cleaned before it is full, even if all its pages are invalid.
    reclaim_units.iter().fold(log, |sum, size| sum.saturating_add(size - 1))
}

impl Plan {
    /// Decides the size of a drive for a workload of `span_bytes`, unless the config does.
    ///
    /// # Errors
    /// A drive that is too small for the workload, or too large for its addresses.
    pub fn new(config: &Config, span_bytes: u64) -> Result<Self, ConfigError> {
        let demands = config.map_demands()?;
        let on_flash = demands.on_flash;
        let given = config.shape(&demands);
        let geometry = Geometry::new(given)?;
        let levelled = config.cleaning.wear_leveling == WearLeveling::Static;
        let log_pages = config.log_slots();
        let placements = config.placement_config(geometry, demands.keeps_ages);
        let streams = streams_of(config, &placements)?;
        let frontiers =
            PageConfig::frontiers(streams, on_flash, levelled, log_pages, config.slc().is_some());
        let logs = config.logs_least();
        let reclaim_units = config.reclaim_units(streams, &placements);
        let held = held_units(log_pages, geometry.pages_per_unit(), &reclaim_units);
        let extra_units = logs.unwrap_or(frontiers.into()).saturating_add(held);
        let size = Size::decide(config, span_bytes, extra_units, on_flash.then_some(geometry))?;
        let cleaning = match logs {
            Some(_) => Cleaning::new(MERGE_RESERVE + 1),
            None => {
                let map = map_units(config, &geometry, &size, &demands);
                let padded = geometry.units_padded(config.largest_reclaim_unit(), streams);
                cleaning(config, &geometry, frontiers, map.saturating_add(padded))?
            }
        };
        let cache = cleaning.slc.map_or(0, |slc| slc.static_units);
        let reserve = (cleaning.low_water.max(cleaning.high_water) - 1).saturating_add(cache);
        let cleaning = with_shares(config, cleaning, &geometry, frontiers, &size)?;
        let shape = Shape {
            units: u32::try_from(size.in_service + u64::from(reserve)).unwrap_or(u32::MAX),
            logical_pages: size.logical_pages + log_pages,
            ..given
        };
        let geometry = Geometry::new(shape)?;
        let medium = match config.ftl.journal {
            true => Layout::new(geometry).medium()?,
            false => geometry,
        };
        let faults = config.faults_of(medium.units());
        let spares = faults.map_or(0, |faults| faults.spares);
        let all = Shape { units: medium.units().saturating_add(spares), ..*medium.shape() };
        let flash = Geometry::new(all)?;
        Ok(Self {
            geometry,
            medium,
            flash,
            faults,
            journal: config.ftl.journal.then_some(config.ftl.checkpoint_every.into()),
            log_pages,
            timing: timing(config),
            is_timed: config.timing == config::Timing::Scheduled,
            schedule: config.flash_schedule(),
            cleaning,
            reclaim_units,
            units_in_service: size.in_service as u32,
            units_added: size.added as u32,
            translation_pages: if on_flash { geometry.translation_pages() } else { 0 },
            kept_units: (config.capacity.reserve * f64::from(flash.units())).ceil() as u32,
        })
    }

    /// Pages that the user can address, without the host's log.
    pub fn user_pages(&self) -> u32 {
        self.geometry.logical_pages() - self.log_pages
    }

    /// Bytes that the user can address.
    pub fn logical_bytes(&self) -> u64 {
        u64::from(self.user_pages()) << self.geometry.log2_page_bytes()
    }

    /// Returns the bytes of `units` erase units, parity included.
    pub fn bytes_of_units(&self, units: u32) -> u64 {
        let pages = u64::from(units) * u64::from(self.geometry.pages_with_parity());
        pages << self.geometry.log2_page_bytes()
    }

    /// Actual spare factor of the drive: (T-U)/T.
    pub fn spare_factor(&self) -> f64 {
        let service = f64::from(self.units_in_service) * f64::from(self.geometry.pages_per_unit());
        (service - f64::from(self.user_pages())) / service
    }
}

fn timing(config: &Config) -> Timing {
    let flash = &config.flash;
    Timing {
        read_ns: flash.read.mean(),
        program_ns: flash.program.mean(),
        erase_ns: flash.erase.0,
        transfer_ns: flash.bus.transfer_ns(config.unit_bytes()),
        command_ns: flash.command.0,
    }
}

/// Refuses a config whose drive cannot recover from a loss of power: policies that need future
/// requests of the host, and flash with faults, as recovery finds no table of bad blocks.
pub(crate) fn refuse_unrecoverable(config: &Config) -> Result<(), ConfigError> {
    if let Some((key, name)) = config.offline_policies().next() {
        return Err(ConfigError::new(format!(
            "{key} = \"{name}\": expected another, as a drive that recovers from a loss of power \
             cannot look ahead in the trace"
        )));
    }
    if config.faults.any() {
        let text = "[faults]: expected none, as recovery has no table of bad blocks on flash";
        return Err(ConfigError::new(text));
    }
    Ok(())
}

/// Mapping of a page-mapped drive, or scheme of a drive with log blocks.
enum Scheme {
    PageMapped(Boxed),
    BlockMapped(Box<dyn LogBlocks + Send>),
}

impl Scheme {
    /// Makes the mapping or log-block scheme that the config names.
    fn new(config: &Config, plan: &Plan, seed: u64) -> Result<Self, ConfigError> {
        Ok(match config.logs_least() {
            Some(_) => Self::BlockMapped(log_ftl::scheme(config, plan, seed)?),
            None => Self::PageMapped(page_mapped::mapping(config, plan)?),
        })
    }
}

/// Builds the drive of a plan, erased and formatted. With `verify` the drive asserts every rule of
/// NAND, compares every read with the data last written, and compares the map on flash with the
/// true map. `seed` seeds the random choices of victim policies.
///
/// # Errors
/// An unknown policy name.
pub fn build(
    config: &Config,
    plan: &Plan,
    seed: u64,
    verify: bool,
) -> Result<Box<dyn Paced>, ConfigError> {
    build_with(config, plan, seed, verify, &mut ())
}

/// Builds a drive like [`build`], with external policies.
///
/// # Errors
/// A name that is neither a built-in policy nor one of the external policies.
pub fn build_guided(
    config: &Config,
    plan: &Plan,
    seed: u64,
    verify: bool,
    mut policies: Box<dyn ExternalPolicies>,
) -> Result<Box<dyn Paced>, ConfigError> {
    let device = build_with(config, plan, seed, verify, policies.as_mut())?;
    Ok(Box::new(Guided { device, policies, begun: 0 }))
}

fn build_with(
    config: &Config,
    plan: &Plan,
    seed: u64,
    verify: bool,
    policies: &mut dyn ExternalPolicies,
) -> Result<Box<dyn Paced>, ConfigError> {
    let drive = Simulated { config, plan, seed, verify, policies };
    let is_verified = verify || plan.faults.is_some();
    match (config.timing, is_verified) {
        (config::Timing::Scheduled, true) => drive.on::<Verified<Timed<Counted>>>(),
        (config::Timing::Scheduled, false) => drive.on::<Timed<Counted>>(),
        (config::Timing::None, true) => drive.on::<Verified<Counted>>(),
        (config::Timing::None, false) => drive.counted(),
    }
}

/// Maker of a simulated drive on new flash.
struct Simulated<'a> {
    config: &'a Config,
    plan: &'a Plan,
    seed: u64,
    /// Whether to compare the map on flash with the true map.
    verify: bool,
    policies: &'a mut dyn ExternalPolicies,
}

impl Simulated<'_> {
    /// Builds the drive without a clock. The ideal mapping, whose look-ups cost almost nothing, has
    /// an engine compiled for it alone; all other mappings share an engine with virtual calls.
    fn counted(self) -> Result<Box<dyn Paced>, ConfigError> {
        let Self { config, plan, .. } = self;
        if config.mapping.scheme == "ideal" && config.logs_least().is_none() {
            let mapping = Ideal::new(&config.map_config(plan.geometry));
            return self.page_mapped::<Counted, _>(mapping);
        }
        self.on::<Counted>()
    }

    fn on<F: NewFlash>(self) -> Result<Box<dyn Paced>, ConfigError> {
        let Self { config, plan, seed, .. } = self;
        if let Some(mapping) = self.policies.mapping(&config.map_config(plan.geometry)) {
            return self.page_mapped::<F, _>(mapping);
        }
        match Scheme::new(config, plan, seed)? {
            Scheme::PageMapped(mapping) => self.page_mapped::<F, _>(mapping),
            Scheme::BlockMapped(scheme) => self.block_mapped::<F>(scheme),
        }
    }

    fn page_mapped<F, M>(self, mapping: M) -> Result<Box<dyn Paced>, ConfigError>
    where
        F: NewFlash,
        M: Mapping + Send + 'static,
    {
        let Self { config, plan, seed, verify, policies } = self;
        let page = page_config(config, plan, seed, verify, policies)?;
        let flash = F::erased(plan, seed, false);
        let Ok(ftl) = PageFtl::with_log(flash, mapping, page, plan.log_pages);
        Ok(HostSide::with(config, plan, policies)?.before_host(ftl, F::data(plan.user_pages())))
    }

    fn block_mapped<F: NewFlash>(
        self,
        scheme: Box<dyn LogBlocks + Send>,
    ) -> Result<Box<dyn Paced>, ConfigError> {
        let Self { config, plan, seed, policies, .. } = self;
        let flash = F::erased(plan, seed, true);
        let Ok(ftl) = LogFtl::new(flash, scheme, log_ftl::engine(config, plan));
        let data = F::data(plan.geometry.logical_pages());
        Ok(HostSide::with(config, plan, policies)?.before(ftl, data))
    }
}

/// Formats a page-mapped layer on new flash, or recovers one from used flash.
fn start_page_ftl<N: Tagged<Error = Infallible>>(
    (flash, is_new): (N, bool),
    mapping: Boxed,
    page: PageConfig,
    plan: &Plan,
) -> (PageFtl<N, Boxed>, Mount) {
    let Ok(started) = match is_new {
        true => PageFtl::with_log(flash, mapping, page, plan.log_pages)
            .map(|ftl| (ftl, Mount::default())),
        false => PageFtl::recover(flash, mapping, page, plan.log_pages),
    };
    started
}

/// Formats a layer with log blocks on new flash, or recovers one from used flash.
fn start_log_ftl<N: Tagged<Error = Infallible>>(
    (flash, is_new): (N, bool),
    scheme: Box<dyn LogBlocks + Send>,
    engine: LogFtlConfig,
) -> (LogFtl<N>, Mount) {
    let Ok(started) = match is_new {
        true => LogFtl::new(flash, scheme, engine).map(|ftl| (ftl, Mount::default())),
        false => LogFtl::recover(flash, scheme, engine),
    };
    started
}
