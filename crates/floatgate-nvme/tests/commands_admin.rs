//! Admin commands, without a transport.

#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use common::direct::{Direct, Notes, try_connect};
use common::*;
use floatgate_nvme::subsystem::Outcome;

#[test]
fn a_controller_describes_itself_as_linux_needs_it() {
    let host = Direct::new(PLACED);
    let data = host.admin(identify(1, 0)).ok();
    assert_eq!(&data[4..24], b"FG0001              ");
    assert_eq!(&data[24..44], b"Floatgate test drive");
    assert_eq!(&data[64..72], b"0.1     ");
    // Several controllers, 1 MiB a command, the identifier of Connect, version 2.0.
    assert_eq!((data[76], data[77], le16(&data, 78)), (2, 8, host.controller.id()));
    assert_eq!(le32(&data, 80), 0x0002_0000);
    // Namespace notices; host identifier, endurance groups, traffic based keep alive, FDP.
    assert_eq!((le32(&data, 92), le32(&data, 96)), (1 << 8, 1 | 1 << 4 | 1 << 6 | 1 << 19));
    assert_eq!((data[111], le16(&data, 256)), (1, 1 << 1 | 1 << 5));
    assert_eq!((data[258], data[259], data[260], data[261], data[262]), (3, 3, 3, 0b10_0111, 63));
    assert_eq!((le64(&data, 280), le16(&data, 320), le16(&data, 340)), (16 * MIB, 1, 1));
    assert_eq!((data[512], data[513], le16(&data, 514), le32(&data, 516)), (0x66, 0x44, 128, 1));
    // Compare, Dataset Management, Write Zeroes, select, timestamp, Verify.
    assert_eq!((le16(&data, 520), le16(&data, 522), data[525]), (0b1101_1101, 0, 7));
    // SGLs with offsets and transport blocks, also longer than the data.
    assert_eq!(le32(&data, 536), 1 | 1 << 18 | 1 << 20 | 1 << 21);
    assert_eq!(&data[768..768 + 30], format!("{NQN}\0").as_bytes());
    // Capsules of 16 KiB and a command, responses of 16 bytes, no offset, dynamic controllers.
    assert_eq!((le32(&data, 1792), le32(&data, 1796), le16(&data, 1800)), (1028, 1, 0));
    assert_eq!((data[1802], data[1803], le16(&data, 1804)), (0, 1, 0));
}

#[test]
fn a_namespace_describes_itself() {
    let host = Direct::new(PLAIN);
    let data = host.admin(identify(0, 1)).ok();
    assert_eq!((le64(&data, 0), le64(&data, 8)), (4096, 4096));
    // Formats 512 and 4096; the second one is in use, and the better one.
    assert_eq!((data[25], data[26]), (1, 1));
    assert_eq!((le32(&data, 128), le32(&data, 132)), (9 << 16 | 2 << 24, 12 << 16));
    // Shared; deallocated blocks are zeros, and Write Zeroes may deallocate.
    assert_eq!((data[24], data[30], data[33]), (0b1_0010, 1, 0b1001));
    assert_eq!((le64(&data, 48), le16(&data, 102)), (16 * MIB, 1));
    assert_eq!([34, 36, 40, 44, 64, 66, 72].map(|at| le16(&data, at)), [0; 7]);
    host.admin(Build::new(0x80).namespace(1).dword(10, 0)).ok();
    let data = host.admin(identify(0, 1)).ok();
    assert_eq!((le64(&data, 0), data[26]), (32768, 0));
    // A page is eight blocks: torn never, preferred always. The numbers are 0-based.
    assert_eq!([34, 36, 40, 44, 64, 66, 72].map(|at| le16(&data, at)), [7; 7]);
}

