//! Drives of today, with the options of two of the lab's drives: `small-nvme` and
//! `tlc-enterprise`. Their units are smaller, so that a drive of 256 MiB has several.

use floatgate_ftl::device::{HostLink, Ssd};
use floatgate_ftl::geometry::{Geometry, ProgramUnit, Shape};
use floatgate_ftl::mapping::{Boxed, Ideal, MapConfig};
use floatgate_ftl::nand::{
    Controller, Counted, Order, Schedule, Stripe, Suspend, Task, Timed, Timing,
};
use floatgate_ftl::page_ftl::{Cleaning, Pace};
use floatgate_ftl::queue::{Arrivals, Queue};

use crate::rig::{Engine, LOW_WATER, PAGE, page_ftl};

/// A drive of today.
pub struct Today {
    pub name: &'static str,
    shape: Shape,
    timing: Timing,
    schedule: fn() -> Schedule,
    /// The host's link: bytes per second, and nanoseconds of latency.
    link: (u64, u64),
    /// Commands outstanding.
    depth: usize,
    /// Pages that the cleaner copies with each page that the host writes.
    copies_per_write: Option<u32>,
}

/// A drive that cleans with each write does so while fewer than this number of units are free.
const HIGH_WATER: u32 = LOW_WATER + 1;

/// Shape that both drives complete.
const SHAPE: Shape = Shape {
    page_bytes: PAGE as u32,
    pages_per_block: 128,
    superblock: 32,
    units: 0,
    channels: 4,
    dies: 4,
    planes: 2,
    logical_pages: 0,
    entry_bytes: 4,
    program_unit: None,
};

impl Today {
    pub const ALL: [Self; 2] = [
        Self {
            name: "small-nvme",
            shape: SHAPE,
            timing: Timing {
                read_ns: 45_000,
                program_ns: 112_500,
                erase_ns: 4_500_000,
                transfer_ns: 3_414,
                command_ns: 0,
            },
            schedule: small_nvme,
            link: (3_500_000_000, 6_700),
            depth: 32,
            copies_per_write: None,
        },
        Self {
            name: "tlc-enterprise",
            shape: Shape {
                pages_per_block: 24,
                superblock: 128,
                channels: 8,
                planes: 4,
                program_unit: Some(ProgramUnit {
                    pages: 48,
                    levels: 3,
                    is_protected: true,
                    stripe: None,
                }),
                ..SHAPE
            },
            timing: Timing {
                read_ns: 50_000,
                program_ns: 3_450_000,
                erase_ns: 5_000_000,
                transfer_ns: 3_414,
                command_ns: 0,
            },
            schedule: tlc_enterprise,
            link: (6_800_000_000, 4_000),
            depth: 256,
            copies_per_write: Some(4),
        },
    ];

    /// Returns the geometry of the drive with `logical_pages` pages.
    pub fn geometry(&self, logical_pages: u32) -> Geometry {
        let unit = self.shape.pages_per_block * self.shape.superblock;
        let data = (u64::from(logical_pages) * 107 / 100).div_ceil(unit.into()) as u32;
        let shape = Shape { logical_pages, units: data + LOW_WATER, ..self.shape };
        Geometry::new(shape).expect("the shape is a drive")
    }

    /// Returns the drive with `logical_pages` pages, and a whole map.
    pub fn make(&self, logical_pages: u32) -> Engine {
        let geometry = self.geometry(logical_pages);
        let nand = Counted::new(&geometry);
        let nand = Timed::with_schedule(nand, geometry, self.timing, (self.schedule)());
        let mapping = Boxed::new(Ideal::new(&MapConfig::new(geometry, 0)));
        let pace = self.copies_per_write.map(Pace::Fixed);
        let cleaning = Cleaning { pace, high_water: HIGH_WATER, ..Cleaning::new(LOW_WATER) };
        let ftl = page_ftl(geometry, nand, mapping, ("single", "greedy"), cleaning);
        let (bandwidth, latency_ns) = self.link;
        let queue = Queue::new(self.depth, Arrivals::Closed);
        let link = HostLink::new(0, 0).over(Some(bandwidth), latency_ns);
        Engine::new(Box::new(Ssd::new(ftl, (), queue, &geometry).with_link(link)))
    }
}

fn small_nvme() -> Schedule {
    let mut controller = Controller { write_pages: Some(256), ..Controller::default() };
    controller.task_ns[Task::Command as usize] = 4_400;
    Schedule {
        stripe: Stripe::PlaneChannelDie,
        cache_register: true,
        controller,
        ..Schedule::default()
    }
}

fn tlc_enterprise() -> Schedule {
    let mut controller = Controller {
        cores: 12,
        write_pages: Some(12_288),
        power_protected: true,
        ..Controller::default()
    };
    controller.task_ns[Task::Command as usize] = 6_400;
    controller.task_ns[Task::Translate as usize] = 8_000;
    Schedule {
        stripe: Stripe::ChannelPlaneDie,
        cache_register: true,
        order: Order::ReadFirst { starve_ns: 10_000_000 },
        suspend: Some(Suspend { suspend_ns: 50_000, resume_ns: 50_000, most: 16 }),
        controller,
        ..Schedule::default()
    }
}
