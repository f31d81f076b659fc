//! What stands before the translation layer: queues and a write buffer.

use std::convert::Infallible;

use floatgate_ftl::device::{Device, HostData, Ssd, WriteBuffer};
use floatgate_ftl::ftl::Ftl;
use floatgate_ftl::geometry::Geometry;
use floatgate_ftl::nand::Nand;
use floatgate_ftl::queue::{Arbiter, Arrivals as FtlArrivals, Dispatch as FtlDispatch, Queue};

use super::{Plan, buffer};
use crate::config::{Arrivals, Config, ConfigError, Dispatch};

/// Queues and write buffer of a drive.
pub(super) struct Front {
    geometry: Geometry,
    queue: Queue,
    arbiter: Option<Arbiter>,
    buffer: Option<WriteBuffer>,
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
        })
    }

    /// The drive behind it.
    pub(super) fn before<F, D>(self, ftl: F, data: D) -> Box<dyn Device>
    where
        F: Ftl<Medium: Nand<Error = Infallible>> + Send + 'static,
        D: HostData<F::Medium> + Send + 'static,
    {
        let ssd = Ssd::new(ftl, data, self.queue, &self.geometry);
        Box::new(ssd.with_arbiter(self.arbiter).with_buffer(self.buffer))
    }
}