#[test]
fn other_identify_data_say_what_there_is() {
    let host = Direct::new(PLAIN);
    let list = host.admin(identify(2, 0)).ok();
    assert_eq!((le32(&list, 0), le32(&list, 4)), (1, 0));
    assert_eq!(host.admin(identify(2, 1)).ok(), vec![0; 4096]);
    assert_eq!(host.admin(identify(2, 0xffff_fffe)).status, 0x0b);
    let descriptors = host.admin(identify(3, 1)).ok();
    assert_eq!(&descriptors[..20], b"\x03\x10\0\x000123456789abcdef");
    assert_eq!(descriptors[20..26], [4, 1, 0, 0, 0, 0]);
    assert_eq!(host.admin(identify(5, 1)).ok(), vec![0; 4096]);
    assert_eq!(host.admin(identify(6, 0)).ok(), vec![0; 4096]);
    assert_eq!(le32(&host.admin(identify(7, 0)).ok(), 0), 1);
    let independent = host.admin(identify(8, 1)).ok();
    assert_eq!((independent[..2].to_vec(), le16(&independent, 12)), (vec![0, 1], 1));
    assert_eq!(independent[14], 1, "ready");
    assert_eq!(host.admin(identify(0x19, 0)).ok()[..6], [1, 0, 1, 0, 0, 0]);
    assert_eq!(host.admin(identify(0x1c, 0xffff)).ok()[..9], [1, 0, 0, 0, 0, 0, 0, 0, 0]);
    // Zones do not exist here, nor do other namespaces and structures.
    assert_eq!(host.admin(identify(5, 1).dword(11, 2 << 24)).status, 0x02);
    assert_eq!(host.admin(identify(6, 0).dword(11, 2 << 24)).status, 0x02);
    assert_eq!(host.admin(identify(7, 0).dword(11, 2 << 24)).ok(), vec![0; 4096]);
    for (cns, namespace) in [(0, 0), (0, 2), (0, 0xffff_ffff), (3, 2), (5, 2), (8, 0)] {
        let done = host.admin(identify(cns, namespace));
        assert_eq!((done.status, done.is_final), (0x0b, true), "{cns} {namespace}");
    }
    assert_eq!(host.admin(identify(0x12, 1)).status, 0x02);
}

#[test]
fn queues_are_negotiated_before_the_first_one() {
    let (drive, subsystem) = subsystem(PLAIN);
    let link = Arc::new(Notes::default());
    let controller = try_connect(&subsystem, connect(0, 0xffff, NQN), &link).unwrap();
    let mut host = Direct { drive, subsystem, controller, link, links: vec![] };
    assert_eq!(host.admin(identify(1, 0)).status, 0x0c, "not enabled yet");
    assert_eq!(host.add_queue(1).unwrap_err().status, 0x0c);
    host.admin(set_property(0x14, ENABLED)).ok();
    assert_eq!(host.admin(get_property(0x1c, false)).result, 1, "ready");
    // More than there are, in 0-based numbers: eight.
    assert_eq!(host.admin(set_feature(7, 63 << 16 | 63)).result, 7 << 16 | 7);
    assert_eq!(host.admin(set_feature(7, 0xffff)).status, 0x02);
    assert_eq!(host.admin(set_feature(7, 9 << 16 | 1)).result, 1 << 16 | 1);
    assert_eq!(host.admin(get_feature(7, 0)).result, 1 << 16 | 1);
    host.add_queue(1).unwrap();
    host.add_queue(2).unwrap();
    let beyond = host.add_queue(3).unwrap_err();
    assert_eq!((beyond.status, beyond.result), (0x182, 42));
    assert_eq!(host.add_queue(2).unwrap_err().status, 0x0c, "it has a connection");
    assert_eq!(host.admin(set_feature(7, 0)).status, 0x0c, "too late");
}

#[test]
fn connect_names_the_parameter_that_is_wrong() {
    let host = Direct::new(PLAIN);
    let id = host.controller.id();
    let refused = |(command, data): (Build, Vec<u8>)| {
        let link = Arc::new(Notes::default());
        let done = try_connect(&host.subsystem, (command, data), &link).map(|_| ()).unwrap_err();
        (done.status, done.result)
    };
    let (command, data) = connect(0, 0xffff, NQN);
    assert_eq!(refused((command.bytes(40, &[1]), data.clone())), (0x180, 0), "format");
    assert_eq!(refused((command.bytes(44, &[0, 0]), data.clone())), (0x182, 44));
    assert_eq!(refused((command.bytes(44, &[0, 1]), data.clone())), (0x182, 44));
    assert_eq!(refused((command, data[..512].to_vec())), (0x0f, 0), "short");
    assert_eq!(refused(connect(0, 1, NQN)), (0x182, 1 << 16 | 16));
    assert_eq!(refused(connect(0, 0xffff, "nqn.another")), (0x182, 1 << 16 | 256));
    assert_eq!(refused(connect(0, 0xffff, "drive")), (0x182, 1 << 16 | 256));
    assert_eq!(refused(connect(1, id + 1, NQN)), (0x182, 1 << 16 | 16));
    assert_eq!(refused(connect(1, id, DISCOVERY)), (0x182, 1 << 16 | 16));
    let mut stranger = connect(2, id, NQN);
    stranger.1[0] = 9;
    assert_eq!(refused(stranger), (0x182, 1 << 16 | 512), "another host");
    let mut nameless = connect(0, 0xffff, NQN);
    nameless.1[512] = 0;
    assert_eq!(refused(nameless), (0x182, 1 << 16 | 512));
    assert_eq!(refused((Build::new(0x06), data)), (0x0c, 0), "not Connect");
    assert_eq!(host.subsystem.controllers(), 1);
}

