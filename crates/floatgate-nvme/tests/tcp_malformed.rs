//! PDUs that Linux never sends: each ends its connection, and only its connection.

#![allow(clippy::unwrap_used)]

mod common;

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use common::initiator::{FANCY, Initiator, LINUX, Manner, initialize};
use common::*;
use floatgate_nvme::tcp::{Options, Server};

/// Statuses of termination requests.
const FIELD: u16 = 1;
const SEQUENCE: u16 = 2;
const HEADER_DIGEST: u16 = 3;
const RANGE: u16 = 4;
const LIMIT: u16 = 5;
const UNSUPPORTED: u16 = 6;

/// Makes the bytes that a host sends on its I/O queue, after an R2T for command 9 whose tag it
/// learns.
type Make = Box<dyn Fn(&Initiator, u16) -> Vec<u8>>;

/// A change of an otherwise good capsule.
fn capsule(change: impl Fn(&mut Vec<u8>) + 'static) -> Make {
    Box::new(move |host, _| {
        let mut bytes = host.capsule(io(0x01, 0, 1).in_capsule(4096).id(1), &[1; 4096]);
        change(&mut bytes);
        bytes
    })
}

/// An H2CData of `length` bytes, 4 KiB of which are due from 0 on.
fn data(offset: u32, length: usize, is_last: bool) -> Make {
    Box::new(move |host, tag| host.data(9, tag, offset, &vec![1; length], is_last))
}

fn set_length(bytes: &mut [u8], length: usize) {
    bytes[4..8].copy_from_slice(&(length as u32).to_le_bytes());
}

/// Errors for a host without digests: the bytes, status and information.
fn plain() -> Vec<(&'static str, Make, u16, u32)> {
    let again: Make = Box::new(|_, _| initialize(&LINUX));
    let late: Make = Box::new(|host, tag| {
        let all = host.data(9, tag, 0, &[1; 4096], true);
        [all.clone(), all].concat()
    });
    let gap: Make = Box::new(|host, tag| {
        let first = host.data(9, tag, 0, &[1; 1024], false);
        [first, host.data(9, tag, 2048, &[1; 1024], false)].concat()
    });
    let wrong_tag: Make = Box::new(|host, tag| host.data(9, tag + 1, 0, &[1; 4096], true));
    let wrong_command: Make = Box::new(|host, tag| host.data(8, tag, 0, &[1; 4096], true));
    let wrong_data: Make = Box::new(|host, tag| {
        let mut bytes = host.data(9, tag, 0, &[1; 4096], true);
        bytes[16] ^= 4;
        bytes
    });
    vec![
        ("unknown type", capsule(|bytes| bytes[0] = 0x0a), FIELD, 0),
        ("type of a controller", capsule(|bytes| bytes[0] = 0x05), FIELD, 0),
        ("second initialization", again, SEQUENCE, 0),
        ("header length", capsule(|bytes| bytes[2] = 64), FIELD, 2),
        ("digest that is not enabled", capsule(|bytes| bytes[1] |= 1), FIELD, 1),
        ("data digest that is not enabled", capsule(|bytes| bytes[1] |= 2), FIELD, 1),
        ("data within the header", capsule(|bytes| bytes[3] = 68), FIELD, 3),
        ("data that are not aligned", capsule(|bytes| bytes[3] = 74), FIELD, 3),
        ("length below the header", capsule(|bytes| set_length(bytes, 71)), FIELD, 4),
        (
            "length without data",
            capsule(|bytes| (bytes[3], bytes[4], bytes[5]) = (76, 76, 0)),
            FIELD,
            4,
        ),
        (
            "more data than a capsule takes",
            capsule(|bytes| set_length(bytes, 72 + 16388)),
            FIELD,
            4,
        ),
        ("length of 4 GiB", capsule(|bytes| set_length(bytes, u32::MAX as usize)), FIELD, 4),
        ("unknown tag", wrong_tag, FIELD, 10),
        ("another command", wrong_command, FIELD, 8),
        ("another data length", wrong_data, FIELD, 16),
        ("data again", late, FIELD, 10),
        ("data with a gap", gap, SEQUENCE, 0),
        ("data not from the start", data(4, 1024, false), SEQUENCE, 0),
        ("data beyond the request", data(0, 4100, true), RANGE, 0),
        ("offset beyond the request", data(8192, 1024, true), RANGE, 0),
        ("offset at the end of numbers", data(u32::MAX - 3, 1024, true), RANGE, 0),
        ("last too early", data(0, 1024, true), FIELD, 1),
        ("more data than a PDU takes", data(0, (256 << 10) + 4, true), LIMIT, 0),
    ]
}

/// Errors for a host with digests.
fn with_digests() -> Vec<(&'static str, Make, u16, u32)> {
    vec![
        ("header digest is missing", capsule(|bytes| bytes[1] &= !1), FIELD, 1),
        ("data digest is missing", capsule(|bytes| bytes[1] &= !2), FIELD, 1),
        ("length within the digest", capsule(|bytes| set_length(bytes, 75)), FIELD, 4),
        (
            "wrong header digest",
            capsule(|bytes| bytes[72..76].copy_from_slice(&[1, 2, 3, 4])),
            HEADER_DIGEST,
            0x0403_0201,
        ),
    ]
}

