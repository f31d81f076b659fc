//! Times and places at which trims and checkpoints are written.

use super::*;

#[test]
fn trims_are_joined_where_nothing_comes_between_them() {
    let mut journal = journal(1000);
    let mut sequence = 10;
    let mut trim = |lpns: Range<u32>, later: u64| {
        sequence += later;
        journal.trim(lpns, sequence);
        let of = |trim: &Trimmed| (trim.first..trim.first + trim.pages, trim.sequence);
        journal.pending.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(trim(5..8, 1), [(5..8, 11)]);
    // The next pages, without a write in between.
    assert_eq!(trim(8..9, 1), [(5..9, 12)]);
    assert_eq!(trim(9..12, 1), [(5..12, 13)]);
    // The next pages, after a write.
    assert_eq!(trim(12..13, 2), [(5..12, 13), (12..13, 15)]);
    // Other pages: after a gap, the pages before, the same page again.
    assert_eq!(trim(14..15, 1).len(), 3);
    assert_eq!(trim(13..14, 1).len(), 4);
    assert_eq!(
        trim(13..14, 1),
        [(5..12, 13), (12..13, 15), (14..15, 16), (13..14, 17), (13..14, 18)]
    );
    // Only the last trim grows, although 15 follows the third.
    assert_eq!(trim(15..16, 1)[5..], [(15..16, 19)]);
    assert_eq!(trim(16..17, 1)[5..], [(15..17, 20)]);
}

#[test]
fn all_trims_are_written_down_however_many_there_are() {
    // Four trims fit into a page.
    for (count, pages) in [(1, 1), (4, 1), (5, 2), (8, 2), (9, 3), (28, 7)] {
        let (mut drive, mut journal) = (Drive::new(3, (8, 20)), journal(1000));
        drive.keep(&mut journal, CheckpointTrigger::Now);
        let trims: Vec<_> = (0..count).map(|at| drive.trim(&mut journal, at % 20)).collect();
        assert_eq!(found(&drive.nand).unwrap().trims, [], "not before the host asks for it");
        drive.keep(&mut journal, CheckpointTrigger::Trims);
        assert_eq!(drive.work(), (5 + pages, 0), "{count} trims");
        let last = drive.stamp;
        assert_eq!(last, Stamp { sequence: 8 + 2 * u64::from(count), serial: 25 + pages });
        let reads = 2 + 5 + pages;
        let whole = Checkpoint { last, trims, reads, ..expected(3, (8, 20)) };
        assert_eq!(found(&drive.nand), Some(whole));
        // Trims are written only once.
        drive.keep(&mut journal, CheckpointTrigger::Trims);
        assert_eq!(drive.work(), (5 + pages, 0));
    }
}

#[test]
fn a_checkpoint_is_taken_when_the_area_is_full_of_trims() {
    // Pages of trims at a time; seven fit behind the commit record.
    for (pages, fit) in [(1, 7), (2, 3), (3, 2), (7, 1)] {
        let (mut drive, mut journal) = (Drive::new(3, (8, 20)), journal(1000));
        drive.keep(&mut journal, CheckpointTrigger::Now);
        let mut trims = vec![];
        for _ in 0..fit {
            trims.extend((0..4 * pages).map(|at| drive.trim(&mut journal, at % 20)));
            drive.keep(&mut journal, CheckpointTrigger::Trims);
        }
        assert_eq!(found(&drive.nand).unwrap().trims, trims, "{pages} pages at a time");
        assert_eq!(drive.work(), (u64::from(5 + pages * fit), 0));
        let taken = drive.stamp;
        (0..4 * pages).for_each(|at| {
            drive.trim(&mut journal, at % 20);
        });
        // The checkpoint's map includes all these trims, so the journal need not repeat them.
        drive.table[0] = None;
        drive.keep(&mut journal, CheckpointTrigger::Trims);
        assert_eq!(drive.work(), (u64::from(5 + pages * fit + 5), 0));
        let sequence = drive.stamp.sequence;
        assert!(sequence > taken.sequence);
        let mut after = expected(3, (sequence, taken.serial));
        after.table[0] = None;
        assert_eq!(found(&drive.nand), Some(after.clone()));
        drive.keep(&mut journal, CheckpointTrigger::Trims);
        assert_eq!(found(&drive.nand), Some(after));
    }
}

#[test]
fn trims_are_kept_until_there_is_a_checkpoint_to_note_them_behind() {
    let (mut drive, mut journal) = (Drive::new(3, (8, 20)), journal(1000));
    drive.keep(&mut journal, CheckpointTrigger::Trims);
    assert_eq!(drive.work(), (0, 0), "nothing is to be written down");
    drive.trim(&mut journal, 1);
    drive.keep(&mut journal, CheckpointTrigger::Trims);
    assert_eq!(found(&drive.nand), Some(expected(3, (10, 20))));
}

#[test]
fn a_checkpoint_is_due_after_so_many_programs() {
    for every in [5, 6, 40] {
        let (mut drive, mut journal) = (Drive::new(3, (8, 20)), journal(every));
        drive.keep(&mut journal, CheckpointTrigger::Now);
        // The interval starts at the serial number of the last checkpoint, so it includes the
        // checkpoint's own five pages.
        for taken in [20, 20 + every] {
            drive.stamp.serial = drive.stamp.serial.max(taken + every - 1);
            let before = drive.work().0;
            if drive.stamp.serial < taken + every {
                drive.keep(&mut journal, CheckpointTrigger::Due);
                assert_eq!(drive.work().0, before, "not yet");
            }
            drive.stamp.serial = taken + every;
            drive.keep(&mut journal, CheckpointTrigger::Due);
            assert_eq!(drive.work().0, before + 5, "{every}");
            assert_eq!(found(&drive.nand).unwrap().stamp.serial, taken + every);
        }
    }
}

#[test]
fn the_areas_alternate_and_only_programmed_units_are_erased() {
    let (mut drive, mut journal) = (Drive::new(3, (8, 20)), journal(1000));
    let erased = |drive: &Drive| drive.work().1;
    for (number, area) in [0, 1, 0, 1, 0].into_iter().enumerate() {
        let before = (drive.stamp.serial, erased(&drive));
        drive.keep(&mut journal, CheckpointTrigger::Now);
        // Five pages take two units. Trims were in the third unit of the first area once.
        let units = [0, 0, 3, 2, 2][number];
        assert_eq!(erased(&drive) - before.1, units, "checkpoint {number}");
        let commit = drive.nand.payload(ppn(area, COMMIT)).unwrap();
        assert_eq!(commit, commit_bytes(drive.stamp.sequence, before.0));
        if number == 0 {
            for _ in 0..4 {
                drive.trim(&mut journal, 1);
                drive.keep(&mut journal, CheckpointTrigger::Trims);
            }
        }
    }
}

#[test]
fn the_checkpoint_after_a_recovery_keeps_the_checkpoint_found() {
    // Areas with a checkpoint and its serial number; area of the next checkpoint.
    for (areas, area) in [
        (vec![], 0),
        (vec![(0, 20)], 1),
        (vec![(1, 20)], 0),
        (vec![(0, 20), (1, 40)], 0),
        (vec![(0, 40), (1, 20)], 1),
    ] {
        let mut drive = Drive::new(3, (8, 60));
        for &(area, serial) in &areas {
            put_checkpoint(&mut drive.nand, area, 5, (6, serial));
        }
        // An unfinished checkpoint: one page in the area of the next checkpoint.
        let begun = areas.iter().all(|&(other, _)| other != area);
        if begun {
            put(&mut drive.nand, (area, 0), &[0; 64], (6, 50));
        }
        let programs = drive.work().0;
        let mut journal = Journal::recovered(layout(SHAPE), 30, &drive.nand);
        let newest = areas.iter().map(|&(_, serial)| serial).max().unwrap_or(0);

        // The interval starts at the newest checkpoint on flash.
        drive.stamp.serial = newest + 29;
        drive.keep(&mut journal, CheckpointTrigger::Due);
        assert_eq!(drive.work(), (programs, 0), "{areas:?}");
        let mut due = drive.nand.clone();
        core::mem::swap(&mut due, &mut drive.nand);
        drive.stamp.serial += 1;
        drive.keep(&mut journal.clone(), CheckpointTrigger::Due);
        assert_eq!(drive.work().0, programs + 5, "{areas:?}");
        drive.nand = due;

        // No trims go behind the found checkpoint: there may be torn pages.
        drive.stamp.serial = 60;
        drive.keep(&mut journal, CheckpointTrigger::Trims);
        assert_eq!(drive.work(), (programs, 0), "{areas:?}");
        drive.trim(&mut journal, 9);
        drive.keep(&mut journal, CheckpointTrigger::Trims);
        let units = if begun { 1 } else { 2 };
        assert_eq!(drive.work(), (programs + 5, units), "{areas:?}");
        assert_eq!(drive.nand.payload(ppn(area, COMMIT)), Some(commit_bytes(10, 60)), "{areas:?}");
        for &(other, serial) in areas.iter().filter(|&&(other, _)| other != area) {
            assert_eq!(drive.nand.payload(ppn(other, COMMIT)), Some(commit_bytes(6, serial)));
        }
        assert_eq!(found(&drive.nand), Some(expected(3, (10, 60))));
        // From then on trims go behind the new checkpoint.
        let trim = drive.trim(&mut journal, 9);
        drive.keep(&mut journal, CheckpointTrigger::Trims);
        assert_eq!(found(&drive.nand).unwrap().trims, [trim]);
    }
}