#[test]
fn controllers_have_identifiers_of_their_own() {
    let host = Direct::new(PLAIN);
    let first = host.controller.id();
    let other = Direct::with(Arc::clone(&host.drive), Arc::clone(&host.subsystem));
    assert_eq!((first, other.controller.id(), host.subsystem.controllers()), (1, 2, 2));
    drop(host);
    let third = Direct::with(Arc::clone(&other.drive), Arc::clone(&other.subsystem));
    assert_eq!((third.controller.id(), third.subsystem.controllers()), (3, 2));
}

#[test]
fn features_are_set_and_read() {
    let host = Direct::new(PLAIN);
    for (feature, value) in [(0x01, 0x0102_0304), (0x0a, 1), (0x0b, 0x0000_011f), (0x0f, 5000)] {
        host.admin(set_feature(feature, value)).ok();
        assert_eq!(host.admin(get_feature(feature, 0)).result, value.into(), "{feature:#x}");
        let default = host.admin(get_feature(feature | 1 << 8, 0));
        assert_eq!((default.status, default.result), (0, 0));
        assert_eq!(host.admin(get_feature(feature | 3 << 8, 0)).result, 4, "changeable");
    }
    // Over and under thresholds.
    assert_eq!(host.admin(get_feature(4, 0)).result, 0xffff);
    host.admin(set_feature(4, 1 << 20 | 280)).ok();
    assert_eq!(host.admin(get_feature(4, 1 << 20)).result, 280);
    assert_eq!(host.admin(get_feature(4, 1 << 16)).status, 0x02, "another sensor");
    host.admin(set_feature(0x05, 7).namespace(1)).ok();
    assert_eq!(host.admin(get_feature(0x05, 0).namespace(1)).result, 7);
    assert_eq!(host.admin(set_feature(0x05, 1 << 16).namespace(1)).status, 0x02, "DULBE");
    assert_eq!(host.admin(get_feature(2, 0)).result, 0);
    assert_eq!(host.admin(set_feature(2, 1)).status, 0x02, "power state 1");
    assert_eq!(host.admin(get_feature(0x19, 0)).result, 0);
    let id = host.admin(get_feature(0x81, 1)).ok();
    assert_eq!(id, [7; 16]);
    assert_eq!(host.admin(get_feature(0x81, 0)).status, 0x02, "64 bits");
    assert_eq!(host.admin_with(set_feature(0x81, 1), &[0; 16]).status, 0x0c);
    for feature in [0x00, 0x03, 0x08, 0x10, 0x1d, 0x1e, 0xc0] {
        assert_eq!(host.admin(get_feature(feature, 0)).status, 0x02, "{feature:#x}");
    }
    assert_eq!(host.admin(set_feature(1 | 1 << 31, 0)).status, 0x10d, "saving");
    assert_eq!(host.admin(get_feature(1 | 4 << 8, 0)).status, 0x02);
}

#[test]
fn a_timestamp_runs_from_the_value_that_a_host_sets() {
    let host = Direct::new(PLAIN);
    let now = 1_700_000_000_000_u64;
    host.admin_with(set_feature(0x0e, 0), &now.to_le_bytes()).ok();
    let data = host.admin(get_feature(0x0e, 0)).ok();
    assert_eq!(data[6] >> 1, 1, "set by a host");
    let ms = le64(&data, 0) & 0xffff_ffff_ffff;
    assert!((now..now + 60_000).contains(&ms), "{ms}");
}

