//! Write buffers in front of drives of any kind.

use core::convert::Infallible;

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::buffer::{Buffer, BufferConfig, parts};
use floatgate_ftl::device::{Acknowledge, Device, HostData, HostLink, Ssd, WriteBuffer, pages};
use floatgate_ftl::ftl::Ftl;
use floatgate_ftl::future::{FutureKnowledge, NextUseBuilder};
use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::log_block::LOG_BLOCKS;
use floatgate_ftl::nand::Nand;
use floatgate_ftl::queue::{Arbiter, Arrivals, Dispatch};
use floatgate_ftl::request::{Op, Request};

use super::log::Log;
use super::log_rig::LogRig;
use super::{Rig, TestNand};

/// Buffer that a test puts in front of a drive.
#[derive(Clone, Copy, Debug)]
pub struct BufferRig {
    pub scheme: &'static str,
    pub acknowledge: Acknowledge,
    pub block_pages: u32,
    pub capacity_pages: u32,
    /// Whether commands begin one by one, so that the buffer sees waiting commands.
    pub serial: bool,
}

impl BufferRig {
    /// Returns a buffer of a few blocks.
    pub fn new(scheme: &'static str, acknowledge: Acknowledge) -> Self {
        Self { scheme, acknowledge, block_pages: 8, capacity_pages: 40, serial: true }
    }

    fn buffer(&self, geometry: &Geometry) -> Buffer {
        let Self { block_pages, capacity_pages, .. } = *self;
        let config = BufferConfig::new(geometry.logical_pages(), block_pages, capacity_pages);
        Buffer::new(self.scheme, &config).unwrap()
    }

    /// Passes the future requests to an offline bound.
    pub fn next_uses(&self, shape: Shape, requests: &[Request], drive: &mut dyn Device) {
        if !Buffer::needs_future(self.scheme) {
            return;
        }
        let mut telling = NextUseBuilder::new(shape.logical_pages.div_ceil(self.block_pages));
        for request in requests.iter().filter(|r| matches!(r.op, Op::Read | Op::Write)) {
            let pages = pages(request, shape.page_bytes.ilog2());
            let (first, count) = (Lpn::new(pages.start as u32), (pages.end - pages.start) as u32);
            for (at, _) in parts(first, count, self.block_pages) {
                telling.push(Lpn::new(at.get() / self.block_pages)).unwrap();
            }
        }
        let blocks = Some(telling.finish());
        drive.set_future(FutureKnowledge { blocks, ..FutureKnowledge::default() });
    }
}

/// Host side of a drive, except the buffer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Front {
    /// Number of queues, and the rule that begins commands. `None`: one queue that begins them at
    /// once.
    pub queues: Option<(usize, Dispatch)>,
    pub link: HostLink,
}

impl Front {
    /// Puts this host side, and the buffer if there is one, in front of a drive.
    pub fn before<F, D>(
        &self,
        ssd: Ssd<F, D>,
        buffer: Option<BufferRig>,
        (geometry, depth, arrivals): (&Geometry, usize, Arrivals),
    ) -> Ssd<F, D>
    where
        F: Ftl<Medium: Nand<Error = Infallible>>,
        D: HostData<F::Medium>,
    {
        let bytes = u64::from(geometry.logical_pages()) << geometry.log2_page_bytes();
        let serial = buffer.filter(|rig| rig.serial).map(|_| (1, Dispatch::Serial));
        let arbiter = self
            .queues
            .or(serial)
            .map(|(queues, dispatch)| Arbiter::new(queues, depth, arrivals, dispatch, bytes));
        let buffer = buffer.map(|rig| WriteBuffer::new(rig.buffer(geometry), rig.acknowledge, 3));
        ssd.with_arbiter(arbiter).with_buffer(buffer).with_link(self.link)
    }
}

/// Translation layers behind a buffer.
pub const LAYERS: [&str; 4] = ["ideal", "dftl", "bast", "fast"];

/// A drive with a buffer, whose medium checks every operation.
pub struct Layered {
    pub drive: Box<dyn Device>,
    /// Log of its medium.
    pub log: Log,
    pub geometry: Geometry,
    /// Whether its units are fully programmed when they are erased.
    pub full_units: bool,
}

impl Layered {
    pub fn new<D>(layer: &'static str, shape: Shape, rig: BufferRig, data: D) -> Self
    where
        D: HostData<TestNand> + Send + 'static,
    {
        let full_units = !LOG_BLOCKS.iter().any(|row| row.name == layer);
        if full_units {
            let rig = Rig { buffer: Some(rig), ..Rig::new(shape, layer, "greedy") }.spare(2);
            let (nand, log) = rig.medium();
            let (drive, geometry) = (rig.drive(nand, data, true), rig.geometry());
            return Self { drive, log, geometry, full_units };
        }
        let rig = LogRig { buffer: Some(rig), ..LogRig::new(shape, layer, 4) };
        let (nand, log) = rig.medium();
        Self { drive: rig.drive(nand, data), log, geometry: rig.geometry(), full_units }
    }
}
