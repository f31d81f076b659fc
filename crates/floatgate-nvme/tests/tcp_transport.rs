//! The transport with a host of ours: data, digests, queues, ends.

#![allow(clippy::unwrap_used)]

mod common;

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use common::initiator::{FANCY, Initiator, LINUX, Manner};
use common::*;
use floatgate_nvme::drive::Shape;
use floatgate_nvme::memory::MemoryDrive;
use floatgate_nvme::subsystem::Subsystem;
use floatgate_nvme::tcp::{Options, Server};

/// A server over a drive in memory.
struct Setup {
    drive: Arc<MemoryDrive>,
    subsystem: Arc<Subsystem>,
    server: Server,
}

fn serve_with(shape: Shape, options: Options) -> Setup {
    let (drive, subsystem) = subsystem(shape);
    let address = "127.0.0.1:0".parse().unwrap();
    let server = Server::start(Arc::clone(&subsystem), address, options).unwrap();
    Setup { drive, subsystem, server }
}

fn serve(shape: Shape) -> Setup {
    serve_with(shape, Options::default())
}

impl Setup {
    fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Connects a controller with one I/O queue.
    fn host(&self, manner: Manner) -> (Initiator, Initiator) {
        let (admin, id) = Initiator::admin(self.address(), manner);
        (admin, Initiator::io(self.address(), manner, 1, id))
    }
}

