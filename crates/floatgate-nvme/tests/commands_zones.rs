//! Zoned namespaces, without a transport: 16 zones of 256 blocks, of which 192 can be written; 3
//! active, 2 open.

#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::direct::Direct;
use common::*;
use floatgate_nvme::drive::{Shape, ZoneShape};

const EMPTY: u8 = 0x1;
const IMPLICIT: u8 = 0x2;
const EXPLICIT: u8 = 0x3;
const CLOSED: u8 = 0x4;
const READ_ONLY: u8 = 0xd;
const FULL: u8 = 0xe;

fn send(host: &Direct, zone: u64, action: u32) -> u16 {
    host.io(Build::new(0x79).namespace(1).start(zone * 256).dword(13, action)).status
}

fn close(host: &Direct, zone: u64) -> u16 {
    send(host, zone, 1)
}

fn finish(host: &Direct, zone: u64) -> u16 {
    send(host, zone, 2)
}

fn open(host: &Direct, zone: u64) -> u16 {
    send(host, zone, 3)
}

fn reset(host: &Direct, zone: u64) -> u16 {
    send(host, zone, 4)
}

const ALL: u32 = 1 << 8;

fn append(host: &Direct, zone: u64, blocks: u32, byte: u8) -> Done {
    host.io_with(io(0x7d, zone * 256, blocks), &vec![byte; 4096 * blocks as usize])
}

/// Reports zones: dword 13 has options; `bytes` is the room for the report.
fn report(host: &Direct, block: u64, options: u32, bytes: u32) -> Vec<u8> {
    let command = Build::new(0x7a).namespace(1).start(block);
    host.io(command.dword(12, bytes / 4 - 1).dword(13, options)).ok()
}

/// Returns states and write pointers of the first zones.
fn states<const N: usize>(host: &Direct) -> [(u8, u64); N] {
    let data = report(host, 0, 0, 64 + 64 * N as u32);
    std::array::from_fn(|zone| {
        let zone = &data[64 + 64 * zone..];
        (zone[1] >> 4, le64(zone, 24) - le64(zone, 16))
    })
}

#[test]
fn a_zoned_namespace_describes_itself() {
    let host = Direct::new(ZONED);
    let data = host.admin(identify(5, 1).dword(11, 2 << 24)).ok();
    // Reads may cross boundaries; 3 active and 2 open zones, 0-based.
    assert_eq!((le16(&data, 0), le16(&data, 2), le32(&data, 4), le32(&data, 8)), (0, 1, 2, 1));
    // All zones, and what they can hold.
    let namespace = host.admin(identify(0, 1)).ok();
    assert_eq!((le64(&namespace, 0), le64(&namespace, 48)), (16 * 256, 12 * MIB));
    assert_eq!(le64(&host.admin(identify(1, 0)).ok(), 280), 12 * MIB);
    assert_eq!(host.admin(identify(8, 1)).ok()[14], 1, "ready");
    // Zone sizes by LBA format, without descriptor extensions.
    assert_eq!((le64(&data, 2816), data[2824], le64(&data, 2832)), (2048, 0, 256));
    assert_eq!(host.admin(get_property(0, true)).result >> 37 & 0xff, 0b100_0001);
    assert_eq!(host.admin(identify(5, 1)).ok(), vec![0; 4096], "NVM");
    assert_eq!(host.admin(identify(6, 0).dword(11, 2 << 24)).ok(), vec![0; 4096]);
    assert_eq!(host.admin(identify(0x1c, 0)).ok()[0], 0b101);
    assert_eq!(host.admin(identify(3, 1)).ok()[24], 2);
    assert_eq!(le32(&host.admin(identify(7, 0).dword(11, 2 << 24)).ok(), 0), 1);
    assert_eq!(le32(&host.admin(identify(7, 0)).ok(), 0), 0, "no NVM namespace");
    let effects = host.admin(log_page(5, 4096).dword(14, 2 << 24)).ok();
    assert_eq!([0x79, 0x7a, 0x7d].map(|op| le32(&effects, 1024 + 4 * op)), [3, 1, 3]);
    let effects = host.admin(log_page(5, 4096)).ok();
    assert_eq!(le32(&effects, 1024 + 4 * 0x7d), 0, "not of the NVM command set");
    let unlimited = ZoneShape { open_max: None, active_max: None, ..ZONED.zones.unwrap() };
    let host = Direct::new(Shape { zones: Some(unlimited), ..ZONED });
    let data = host.admin(identify(5, 1).dword(11, 2 << 24)).ok();
    assert_eq!((le32(&data, 4), le32(&data, 8)), (u32::MAX, u32::MAX));
}

