//! SHRD: the slides' example down to the physical page, and the drive's obligations to the log.

use crate::common;
use crate::common::log::Kind;
use crate::common::workload::{ANYTHING, Mix, WRITES, Workload};
use crate::common::{MapPages, ODD, Probe, Rig, SERIAL, STRIPED, TIMING};
use floatgate_ftl::addr::{Lpn, Owner, Ppn, Unit};
use floatgate_ftl::device::{Device, Dispatching, Ssd};
use floatgate_ftl::ftl::{Ftl, Remap};
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::host::ShrdConfig;
use floatgate_ftl::mapping::Ideal;
use floatgate_ftl::nand::{Cause, Chain, Checked, Counted, Nand, Timed, Timing};
use floatgate_ftl::page_ftl::PageFtl;
use floatgate_ftl::request::{Op, Request};

fn write(first: u32, pages: u64) -> Request {
    Workload::pages(Op::Write, u64::from(first), pages, 64)
}

/// Returns a drive with 1024 user pages and 64 log pages, 16 pages in a unit.
fn example() -> Rig {
    let shape = Shape { pages_per_block: 16, units: 90, logical_pages: 1024, ..SERIAL };
    Rig { log: 64, ..Rig::new(shape, "ideal", "greedy") }
}

/// The slides: pages 32, 765, 128 and 854 are written to 1024..1027, in physical pages 368..371.
/// They stay in these physical pages when they get their own addresses back.
#[test]
fn the_example_of_the_slides_to_the_physical_page() {
    let rig = example();
    let geometry = rig.geometry();
    let nand = Checked::new(Counted::default(), geometry);
    let config = rig.page_config(false);
    let Ok(mut ftl) = PageFtl::with_log(nand, Ideal::new(&rig.map_config()), config, 64);
    let mut chain = Chain::default();
    // 23 units are in use when the log's unit is opened, so its first page is 368.
    let filler = (0..23 * 16).map(Lpn::new);
    filler.for_each(|lpn| ftl.write(lpn, 1, &mut chain).unwrap());
    assert_eq!(geometry.page(Unit(23), 0), Ppn::new(368));
    let pages = [32, 765, 128, 854].map(Lpn::new);
    for (slot, original) in (1024..).map(Lpn::new).zip(pages) {
        ftl.write_log(slot, Some(original), &mut chain).unwrap();
    }
    let of = |ftl: &PageFtl<_, _>, lpn| ftl.place(Lpn::new(lpn)).map(Ppn::get);
    let log = |ftl: &PageFtl<_, _>| [1024, 1025, 1026, 1027].map(|lpn| of(ftl, lpn));
    assert_eq!(log(&ftl), [368, 369, 370, 371].map(Some));
    assert_eq!(ftl.units().pins(Unit(23)), 4);
    let before = ftl.nand().counters().flash;
    for (to, from) in [(32, 1024), (128, 1026), (765, 1025), (854, 1027)] {
        assert_eq!(ftl.remap(Lpn::new(from), Lpn::new(to), &mut chain), Ok(true));
        assert_eq!(ftl.remap(Lpn::new(from), Lpn::new(to), &mut chain), Ok(false), "once");
    }
    let now = [32, 128, 765, 854].map(|lpn| of(&ftl, lpn));
    assert_eq!(now, [368, 370, 369, 371].map(Some));
    assert_eq!(log(&ftl), [None; 4], "the log's addresses are free again");
    assert_eq!(ftl.nand().counters().flash, before, "no flash operation at all");
    assert_eq!(ftl.units().owner(Ppn::new(370)), Some(Owner::Data(Lpn::new(128))));
    assert_eq!(ftl.units().pins(Unit(23)), 0);
    ftl.check();
}

/// The paper's example through the host layer: one twrite, one window.
#[test]
fn the_example_through_the_host_layer() {
    let tune_host = |host: &mut ShrdConfig, _: &mut _| host.remap_size = 4;
    let (mut drive, log) = Rig { tune_host, depth: 8, ..example() }.build_behind_shrd();
    log.take();
    let mut done = vec![];
    drive.run(&[32, 765, 128, 854].map(|lpn| write(lpn, 1)), &mut done);
    let programs = log.take();
    let owners: Vec<_> = programs.iter().map(|event| event.kind).collect();
    let slot = |at: u32| Owner::Data(Lpn::new(1024 + at));
    assert_eq!(owners, [0, 1, 2, 3].map(|at| Kind::Program(Ppn::new(at), slot(at))));
    assert!(done.iter().all(|completion| completion.done_ns == done[0].done_ns), "together");
    drive.write_back();
    assert!(log.take().is_empty(), "remapping with the map in memory takes no flash");
    drive.run(&[Workload::pages(Op::Read, 128, 1, 64)], &mut done);
    let read = Kind::Read(Ppn::new(2), Owner::Data(Lpn::new(128)));
    assert_eq!(log.take().iter().map(|event| event.kind).collect::<Vec<_>>(), [read]);
    let layer = drive.counters().layer.unwrap().shrd;
    assert_eq!((layer.commands, layer.remapped_pages), (4, 4), "header, data, remap, read");
}

