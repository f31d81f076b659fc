//! Program units: host writes per second with map units of one flash page, and with smaller map
//! units that a die programs a row at a time.
//!
//! `cargo bench --bench program_units` writes uniform random map units to drives of 16 GiB: 8
//! channels x 4 dies x 4 planes with flash pages of 16 KiB, 32 commands outstanding, superblocks
//! over all planes, with and without a clock. A write of a 4 KiB unit has a fourth of the bytes of
//! a 16 KiB unit.

use std::convert::Infallible;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use floatgate_ftl::device::{Device, Ssd};
use floatgate_ftl::geometry::{Geometry, ProgramUnit, Shape};
use floatgate_ftl::mapping::{Ideal, MapConfig};
use floatgate_ftl::nand::{Controller, Counted, Nand, Schedule, Timed, Timing};
use floatgate_ftl::page_ftl::{Cleaning, PageConfig, PageFtl};
use floatgate_ftl::placement::{AnyPlacement, PlacementConfig};
use floatgate_ftl::queue::{Arrivals, Queue};
use floatgate_ftl::request::{Op, Request};
use floatgate_ftl::rng::Rng;
use floatgate_ftl::unit_table::FreeOrder;
use floatgate_ftl::victim::{VictimConfig, victim};

const BATCH: usize = 4096;
const BYTES: u64 = 16 << 30;
const FLASH_PAGE: u32 = 16 << 10;
const PLANES: u32 = 4;
const DIES: u32 = 8 * 4;
const LEVELS: u32 = 3;
const ROWS_PER_BLOCK: u32 = 16;

/// Returns a drive with map units of `unit_bytes` bytes, programmed in rows or one by one.
fn geometry(unit_bytes: u32, in_rows: bool) -> Geometry {
    let row = FLASH_PAGE * LEVELS * PLANES / unit_bytes;
    let pages_per_block = row / PLANES * ROWS_PER_BLOCK;
    let logical_pages = (BYTES / u64::from(unit_bytes)) as u32;
    let pages_per_unit = pages_per_block * PLANES * DIES;
    Geometry::new(Shape {
        page_bytes: unit_bytes,
        pages_per_block,
        superblock: PLANES * DIES,
        units: (u64::from(logical_pages) * 10 / 9).div_ceil(pages_per_unit.into()) as u32 + 8,
        channels: 8,
        dies: DIES / 8,
        planes: PLANES,
        logical_pages,
        entry_bytes: 4,
        program_unit: in_rows.then_some(ProgramUnit {
            pages: row,
            levels: LEVELS,
            is_protected: true,
            stripe: None,
        }),
    })
    .expect("the shape is a drive")
}

/// Returns the flash with a clock. A row takes the same time as its pages one after the other.
fn timed(geometry: Geometry, in_rows: bool) -> Timed<Counted> {
    let unit = geometry.shape().page_bytes;
    let units_in_row = FLASH_PAGE * LEVELS / unit;
    let timing = Timing {
        read_ns: 50_000,
        program_ns: if in_rows { 2_100_000 } else { 2_100_000 / u64::from(units_in_row) },
        erase_ns: 3_500_000,
        transfer_ns: u64::from(unit) * 10 / 12,
        command_ns: 0,
    };
    let memory = u64::from(4 * DIES * units_in_row * PLANES);
    let controller = Controller { write_pages: Some(memory), ..Controller::default() };
    let schedule = Schedule { controller, cache_register: true, ..Schedule::default() };
    Timed::with_schedule(Counted::new(&geometry), geometry, timing, schedule)
}

fn drive<N>(geometry: Geometry, nand: N) -> Box<dyn Device>
where
    N: Nand<Error = Infallible, Clock: Send> + Send + 'static,
{
    let config = PageConfig {
        geometry,
        placement: AnyPlacement::new("single", &PlacementConfig::new(geometry)).expect("a row"),
        victim: victim("greedy", &VictimConfig::new(geometry.units(), 2)).expect("a row"),
        cleaning: Cleaning::new(4),
        free_order: FreeOrder::First,
        verify: false,
        pages_per_map_page: 1,
        journal: None,
        reclaim_units: Vec::new(),
        flush_after_ns: None,
    };
    let Ok(ftl) = PageFtl::new(nand, Ideal::new(&MapConfig::new(geometry, 0)), config);
    Box::new(Ssd::new(ftl, (), Queue::new(32, Arrivals::Closed), &geometry))
}

fn write(device: &mut dyn Device, unit: u64, places: impl Iterator<Item = u64>) {
    let request =
        |place| Request { at_ns: 0, op: Op::Write, offset: place * unit, length: unit, stream: 0 };
    let batch: Vec<Request> = places.map(request).collect();
    device.run_ahead(&batch, batch.len(), &mut Vec::with_capacity(BATCH));
}

/// Measures random writes to a full drive on which cleaning is at work everywhere.
fn random_writes(c: &mut Criterion) {
    let mut group = c.benchmark_group("random_writes");
    group.throughput(Throughput::Elements(BATCH as u64)).sample_size(20);
    for (name, unit, in_rows) in [
        ("16KiB", 16 << 10, false),
        ("16KiB_rows", 16 << 10, true),
        ("4KiB_rows", 4 << 10, true),
        ("4KiB", 4 << 10, false),
    ] {
        let g = geometry(unit, in_rows);
        let clocked = drive(g, timed(g, in_rows));
        for (clock, mut device) in [("counted", drive(g, Counted::new(&g))), ("timed", clocked)] {
            let (unit, pages) = (u64::from(unit), u64::from(g.logical_pages()));
            let mut rng = Rng::new(1);
            for n in 0..pages / BATCH as u64 {
                write(&mut *device, unit, (0..BATCH as u64).map(|i| n * BATCH as u64 + i));
            }
            let mut random = || write(&mut *device, unit, (0..BATCH).map(|_| rng.below(pages)));
            (0..pages as usize / BATCH).for_each(|_| random());
            group.bench_function(format!("{name}/{clock}"), |b| b.iter(&mut random));
        }
    }
    group.finish();
}

criterion_group!(benches, random_writes);
criterion_main!(benches);