#[test]
fn a_host_without_the_command_set_cannot_use_zones() {
    let host = Direct::new(ZONED);
    host.admin(set_property(0x14, 0)).ok();
    host.admin(set_property(0x14, 4 << 20 | 6 << 16 | 1)).ok();
    assert_eq!(host.read(0, 1).status, 0x12a);
}

#[test]
fn zones_are_reported() {
    let host = Direct::new(ZONED);
    append(&host, 2, 5, 1).ok();
    let data = report(&host, 0, 0, 4096);
    assert_eq!(le64(&data, 0), 16);
    let zone = &data[64 + 2 * 64..];
    // Sequential writes required; state in the upper bits; capacity, start, write pointer.
    assert_eq!((zone[0], zone[1], zone[2]), (2, IMPLICIT << 4, 0));
    assert_eq!([8, 16, 24].map(|at| le64(zone, at)), [192, 512, 517]);
    // From a block within zone 15 on, with room for the header and one zone.
    assert_eq!(le64(&report(&host, 15 * 256 + 9, 0, 128), 0), 1);
    assert_eq!(le64(&report(&host, 0, 0, 128), 0), 16, "all that there are");
    assert_eq!(le64(&report(&host, 0, 1 << 16, 128), 0), 1, "partial: all that are there");
    assert_eq!(le64(&report(&host, 0, 1 << 16, 8), 0), 0);
    // By state.
    let count = |option: u32| le64(&report(&host, 0, option << 8, 64), 0);
    assert_eq!([1, 2, 3, 4, 5, 6, 7].map(count), [15, 1, 0, 0, 0, 0, 0]);
    let command = Build::new(0x7a).namespace(1).dword(12, 15);
    assert_eq!(host.io(command.dword(13, 8 << 8)).status, 0x02);
    assert_eq!(host.io(command.dword(13, 1)).status, 0x02, "extended report");
    assert_eq!(host.io(command.start(4096)).status, 0x80);
}

#[test]
fn writes_follow_the_write_pointer() {
    let host = Direct::new(ZONED);
    host.write(256, 10, 1).ok();
    assert_eq!(host.write(256, 1, 1).status, 0x1bc, "before the pointer");
    assert_eq!(host.write(267, 1, 1).status, 0x1bc, "after the pointer");
    assert_eq!(host.write(266, 183, 1).status, 0x1b8, "beyond the capacity");
    host.io(io(0x08, 266, 180)).ok();
    assert_eq!(states::<2>(&host)[1], (IMPLICIT, 190));
    host.write(446, 2, 2).ok();
    assert_eq!(states::<2>(&host)[1], (FULL, 192));
    assert_eq!(host.write(448, 1, 1).status, 0x1b9);
    assert_eq!(append(&host, 1, 1, 1).status, 0x1b9);
    let data = host.read(265, 2).ok();
    assert_eq!((data[0], data[4096]), (1, 0));
    // Reads may cross boundaries, and read zeros where nothing was written.
    assert_eq!(host.read(440, 80).ok()[7 * 4096], 2);
}

#[test]
fn appends_return_their_address() {
    let host = Direct::new(ZONED);
    assert_eq!(append(&host, 3, 4, 7).result, 768);
    assert_eq!(append(&host, 3, 2, 8).result, 772);
    assert_eq!(host.read(772, 1).ok(), vec![8; 4096]);
    assert_eq!(append(&host, 3, 187, 1).status, 0x1b8);
    let within = host.io_with(io(0x7d, 769, 1), &[0; 4096]);
    assert_eq!(within.status, 0x02, "no zone begins there");
}

