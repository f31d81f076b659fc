//! What stands before the translation layer: queues and a write buffer.

use std::convert::Infallible;

use floatgate_ftl::device::{Device, Dispatching, HostData, Link, Sequenced, Ssd, WriteBuffer};
use floatgate_ftl::ftl::{Ftl, Remap};
use floatgate_ftl::geometry::Geometry;
use floatgate_ftl::host::{Shrd, ShrdConfig};
use floatgate_ftl::nand::Nand;
use floatgate_ftl::queue::{Arbiter, Arrivals as FtlArrivals, Dispatch as FtlDispatch, Queue};

use super::cut::{Cuttable, Ledger, Medium};
use super::{Plan, buffer};
use crate::config::{Arrivals, Config, ConfigError, Dispatch};

/// Queues and write buffer of a drive.
pub(super) struct Front {
    geometry: Geometry,
    queue: Queue,
    arbiter: Option<Arbiter>,
    buffer: Option<WriteBuffer>,
    link: Link,
    shrd: Option<(ShrdConfig, Dispatching)>,
}

impl Front {
    /// The front of a planned drive.
    pub(super) fn new(config: &Config, plan: &Plan) -> Result<Self, ConfigError> {
        let arrivals = match config.queue.arrivals {
            Arrivals::Open => FtlArrivals::Open,
            Arrivals::Closed => FtlArrivals::Closed,
            Arrivals::Immediate => FtlArrivals::Immediate,
        };
        let dispatch = match config.queue.dispatch {
            Dispatch::Parallel => FtlDispatch::Parallel,
            Dispatch::Serial => FtlDispatch::Serial,
        };
        let (depth, queues) = (config.queue.depth as usize, config.queue.queues as usize);
        let straight = queues == 1 && dispatch == FtlDispatch::Parallel;
        let arbiter = || Arbiter::new(queues, depth, arrivals, dispatch, plan.logical_bytes());
        Ok(Self {
            geometry: plan.geometry,
            queue: Queue::new(depth, arrivals),
            arbiter: (!straight).then(arbiter),
            buffer: buffer::build(config, &plan.geometry)?,
            link: Link::new(config.host.command.0, config.host.interrupt.0),
            shrd: (plan.log_pages > 0).then(|| (shrd_config(config, plan), dispatching(config))),
        })
    }

    /// The drive behind it and, if there is one, behind a host layer that has pages remapped.
    pub(super) fn before_host<F, D>(self, ftl: F, data: D) -> Box<dyn Device>
    where
        F: Remap<Medium: Nand<Error = Infallible>> + Send + 'static,
        D: HostData<F::Medium> + Send + 'static,
    {
        let shrd = self.shrd;
        let drive = self.drive(ftl, data);
        match shrd {
            Some((shrd, sent)) => Box::new(Sequenced::new(drive, Shrd::new(shrd), sent)),
            None => Box::new(drive),
        }
    }

    /// The same for a drive whose power can be cut.
    pub(super) fn before_cuttable_host<F>(self, ftl: F, ledger: Ledger) -> Box<dyn Cuttable>
    where
        F: Remap<Medium = Medium> + Send + 'static,
    {
        let shrd = self.shrd;
        let drive = self.drive(ftl, ledger);
        match shrd {
            Some((shrd, sent)) => Box::new(Sequenced::new(drive, Shrd::new(shrd), sent)),
            None => Box::new(drive),
        }
    }

    /// The drive behind it.
    pub(super) fn before<F, D>(self, ftl: F, data: D) -> Box<dyn Device>
    where
        F: Ftl<Medium: Nand<Error = Infallible>> + Send + 'static,
        D: HostData<F::Medium> + Send + 'static,
    {
        Box::new(self.drive(ftl, data))
    }

    /// The drive with its queues and buffer.
    pub(super) fn drive<F, D>(self, ftl: F, data: D) -> Ssd<F, D>
    where
        F: Ftl<Medium: Nand<Error = Infallible>>,
        D: HostData<F::Medium>,
    {
        let ssd = Ssd::new(ftl, data, self.queue, &self.geometry);
        ssd.with_arbiter(self.arbiter).with_buffer(self.buffer).with_link(self.link)
    }
}

/// The parameters of SHRD, shares as slots.
pub fn shrd_config(config: &Config, plan: &Plan) -> ShrdConfig {
    let given = &config.shrd;
    let slots_of = |share: f64| (share * f64::from(plan.log_pages)).round() as u32;
    let log2_page = plan.geometry.log2_page_bytes();
    let twrite = u32::try_from(given.twrite.0 >> log2_page).unwrap_or(u32::MAX);
    ShrdConfig {
        log2_page,
        user_pages: plan.user_pages(),
        slots: plan.log_pages,
        threshold: config.host.threshold.0,
        exclude_below: given.exclude_below.0,
        twrite_pages: given.twrite_entries.min(twrite).max(1),
        contiguous: given.contiguous,
        remap_threshold: slots_of(given.remap_threshold),
        remap_size: slots_of(given.remap_size).max(1),
        remap_entries: given.remap_entries,
        parity_align: given.parity_align,
        lazy_stale: given.lazy_stale,
        join_reads: given.join_reads,
    }
}

fn dispatching(config: &Config) -> Dispatching {
    let given = &config.shrd;
    Dispatching {
        commands: given.commands as usize,
        block_during_remap: given.block_during_remap,
        idle_after_ns: given.idle_after.map(|time| time.0),
        low_packing: (given.low_packing as usize, given.low_packing_retries),
    }
}
