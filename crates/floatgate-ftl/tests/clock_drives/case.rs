//! Random drives and requests: layers, host side, flash.

use crate::clock_graphs::random::{any, schedule, timing};
use crate::common::buffer_rig::{BufferRig, Front};
use crate::common::log_rig::LogRig;
use crate::common::workload::{ANYTHING, Mix, Workload};
use crate::common::{MapPages, Rig, SERIAL};
use floatgate_ftl::buffer::{BUFFERS, Buffer};
use floatgate_ftl::device::{Acknowledge, Device, Dispatching, HostLink};
use floatgate_ftl::geometry::{Geometry, ProgramUnit, Shape};
use floatgate_ftl::host::ShrdConfig;
use floatgate_ftl::journal::Layout;
use floatgate_ftl::log_block::LOG_BLOCKS;
use floatgate_ftl::mapping::{self, MAPPINGS};
use floatgate_ftl::nand::{Nand, Schedule, Timing};
use floatgate_ftl::page_ftl::{Cleaning, Pace};
use floatgate_ftl::parameters::names;
use floatgate_ftl::placement::{AnyPlacement, PLACEMENTS};
use floatgate_ftl::queue::{Arrivals, Dispatch};
use floatgate_ftl::request::Request;
use floatgate_ftl::rng::Rng;
use floatgate_ftl::victim::VICTIMS;
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layers {
    Pages,
    Rows,
    Shrd,
    Logs,
}

#[derive(Clone, Copy, Debug)]
pub enum Layer {
    /// Page mapping, behind SHRD if it has a log.
    Pages(Rig),
    Logs(LogRig),
}

#[derive(Clone, Debug)]
pub struct Case {
    pub layer: Layer,
    pub timing: Timing,
    pub schedule: Schedule,
    pub requests: Vec<Request>,
}

impl Case {
    pub fn new(layers: Layers, seed: u64) -> Self {
        let rng = &mut Rng::new(seed);
        let shape = shape(rng);
        let layer = match layers {
            Layers::Pages => Layer::Pages(pages(rng, shape)),
            Layers::Rows => {
                let shape = rows(rng, shape);
                let flush_after_ns = any(rng, &[None, None, Some(100)]);
                Layer::Pages(Rig { flush_after_ns, ..pages(rng, shape) })
            }
            Layers::Shrd => Layer::Pages(behind_shrd(rng, shape)),
            Layers::Logs => Layer::Logs(logs(rng, shape)),
        };
        let requests = requests(rng, &shape);
        let (timing, mut schedule) = (timing(rng), schedule(rng));
        if let Layer::Pages(Rig { shape: Shape { program_unit: Some(unit), .. }, .. }) = &layer {
            // Memory that acknowledges writes has the same power protection as rows.
            let pages = schedule.controller.write_pages.unwrap_or(50);
            schedule.controller.write_pages = Some(pages);
            schedule.controller.power_protected = unit.is_protected;
        } else {
            schedule.controller.write_pages = None;
        }
        Self { layer, timing, schedule, requests }
    }

    /// Returns the shape of the flash, including the journal if there is one.
    pub fn medium(&self) -> Geometry {
        match &self.layer {
            Layer::Pages(rig) if rig.journal.is_some() => {
                Layout::new(rig.geometry()).medium().unwrap()
            }
            Layer::Pages(rig) => rig.geometry(),
            Layer::Logs(rig) => rig.geometry(),
        }
    }

    /// Returns the arrivals of requests, the depth of each queue, and the number of queues.
    pub fn host(&self) -> (Arrivals, usize, usize) {
        let (arrivals, depth, front, has_queues) = match &self.layer {
            Layer::Pages(rig) => (rig.arrivals, rig.depth, rig.front, rig.log == 0),
            Layer::Logs(rig) => (rig.arrivals, rig.depth, rig.front, true),
        };
        let queues = front.queues.filter(|_| has_queues).map_or(1, |(queues, _)| queues);
        (arrivals, depth, queues)
    }