#[test]
fn limits_of_open_and_active_zones_hold() {
    let host = Direct::new(ZONED);
    append(&host, 0, 1, 1).ok();
    append(&host, 1, 1, 1).ok();
    append(&host, 2, 1, 1).ok();
    assert_eq!(states(&host), [(CLOSED, 1), (IMPLICIT, 1), (IMPLICIT, 1)]);
    let done = append(&host, 3, 1, 1);
    assert_eq!((done.status, done.is_final), (0x1bd, false), "too many are active");
    assert_eq!((open(&host, 0), open(&host, 1)), (0, 0));
    assert_eq!(states(&host), [(EXPLICIT, 1), (EXPLICIT, 1), (CLOSED, 1)]);
    assert_eq!(append(&host, 2, 1, 1).status, 0x1be, "too many are open");
    assert_eq!(open(&host, 2), 0x1be);
    append(&host, 1, 1, 1).ok();
    assert_eq!(finish(&host, 0), 0);
    append(&host, 2, 1, 1).ok();
    assert_eq!(append(&host, 3, 1, 1).status, 0, "the full zone is not active");
    assert_eq!(states(&host), [(FULL, 192), (EXPLICIT, 2), (CLOSED, 2), (IMPLICIT, 1)]);
}

#[test]
fn transitions_are_those_of_the_specification() {
    let host = Direct::new(ZONED);
    // Empty.
    assert_eq!((close(&host, 0), reset(&host, 0), send(&host, 0, 5)), (0x1bf, 0, 0x1bf));
    assert_eq!((open(&host, 0), open(&host, 0)), (0, 0));
    assert_eq!((close(&host, 0), close(&host, 0)), (0, 0));
    assert_eq!(states(&host), [(CLOSED, 0)]);
    assert_eq!(reset(&host, 0), 0);
    assert_eq!(states(&host), [(EMPTY, 0)]);
    // Full.
    assert_eq!((finish(&host, 0), finish(&host, 0)), (0, 0));
    assert_eq!((open(&host, 0), close(&host, 0)), (0x1bf, 0x1bf));
    assert_eq!(states(&host), [(FULL, 192)]);
    assert_eq!(reset(&host, 0), 0);
    append(&host, 0, 3, 1).ok();
    assert_eq!(reset(&host, 0), 0);
    assert_eq!((states(&host), host.read(0, 1).ok()), ([(EMPTY, 0)], vec![0; 4096]));
    // Unknown actions and addresses.
    assert_eq!((send(&host, 0, 0), send(&host, 0, 0x10), send(&host, 16, 4)), (2, 2, 0x80));
    let within = Build::new(0x79).namespace(1).start(5).dword(13, 4);
    assert_eq!(host.io(within).status, 0x02);
}

#[test]
fn an_action_for_all_chooses_zones_by_state() {
    let host = Direct::new(ZONED);
    finish(&host, 0);
    append(&host, 1, 1, 1).ok();
    append(&host, 2, 1, 1).ok();
    assert_eq!(send(&host, 0, 1 | ALL), 0);
    assert_eq!(states(&host), [(FULL, 192), (CLOSED, 1), (CLOSED, 1), (EMPTY, 0)]);
    assert_eq!(send(&host, 0, 3 | ALL), 0);
    assert_eq!(states(&host), [(FULL, 192), (EXPLICIT, 1), (EXPLICIT, 1), (EMPTY, 0)]);
    assert_eq!(send(&host, 0, 2 | ALL), 0);
    assert_eq!(states(&host), [(FULL, 192), (FULL, 192), (FULL, 192), (EMPTY, 0)]);
    assert_eq!(send(&host, 0, 4 | ALL), 0);
    assert_eq!(states(&host), [(EMPTY, 0); 4]);
    assert_eq!((send(&host, 0, 5 | ALL), send(&host, 0, 9 | ALL)), (0, 2));
}

#[test]
fn closed_zones_open_together_or_not_at_all() {
    let host = Direct::new(ZONED);
    for zone in 0..3 {
        append(&host, zone, 1, 1).ok();
        assert_eq!(close(&host, zone), 0);
    }
    assert_eq!(send(&host, 0, 3 | ALL), 0x1be);
    assert_eq!(states(&host), [(CLOSED, 1); 3]);
    assert_eq!((finish(&host, 2), send(&host, 0, 3 | ALL)), (0, 0));
    assert_eq!(states(&host), [(EXPLICIT, 1), (EXPLICIT, 1), (FULL, 192)]);
}

