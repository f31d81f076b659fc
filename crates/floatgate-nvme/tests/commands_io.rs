//! I/O commands of the NVM command set, without a transport.

#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::direct::Direct;
use common::*;
use floatgate_nvme::subsystem::Outcome;

#[test]
fn data_are_written_and_read() {
    let host = Direct::new(PLAIN);
    assert_eq!(host.read(0, 3).ok(), vec![0; 3 * 4096]);
    host.write(1, 1, 0xab).ok();
    let data = host.read(0, 3).ok();
    assert_eq!(data, [vec![0; 4096], vec![0xab; 4096], vec![0; 4096]].concat());
    host.write(4095, 1, 1).ok();
    assert_eq!(host.read(4095, 1).ok(), vec![1; 4096]);
}

#[test]
fn a_command_ends_within_the_namespace_and_its_limits() {
    let host = Direct::new(PLAIN);
    for opcode in [0x01, 0x02, 0x05, 0x08, 0x0c] {
        for (start, blocks) in [(4095, 2), (4096, 1), (u64::MAX, 1)] {
            let done = host.io_with(io(opcode, start, blocks), &vec![0; 8192]);
            assert_eq!((done.status, done.is_final), (0x80, true), "{opcode:#x} {start}");
        }
        for namespace in [0, 2, 0xffff_ffff] {
            let done = host.io_with(io(opcode, 0, 1).namespace(namespace), &[0; 4096]);
            assert_eq!(done.status, 0x0b, "{opcode:#x} {namespace}");
        }
    }
    // 1 MiB is the limit of data; Write Zeroes and Verify move none.
    assert_eq!(host.io(io(0x02, 0, 256)).status, 0);
    assert_eq!(host.io(io(0x02, 0, 257)).status, 0x02);
    assert_eq!(host.io_with(io(0x01, 0, 257), &[]).status, 0x02);
    assert_eq!(host.io(io(0x08, 0, 4096)).status, 0);
    assert_eq!(host.io(io(0x0c, 0, 4096)).status, 0);
}

#[test]
fn data_are_durable_after_a_flush_or_with_force_unit_access() {
    let host = Direct::new(PLAIN);
    host.write(0, 1, 1).ok();
    host.io(Build::new(0x00).namespace(0xffff_ffff)).ok();
    let forced = io(0x01, 1, 1);
    host.io_with(forced.dword(12, 1 << 30), &[2; 4096]).ok();
    host.write(2, 1, 3).ok();
    host.drive.cut_power();
    let after = Direct::with(Arc::clone(&host.drive), Arc::clone(&host.subsystem));
    let data = after.read(0, 3).ok();
    assert_eq!((data[0], data[4096], data[8192]), (1, 2, 0));
    assert_eq!(after.io(Build::new(0x00).namespace(1)).status, 0);
    assert_eq!(after.io(Build::new(0x00).namespace(2)).status, 0x0b);
}

#[test]
fn without_the_write_cache_each_write_is_durable() {
    let host = Direct::new(PLAIN);
    assert_eq!(host.admin(get_feature(6, 0)).result, 1);
    host.write(0, 1, 1).ok();
    host.admin(set_feature(6, 0)).ok();
    host.write(1, 1, 2).ok();
    host.io(io(0x08, 0, 1)).ok();
    host.drive.cut_power();
    let after = Direct::with(Arc::clone(&host.drive), Arc::clone(&host.subsystem));
    let data = after.read(0, 2).ok();
    assert_eq!((data[0], data[4096]), (0, 2));
    assert_eq!(after.admin(get_feature(6, 0)).result, 0);
    assert_eq!(after.admin(get_feature(6 | 1 << 8, 0)).result, 1, "the default");
}

#[test]
fn no_command_succeeds_after_a_power_cut() {
    let host = Direct::new(PLAIN);
    host.write(0, 1, 1).ok();
    host.drive.cut_power();
    for command in [io(0x02, 0, 1), io(0x08, 0, 1), io(0x0c, 0, 1), Build::new(0).namespace(1)] {
        assert_eq!(host.run(1, command, &[]), Err(Outcome::PowerOff));
    }
    assert_eq!(host.run(1, io(0x01, 0, 1), &[0; 4096]), Err(Outcome::PowerOff));
    host.subsystem.power_cut();
    assert!(*host.link.has_ended.lock().unwrap() && *host.links[0].has_ended.lock().unwrap());
}

