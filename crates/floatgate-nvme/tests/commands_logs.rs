//! Log pages, without a transport.

#![allow(clippy::unwrap_used)]

mod common;

use common::direct::Direct;
use common::*;

#[test]
fn smart_endurance_and_ocp_agree_with_the_drive() {
    let host = Direct::new(PLACED);
    for start in 0..300 {
        host.write(start % 64, 256, 1).ok();
    }
    for _ in 0..7 {
        host.read(0, 200).ok();
    }
    host.drive.fail_reads(true);
    assert_eq!(host.read(0, 1).status, 0x281);
    let (written, read) = (300 * 256 * 4096_u64, 7 * 200 * 4096_u64);
    let smart = host.admin(log_page(2, 512)).ok();
    assert_eq!((smart[0], smart[3], smart[4], smart[5], smart[6]), (0, 100, 10, 0, 0));
    // Thousands of 512 bytes, rounded up.
    assert_eq!((le64(&smart, 32), le64(&smart, 48)), (read.div_ceil(512_000), 615));
    assert_eq!((le64(&smart, 64), le64(&smart, 80)), (7, 300));
    assert_eq!((le64(&smart, 112), le64(&smart, 144)), (1, 0), "one start, no loss of power");
    assert_eq!((le64(&smart, 160), le64(&smart, 176)), (1, 1), "one error");
    let endurance = host.admin(group_log(9, 512, 0)).ok();
    assert_eq!((endurance[3], endurance[4]), (100, 10));
    // Billions of bytes, rounded up.
    assert_eq!([48, 64, 80].map(|at| le64(&endurance, at)), [1, 1, 1]);
    assert_eq!([96, 112, 128, 144].map(|at| le64(&endurance, at)), [7, 300, 1, 1]);
    assert_eq!(le64(&endurance, 160), 16 * MIB);
    let ocp = host.admin(log_page(0xc0, 512)).ok();
    assert_eq!((le64(&ocp, 0), le64(&ocp, 16)), (written, read));
    // No bad blocks: raw 0, normalized 100.
    assert_eq!((le64(&ocp, 32), le64(&ocp, 40), le64(&ocp, 56)), (100 << 48, 100 << 48, 1));
    assert_eq!((ocp[98..104].to_vec(), ocp[120]), (vec![0, 0, 0, 0, 0, 2], 100));
    assert_eq!((le16(&ocp, 128), le16(&ocp, 494)), (0xffff, 3));
    let guid = "c5af1028eabff2a49c4f6f7cc914d5af";
    let found: String = ocp[496..512].iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(found, guid);
    let statistics = host.admin(group_log(0x22, 64, 0)).ok();
    assert_eq!([0, 16, 32].map(|at| le64(&statistics, at)), [written, written, 0]);
    let causes = host.admin(log_page(0xf0, 120)).ok();
    assert_eq!((le64(&causes, 0), le64(&causes, 8)), (1, 4));
    assert_eq!(&causes[16..32], b"host            ");
    assert_eq!([32, 40, 48].map(|at| le64(&causes, at)), [read, written, 0]);
    assert_eq!([56, 64, 72, 80].map(|at| le64(&causes, at)), [written, written, 0, 0]);
}

#[test]
fn each_failed_command_is_in_the_error_log() {
    let host = Direct::new(PLAIN);
    assert_eq!(host.admin(log_page(1, 4096)).ok(), vec![0; 4096]);
    host.io(io(0x02, 0x1_0000, 1).id(0x1234));
    host.admin(identify(0, 2).id(0x4321));
    let log = host.admin(log_page(1, 128)).ok();
    // The newest comes first.
    assert_eq!((le64(&log, 0), le16(&log, 8), le16(&log, 10)), (2, 0, 0x4321));
    assert_eq!((le16(&log, 12), le16(&log, 14)), (0x8016, 0xffff));
    let log = &log[64..];
    assert_eq!((le64(log, 0), le16(log, 8), le16(log, 10)), (1, 1, 0x1234));
    // LBA out of range, do not retry; TCP, Read, entry of version 1.
    assert_eq!((le16(log, 12), le64(log, 16), le32(log, 24)), (0x8100, 0x1_0000, 1));
    assert_eq!((log[29], log[30], log[31], log[63]), (3, 0, 2, 1));
    let field = host.controller.fail(
        1,
        &io(2, 0, 1).command(),
        floatgate_nvme::spec::status::Status::INTERNAL,
    );
    assert_eq!(field.status.field(), 0x400c, "there is more in the log");
}

