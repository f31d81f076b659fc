//! Drives whose power can be cut at any moment, and drives that recover from the flash afterwards.

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::device::{Device, HostData, ShrdDevice, Ssd};
use floatgate_ftl::ftl::{Ftl, Remap};
use floatgate_ftl::log_block::LogBlocks;
use floatgate_ftl::mapping::Boxed;
use floatgate_ftl::nand::{Chain, Checked, Counted, PowerCut, Stamped};
use floatgate_ftl::recovery::Mount;

use super::{HostSide, Plan, Scheme, log_ftl, page_config, start_log_ftl, start_page_ftl};
use crate::config::{Config, ConfigError};

/// Flash that checks the rules of NAND and stores a version per page.
pub type Flash = Stamped<Checked<Counted>>;
/// Flash whose power can be cut.
pub type Medium = PowerCut<Flash>;

/// The host's record of its writes: the version last written to each page, and the versions that
/// each page may have after a loss of power.
#[derive(Clone, Debug)]
pub struct Ledger {
    latest: Vec<Option<u64>>,
    possible: Vec<Vec<Option<u64>>>,
    /// Pages with more than one possible version. After a trim, one of them is None: no data.
    open: Vec<u32>,
    versions: u64,
    /// Reads that did not return the version last written.
    pub wrong_reads: u64,
}

impl Ledger {
    /// Makes the record of an unwritten drive.
    pub fn new(pages: u32) -> Self {
        let pages = pages as usize;
        Self {
            latest: vec![None; pages],
            possible: vec![vec![None]; pages],
            open: Vec::new(),
            versions: 0,
            wrong_reads: 0,
        }
    }

    /// Marks all writes and trims so far as durable.
    pub fn flushed(&mut self) {
        for page in self.open.drain(..) {
            let page = page as usize;
            self.possible[page].clear();
            self.possible[page].push(self.latest[page]);
        }
    }

    /// Marks all writes so far as durable, but no trims.
    pub fn written(&mut self) {
        let Self { latest, possible, open, .. } = self;
        open.retain(|&page| {
            let latest = latest[page as usize];
            if latest.is_some() {
                possible[page as usize].clear();
                possible[page as usize].push(latest);
            }
            latest.is_none()
        });
    }

    /// Sets the versions that the host found after a loss of power.
    pub fn found(&mut self, pages: Vec<Option<u64>>) {
        self.possible = pages.iter().map(|&page| vec![page]).collect();
        self.latest = pages;
        self.open.clear();
    }

    /// Versions that a page may have after a loss of power.
    pub fn possible(&self, page: usize) -> &[Option<u64>] {
        &self.possible[page]
    }

    /// Number of pages.
    pub fn pages(&self) -> usize {
        self.latest.len()
    }

    fn change(&mut self, lpn: Lpn, to: Option<u64>) {
        self.latest[lpn.index()] = to;
        let possible = &mut self.possible[lpn.index()];
        if possible.len() == 1 {
            self.open.push(lpn.get());
        }
        possible.push(to);
    }
}

impl HostData<Medium> for Ledger {
    fn accept(&mut self, lpn: Lpn) {
        self.versions += 1;
        self.change(lpn, Some(self.versions));
    }

    fn load(&mut self, lpn: Lpn, nand: &mut Medium) {
        let latest = self.latest[lpn.index()].expect("only what was written is programmed");
        nand.inner_mut().set_register(latest);
    }

    fn unload(&mut self, lpn: Lpn, found: bool, nand: &Medium) {
        let read = found.then(|| nand.inner().register());
        self.wrong_reads += u64::from(read != self.latest[lpn.index()]);
    }

    fn forget(&mut self, lpn: Lpn) {
        self.change(lpn, None);
    }
}

/// A drive whose power can be cut.
pub trait Cuttable {
    /// The drive.
    fn device(&mut self) -> &mut dyn Device;

    /// The drive's flash.
    fn medium(&mut self) -> &mut Medium;

