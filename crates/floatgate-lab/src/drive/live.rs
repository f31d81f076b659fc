//! A drive that lives: the same translation layers, queues and buffers, on the flash of an image.
//!
//! The image says which drive it is: its header holds the config, the size and the seed. Nothing of
//! the map is kept outside the flash, so that opening an image is finding the drive again after a
//! loss of power; a drive that was shut down is only found faster.
//!
//! What was acknowledged before a flush is on the disk when the flush returns. A page that cannot
//! be read is an I/O error of the requests that need it; a file that cannot be written stops the
//! drive.

mod bytes;
mod error;

pub use error::{LiveError, OpenError};

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use floatgate_ftl::device::{Acknowledge, Counters, Device, Ssd};
use floatgate_ftl::ftl::Ftl;
use floatgate_ftl::log_block::LogBlocks;
use floatgate_ftl::log_ftl::LogFtl;
use floatgate_ftl::mapping::Mapping;
use floatgate_ftl::nand::Chain;
use floatgate_ftl::page_ftl::PageFtl;
use floatgate_ftl::recovery::Mount;
use floatgate_ftl::request::{Completion, Op, Request};
use serde::{Deserialize, Serialize};

use super::{HostSide, Make, Plan, log_ftl, make, page_config, refuse_unrecoverable};
use crate::config::{Config, ConfigError, expect};
use crate::stored::Stored;
use bytes::HostBytes;

/// A drive whose requests have bytes.
pub trait Live: Send {
    /// Bytes that the host can address.
    fn bytes(&self) -> u64;

    /// What finding the drive has cost.
    fn mount(&self) -> Mount;

    /// Reads bytes; what was never written, or trimmed, is zeros.
    ///
    /// # Errors
    /// A page that cannot be read, a request beyond the drive, or a failed file.
    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), LiveError>;

    /// Writes bytes.
    ///
    /// # Errors
    /// As [`Live::read`]: what a write leaves of a page must be read.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), LiveError>;

    /// Forgets the pages that lie within these bytes: they read as zeros.
    ///
    /// # Errors
    /// A request beyond the drive, or a failed file.
    fn trim(&mut self, offset: u64, length: u64) -> Result<(), LiveError>;

    /// Makes all that was acknowledged durable.
    ///
    /// # Errors
    /// A failed file.
    fn flush(&mut self) -> Result<(), LiveError>;

    /// Flushes, and writes down all that makes the next start quick.
    ///
    /// # Errors
    /// A failed file.
    fn shut_down(&mut self) -> Result<(), LiveError>;

    /// What has been counted since the drive was found.
    fn counters(&self) -> Counters;

    /// The flash.
    fn medium(&self) -> &Stored;

    /// Recomputes what can be recomputed, and asserts that it agrees.
    fn check(&self);
}

/// What the header of an image says of its drive.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Bytes that the host can address.
    pub bytes: u64,
    /// Seed of what policies draw.
    pub seed: u64,
    /// The config, resolved.
    pub config: Config,
}

impl Description {
    /// Reads what an image says, and plans that drive.
    ///
    /// # Errors
    /// A text that describes no drive, or another than the one that the image has room for.
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
        let plain =
            "\"plain\", as a live drive gets its commands from a host that knows of no other";
        let host = format!("\"{}\"", config.host.scheme);
        expect(!config.host.keeps_log(), "host.scheme", &host, plain.into())?;
        refuse_unrecoverable(config)?;
        if *bytes == 0 {
            return Err(ConfigError::new("a drive of 0 bytes: expected at least 1"));
        }
        Plan::new(config, *bytes)
    }
}

/// Makes an image with a formatted drive of as many bytes, erased.
///
/// # Errors
/// A config that makes no live drive, a file that exists, or one that cannot be written; then there
/// is no file that was not there before.
pub fn create(path: &Path, config: &Config, bytes: u64, seed: u64) -> Result<(), OpenError> {
    let mut config = config.clone();
    config.ftl.journal = true;
    let description = Description { bytes, seed, config };
    let plan = description.plan()?;
    let text = toml::to_string(&description)
        .map_err(|error| ConfigError::new(format!("the config cannot be written: {error}")))?;
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
        // What failed is told; that the rest of it is left, if it is, comes second.
        let _ = fs::remove_file(path);
    }
    formatted
}

/// Finds the drive of an image, for this process alone.
///
/// # Errors
/// A file that is in use or no image, or that holds no drive that can be found.
pub fn open(path: &Path) -> Result<Box<dyn Live>, OpenError> {
    let stored = Stored::open(path)?;
    let (description, plan) = Description::read(path, &stored)?;
    let maker = Maker { description: &description, plan: &plan, stored, is_new: false };
    // Recovery relies on what a drive writes. Where a synced record was damaged, or somebody has
    // made the file up, it may find a drive that is at odds with itself, which asserts so: here,
    // not later, and not so that the process ends. What was built until then is dropped.
    let found = catch_unwind(AssertUnwindSafe(|| {
        let drive = maker.make()?;
        drive.check();
        Ok::<_, ConfigError>(drive)
    }));
    let drive = found.map_err(|panic| {
        let words = panic.downcast_ref::<&str>().map(ToString::to_string);
        let text = words.or_else(|| panic.downcast_ref::<String>().cloned());
        let text = text.unwrap_or_else(|| "it contradicts itself".into());
        OpenError::Unusable { path: path.to_path_buf(), text }
    })??;
    match drive.medium().fault() {
        Some(error) => Err(OpenError::fault(path, error)),
        None => Ok(drive),
    }
}