fn start() -> Server {
    let (_, subsystem) = subsystem(PLAIN);
    Server::start(subsystem, "127.0.0.1:0".parse().unwrap(), Options::default()).unwrap()
}

/// Sends errors on connections of their own, next to a host that works on.
fn check(manner: Manner, cases: Vec<(&'static str, Make, u16, u32)>) {
    let server = start();
    let (mut admin, id) = Initiator::admin(server.address(), LINUX);
    let mut good = Initiator::io(server.address(), LINUX, 1, id);
    for (name, make, status, information) in cases {
        let mut host = Initiator::io(server.address(), manner, 2, id);
        let ready = host.capsule(io(0x01, 0, 1).length(4096).id(9), &[]);
        host.send(&ready);
        let ready = host.receive().unwrap();
        assert_eq!((ready.kind(), le32(&ready.header, 16)), (9, 4096), "{name}");
        let bytes = make(&host, le16(&ready.header, 10));
        // The server may end the connection before it has all of them.
        let _ = host.stream.write_all(&bytes);
        assert_eq!(host.termination(), Some((status, information)), "{name}");
        assert_eq!(good.run(io(0x02, 0, 1).length(4096), &[]).ok().len(), 4096);
        drop(host);
        let begin = Instant::now();
        while server.connections() > 2 && begin.elapsed() < Duration::from_secs(5) {
            thread::sleep(Duration::from_millis(1));
        }
    }
    admin.run(Build::new(0x18), &[]).ok();
    assert_eq!(server.connections(), 2);
}

#[test]
fn a_malformed_pdu_ends_its_connection_alone() {
    check(LINUX, plain());
}

#[test]
fn a_malformed_pdu_with_digests_ends_its_connection_alone() {
    check(FANCY, with_digests());
}

#[test]
fn a_wrong_initialization_is_terminated() {
    let server = start();
    let change = |at: usize, byte: u8| {
        let mut bytes = initialize(&LINUX);
        bytes[at] = byte;
        bytes
    };
    let cases = [
        ("format", change(8, 1), UNSUPPORTED, 8),
        ("alignment", change(10, 32), FIELD, 10),
        ("header length", change(2, 64), FIELD, 2),
        ("length", change(4, 129), FIELD, 4),
        ("a command first", [4, 0, 72, 0, 72, 0, 0, 0].to_vec(), SEQUENCE, 0),
    ];
    for (name, bytes, status, information) in cases {
        let mut host = Initiator::open(server.address(), LINUX);
        let fresh = std::net::TcpStream::connect(server.address()).unwrap();
        fresh.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        host.stream = fresh;
        host.send(&bytes);
        assert_eq!(host.termination(), Some((status, information)), "{name}");
    }
}

#[test]
fn the_wrong_header_is_returned() {
    let server = start();
    let (mut admin, _) = Initiator::admin(server.address(), LINUX);
    let mut bytes = admin.capsule(identify(1, 0).length(4096), &[]);
    bytes[2] = 71;
    admin.send(&bytes);
    let pdu = admin.receive().unwrap();
    assert_eq!((pdu.header[2], le32(&pdu.header, 4)), (24, 32));
    assert_eq!(pdu.data, bytes[..8]);
}

#[test]
fn a_termination_request_of_the_host_ends_the_connection() {
    let server = start();
    let (mut admin, _) = Initiator::admin(server.address(), FANCY);
    let mut request = vec![0; 24];
    (request[0], request[2], request[4], request[8]) = (2, 24, 24, 1);
    admin.send(&request);
    assert_eq!(admin.termination(), None);
}

#[test]
fn more_commands_than_entries_end_the_connection() {
    let server = start();
    let (_admin, id) = Initiator::admin(server.address(), LINUX);
    let mut host = Initiator::io(server.address(), LINUX, 1, id);
    // Writes that wait for data, until the queue is full.
    for command in 0..128 {
        let capsule = host.capsule(io(0x01, 0, 1).length(4096).id(command), &[]);
        host.send(&capsule);
        assert_eq!(host.receive().unwrap().kind(), 9);
    }
    let capsule = host.capsule(io(0x01, 0, 1).length(4096).id(128), &[]);
    host.send(&capsule);
    assert_eq!(host.termination(), Some((SEQUENCE, 0)));
}

#[test]
fn admin_capsules_take_8_kib() {
    let server = start();
    let (mut admin, _) = Initiator::admin(server.address(), LINUX);
    let command = Build::new(0x18).in_capsule(8192);
    let id = admin.submit(command, &[0; 8192]);
    admin.wait(id).ok();
    let bytes = admin.capsule(command, &[0; 8196]);
    admin.send(&bytes);
    assert_eq!(admin.termination(), Some((FIELD, 4)));
}
