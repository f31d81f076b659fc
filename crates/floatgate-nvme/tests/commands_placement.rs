//! Flexible data placement, without a transport.

#![allow(clippy::unwrap_used)]

mod common;

use common::direct::Direct;
use common::*;
use floatgate_nvme::drive::DriveEvent;

/// Writes blocks of 4 KiB with a placement identifier.
fn place(host: &Direct, start: u64, blocks: u32, identifier: u32) -> Done {
    let command = io(0x01, start, blocks);
    let command = command.dword(12, 2 << 20 | (blocks - 1)).dword(13, identifier << 16);
    host.io_with(command, &vec![1; 4096 * blocks as usize])
}

/// Returns the blocks that the unit of each handle still takes.
fn room(host: &Direct) -> Vec<u64> {
    let dwords = 16 + 4 * 32;
    let command = Build::new(0x12).namespace(1).dword(10, 1).dword(11, dwords / 4 - 1);
    let data = host.io(command).ok();
    assert_eq!((&data[..14], le16(&data, 14)), (&[0; 14][..], 4));
    for handle in 0..4 {
        let at = 16 + 32 * handle;
        assert_eq!((le16(&data, at), le16(&data, at + 2)), (handle as u16, handle as u16));
        assert_eq!(le32(&data, at + 4), 0);
    }
    (0..4).map(|handle| le64(&data, 24 + 32 * handle)).collect()
}

fn update(host: &Direct, identifiers: &[u16]) -> Done {
    let data: Vec<u8> = identifiers.iter().flat_map(|one| one.to_le_bytes()).collect();
    let count = identifiers.len() as u32 - 1;
    host.io_with(Build::new(0x1d).namespace(1).dword(10, 1 | count << 16), &data)
}

fn enable(host: &Direct, handle: u32, types: &[u8]) -> Done {
    let dword = handle | (types.len() as u32) << 16;
    host.admin_with(set_feature(0x1e, dword).namespace(1).dword(12, 1), types)
}

/// Returns the types of the logged events, of the host or of the controller.
fn events(host: &Direct, of_host: bool) -> Vec<u8> {
    let log = host.admin(group_log(0x23, 4096, of_host.into())).ok();
    (0..le32(&log, 0) as usize).map(|event| log[64 + 64 * event]).collect()
}

