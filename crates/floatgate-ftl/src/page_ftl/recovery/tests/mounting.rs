//! A mount restores the units, the journal and the log.

use super::*;

/// A drive with some pages written once, some twice and some often: a stream each.
fn worked(plan: &DriveSetup) -> PageFtl<Flash, Ideal> {
    let mapping = Ideal::new(&MapConfig::new(plan.geometry(), 0));
    let mut ftl = PageFtl::new(plan.flash(), mapping, plan.config()).unwrap();
    let chain = &mut Chain::default();
    for lpns in [0..20, 4..16].into_iter().chain(core::iter::repeat_n(8..12, 16)) {
        lpns.for_each(|lpn| ftl.write(Lpn::new(lpn), 1, chain).unwrap());
    }
    ftl
}

#[test]
fn a_mount_restores_the_units_of_the_checkpoint() {
    let plan = DriveSetup { streams: 3, journal: Some(1000), ..SETUP };
    let mut before = worked(&plan);
    before.shut_down(&mut Chain::default()).unwrap();
    let units = || (0..SHAPE.units).map(Unit);
    let sealed: Vec<_> = units()
        .filter(|&unit| before.store.units.valid(unit) > 0 && before.store.units.is_sealed(unit))
        .collect();
    let erases: Vec<_> = units().map(|unit| before.store.units.lifetime_erases(unit)).collect();
    assert!(erases.iter().sum::<u32>() > 0);
    let streams = |ftl: &PageFtl<Flash, Ideal>| {
        sealed.iter().map(|&unit| ftl.store.units.stream(unit)).collect::<Vec<_>>()
    };
    (0..3).for_each(|stream| assert!(streams(&before).contains(&stream), "{stream}"));

    let (after, mount) = plan.recover(before.store.nand.clone());
    assert_eq!(after.store.table, before.store.table);
    assert_eq!(streams(&after), streams(&before));
    let unwanted =
        |unit: Unit| before.store.nand.programmed(unit) > 0 && before.store.units.valid(unit) == 0;
    let worn = units().zip(erases).map(|(unit, erases)| erases + u32::from(unwanted(unit)));
    let lifetime = units().map(|unit| after.store.units.lifetime_erases(unit));
    assert_eq!(lifetime.collect::<Vec<_>>(), worn.collect::<Vec<_>>());
    // One page of each unit in use shows that nothing in the unit is newer than the checkpoint.
    let in_use = units().filter(|&unit| before.store.nand.programmed(unit) > 0).count() as u64;
    assert!(mount.from_checkpoint);
    assert_eq!((mount.tag_reads, mount.moved), (in_use, 0));
}

#[test]
fn a_recovery_ends_with_a_checkpoint() {
    let plan = DriveSetup { streams: 3, journal: Some(1000), ..SETUP };
    let before = worked(&plan);
    let taken = before.store.stamp;
    let first = Layout::new(plan.geometry()).find(&before.store.nand).unwrap();
    assert!(first.table.iter().all(Option::is_none), "the one of the empty drive");
    let (after, mount) = plan.recover(before.store.nand);
    assert_eq!(after.store.table, before.store.table);
    // Two pages of the map, two of units, and the commit record.
    assert_eq!(mount.map_programs, 5);
    let found = Layout::new(plan.geometry()).find(&after.store.nand).unwrap();
    assert_eq!(found.table, after.store.table);
    assert_eq!(found.stamp, taken);
    assert_eq!(after.store.stamp.serial, taken.serial + 5);
    for (unit, note) in (0..SHAPE.units).map(Unit).zip(&found.units) {
        assert_eq!(note.erases, after.store.units.lifetime_erases(unit));
        assert_eq!(note.stream, after.store.units.stream(unit));
    }
    // With this checkpoint the next mount is quick.
    let (again, mount) = plan.recover(after.store.nand);
    assert_eq!(again.store.table, after.store.table);
    let in_use =
        (0..SHAPE.units).filter(|&unit| again.store.nand.programmed(Unit(unit)) > 0).count();
    assert_eq!(mount.tag_reads, in_use as u64);
}

#[test]
fn a_trim_of_many_map_pages_is_kept_whenever_a_checkpoint_is_taken() {
    // A checkpoint is taken whenever a unit is opened, and the trim writes two pages of the map. So
    // a checkpoint may be taken when the first page is written and the entries of the second are
    // not unmapped yet.
    for fill in 0..8 {
        let plan = DriveSetup { map_on_flash: true, journal: Some(1), ..SETUP };
        let mapping = NoCache::new(&MapConfig::new(plan.geometry(), 0));
        let mut ftl = PageFtl::new(plan.flash(), mapping, plan.config()).unwrap();
        let chain = &mut Chain::default();
        let mut write = |ftl: &mut PageFtl<Flash, NoCache>, lpn: u32| {
            let kind = crate::mapping::AccessKind::Write;
            let lpn = Lpn::new(lpn);
            let access =
                crate::mapping::Access { lpn, kind, remaining: 1, first: true, mapped: false };
            ftl.translate(access, chain).unwrap();
            ftl.write(lpn, 1, chain).unwrap();
        };
        (0..20).for_each(|lpn| write(&mut ftl, lpn));
        (0..fill).for_each(|_| write(&mut ftl, 0));
        let chain = &mut Chain::default();
        assert_eq!(ftl.trim(4..20, chain).unwrap(), 16);
        ftl.flush(chain).unwrap();
        let (after, _) = plan.recover_with_map(ftl.store.nand);
        assert_eq!(after.store.table, ftl.store.table, "after {fill} writes");
        assert!(places(&after, 4..20).iter().all(Option::is_none));
    }
}

#[test]
fn the_log_is_empty_until_something_is_written_there() {
    use crate::ftl::Remap;
    let plan = DriveSetup { log_pages: 4, ..SETUP };
    let (mut ftl, _) = plan.recover(plan.flash());
    for lpn in [16, 19] {
        assert!(ftl.is_log_empty());
        ftl.write_log(Lpn::new(lpn), Some(Lpn::new(3)), &mut Chain::default()).unwrap();
        assert!(!ftl.is_log_empty());
        ftl.drop_log(lpn..lpn + 1, &mut Chain::default()).unwrap();
    }
    ftl.write(Lpn::new(15), 1, &mut Chain::default()).unwrap();
    assert!(ftl.is_log_empty(), "a page of the user is none of the log");
    let found = scan(&ftl.store.nand, &ftl.store.geometry, 4, None);
    assert_eq!(found.table[15], ftl.place(Lpn::new(15)));
}