    /// Returns the bytes that the host can address.
    pub fn bytes(&self) -> u64 {
        let geometry = match &self.layer {
            Layer::Pages(rig) => rig.geometry(),
            Layer::Logs(rig) => rig.geometry(),
        };
        u64::from(geometry.logical_pages()) << geometry.log2_page_bytes()
    }

    /// Builds the drive on this medium.
    pub fn drive<N>(&self, nand: N) -> Box<dyn Device>
    where
        N: Nand<Error = Infallible> + Send + 'static,
    {
        let rig = match &self.layer {
            Layer::Logs(rig) => return rig.drive(nand, ()),
            Layer::Pages(rig) if rig.log == 0 => return rig.drive(nand, (), false),
            Layer::Pages(rig) => rig,
        };
        Box::new(rig.behind_shrd(nand, (), false))
    }
}

fn shape(rng: &mut Rng) -> Shape {
    let mut up_to = |n| 1 + rng.below(n) as u32;
    let (channels, dies, planes) = (up_to(2), up_to(2), up_to(3));
    let (pages_per_block, logical_pages) = (2 + up_to(3), 20 + up_to(40));
    let all = channels * dies * planes;
    let divisors: Vec<u32> = (1..=all).filter(|n| all % n == 0).collect();
    let superblock = any(rng, &divisors);
    Shape { pages_per_block, superblock, channels, dies, planes, logical_pages, ..SERIAL }
}

/// Returns the same flash with dies that program rows.
fn rows(rng: &mut Rng, of: Shape) -> Shape {
    let (levels, width) = (1 + rng.below(3) as u32, 1 + rng.below(2) as u32);
    let dies = any(rng, &[1, 1, of.channels * of.dies]);
    let (pages, pages_per_block) = (levels * of.planes * width, levels * width * 2);
    let (stripe, is_protected) = (any(rng, &[None, Some(2)]), any(rng, &[false, true]));
    let stripe = stripe.filter(|n| dies.is_multiple_of(*n));
    let unit = ProgramUnit { pages: pages.max(2), levels, is_protected, stripe };
    let (superblock, pages_per_block) = (dies * of.planes, pages_per_block.max(2));
    Shape { pages_per_block, superblock, program_unit: Some(unit), ..of }
}

/// Returns requests of a host that is busy, or idle between requests.
fn requests(rng: &mut Rng, shape: &Shape) -> Vec<Request> {
    let aligned = Mix { unaligned: false, pages_max: 3, ..ANYTHING };
    let mix = any(rng, &[ANYTHING, aligned, Mix { writes: 60, ..aligned }]);
    let (count, pace) = (40 + rng.below(80) as usize, any(rng, &[1, 4, 16]));
    let mut workload = Workload::new(rng.below(1 << 60), mix, shape.logical_pages, 64);
    let mut requests = workload.batch(count);
    requests.iter_mut().for_each(|request| request.at_ns = request.at_ns * pace / 8);
    requests
}

fn arrivals(rng: &mut Rng) -> Arrivals {
    any(rng, &[Arrivals::Open, Arrivals::Open, Arrivals::Closed, Arrivals::Immediate])
}

fn link(rng: &mut Rng) -> HostLink {
    let bandwidth = any(rng, &[None, Some(4_000_000_000), Some(20_000_000_000)]);
    HostLink::new(rng.below(4), rng.below(3)).over(bandwidth, rng.below(3))
}

fn front(rng: &mut Rng) -> Front {
    let dispatch = any(rng, &[Dispatch::Parallel, Dispatch::Serial]);
    let queues = (1 + rng.below(3) as usize, dispatch);
    Front { queues: any(rng, &[None, None, Some(queues)]), link: link(rng) }
}