/// Waits until something is true.
#[track_caller]
fn eventually(is_true: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_true() {
        assert!(begin.elapsed() < Duration::from_secs(10), "it never became true");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Bytes that differ from place to place.
fn pattern(length: usize, seed: u32) -> Vec<u8> {
    (0..length as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8 ^ seed as u8).collect()
}

fn write(host: &mut Initiator, start: u64, data: &[u8], in_capsule: bool) -> u16 {
    let command = io(0x01, start, (data.len() / 4096) as u32);
    match in_capsule {
        true => host.submit(command.in_capsule(data.len()), data),
        false => host.submit(command.length(data.len()), data),
    }
}

fn read(host: &mut Initiator, start: u64, blocks: u32) -> Vec<u8> {
    host.run(io(0x02, start, blocks).length(4096 * blocks as usize), &[]).ok()
}

#[test]
fn data_arrive_whole_in_every_manner() {
    let setup = serve(PLAIN);
    let digests = [(false, false), (true, false), (false, true), (true, true)];
    let mut seed = 0;
    for (header_digest, data_digest) in digests {
        for (alignment, outstanding) in [(0, 0), (2, 1), (31, 7)] {
            let manner = Manner { header_digest, data_digest, alignment, outstanding, ..FANCY };
            let (mut admin, mut host) = setup.host(manner);
            assert_eq!(admin.run(identify(1, 0), &[]).ok()[77], 8);
            for (blocks, in_capsule) in [(1, true), (4, true), (1, false), (200, false)] {
                seed += 1;
                let data = pattern(4096 * blocks, seed);
                let id = write(&mut host, 5, &data, in_capsule);
                host.wait(id).ok();
                assert_eq!(read(&mut host, 5, blocks as u32), data);
            }
        }
    }
}

#[test]
fn a_write_is_requested_in_parts_one_after_the_other() {
    let setup = serve(PLAIN);
    for (outstanding, manner) in [(0, LINUX), (1, LINUX), (9, FANCY)] {
        let (_admin, mut host) = setup.host(Manner { outstanding, ..manner });
        let data = pattern(1 << 20, outstanding);
        let id = write(&mut host, 0, &data, false);
        host.wait(id).ok();
        let parts: Vec<_> = (0..4).map(|part| (part << 18, 1 << 18)).collect();
        assert_eq!(host.requests, parts);
        assert_eq!(read(&mut host, 0, 256), data);
    }
}

#[test]
fn a_host_without_room_for_more_is_asked_for_one_part_at_a_time() {
    let setup = serve(PLAIN);
    for (outstanding, expected) in [(0, 1), (1, 2), (2, 3), (3, 4), (100, 4)] {
        let (_admin, mut host) = setup.host(Manner { outstanding, ..LINUX });
        let capsule = host.capsule(io(0x01, 0, 256).length(1 << 20).id(77), &[]);
        host.send(&capsule);
        let mut asked = 0;
        host.stream.set_read_timeout(Some(Duration::from_millis(150))).unwrap();
        while let Some(pdu) = host.receive() {
            assert_eq!((pdu.kind(), le16(&pdu.header, 8)), (9, 77));
            asked += 1;
        }
        assert_eq!(asked, expected);
    }
}

#[test]
fn the_memory_for_data_that_arrive_is_limited() {
    let setup = serve(PLAIN);
    let (_admin, mut host) = setup.host(LINUX);
    // 4 MiB are for four commands; the fifth waits.
    for id in 0..6 {
        let capsule = host.capsule(io(0x01, 256 * id, 256).length(1 << 20).id(id as u16), &[]);
        host.send(&capsule);
    }
    let mut tags = vec![];
    host.stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    while let Some(pdu) = host.receive() {
        tags.push((le16(&pdu.header, 8), le16(&pdu.header, 10)));
    }
    assert_eq!(tags, [(0, 0), (1, 1), (2, 2), (3, 3)]);
    host.stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    for part in 0..4_u32 {
        let bytes = host.data(0, 0, part << 18, &[1; 1 << 18], true);
        host.send(&bytes);
        let pdu = host.receive().unwrap();
        assert_eq!(pdu.kind(), if part < 3 { 9 } else { 5 });
    }
    let next = host.receive().unwrap();
    assert_eq!((next.kind(), le16(&next.header, 8), le16(&next.header, 10)), (9, 4, 0));
}

#[test]
fn many_commands_are_under_way_at_a_time() {
    for (workers, in_place) in [(0, false), (1, false), (8, false), (8, true)] {
        let setup = serve_with(PLAIN, Options { workers, in_place, ..Options::default() });
        let (_admin, mut host) = setup.host(FANCY);
        let writes: Vec<_> = (0..100)
            .map(|block| write(&mut host, block, &pattern(4096, block as u32), block % 3 > 0))
            .collect();
        writes.into_iter().rev().for_each(|id| {
            host.wait(id).ok();
        });
        let command = |block| io(0x02, block, 1).length(4096);
        let reads: Vec<_> = (0..100).map(|block| host.submit(command(block), &[])).collect();
        for (block, id) in (0..).zip(reads) {
            assert_eq!(host.wait(id).ok(), pattern(4096, block), "{workers} {block}");
        }
    }
}

#[test]
fn queues_and_controllers_work_side_by_side() {
    let setup = serve(PLAIN);
    let work = |number: u64| {
        let (mut admin, id) = Initiator::admin(setup.address(), LINUX);
        let mut queues: Vec<_> =
            (1..=4).map(|queue| Initiator::io(setup.address(), FANCY, queue, id)).collect();
        for round in 0..50 {
            for (queue, host) in (0..).zip(&mut queues) {
                let start = number * 512 + queue * 64 + round % 8;
                let data = pattern(8192, (start * round) as u32);
                let id = write(host, start, &data, round % 2 == 0);
                host.wait(id).ok();
                assert_eq!(read(host, start, 2), data);
            }
        }
        assert_eq!(le16(&admin.run(identify(1, 0), &[]).ok(), 78), id);
        id
    };
    let mut ids = thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|number| scope.spawn(move || work(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3]);
    eventually(|| setup.server.connections() == 0 && setup.subsystem.controllers() == 0);
}

#[test]
fn the_discovery_service_answers_at_the_address_it_has() {
    let setup = serve(PLAIN);
    let mut host = Initiator::open(setup.address(), LINUX);
    host.connect(0, 0xffff, DISCOVERY).unwrap();
    host.run(set_property(0x14, 4 << 20 | 6 << 16 | 1), &[]).ok();
    let log = host.run(log_page(0x70, 2048), &[]).ok();
    let port = setup.address().port().to_string();
    assert_eq!(&log[1024 + 32..1024 + 32 + port.len()], port.as_bytes());
    assert_eq!(&log[1024 + 512..1024 + 521], b"127.0.0.1");
    assert_eq!(host.connect(1, 1, NQN).unwrap_err().status, 0x0c, "connected already");
}

#[test]
fn the_head_of_the_queue_follows_its_commands() {
    let setup = serve(PLAIN);
    let (mut admin, _) = Initiator::admin(setup.address(), LINUX);
    // 32 entries: Connect and Property Set came first.
    for number in 3..40 {
        admin.run(Build::new(0x18), &[]).ok();
        assert_eq!(admin.last_head, number % 32);
    }
}

#[test]
fn without_flow_control_a_read_needs_no_response() {
    let setup = serve(PLAIN);
    let (_admin, id) = Initiator::admin(setup.address(), LINUX);
    let mut host = Initiator::open(setup.address(), FANCY);
    let (command, data) = connect(1, id, NQN);
    host.run(command.bytes(46, &[1 << 2]), &data).ok();
    assert_eq!(host.last_head, 0xffff, "the controller agrees");
    let command = io(0x02, 0, 1).length(4096).id(9);
    let capsule = host.capsule(command, &[]);
    host.send(&capsule);
    let pdu = host.receive().unwrap();
    // Last, and success; then nothing.
    assert_eq!((pdu.kind(), pdu.header[1] & 0b1100), (7, 0b1100));
    host.stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    assert!(host.receive().is_none());
    host.stream.set_read_timeout(None).unwrap();
    setup.drive.fail_reads(true);
    host.send(&capsule);
    assert_eq!(host.receive().unwrap().kind(), 5, "a failure needs one");
}

#[test]
fn a_wrong_data_digest_fails_the_command_alone() {
    let setup = serve(PLAIN);
    let (_admin, mut host) = setup.host(FANCY);
    let command = io(0x01, 0, 1);
    let mut capsule = host.capsule(command.in_capsule(4096).id(500), &[1; 4096]);
    *capsule.last_mut().unwrap() ^= 1;
    host.send(&capsule);
    let done = host.wait(500);
    assert_eq!((done.status, done.is_final), (0x22, false), "a retry may succeed");
    let capsule = host.capsule(command.length(4096).id(501), &[]);
    host.send(&capsule);
    let ready = host.receive().unwrap();
    let tag = le16(&ready.header, 10);
    let mut data = host.data(501, tag, 0, &[1; 2048], false);
    *data.last_mut().unwrap() ^= 1;
    host.send(&data);
    let data = host.data(501, tag, 2048, &[1; 2048], true);
    host.send(&data);
    assert_eq!(host.wait(501).status, 0x22);
    assert_eq!(read(&mut host, 0, 1), vec![0; 4096], "nothing was written");
}

#[test]
fn a_wrong_data_pointer_fails_the_command_alone() {
    let setup = serve(PLAIN);
    let (mut admin, mut host) = setup.host(FANCY);
    let command = io(0x01, 0, 1);
    let id = host.submit(command.length(4095), &[]);
    assert_eq!(host.wait(id).status, 0x0f, "too short");
    let id = host.submit(command.in_capsule(4096).dword(6, 1), &[1; 4096]);
    assert_eq!(host.wait(id).status, 0x16, "beyond the capsule");
    let id = host.submit(command.bytes(39, &[0x40]), &[]);
    assert_eq!(host.wait(id).status, 0x11, "another descriptor");
    assert_eq!(admin.run(identify(1, 0).in_capsule(4096), &[]).status, 0x11);
    assert_eq!(host.run(io(0x02, 0, 1).length(4092), &[]).status, 0x0f);
    // Longer than the data is allowed, and so is an offset within the capsule.
    assert_eq!(host.run(io(0x02, 0, 1).length(8192), &[]).ok().len(), 4096);
    let id = host.submit(command.in_capsule(4096).dword(6, 4), &[&[9; 4], &[7; 4096][..]].concat());
    host.wait(id).ok();
    assert_eq!(read(&mut host, 0, 1), vec![7; 4096]);
}

#[test]
fn only_connect_is_expected_on_a_new_connection() {
    let setup = serve(PLAIN);
    let mut host = Initiator::open(setup.address(), LINUX);
    assert_eq!(host.run(identify(1, 0), &[]).status, 0x0c);
    assert_eq!(host.run(get_property(8, false), &[]).status, 0x0c);
    assert_eq!(host.connect(0, 0xffff, "nqn.another").unwrap_err().result, 1 << 16 | 256);
    // By R2T, too.
    let (command, data) = connect(0, 0xffff, NQN);
    host.run(command.bytes(39, &[0x5a]), &data).ok();
    assert_eq!(host.requests, [(0, 1024)]);
    assert_eq!(host.run(get_property(8, false), &[]).result, 0x0002_0000);
}

#[test]
fn an_event_completes_a_request_long_after() {
    let setup = serve(PLAIN);
    let (mut admin, _) = Initiator::admin(setup.address(), FANCY);
    admin.run(set_feature(0x0b, 1 << 8), &[]).ok();
    let request = admin.submit(Build::new(0x0c), &[]);
    // Waiting requests take no entries of the queue.
    let ids: Vec<_> = (0..31).map(|_| admin.submit(Build::new(0x18), &[])).collect();
    ids.into_iter().for_each(|id| {
        admin.wait(id).ok();
    });
    let (mut other, _) = Initiator::admin(setup.address(), LINUX);
    other.run(Build::new(0x80).namespace(1).dword(10, 0), &[]).ok();
    assert_eq!(admin.wait(request).result, 2 | 4 << 16);
}

#[test]
fn a_controller_without_traffic_loses_its_connections() {
    let setup = serve(PLAIN);
    let mut silent = Initiator::open(setup.address(), LINUX);
    let (command, data) = connect(0, 0xffff, NQN);
    let id = silent.run(command.dword(12, 300), &data).result as u16;
    silent.run(set_property(0x14, ENABLED), &[]).ok();
    let mut host = Initiator::io(setup.address(), LINUX, 1, id);
    let (mut alive, _) = Initiator::admin(setup.address(), LINUX);
    alive.run(set_feature(0x0f, 300), &[]).ok();
    // Traffic on any queue counts.
    for _ in 0..10 {
        thread::sleep(Duration::from_millis(100));
        alive.run(Build::new(0x18), &[]).ok();
        read(&mut host, 0, 1);
    }
    let begin = Instant::now();
    assert!(host.receive().is_none() && silent.receive().is_none());
    assert!(begin.elapsed() < Duration::from_secs(5));
    eventually(|| setup.subsystem.controllers() == 0);
    assert!(alive.receive().is_none(), "it has been silent, too");
}

#[test]
fn a_power_cut_ends_connections_without_a_word() {
    let setup = serve(PLAIN);
    let (mut admin, mut host) = setup.host(LINUX);
    let id = write(&mut host, 1, &[1; 4096], true);
    host.wait(id).ok();
    setup.drive.cut_power();
    // The first command to meet the cut ends the controller.
    let capsule = host.capsule(io(0x02, 1, 1).length(4096), &[]);
    host.send(&capsule);
    assert!(host.receive().is_none() && admin.receive().is_none());
    let (mut admin, mut host) = setup.host(LINUX);
    assert_eq!(read(&mut host, 1, 1), vec![0; 4096], "it was not flushed");
    setup.subsystem.power_cut();
    assert!(host.receive().is_none() && admin.receive().is_none());
}

#[test]
fn a_reset_ends_io_queues_and_keeps_the_admin_queue() {
    let setup = serve(PLAIN);
    let (mut admin, mut host) = setup.host(LINUX);
    admin.run(set_property(0x14, 0), &[]).ok();
    assert!(host.receive().is_none());
    assert_eq!(admin.run(get_property(0x1c, false), &[]).result, 0);
    admin.run(set_property(0x14, ENABLED), &[]).ok();
    // The connection has left its queue once the server has seen its end.
    eventually(|| setup.server.connections() == 1);
    let mut host = Initiator::io(setup.address(), LINUX, 1, 1);
    read(&mut host, 0, 1);
}

#[test]
fn an_io_queue_ends_alone_and_an_admin_queue_takes_the_others_along() {
    let setup = serve(PLAIN);
    let (mut admin, host) = setup.host(LINUX);
    drop(host);
    eventually(|| setup.server.connections() == 1);
    admin.run(Build::new(0x18), &[]).ok();
    let mut host = Initiator::io(setup.address(), LINUX, 1, 1);
    drop(admin);
    assert!(host.receive().is_none());
    eventually(|| setup.server.connections() == 0);
}

#[test]
fn a_server_ends_with_its_connections() {
    let Setup { server, subsystem, .. } = serve(PLAIN);
    let address = server.address();
    let (mut admin, id) = Initiator::admin(address, LINUX);
    let mut host = Initiator::io(address, LINUX, 1, id);
    drop(server);
    assert!(admin.receive().is_none() && host.receive().is_none());
    assert_eq!(subsystem.controllers(), 0);
    Server::start(subsystem, address, Options::default()).unwrap();
}

#[test]
fn other_machines_are_served_on_request_only() {
    let (_drive, subsystem) = subsystem(PLAIN);
    let everywhere = "0.0.0.0:0".parse().unwrap();
    let error =
        Server::start(Arc::clone(&subsystem), everywhere, Options::default()).err().unwrap();
    assert!(error.to_string().contains("no authentication"), "{error}");
    let options = Options { allow_remote: true, ..Options::default() };
    let server = Server::start(subsystem, everywhere, options).unwrap();
    let here = SocketAddr::from(([127, 0, 0, 1], server.address().port()));
    Initiator::admin(here, LINUX);
}

#[test]
fn too_many_connections_are_closed_at_once() {
    let setup = serve_with(PLAIN, Options { connections_max: 2, ..Options::default() });
    let (mut admin, _host) = setup.host(LINUX);
    let mut third = std::net::TcpStream::connect(setup.address()).unwrap();
    assert_eq!(std::io::Read::read(&mut third, &mut [0]).unwrap_or(0), 0);
    admin.run(Build::new(0x18), &[]).ok();
}

#[test]
fn a_zoned_drive_is_written_by_appends() {
    let setup = serve(ZONED);
    let (_admin, mut host) = setup.host(FANCY);
    let ids: Vec<_> = (0..20)
        .map(|block| host.submit(io(0x7d, 0, 1).length(4096), &pattern(4096, block)))
        .collect();
    let mut places: Vec<_> =
        (0..).zip(ids).map(|(block, id)| (host.wait(id).result, block)).collect();
    for (place, block) in &places {
        assert_eq!(read(&mut host, *place, 1), pattern(4096, *block));
    }
    places.sort_unstable();
    assert!((0..20).eq(places.into_iter().map(|(place, _)| place)), "each has a place of its own");
}