/// A remap must program no data page: data programs come only from host writes and cleaning.
#[test]
fn remaps_program_translation_pages_only() {
    for mapping in ["page_cache", "dftl", "none"] {
        let rig = Rig { log: 48, depth: 16, low_water: 5, ..Rig::new(STRIPED, mapping, "greedy") };
        let (mut drive, log) = rig.spare(4).build_behind_shrd();
        log.take();
        let mix = Mix { writes: 1, reads: 0, trims: 0, flushes: 0, pages_max: 2, unaligned: false };
        let mut workload = Workload::new(8, mix, STRIPED.logical_pages, 64);
        (0..200).for_each(|_| drive.run(&workload.batch(16), &mut vec![]));
        let mut seen = 0;
        for event in log.take().iter().filter(|event| event.cause == Cause::Remap) {
            let map = matches!(
                event.kind,
                Kind::Read(_, Owner::Translation(_)) | Kind::Program(_, Owner::Translation(_))
            );
            assert!(map, "{event:?}");
            seen += 1;
        }
        assert!(seen > 100, "{mapping}: {seen}");
        let all = drive.counters();
        assert!(all.layer.unwrap().shrd.windows > 20);
        let programs = all.flash.programs;
        assert_eq!(programs[Cause::Host as usize], all.host.write_pages);
    }
}

/// A unit with a page that is not remapped must never be cleaned, however many other units are: it
/// is in no list of sealed units, and `check` recounts its pins.
#[test]
fn pinned_units_are_no_victims() {
    for (seed, shape) in [SERIAL, STRIPED, ODD].into_iter().enumerate() {
        let rig = Rig { log: 60, depth: 16, low_water: 5, ..Rig::new(shape, "page_cache", "fifo") };
        let (mut drive, log) = rig.spare(3).build_behind_shrd();
        let mut workload = Workload::new(seed as u64, ANYTHING, shape.logical_pages, 64);
        let (mut erased, mut stayed) = (0, 0);
        for _ in 0..150 {
            log.take();
            let before = pins(&*drive);
            drive.run(&workload.batch(8), &mut vec![]);
            drive.check();
            erased += log.take().iter().filter(|e| matches!(e.kind, Kind::Erase(_))).count();
            for (unit, (before, now)) in before.into_iter().zip(pins(&*drive)).enumerate() {
                let sealed = drive.units().is_sealed(Unit(unit as u32));
                assert!(now == 0 || !sealed, "unit {unit} could be chosen");
                stayed += u32::from(before > 0 && now > 0);
            }
        }
        assert!(erased > 50 && stayed > 100, "{erased} erased, {stayed} stayed");
    }
}

fn pins(drive: &dyn Probe) -> Vec<u32> {
    let units = drive.units().wear().count() as u32;
    (0..units).map(|unit| drive.units().pins(Unit(unit))).collect()
}

#[test]
fn a_unit_of_the_log_is_sealed_when_its_last_page_is_remapped() {
    let rig = example();
    let nand = Checked::new(Counted::default(), rig.geometry());
    let Ok(mut ftl) =
        PageFtl::with_log(nand, Ideal::new(&rig.map_config()), rig.page_config(false), 64);
    let mut chain = Chain::default();
    for slot in 0..16 {
        ftl.write_log(Lpn::new(1024 + slot), Some(Lpn::new(slot)), &mut chain).unwrap();
    }
    let unit = Unit(0);
    assert!(!ftl.units().is_sealed(unit), "full, and pinned");
    // A write to the original address and a second write to the same slot must remove pins, too.
    ftl.write_log(Lpn::new(1024), Some(Lpn::new(77)), &mut chain).unwrap();
    assert_eq!(ftl.units().pins(unit), 15);
    for slot in 1..15 {
        ftl.remap(Lpn::new(1024 + slot), Lpn::new(slot), &mut chain).unwrap();
    }
    assert!(!ftl.units().is_sealed(unit));
    assert_eq!(ftl.drop_log(1024 + 15..1024 + 16, &mut chain), Ok(1));
    assert!(ftl.units().is_sealed(unit), "now it may be cleaned");
    assert_eq!(ftl.units().valid(unit), 14);
    ftl.check();
}

/// A map cache of one page is slow, but must be correct.
#[test]
fn a_map_cache_of_one_page() {
    for load_for_cleaning in [false, true] {
        let page_cache = MapPages { pages_per_map_page: 1, load_for_cleaning };
        let rig = Rig { log: 48, depth: 16, cache_bytes: 1, page_cache, low_water: 5, ..example() };
        let rig = Rig { mapping: "page_cache", ..rig }.spare(4);
        let seen = common::shadow::run_on(rig.build_behind_shrd(), &rig, 3, ANYTHING, (3000, 64));
        assert!(seen.windows > 10 && seen.redirected > 5, "{seen:?}");
    }
}