#[test]
fn zones_of_a_read_only_drive_are_read_only() {
    let host = Direct::new(ZONED);
    append(&host, 0, 5, 1).ok();
    finish(&host, 1);
    host.drive.set_read_only(true);
    assert_eq!(states::<3>(&host).map(|(state, _)| state), [READ_ONLY; 3]);
    assert_eq!(le64(&report(&host, 0, 6 << 8, 64), 0), 16);
    assert_eq!(le64(&report(&host, 0, 2 << 8, 64), 0), 0);
    for zone in [0, 1] {
        assert_eq!(append(&host, zone, 1, 1).status, 0x1ba, "zone {zone}");
    }
    assert_eq!((host.write(5, 1, 1).status, host.write(0, 1, 1).status), (0x1ba, 0x1ba));
    for action in 1..6 {
        assert_eq!(send(&host, 0, action), 0x1bf, "{action}");
        assert_eq!(send(&host, 0, action | ALL), 0, "{action}: no zone is in its states");
    }
    assert_eq!((send(&host, 0, 9), send(&host, 0, 9 | ALL)), (2, 2));
    assert_eq!(host.read(4, 1).ok(), vec![1; 4096]);
    host.drive.set_read_only(false);
    assert_eq!(states(&host), [(IMPLICIT, 5), (FULL, 192), (EMPTY, 0)]);
    assert_eq!(append(&host, 0, 1, 1).result, 5);
}

#[test]
fn zones_are_found_again_after_a_power_cut() {
    let host = Direct::new(ZONED);
    append(&host, 0, 5, 1).ok();
    finish(&host, 1);
    append(&host, 2, 192, 1).ok();
    host.io(Build::new(0).namespace(1)).ok();
    append(&host, 0, 5, 1).ok();
    append(&host, 3, 5, 1).ok();
    host.drive.cut_power();
    host.subsystem.power_cut();
    let host = Direct::with(Arc::clone(&host.drive), Arc::clone(&host.subsystem));
    assert_eq!(states(&host), [(CLOSED, 5), (FULL, 192), (FULL, 192), (EMPTY, 0)]);
    assert_eq!(append(&host, 0, 1, 1).result, 5);
}

/// ZNS Command Set 1.1, 2.1.1.3.
#[test]
fn active_zones_end_with_the_shutdown_of_the_last_controller() {
    let host = Direct::new(ZONED);
    let other = Direct::with(Arc::clone(&host.drive), Arc::clone(&host.subsystem));
    append(&host, 0, 5, 1).ok();
    append(&host, 2, 192, 1).ok();
    assert_eq!(open(&host, 1), 0);
    host.admin(set_property(0x14, ENABLED | 1 << 14)).ok();
    assert_eq!(states(&other), [(IMPLICIT, 5), (EXPLICIT, 0), (FULL, 192)]);
    other.admin(set_property(0x14, ENABLED | 1 << 14)).ok();
    let host = Direct::with(Arc::clone(&host.drive), Arc::clone(&host.subsystem));
    assert_eq!(states(&host), [(CLOSED, 5), (EMPTY, 0), (FULL, 192)]);
    assert_eq!(append(&host, 0, 1, 1).result, 5);
}

#[test]
fn a_format_empties_all_zones() {
    let host = Direct::new(Shape { page_bytes: 512, ..ZONED });
    append(&host, 0, 5, 1).ok();
    finish(&host, 1);
    host.admin(Build::new(0x80).namespace(1).dword(10, 0)).ok();
    assert_eq!(states(&host), [(EMPTY, 0); 2]);
    let data = report(&host, 2048, 0, 128);
    assert_eq!((le64(&data, 0), le64(&data[64..], 8), le64(&data[64..], 16)), (15, 1536, 2048));
    // A write pointer is between two pages.
    let host = Direct::new(ZONED);
    append(&host, 0, 5, 1).ok();
    assert_eq!(host.admin(Build::new(0x80).namespace(1).dword(10, 0)).status, 0x10a);
    assert_eq!(states(&host), [(IMPLICIT, 5)]);
    host.admin(Build::new(0x80).namespace(1).dword(10, 1)).ok();
    assert_eq!(states(&host), [(EMPTY, 0)]);
}