/// A drive on an image that is erased, or the one that is found there.
struct Maker<'a> {
    description: &'a Description,
    plan: &'a Plan,
    stored: Stored,
    is_new: bool,
}

impl Maker<'_> {
    fn make(self) -> Result<Box<dyn Live>, ConfigError> {
        let Self { description: Description { config, seed, .. }, plan, .. } = self;
        make(self, config, plan, *seed)
    }
}

impl Make for Maker<'_> {
    type Made = Box<dyn Live>;

    fn page_mapped<M: Mapping + Send + 'static>(
        self,
        mapping: M,
    ) -> Result<Self::Made, ConfigError> {
        let Self { description, plan, stored, is_new } = self;
        let page = page_config::<M>(&description.config, plan, description.seed, false)?;
        let (ftl, mount) = if is_new {
            let Ok(ftl) = PageFtl::with_log(stored, mapping, page, plan.log_pages);
            (ftl, Mount::default())
        } else {
            let Ok(found) = PageFtl::recover(stored, mapping, page, plan.log_pages);
            found
        };
        finish(description, plan, ftl, mount)
    }

    fn block_mapped<L: LogBlocks + Send + 'static>(
        self,
        scheme: L,
    ) -> Result<Self::Made, ConfigError> {
        let Self { description, plan, stored, is_new } = self;
        let engine = log_ftl::engine(&description.config, plan);
        let (ftl, mount) = if is_new {
            let Ok(ftl) = LogFtl::new(stored, scheme, engine);
            (ftl, Mount::default())
        } else {
            let Ok(found) = LogFtl::recover(stored, scheme, engine);
            found
        };
        finish(description, plan, ftl, mount)
    }
}

/// The drive in front of a translation layer.
fn finish<F>(
    description: &Description,
    plan: &Plan,
    ftl: F,
    mount: Mount,
) -> Result<Box<dyn Live>, ConfigError>
where
    F: Ftl<Medium = Stored> + Send + 'static,
{
    let buffer = &description.config.buffer;
    let keeps = buffer.exists() && buffer.acknowledge.0 == Acknowledge::WriteThrough;
    let data = HostBytes::new(plan.geometry.shape().page_bytes, keeps);
    let ssd = HostSide::new(&description.config, plan)?.drive(ftl, data);
    let done = Vec::with_capacity(1);
    Ok(Box::new(Drive { ssd, bytes: description.bytes, mount, done }))
}

/// A drive whose requests have bytes, behind one translation layer.
struct Drive<F> {
    ssd: Ssd<F, HostBytes>,
    bytes: u64,
    mount: Mount,
    done: Vec<Completion>,
}

impl<F: Ftl<Medium = Stored> + Send> Drive<F> {
    /// Checks a request before anything of it is done.
    fn admit(&self, offset: u64, length: u64) -> Result<(), LiveError> {
        self.go_on()?;
        LiveError::if_beyond(offset, length, self.bytes)
    }

    /// Whether the file has not failed.
    fn go_on(&self) -> Result<(), LiveError> {
        LiveError::if_stopped(self.ssd.ftl().nand().fault())
    }

    fn run(&mut self, op: Op, offset: u64, length: u64) -> Result<(), LiveError> {
        self.done.clear();
        self.ssd.run(&[Request { at_ns: 0, op, offset, length }], &mut self.done);
        self.go_on()?;
        match self.ssd.data_mut().failed() {
            true => Err(LiveError::Damaged),
            false => Ok(()),
        }
    }
}

impl<F: Ftl<Medium = Stored> + Send> Live for Drive<F> {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn mount(&self) -> Mount {
        self.mount
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), LiveError> {
        self.admit(offset, into.len() as u64)?;
        self.ssd.data_mut().begin_read(offset, into.len());
        self.run(Op::Read, offset, into.len() as u64)?;
        into.copy_from_slice(self.ssd.data_mut().answer());
        Ok(())
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), LiveError> {
        self.admit(offset, bytes.len() as u64)?;
        self.ssd.data_mut().begin_write(offset, bytes);
        self.run(Op::Write, offset, bytes.len() as u64)
    }

    fn trim(&mut self, offset: u64, length: u64) -> Result<(), LiveError> {
        self.admit(offset, length)?;
        self.ssd.data_mut().begin(offset);
        self.run(Op::Trim, offset, length)
    }

    fn flush(&mut self) -> Result<(), LiveError> {
        self.go_on()?;
        self.ssd.data_mut().begin(0);
        // A page that cannot be read is not padded with, which is no failure of the flush.
        match self.run(Op::Flush, 0, 0) {
            Err(error @ LiveError::Stopped { .. }) => return Err(error),
            _ => self.ssd.ftl_mut().nand_mut().sync(),
        }
        self.go_on()
    }

    fn shut_down(&mut self) -> Result<(), LiveError> {
        self.flush()?;
        let Ok(()) = self.ssd.ftl_mut().shut_down(&mut Chain::default());
        self.ssd.ftl_mut().nand_mut().sync();
        self.go_on()
    }

    fn counters(&self) -> Counters {
        self.ssd.counters()
    }

    fn medium(&self) -> &Stored {
        self.ssd.ftl().nand()
    }

    fn check(&self) {
        self.ssd.check();
    }
}