#[test]
fn supported_logs_features_and_commands_are_listed() {
    let host = Direct::new(PLACED);
    let entries = |bytes: &[u8]| -> Vec<usize> {
        (0..bytes.len() / 4).filter(|at| le32(bytes, 4 * at) > 0).collect()
    };
    let logs = entries(&host.admin(log_page(0, 1024)).ok());
    let expected = [0, 1, 2, 3, 4, 5, 9, 0x12, 0x13, 0x20, 0x21, 0x22, 0x23, 0xc0, 0xf0];
    assert_eq!(logs, expected);
    for log in 0..=255 {
        let done = host.admin(group_log(log, 512, 0));
        let status = if logs.contains(&(log as usize)) { 0 } else { 0x109 };
        assert_eq!(done.status, status, "{log:#x}");
    }
    let features = entries(&host.admin(log_page(0x12, 1024)).ok());
    let expected = [1, 2, 4, 5, 6, 7, 0xa, 0xb, 0xe, 0xf, 0x19, 0x1d, 0x1e, 0x81];
    assert_eq!(features, expected);
    let effects = host.admin(log_page(5, 4096)).ok();
    let admin = entries(&effects[..1024]);
    assert_eq!(admin, [2, 6, 8, 9, 0xa, 0xc, 0x18, 0x19, 0x1a, 0x7f, 0x80]);
    // Format: supported, content and capabilities change, no other command to the namespace.
    assert_eq!(le32(&effects, 4 * 0x80), 1 | 2 | 4 | 1 << 16);
    let commands = entries(&effects[1024..2048]);
    assert_eq!(commands, [0, 1, 2, 5, 8, 9, 0xc, 0x12, 0x1d]);
    assert_eq!((le32(&effects, 1024 + 4), le32(&effects, 1024 + 8)), (3, 1));
    assert_eq!(host.admin(log_page(5, 4096).dword(14, 2 << 24)).status, 0x02);
}

#[test]
fn a_log_is_read_by_parts_and_ends_in_zeros() {
    let host = Direct::new(PLAIN);
    let whole = host.admin(log_page(3, 512)).ok();
    assert_eq!((whole[0], &whole[8..16]), (1, &b"0.1     "[..]));
    assert_eq!(host.admin(log_page(3, 8).dword(12, 8)).ok(), b"0.1     ");
    let long = host.admin(log_page(3, 4096)).ok();
    assert_eq!((&long[..512], &long[512..]), (&whole[..], &vec![0; 3584][..]));
    assert_eq!(host.admin(log_page(3, 8).dword(12, 512)).ok(), vec![0; 8]);
    assert_eq!(host.admin(log_page(3, 8).dword(12, 516)).status, 0x02);
    assert_eq!(host.admin(log_page(3, 8).dword(13, 1)).status, 0x02);
    assert_eq!(host.admin(log_page(3, 8).dword(12, 6)).status, 0x02, "no whole dwords");
    assert_eq!(host.admin(log_page(3, 8).dword(14, 1 << 23)).status, 0x02, "offset by entries");
    assert_eq!(host.admin(log_page(3, 512).namespace(2)).status, 0x0b);
    // 1 MiB and 4 bytes.
    let too_long = Build::new(2).dword(10, 3).dword(11, 4);
    assert_eq!(host.admin(too_long).status, 0x02);
}

#[test]
fn logs_of_an_endurance_group_need_its_identifier() {
    let host = Direct::new(PLACED);
    for log in [9, 0x20, 0x21, 0x22, 0x23] {
        for group in [0, 2] {
            let done = host.admin(group_log(log, 64, 0).dword(11, group << 16));
            assert_eq!(done.status, 0x02, "{log:#x} {group}");
        }
    }
}