    /// The host's record of its writes.
    fn ledger(&mut self) -> &mut Ledger;

    /// Reads the version in a page from the translation layer, bypassing queue and buffer.
    fn version(&mut self, lpn: Lpn) -> Option<u64>;
}

fn version<F: Ftl<Medium = Medium>>(ftl: &mut F, lpn: Lpn) -> Option<u64> {
    let Ok(found) = ftl.read(lpn, &mut Chain::default());
    found.then(|| ftl.nand().inner().register())
}

impl<F: Ftl<Medium = Medium> + Send> Cuttable for Ssd<F, Ledger> {
    fn device(&mut self) -> &mut dyn Device {
        self
    }

    fn medium(&mut self) -> &mut Medium {
        self.ftl_mut().nand_mut()
    }

    fn ledger(&mut self) -> &mut Ledger {
        self.data_mut()
    }

    fn version(&mut self, lpn: Lpn) -> Option<u64> {
        version(self.ftl_mut(), lpn)
    }
}

impl<F: Remap<Medium = Medium> + Send> Cuttable for ShrdDevice<F, Ledger> {
    fn device(&mut self) -> &mut dyn Device {
        self
    }

    fn medium(&mut self) -> &mut Medium {
        self.drive_mut().ftl_mut().nand_mut()
    }

    fn ledger(&mut self) -> &mut Ledger {
        self.drive_mut().data_mut()
    }

    fn version(&mut self, lpn: Lpn) -> Option<u64> {
        version(self.drive_mut().ftl_mut(), lpn)
    }
}

/// A drive, and the cost of its recovery if it was recovered.
pub type Start = (Box<dyn Cuttable>, Mount);

/// Maker of a drive on erased flash, or of one that recovers from `found` when power is back.
struct Maker<'a> {
    config: &'a Config,
    plan: &'a Plan,
    seed: u64,
    found: Option<Medium>,
    ledger: Ledger,
}

impl Maker<'_> {
    fn erased(plan: &Plan, gaps: bool) -> Medium {
        let checked = Checked::new(Counted::new(&plan.medium), plan.medium);
        let checked = if gaps { checked.with_gaps() } else { checked };
        PowerCut::new(Stamped::new(checked, plan.medium.physical_pages()))
    }

    fn page_mapped(self, mapping: Boxed) -> Result<Start, ConfigError> {
        let Self { config, plan, seed, found, ledger } = self;
        let page = page_config(config, plan, seed, true, &mut ())?;
        let is_new = found.is_none();
        let flash = found.unwrap_or_else(|| Self::erased(plan, false));
        let (ftl, mount) = start_page_ftl((flash, is_new), mapping, page, plan);
        Ok((HostSide::new(config, plan)?.before_cuttable_host(ftl, ledger), mount))
    }

    fn block_mapped(self, scheme: Box<dyn LogBlocks + Send>) -> Result<Start, ConfigError> {
        let Self { config, plan, seed: _, found, ledger } = self;
        let is_new = found.is_none();
        let flash = found.unwrap_or_else(|| Self::erased(plan, true));
        let engine = log_ftl::engine(config, plan);
        let (ftl, mount) = start_log_ftl((flash, is_new), scheme, engine);
        Ok((Box::new(HostSide::new(config, plan)?.drive(ftl, ledger)), mount))
    }
}

/// Builds the drive of a plan, erased and formatted, or recovers it from `found` when power is
/// back. `ledger` is its host's record of writes.
///
/// # Errors
/// An unknown policy name.
pub fn cuttable(
    config: &Config,
    plan: &Plan,
    seed: u64,
    found: Option<Medium>,
    ledger: Ledger,
) -> Result<Start, ConfigError> {
    let maker = Maker { config, plan, seed, found, ledger };
    match Scheme::new(config, plan, seed)? {
        Scheme::PageMapped(mapping) => maker.page_mapped(mapping),
        Scheme::BlockMapped(scheme) => maker.block_mapped(scheme),
    }
}