#[test]
fn features_return_to_their_defaults_when_the_controller_is_reset() {
    let host = Direct::new(PLAIN);
    host.admin(set_feature(1, 5)).ok();
    assert_eq!(host.run(0, Build::new(0x0c).id(3), &[]), Err(Outcome::Later));
    host.admin(set_property(0x14, 0)).ok();
    assert!(*host.links[0].has_ended.lock().unwrap(), "I/O queues end");
    assert!(!*host.link.has_ended.lock().unwrap());
    assert_eq!(host.io(io(0x02, 0, 1)).status, 0x0c);
    host.admin(set_property(0x14, ENABLED)).ok();
    assert_eq!(host.admin(get_feature(1, 0)).result, 0);
    assert!(host.link.completed.lock().unwrap().is_empty(), "requests vanish");
}

#[test]
fn a_shutdown_makes_data_durable() {
    let host = Direct::new(PLAIN);
    host.write(3, 1, 9).ok();
    host.admin(set_property(0x14, ENABLED | 1 << 14)).ok();
    assert_eq!(host.admin(get_property(0x1c, false)).result, 0b1001);
    host.drive.cut_power();
    let after = Direct::with(Arc::clone(&host.drive), Arc::clone(&host.subsystem));
    assert_eq!(after.read(3, 1).ok(), vec![9; 4096]);
}

#[test]
fn properties_have_offsets_and_sizes() {
    let host = Direct::new(PLAIN);
    assert_eq!(host.admin(get_property(0, true)).result, 0x0800_0020_0a01_007f);
    assert_eq!(host.admin(get_property(8, false)).result, 0x0002_0000);
    assert_eq!(host.admin(get_property(0, false)).status, 0x02);
    assert_eq!(host.admin(get_property(0x20, false)).status, 0x02);
    assert_eq!(host.admin(get_property(8, false).bytes(40, &[2])).status, 0x02);
    let disconnect = Build::new(0x7f).bytes(4, &[8]);
    assert_eq!(host.admin(disconnect).status, 0x01);
    assert_eq!(host.admin(connect(0, 0xffff, NQN).0).status, 0x0c, "connected already");
    assert_eq!(host.io(get_property(8, false)).status, 0x02, "not on an I/O queue");
}

#[test]
fn commands_that_are_not_supported_are_refused() {
    let host = Direct::new(PLAIN);
    for opcode in [0x00, 0x05, 0x0d, 0x10, 0x14, 0x19, 0x1a, 0x81, 0x84, 0xc0] {
        let done = host.admin(Build::new(opcode));
        assert_eq!((done.status, done.is_final), (0x01, true), "{opcode:#x}");
    }
    for opcode in [0x04, 0x0d, 0x12, 0x19, 0x1d, 0x79, 0x7a, 0x7d, 0x90] {
        assert_eq!(host.io(io(opcode, 0, 1)).status, 0x01, "{opcode:#x}");
    }
    assert_eq!(host.admin(identify(1, 0).bytes(1, &[0x41])).status, 0x02, "fused");
    assert_eq!(host.admin(identify(1, 0).bytes(1, &[0])).status, 0x02, "PRPs");
}

#[test]
fn a_format_empties_the_namespace_and_notifies_other_hosts() {
    let host = Direct::new(PLAIN);
    let other = Direct::with(Arc::clone(&host.drive), Arc::clone(&host.subsystem));
    for host in [&host, &other] {
        host.admin(set_feature(0x0b, 1 << 8)).ok();
        assert_eq!(host.run(0, Build::new(0x0c).id(3), &[]), Err(Outcome::Later));
    }
    host.write(5, 1, 1).ok();
    let format = Build::new(0x80).namespace(1);
    for (dword, status) in [(2, 0x10a), (1 << 12, 0x10a), (1 << 4, 2), (1 << 5, 2), (2 << 9, 2)] {
        assert_eq!(host.admin(format.dword(10, dword)).status, status, "{dword:#x}");
    }
    assert_eq!(host.admin(format.namespace(2)).status, 0x0b);
    assert_eq!(host.read(5, 1).ok(), vec![1; 4096]);
    // User data erase, blocks of 512 bytes, all namespaces.
    host.admin(format.namespace(0xffff_ffff).dword(10, 1 << 9)).ok();
    assert_eq!(host.io(io(0x02, 40, 8)).ok(), vec![0; 4096]);
    assert!(host.link.completed.lock().unwrap().is_empty());
    let notice = 2 | 4 << 16;
    assert_eq!(*other.link.completed.lock().unwrap(), [(3, notice, 0)]);
    assert_eq!(le32(&other.admin(log_page(4 | 1 << 15, 4096)).ok(), 0), 1, "retained");
    assert_eq!(le32(&other.admin(log_page(4, 4096)).ok(), 0), 1);
    assert_eq!(le32(&other.admin(log_page(4, 4096)).ok(), 0), 0);
}

