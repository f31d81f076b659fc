//! Placement handles of a live drive: where data go, units that the host renews, and events.

use floatgate_ftl::rng::Rng;

use super::host::initiator::Initiator;
use super::host::{Build, Done, group_log, le16, le32, le64, set_feature};
use super::*;

const NOT_FILLED: u8 = 0x00;
const RESET: u8 = 0x02;
const INVALID: u8 = 0x03;
const REALLOCATED: u8 = 0x80;
const MODIFIED: u8 = 0x81;

/// Returns the blocks that the unit of each handle still takes.
fn room(queue: &mut Initiator) -> Vec<u64> {
    let bytes = 16 + 4 * 32;
    let receive = Build::new(0x12).namespace(1).dword(10, 1).dword(11, bytes / 4 - 1);
    let data = queue.run(receive.length(bytes as usize), &[]).ok();
    assert_eq!(le16(&data, 14), 4);
    (0..4).map(|handle| le64(&data, 24 + 32 * handle)).collect()
}

fn update(queue: &mut Initiator, handles: &[u16]) -> Done {
    let data: Vec<u8> = handles.iter().flat_map(|one| one.to_le_bytes()).collect();
    let send = Build::new(0x1d).namespace(1).dword(10, 1 | (handles.len() as u32 - 1) << 16);
    queue.run(send.length(data.len()), &data)
}

fn enable_all(admin: &mut Initiator) {
    let types = [NOT_FILLED, RESET, INVALID, REALLOCATED, MODIFIED];
    for handle in 0..4 {
        let feature = set_feature(0x1e, handle | (types.len() as u32) << 16).namespace(1);
        admin.run(feature.dword(12, 1).length(types.len()), &types).ok();
    }
}

/// Returns the types and handles of the logged events, of the host or of the controller.
fn events(admin: &mut Initiator, of_host: bool) -> Vec<(u8, u16)> {
    let log = admin.run(group_log(0x23, 4096, of_host.into()), &[]).ok();
    let at = |event: usize| 64 + 64 * event;
    (0..le32(&log, 0) as usize).map(|event| (log[at(event)], le16(&log, at(event) + 34))).collect()
}

/// The streams of the erase units that have been written.
fn streams(target: &Target) -> Vec<i64> {
    let blocks = target.stand.ask(&json!({"do": "blocks"})).unwrap();
    let streams = blocks["stream"].as_array().unwrap().iter().map(|one| one.as_i64().unwrap());
    let mut written: Vec<_> = streams.filter(|&stream| stream >= 0).collect();
    written.sort_unstable();
    written
}

#[test]
fn data_go_to_units_of_their_handles_and_into_the_recording() {
    let target = drive(&[]);
    let (_admin, mut queue) = target.connect();
    assert_eq!(room(&mut queue), [16; 4]);
    write(&mut queue, 0, &vec![1; 3 * PAGE], 1).ok();
    write(&mut queue, 9, &vec![1; 20 * PAGE], 3).ok();
    queue.run(io(0x01, 40, 1).length(PAGE), &[1; PAGE]).ok();
    assert_eq!(room(&mut queue), [15, 13, 16, 12]);
    // Stream 0 is for moved pages, and handle n has stream n + 1.
    assert_eq!(streams(&target), [1, 2, 4, 4]);
    target.stand.served.shut_down().unwrap();
    let recorded: Vec<_> = target.stand.recorded().iter().map(|one| one.stream).collect();
    assert_eq!(recorded, [1, 3, 0]);
}

#[test]
fn a_renewed_handle_writes_to_another_unit() {
    for (sets, unit) in [(&[][..], 16), (&[("placement.reclaim_unit", "128KiB")][..], 32)] {
        let target = drive(sets);
        let (_admin, mut queue) = target.connect();
        assert_eq!(room(&mut queue), [unit; 4]);
        write(&mut queue, 0, &vec![1; 17 * PAGE], 1).ok();
        update(&mut queue, &[1, 2]).ok();
        assert_eq!(room(&mut queue), [unit; 4]);
        let before = streams(&target).len();
        write(&mut queue, 20, &vec![2; PAGE], 1).ok();
        assert_eq!(streams(&target).len(), before + 1);
        assert_eq!(room(&mut queue), [unit, unit - 1, unit, unit]);
        assert_eq!(update(&mut queue, &[4]).status, 0x02, "there is no handle 4");
        flush(&mut queue);
        target.stand.ask(&json!({"do": "check"})).unwrap();
        target.plug();
        target.stand.ask(&json!({"do": "check"})).unwrap();
        let (_admin, mut queue) = target.connect();
        let expected = [vec![1; 17 * PAGE], vec![0; 3 * PAGE], vec![2; PAGE]].concat();
        assert_eq!(read(&mut queue, 0, 21), expected);
    }
}

