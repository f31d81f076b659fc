//! The layers between the host and the translation layer: queues and a write buffer.

use std::convert::Infallible;
use std::num::NonZeroU64;

use floatgate_ftl::device::{Dispatching, HostData, HostLink, Paced, ShrdDevice, Ssd, WriteBuffer};
use floatgate_ftl::ftl::{Ftl, Remap};
use floatgate_ftl::geometry::Geometry;
use floatgate_ftl::host::{HostConfig, Shrd, ShrdConfig};
use floatgate_ftl::nand::Nand;
use floatgate_ftl::queue::{Arbiter, Dispatch, Queue};

use super::cut::{Cuttable, Ledger, Medium};
use super::{ExternalPolicies, Plan, buffer};
use crate::config::{Config, ConfigError};

/// Queues and write buffer of a drive, with its host link and its SHRD settings.
pub(super) struct HostSide {
    geometry: Geometry,
    queue: Queue,
    arbiter: Option<Arbiter>,
    buffer: Option<WriteBuffer>,
    link: HostLink,
    shrd: Option<(ShrdConfig, Dispatching)>,
}

impl HostSide {
    pub(super) fn new(config: &Config, plan: &Plan) -> Result<Self, ConfigError> {
        Self::with(config, plan, &mut ())
    }

    /// Makes the host side of a planned drive with external policies.
    pub(super) fn with(
        config: &Config,
        plan: &Plan,
        policies: &mut dyn ExternalPolicies,
    ) -> Result<Self, ConfigError> {
        let (arrivals, dispatch) = (config.queue.arrivals.0, config.queue.dispatch.0);
        let (depth, queues) = (config.queue.depth as usize, config.queue.queues as usize);
        let straight = queues == 1 && dispatch == Dispatch::Parallel;
        let arbiter = || Arbiter::new(queues, depth, arrivals, dispatch, plan.logical_bytes());
        Ok(Self {
            geometry: plan.geometry,
            queue: Queue::new(depth, arrivals),
            arbiter: (!straight).then(arbiter),
            buffer: buffer::build(config, &plan.geometry, policies)?,
            link: HostLink::new(config.host.command.0, config.host.interrupt.0)
                .over(config.link.bandwidth.0.map(NonZeroU64::get), config.link.latency.0),
            shrd: (plan.log_pages > 0)
                .then(|| (shrd_config(config, plan), dispatching(config, plan))),
        })
    }

    /// Puts the drive behind this host side and, if the plan has a host log, behind SHRD, which
    /// asks the drive to remap pages.
    pub(super) fn before_host<F, D>(self, ftl: F, data: D) -> Box<dyn Paced>
    where
        F: Remap<Medium: Nand<Error = Infallible>> + Send + 'static,
        D: HostData<F::Medium> + Send + 'static,
    {
        let shrd = self.shrd;
        let drive = self.drive(ftl, data);
        match shrd {
            Some((shrd, sent)) => Box::new(ShrdDevice::new(drive, Shrd::new(shrd), sent)),
            None => Box::new(drive),
        }
    }

    /// Takes the settings of SHRD, if the drive has it: the first call returns them, later calls
    /// none.
    pub(super) fn take_shrd(&mut self) -> Option<(ShrdConfig, Dispatching)> {
        self.shrd.take()
    }

    /// Same as [`HostSide::before_host`], for a drive whose power can be cut.
    pub(super) fn before_cuttable_host<F>(self, ftl: F, ledger: Ledger) -> Box<dyn Cuttable>
    where
        F: Remap<Medium = Medium> + Send + 'static,
    {
        let shrd = self.shrd;
        let drive = self.drive(ftl, ledger);
        match shrd {
            Some((shrd, sent)) => Box::new(ShrdDevice::new(drive, Shrd::new(shrd), sent)),
            None => Box::new(drive),
        }
    }

    /// Puts the drive behind this host side.
    pub(super) fn before<F, D>(self, ftl: F, data: D) -> Box<dyn Paced>
    where
        F: Ftl<Medium: Nand<Error = Infallible>> + Send + 'static,
        D: HostData<F::Medium> + Send + 'static,
    {
        Box::new(self.drive(ftl, data))
    }

    /// Builds the drive with its queues and buffer.
    pub(super) fn drive<F, D>(self, ftl: F, data: D) -> Ssd<F, D>
    where
        F: Ftl<Medium: Nand<Error = Infallible>>,
        D: HostData<F::Medium>,
    {
        let ssd = Ssd::new(ftl, data, self.queue, &self.geometry);
        ssd.with_arbiter(self.arbiter).with_buffer(self.buffer).with_link(self.link)
    }
}

/// Returns the settings of SHRD for the host log of a drive.
fn shrd_config(config: &Config, plan: &Plan) -> ShrdConfig {
    ShrdConfig::from(&host_config(config, plan))
}

fn host_config(config: &Config, plan: &Plan) -> HostConfig {
    config.host_config(plan.geometry.log2_page_bytes(), plan.user_pages(), plan.log_pages)
}

fn dispatching(config: &Config, plan: &Plan) -> Dispatching {
    let given = host_config(config, plan).shrd;
    Dispatching {
        commands: given.commands as usize,
        block_during_remap: given.block_during_remap,
        idle_after_ns: given.idle_after.map(|time| time.0),
        low_packing: (given.low_packing as usize, given.low_packing_retries),
    }
}