/// Nothing may overtake a flush, a read or a large write: they end a twrite.
#[test]
fn nothing_overtakes() {
    let between = [
        Request { at_ns: 0, op: Op::Flush, offset: 0, length: 0, stream: 0 },
        Workload::pages(Op::Read, 5, 1, 64),
        write(40, 6),
    ];
    for other in between {
        let (mut drive, _) = Rig { depth: 16, ..example() }.build_behind_shrd();
        let requests = [write(1, 1), write(2, 1), other, write(3, 1), write(4, 1)];
        drive.run(&requests, &mut vec![]);
        assert_eq!(drive.counters().layer.unwrap().shrd.twrites, 2, "{other:?}");
    }
    let (mut drive, _) = Rig { depth: 16, ..example() }.build_behind_shrd();
    let mut done = vec![];
    let flush = Request { at_ns: 0, op: Op::Flush, offset: 0, length: 0, stream: 0 };
    drive.run(&[write(1, 1), write(2, 1), flush], &mut done);
    assert!(done[2].done_ns >= done[1].done_ns, "a flush waits for the log's data");
}

/// A partial write to a page in the log: the drive must complete it from the newest version.
#[test]
fn a_write_in_part_has_its_page_remapped_before() {
    let (mut drive, _) = Rig { depth: 16, ..example() }.build_behind_shrd();
    let part = Request { at_ns: 0, op: Op::Write, offset: 3 * 64 + 8, length: 16, stream: 0 };
    drive.run(&[write(3, 1), part, Workload::pages(Op::Read, 3, 1, 64)], &mut vec![]);
    let all = drive.counters();
    let layer = all.layer.unwrap().shrd;
    assert_eq!((layer.remapped_alone, layer.remaps, all.host.partial_page_reads), (1, 1, 1));
    drive.check();
}

/// A recovered drive has remapped the whole log. The host's state of the log is lost with the
/// power.
#[test]
fn a_power_cut_leaves_the_log_empty_and_loses_nothing() {
    let rig = Rig { depth: 8, ..example() };
    let (mut drive, _) = rig.build_behind_shrd();
    let mut done = vec![];
    let written = [32, 765, 128, 854, 32];
    drive.run(&written.map(|lpn| write(lpn, 1)), &mut done);
    let used = |drive: &mut dyn Probe| drive.device().counters().layer.unwrap().slots_used;
    assert!(used(&mut *drive) > 0);
    drive.device().cut_power();
    assert_eq!(used(&mut *drive), 0);
    // The shadow of the drive compares the data that is read back.
    let reads = written.map(|lpn| Workload::pages(Op::Read, u64::from(lpn), 1, 64));
    drive.run(&reads, &mut done);
    assert_eq!(drive.counters().host.empty_reads, 0);
    assert_eq!(done.len(), 10);
}

/// If the host continues during a remap, it may shut down while the remap is in progress.
#[test]
fn a_remap_that_is_under_way_is_done_before_the_drive_rests() {
    let tune_host = |host: &mut ShrdConfig, dispatching: &mut Dispatching| {
        (host.remap_threshold, host.remap_size) = (8, 4);
        dispatching.block_during_remap = false;
    };
    let rig = Rig { log: 48, tune_host, low_water: 5, ..Rig::new(SERIAL, "dftl", "greedy") };
    let rig = rig.spare(4);
    let mut under_way = 0;
    for seed in 0..300 {
        let nand = Timed::new(Counted::default(), rig.geometry(), TIMING);
        let mut drive = rig.behind_shrd(nand, (), false);
        let mut workload = Workload::new(seed, WRITES, SERIAL.logical_pages, 64);
        drive.run(&workload.batch(30 + seed as usize % 50), &mut vec![]);
        under_way += u32::from(drive.drive().ftl().nand().outstanding() > 0);
        drive.write_back();
        assert_eq!(drive.drive().ftl().nand().outstanding(), 0, "seed {seed}");
    }
    assert!(under_way > 5, "{under_way}");
}

/// Commands cost time, and packing saves commands.
#[test]
fn packing_pays_where_commands_cost() {
    use floatgate_ftl::device::HostLink;
    use floatgate_ftl::queue::Queue;
    let rig = example();
    let no_time = Timing { read_ns: 0, program_ns: 0, erase_ns: 0, transfer_ns: 0, command_ns: 0 };
    let drive = |log: u32| {
        let rig = Rig { log, depth: 8, ..rig };
        // Only commands take time.
        let nand = Timed::new(Counted::default(), rig.geometry(), no_time);
        let Ok(ftl) =
            PageFtl::with_log(nand, Ideal::new(&rig.map_config()), rig.page_config(false), log);
        let queue = Queue::new(rig.depth, rig.arrivals);
        Ssd::new(ftl, (), queue, &rig.geometry()).with_link(HostLink::new(700, 300))
    };
    let requests: Vec<Request> = (0..8).map(|page| write(page * 50, 1)).collect();
    let mut done = vec![];
    drive(0).run(&requests, &mut done);
    assert_eq!(done[7].done_ns, 8 * 1000, "one at a time");
    let (host, when) = Rig { depth: 8, ..rig }.host();
    let mut packed = vec![];
    floatgate_ftl::device::ShrdDevice::new(drive(64), host, when).run(&requests, &mut packed);
    assert_eq!(packed[7].done_ns, 2 * 1000, "header and data");
}