#[test]
fn event_requests_are_limited_and_can_be_aborted() {
    let host = Direct::new(PLAIN);
    for id in 0..4 {
        assert_eq!(host.run(0, Build::new(0x0c).id(id), &[]), Err(Outcome::Later));
    }
    assert_eq!(host.admin(Build::new(0x0c).id(4)).status, 0x105);
    assert_eq!(host.admin(Build::new(0x08).dword(10, 2 << 16)).result, 0, "aborted");
    assert_eq!(*host.link.completed.lock().unwrap(), [(2, 0, 0x07)]);
    assert_eq!(host.admin(Build::new(0x08).dword(10, 9 << 16)).result, 1, "not aborted");
    assert_eq!(host.admin(Build::new(0x08).dword(10, 3 << 16 | 1)).result, 1, "another queue");
}

#[test]
fn a_critical_warning_is_an_event_until_its_log_is_read() {
    let host = Direct::new(PLAIN);
    host.admin(set_feature(0x0b, 1 << 3)).ok();
    assert_eq!(host.run(0, Build::new(0x0c).id(1), &[]), Err(Outcome::Later));
    assert_eq!(host.run(0, Build::new(0x0c).id(2), &[]), Err(Outcome::Later));
    let set = |is_read_only| {
        host.drive.set_read_only(is_read_only);
        host.subsystem.look();
    };
    set(true);
    set(false);
    set(true);
    assert_eq!(*host.link.completed.lock().unwrap(), [(1, 1 | 2 << 16, 0)]);
    assert_eq!(host.admin(log_page(2, 512)).ok()[0], 1 << 3);
    set(false);
    set(true);
    assert_eq!(host.link.completed.lock().unwrap().len(), 2);
}

#[test]
fn a_controller_without_traffic_ends() {
    let host = Direct::new(PLAIN);
    host.admin(set_feature(0x0f, 1000)).ok();
    let after = |ms| {
        host.subsystem.watch(Instant::now() + Duration::from_millis(ms));
        *host.link.has_ended.lock().unwrap()
    };
    assert!(!after(900));
    assert!(after(1100));
    assert!(*host.links[0].has_ended.lock().unwrap());
    assert_eq!(host.read(0, 1).status, 0x0c);
    let forever = Direct::with(Arc::clone(&host.drive), Arc::clone(&host.subsystem));
    host.subsystem.watch(Instant::now() + Duration::from_secs(1000));
    assert!(!*forever.link.has_ended.lock().unwrap(), "it has no keep-alive time");
}

#[test]
fn the_discovery_service_lists_the_subsystem() {
    let (drive, subsystem) = subsystem(PLAIN);
    let link = Arc::new(Notes::default());
    let controller = try_connect(&subsystem, connect(0, 0xffff, DISCOVERY), &link).unwrap();
    let host = Direct { drive, subsystem, controller, link, links: vec![] };
    host.admin(set_property(0x14, 4 << 20 | 6 << 16 | 1)).ok();
    let data = host.admin(identify(1, 0)).ok();
    assert_eq!((data[111], &data[768..804]), (2, DISCOVERY.as_bytes()));
    assert_eq!((le32(&data, 536) & 3, le16(&data, 1800), le32(&data, 516)), (1, 0, 0));
    let log = host.admin(log_page(0x70, 2048)).ok();
    assert_eq!((le64(&log, 8), log[1024]), (1, 3));
    // By parts, as nvme-cli reads it.
    let part = host.admin(log_page(0x70, 1024).dword(12, 1024)).ok();
    assert_eq!(part, log[1024..]);
    assert_eq!(host.admin(log_page(2, 512)).status, 0x109);
    assert_eq!(host.admin(identify(0, 1)).status, 0x02);
    assert_eq!(host.admin(Build::new(0x80).namespace(1)).status, 0x01);
    host.admin(Build::new(0x18)).ok();
}