fn buffer(rng: &mut Rng) -> Option<BufferRig> {
    let schemes: Vec<_> = names(BUFFERS).filter(|name| !Buffer::needs_future(name)).collect();
    let acknowledge = any(rng, &[Acknowledge::WriteBack, Acknowledge::WriteThrough]);
    let (block_pages, blocks) = (1 + rng.below(5) as u32, 1 + rng.below(5) as u32);
    let rig = BufferRig {
        block_pages,
        capacity_pages: block_pages * blocks,
        serial: rng.below(2) == 0,
        ..BufferRig::new(any(rng, &schemes), acknowledge)
    };
    any(rng, &[None, None, Some(rig)])
}

const CLEANING: &[fn(&mut Cleaning)] = &[
    |_| {},
    |cleaning| ahead(cleaning, Some(Pace::Fixed(2)), None),
    |cleaning| ahead(cleaning, None, Some(20)),
    |cleaning| ahead(cleaning, Some(Pace::Fixed(1)), Some(5)),
    |cleaning| ahead(cleaning, Some(Pace::Proportional { debt: 1 }), None),
    |cleaning| ahead(cleaning, Some(Pace::Proportional { debt: 9 }), Some(20)),
    |cleaning| cleaning.wear_gap = Some(2),
];

fn ahead(cleaning: &mut Cleaning, pace: Option<Pace>, idle_after_ns: Option<u64>) {
    let high_water = cleaning.low_water + 3;
    *cleaning = Cleaning { pace, idle_after_ns, high_water, ..*cleaning };
}

/// Returns a page mapping with little more room than it needs.
fn pages(rng: &mut Rng, shape: Shape) -> Rig {
    let mappings: Vec<_> = names(MAPPINGS).filter(|name| !mapping::needs_future(name)).collect();
    let placements: Vec<_> =
        names(PLACEMENTS).filter(|name| !AnyPlacement::needs_future(name)).collect();
    let placements = ["single", any(rng, &placements)];
    let victims: Vec<_> = names(VICTIMS).collect();
    let rig = Rig {
        cache_bytes: 8 * (1 + rng.below(20)),
        page_cache: MapPages { pages_per_map_page: 1, load_for_cleaning: rng.below(2) == 0 },
        placement: any(rng, &placements),
        tune_cleaning: any(rng, CLEANING),
        depth: 1 + rng.below(8) as usize,
        arrivals: arrivals(rng),
        buffer: buffer(rng),
        front: front(rng),
        journal: any(rng, &[None, None, Some(40)]),
        ..Rig::new(shape, any(rng, &mappings), any(rng, &victims))
    };
    with_room(rig, rng)
}

fn with_room(rig: Rig, rng: &mut Rng) -> Rig {
    let low_water = rig.cleaning().least_low_water(rig.frontiers(), 1) + rig.log.min(1);
    let journal = if rig.journal.is_some() { 2 } else { 0 };
    Rig { low_water, ..rig }.spare(3 + journal + rng.below(4) as u32)
}

const HOST: &[fn(&mut ShrdConfig, &mut Dispatching)] = &[
    |_, _| {},
    |_, dispatching| (dispatching.commands, dispatching.block_during_remap) = (2, false),
    |config, dispatching| {
        (dispatching.idle_after_ns, dispatching.low_packing) = (Some(40), (3, 2));
        (config.join_reads, config.lazy_stale) = (true, true);
    },
];

fn behind_shrd(rng: &mut Rng, shape: Shape) -> Rig {
    let rig = Rig { log: 16 + rng.below(40) as u32, ..pages(rng, shape) };
    let rig = Rig { buffer: None, tune_host: any(rng, HOST), placement: "single", ..rig };
    with_room(rig, rng)
}

fn logs(rng: &mut Rng, shape: Shape) -> LogRig {
    let schemes: Vec<_> = names(LOG_BLOCKS).collect();
    let rig = LogRig::new(shape, any(rng, &schemes), 3 + rng.below(4) as u32);
    let (buffer, front, depth) = (buffer(rng), front(rng), 1 + rng.below(8) as usize);
    LogRig { buffer, front, depth, arrivals: arrivals(rng), ..any(rng, &rig.options()) }
}