#[test]
fn configurations_and_usage_describe_handles() {
    let host = Direct::new(PLACED);
    let log = host.admin(group_log(0x20, 512, 0)).ok();
    // One configuration, 0-based; version 0; size.
    assert_eq!((le16(&log, 0), log[2], le32(&log, 4)), (0, 0, 96));
    let one = &log[16..];
    // Valid, with a volatile write cache, no bits for reclaim groups.
    assert_eq!((le16(one, 0), one[2], one[3]), (80, 0x90, 0));
    assert_eq!((le32(one, 4), le16(one, 8), le16(one, 10), le32(one, 12)), (1, 4, 3, 1));
    assert_eq!((le64(one, 16), le32(one, 24)), (64 << 10, 0));
    assert_eq!(one[64..80], [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
    let usage = host.admin(group_log(0x21, 40, 0)).ok();
    assert_eq!(le16(&usage, 0), 4);
    assert_eq!([8, 16, 24, 32].map(|at| usage[at]), [1; 4]);
    assert_eq!(host.admin(get_feature(0x1d, 1)).result, 1, "enabled, configuration 0");
    assert_eq!(host.admin(get_feature(0x1d, 2)).status, 0x02);
    assert_eq!(host.admin(set_feature(0x1d, 1)).status, 0x0c, "the group has a namespace");
}

#[test]
fn writes_fill_the_units_of_their_handles() {
    let host = Direct::new(PLACED);
    assert_eq!(room(&host), [16, 16, 16, 16]);
    place(&host, 0, 3, 1).ok();
    place(&host, 9, 4, 3).ok();
    host.write(20, 1, 1).ok();
    assert_eq!(room(&host), [15, 13, 16, 12]);
    update(&host, &[3, 1]).ok();
    assert_eq!(room(&host), [15, 16, 16, 16]);
    host.admin(Build::new(0x80).namespace(1)).ok();
    assert_eq!(room(&host)[1], 128, "in blocks of 512 bytes");
}

#[test]
fn an_update_with_an_unknown_identifier_changes_nothing() {
    let host = Direct::new(PLACED);
    place(&host, 0, 3, 1).ok();
    assert_eq!(update(&host, &[1, 4]).status, 0x02);
    assert_eq!(update(&host, &[1, 1, 1, 1, 1]).status, 0x02, "more than there are");
    assert_eq!(room(&host)[1], 13);
    assert_eq!(host.io(Build::new(0x1d).namespace(1).dword(10, 2)).status, 0x02);
    assert_eq!(host.io(Build::new(0x1d).namespace(1)).status, 0, "no action");
    assert_eq!(host.io(Build::new(0x12).namespace(1).dword(10, 2)).status, 0x02);
    assert_eq!(host.io(Build::new(0x12).namespace(0).dword(10, 1)).status, 0x0b);
}

#[test]
fn a_status_is_cut_at_the_length_of_its_data() {
    let host = Direct::new(PLACED);
    let header = host.io(Build::new(0x12).namespace(1).dword(10, 1).dword(11, 3)).ok();
    assert_eq!((header.len(), le16(&header, 14)), (16, 4));
}

#[test]
fn events_are_logged_where_the_host_enables_them() {
    let host = Direct::new(PLACED);
    place(&host, 0, 1, 1).ok();
    update(&host, &[1]).ok();
    assert!(events(&host, true).is_empty(), "not enabled");
    enable(&host, 1, &[0x00, 0x81]).ok();
    enable(&host, 0, &[0x03]).ok();
    update(&host, &[1]).ok();
    assert!(events(&host, true).is_empty(), "the unit was empty");
    place(&host, 0, 1, 1).ok();
    place(&host, 0, 1, 2).ok();
    update(&host, &[1, 2]).ok();
    place(&host, 0, 1, 9).ok();
    assert_eq!(events(&host, true), [0, 3]);
    // A full unit: the next one is not the host's doing.
    place(&host, 0, 16, 1).ok();
    place(&host, 0, 16, 2).ok();
    update(&host, &[1]).ok();
    assert_eq!((events(&host, true), events(&host, false)), (vec![0, 3], vec![0x81]));
    let log = host.admin(group_log(0x23, 4096, 1)).ok();
    let (first, second) = (&log[64..128], &log[128..192]);
    // Identifier, namespace and location are valid.
    assert_eq!((first[1], le16(first, 2), le32(first, 12), le16(first, 34)), (7, 1, 1, 1));
    assert_eq!((second[1], le16(second, 2), le32(second, 12), le16(second, 34)), (7, 9, 1, 0));
}

#[test]
fn a_write_with_an_unknown_identifier_goes_to_handle_0() {
    let host = Direct::new(PLACED);
    place(&host, 0, 2, 4).ok();
    assert_eq!(room(&host), [14, 16, 16, 16]);
    let command = io(0x01, 0, 1).dword(12, 1 << 20);
    assert_eq!(host.io_with(command, &[0; 4096]).status, 0x02, "streams");
}

#[test]
fn events_of_the_drive_are_logged_as_they_are_enabled() {
    let host = Direct::new(PLACED);
    let moved = DriveEvent::Reallocated { handle: 2, offset: 40960, length: 8192 };
    host.drive.add_event(moved);
    enable(&host, 2, &[0x80]).ok();
    assert!(events(&host, false).is_empty(), "it was earlier");
    host.drive.add_event(moved);
    host.drive.add_event(DriveEvent::NextUnit { handle: 2 });
    host.drive.add_event(DriveEvent::Reset);
    assert_eq!(events(&host, false), [0x80]);
    let log = host.admin(group_log(0x23, 4096, 0)).ok();
    let event = &log[64..128];
    // The address is valid; two blocks from block 10 on.
    assert_eq!((event[16], le16(event, 18), le64(event, 20)), (1, 2, 10));
    enable(&host, 3, &[0x02]).ok();
    host.drive.add_event(DriveEvent::Reset);
    assert_eq!(events(&host, true), [2], "a reset concerns all handles");
}

#[test]
fn enabled_events_are_reported() {
    let host = Direct::new(PLACED);
    enable(&host, 1, &[0x00, 0x80]).ok();
    let get = |count: u32| host.admin(get_feature(0x1e, 1 | count << 16).namespace(1));
    let done = get(255);
    assert_eq!((done.status, done.result, done.data.len()), (0, 6, 510));
    assert_eq!(done.data[..14], [0, 1, 1, 0, 2, 0, 3, 0, 0x80, 1, 0x81, 0, 0, 0]);
    assert_eq!(get(1).data, [0, 1]);
    let disabled = set_feature(0x1e, 1 | 1 << 16).namespace(1);
    host.admin_with(disabled, &[0x80]).ok();
    assert_eq!(get(6).data[8..], [0x80, 0, 0x81, 0]);
    assert_eq!(enable(&host, 4, &[0]).status, 0x02, "unknown handle");
    assert_eq!(enable(&host, 0, &[0, 0x70]).status, 0x02, "unknown type");
    assert_eq!(host.admin(get_feature(0x1e, 0).namespace(2)).status, 0x0b);
}

#[test]
fn the_placement_directive_is_always_enabled() {
    let host = Direct::new(PLACED);
    let receive = Build::new(0x1a).namespace(1).dword(10, 1023).dword(11, 1);
    let data = host.admin(receive).ok();
    // Identify and data placement: supported, enabled; the latter outlasts a reset.
    assert_eq!((data[0], data[32], data[64]), (0b101, 0b101, 0b100));
    assert_eq!(host.admin(receive.dword(11, 1 | 1 << 8)).status, 0x02, "streams");
    let send = Build::new(0x19).namespace(1).dword(11, 1);
    host.admin(send.dword(12, 2 << 8 | 1)).ok();
    assert_eq!(host.admin(send.dword(12, 2 << 8)).status, 0x02, "cannot be disabled");
    assert_eq!(host.admin(send.dword(12, 1 << 8 | 1)).status, 0x02, "streams");
    assert_eq!(host.admin(send.namespace(2).dword(12, 2 << 8 | 1)).status, 0x0b);
}