/// Handles are renewed at random while the drive cleans and loses power.
#[test]
fn a_drive_whose_handles_are_renewed_keeps_its_data() {
    let rows = [("flash.program_pages", "2"), ("cleaning.copies_per_write", "2")];
    for sets in [&[][..], &rows[..1], &rows[1..]] {
        let target = drive(sets);
        let mut expected = [0; 200];
        for cut in 0..4_u64 {
            let (_admin, mut queue) = target.connect();
            for round in 0..300_u64 {
                let number = cut * 300 + round;
                let (at, byte) = (number * 7919 % 200, number as u8);
                write(&mut queue, at, &[byte; PAGE], (number % 4) as u32).ok();
                expected[at as usize] = byte;
                if number.is_multiple_of(5) {
                    update(&mut queue, &[(number / 5 % 4) as u16]).ok();
                }
            }
            flush(&mut queue);
            target.plug();
            target.stand.ask(&json!({"do": "check"})).unwrap();
        }
        let (_admin, mut queue) = target.connect();
        for (at, &byte) in expected.iter().enumerate() {
            assert_eq!(read(&mut queue, at as u64, 1), [byte; PAGE], "{at} with {sets:?}");
        }
    }
}

#[test]
fn events_happen_when_they_should() {
    let target = drive(&[]);
    let (mut admin, mut queue) = target.connect();
    enable_all(&mut admin);
    // The host ends a unit early: an event of the host. An empty unit is none.
    write(&mut queue, 0, &vec![1; 3 * PAGE], 1).ok();
    update(&mut queue, &[1]).ok();
    update(&mut queue, &[1, 2]).ok();
    assert_eq!(events(&mut admin, true), [(NOT_FILLED, 1)]);
    // A unit is full, and the drive opens the next one: an event of the controller.
    write(&mut queue, 8, &vec![1; 16 * PAGE], 2).ok();
    assert_eq!(events(&mut admin, false), []);
    write(&mut queue, 24, &vec![1; PAGE], 2).ok();
    assert_eq!(events(&mut admin, false), [(MODIFIED, 2)]);
    write(&mut queue, 0, &vec![1; PAGE], 77).ok();
    assert_eq!(events(&mut admin, true), [(NOT_FILLED, 1), (INVALID, 0)]);
    target.plug();
    let (mut admin, _queue) = target.connect();
    assert_eq!(events(&mut admin, true).last(), Some(&(RESET, 0)));
}

/// Cleaning moves data of the handle that is written at random, and of no other.
#[test]
fn moved_data_are_events_unless_isolation_is_persistent() {
    for (isolation, is_event) in [("initially", true), ("persistently", false)] {
        let target = drive(&[("placement.isolation", isolation)]);
        let (mut admin, mut queue) = target.connect();
        let types = [REALLOCATED];
        for handle in 0..4 {
            let feature = set_feature(0x1e, handle | 1 << 16).namespace(1).dword(12, 1);
            admin.run(feature.length(1), &types).ok();
        }
        let mut rng = Rng::new(3);
        for _ in 0..4000 {
            write(&mut queue, rng.below(480), &[1; PAGE], 2).ok();
        }
        let events = events(&mut admin, false);
        assert_eq!(!events.is_empty(), is_event, "{isolation}");
        assert!(events.iter().all(|&event| event == (REALLOCATED, 2)));
    }
}

#[test]
fn a_drive_without_handles_has_no_placement() {
    let target = Target::new(&config(None, SMALL), Timekeeping::None);
    let (mut admin, mut queue) = target.connect();
    assert_eq!(admin.run(group_log(0x20, 512, 0), &[]).status, 0x109, "invalid log page");
    assert_eq!(write(&mut queue, 0, &[1; PAGE], 1).status, 0x02, "no directives");
    queue.run(io(0x01, 0, 1).length(PAGE), &[1; PAGE]).ok();
}