#[test]
fn compare_finds_differences() {
    let host = Direct::new(PLAIN);
    host.write(7, 2, 5).ok();
    let mut data = vec![5; 8192];
    host.io_with(io(0x05, 7, 2), &data).ok();
    data[8191] = 6;
    let done = host.io_with(io(0x05, 7, 2), &data);
    assert_eq!((done.status, done.is_final), (0x285, true));
}

#[test]
fn zeroes_are_written_or_deallocated() {
    let host = Direct::new(PLAIN);
    let written = || host.drive_health().host_written_bytes;
    host.write(0, 4, 5).ok();
    host.io(io(0x08, 0, 1)).ok();
    assert_eq!(written(), 5 * 4096);
    host.io(io(0x08, 1, 1).dword(12, 1 << 25)).ok();
    assert_eq!(written(), 5 * 4096, "deallocated");
    let data = host.read(0, 3).ok();
    assert_eq!((data[0], data[4096], data[8192]), (0, 0, 5));
}

#[test]
fn ranges_are_deallocated_all_or_none() {
    let host = Direct::new(PLAIN);
    host.write(0, 8, 5).ok();
    let range = |start: u64, blocks: u32| {
        [&[0; 4][..], &blocks.to_le_bytes(), &start.to_le_bytes()].concat()
    };
    let command = Build::new(0x09).namespace(1).dword(10, 1);
    let good = [range(1, 1), range(3, 2)].concat();
    host.io_with(command, &good).ok();
    assert_eq!(host.read(1, 1).ok(), vec![5; 4096], "without the attribute it is a hint");
    let bad = [range(1, 1), range(4096, 1)].concat();
    assert_eq!(host.io_with(command.dword(11, 4), &bad).status, 0x80);
    assert_eq!(host.read(1, 1).ok(), vec![5; 4096]);
    host.io_with(command.dword(11, 4), &good).ok();
    let data = host.read(0, 6).ok();
    let first: Vec<u8> = data.chunks(4096).map(|block| block[0]).collect();
    assert_eq!(first, [5, 0, 5, 0, 0, 5]);
}

#[test]
fn failures_of_the_drive_have_their_status() {
    let host = Direct::new(PLAIN);
    host.drive.set_read_only(true);
    let done = host.write(0, 1, 1);
    assert_eq!((done.status, done.is_final), (0x182, true));
    assert_eq!(host.io(io(0x08, 0, 1)).status, 0x182);
    host.drive.fail_reads(true);
    assert_eq!(host.read(0, 1).status, 0x281);
    assert_eq!(host.io(io(0x0c, 0, 1)).status, 0x281);
    assert_eq!(host.io_with(io(0x05, 0, 1), &[0; 4096]).status, 0x281);
}

#[test]
fn directives_need_flexible_data_placement() {
    let host = Direct::new(PLAIN);
    for kind in [1, 2, 3] {
        let command = io(0x01, 0, 1).dword(12, kind << 20);
        assert_eq!(host.io_with(command, &[0; 4096]).status, 0x02, "{kind}");
    }
}

#[test]
fn a_command_with_blocks_of_another_size_is_not_executed() {
    let host = Direct::new(PLAIN);
    let command = io(0x02, 0, 1).command();
    host.admin(Build::new(0x80).namespace(1).dword(10, 0)).ok();
    // The transport made room for the old block size.
    let Outcome::Done(reply) = host.controller.execute(1, &command, &mut [0; 4096]) else {
        panic!("it completes");
    };
    assert_eq!(Done::new(reply.status.field(), 0, vec![]).status, 0x84);
}

#[test]
fn blocks_of_512_bytes_are_written_and_read() {
    let host = Direct::new(PLAIN);
    host.admin(Build::new(0x80).namespace(1).dword(10, 0)).ok();
    host.io_with(io(0x01, 9, 2), &[7; 1024]).ok();
    let data = host.io(io(0x02, 8, 4)).ok();
    assert_eq!(data, [vec![0; 512], vec![7; 1024], vec![0; 512]].concat());
    assert_eq!(host.io(io(0x02, 32767, 1)).status, 0);
    assert_eq!(host.io(io(0x02, 32768, 1)).status, 0x80);
}
