//! A live drive over NVMe/TCP, with the host of floatgate-nvme's own tests: data, logs, losses of
//! power, reconnection.

mod logs;
mod placement;
mod zone_losses;
mod zones;

// The host builds commands from literals of the specifications.
#[path = "../../../floatgate-nvme/tests/common/mod.rs"]
mod host;

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use floatgate_lab::config::Config;
use floatgate_lab::drive::live::Timekeeping;
use floatgate_lab::serve::{ImageLocation, NvmeError, NvmeTarget};
use floatgate_nvme::subsystem::Settings;
use floatgate_nvme::tcp::Options;
use serde_json::{Value, json};

use super::{SMALL, Sets, Stand, config};
use host::initiator::{FANCY, Initiator, LINUX};
use host::{Build, Done, identify, io, le64, settings};

const BYTES: u64 = 2 << 20;
const PAGE: usize = 4096;

/// Four placement handles.
const HANDLES: Sets<'_> = &[("placement.scheme", "host"), ("placement.handles", "4")];

/// A write buffer, which loses its pages with the power.
const BUFFER: Sets<'_> = &[("buffer.scheme", "lru"), ("buffer.capacity", "1MiB")];

/// A drive that is served to hosts.
struct Target {
    stand: Stand,
    nvme: NvmeTarget,
}

impl Target {
    fn new(config: &Config, time: Timekeeping) -> Self {
        Self::over(Stand::new(config, BYTES, time))
    }

    fn over(stand: Stand) -> Self {
        Self {
            nvme: start(&stand, settings(), false).unwrap_or_else(|error| panic!("{error}")),
            stand,
        }
    }

    fn address(&self) -> SocketAddr {
        self.nvme.address()
    }

    /// Connects a controller with one I/O queue.
    fn connect(&self) -> (Initiator, Initiator) {
        let (admin, id) = Initiator::admin(self.address(), LINUX);
        (admin, Initiator::io(self.address(), LINUX, 1, id))
    }

    fn smart(&self) -> Value {
        self.stand.ask(&json!({"do": "smart"})).unwrap()
    }

    fn plug(&self) {
        self.stand.ask(&json!({"do": "plug"})).unwrap();
    }
}

/// Serves a drive, in zones or with random writes, at a free port.
fn start(stand: &Stand, settings: Settings, is_zoned: bool) -> Result<NvmeTarget, NvmeError> {
    let address = "127.0.0.1:0".parse().unwrap();
    NvmeTarget::start(&stand.served, settings, address, Options::default(), is_zoned)
}

fn drive(sets: Sets<'_>) -> Target {
    Target::new(&config(None, &[SMALL, HANDLES, sets].concat()), Timekeeping::None)
}

/// Command of a write of blocks of 4 KiB with a placement handle.
fn write_command(start: u64, blocks: u32, handle: u32) -> Build {
    let command = io(0x01, start, blocks).length(PAGE * blocks as usize);
    command.dword(12, 2 << 20 | (blocks - 1)).dword(13, handle << 16)
}

fn write(queue: &mut Initiator, start: u64, bytes: &[u8], handle: u32) -> Done {
    let command = write_command(start, (bytes.len() / PAGE) as u32, handle);
    queue.run(command, bytes)
}

fn read(queue: &mut Initiator, start: u64, blocks: u32) -> Vec<u8> {
    queue.run(io(0x02, start, blocks).length(PAGE * blocks as usize), &[]).ok()
}

fn flush(queue: &mut Initiator) {
    queue.run(Build::new(0x00).namespace(1), &[]).ok();
}

/// Waits until something is true.
#[track_caller]
fn eventually(is_true: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_true() {
        assert!(begin.elapsed() < Duration::from_secs(20), "it never became true");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn hosts_find_the_drive_and_its_data() {
    let target = drive(&[]);
    let (mut admin, mut queue) = target.connect();
    let namespace = admin.run(identify(0, 1), &[]).ok();
    assert_eq!(le64(&namespace, 0), BYTES / PAGE as u64, "blocks");
    let bytes: Vec<u8> = (0..8 * PAGE as u32).map(|at| (at / 7) as u8).collect();
    write(&mut queue, 3, &bytes, 2).ok();
    assert_eq!(read(&mut queue, 3, 8), bytes);
    assert_eq!(read(&mut queue, 2, 1), vec![0; PAGE], "never written");
    // Clients of both front ends see one drive.
    assert_eq!(super::read(&target.stand.client(), 3 * PAGE as u64, bytes.len()), bytes);
    let beyond = queue.run(io(0x02, BYTES / PAGE as u64, 1).length(PAGE), &[]);
    assert_eq!(beyond.status, 0x80, "LBA out of range");
}

#[test]
fn deallocated_and_zeroed_blocks_are_zeros() {
    let target = drive(&[]);
    let (_admin, mut queue) = target.connect();
    write(&mut queue, 0, &vec![7; 8 * PAGE], 0).ok();
    queue.run(io(0x08, 0, 2), &[]).ok();
    queue.run(io(0x08, 2, 2).dword(12, 1 << 25 | 1), &[]).ok();
    let mut range = vec![0; 16];
    (range[4], range[8]) = (2, 4);
    let deallocate = Build::new(0x09).namespace(1).dword(11, 4).length(16);
    queue.run(deallocate, &range).ok();
    let expected = [vec![0; 6 * PAGE], vec![7; 2 * PAGE]].concat();
    assert_eq!(read(&mut queue, 0, 8), expected);
    let requests = &target.stand.status()["server"]["requests"];
    assert_eq!((&requests["zero"], &requests["trim"]), (&json!(2), &json!(1)));
}

#[test]
fn only_durable_data_survive_a_loss_of_power() {
    let target = drive(BUFFER);
    let (mut admin, mut queue) = target.connect();
    write(&mut queue, 0, &[1; PAGE], 1).ok();
    flush(&mut queue);
    let fua = write_command(1, 1, 2);
    queue.run(fua.dword(12, 2 << 20 | 1 << 30), &[2; PAGE]).ok();
    write(&mut queue, 2, &[3; PAGE], 3).ok();
    target.plug();
    // The controller vanishes without a reply and without a word.
    assert_eq!((admin.termination(), queue.termination()), (None, None));
    let (_admin, mut queue) = target.connect();
    let found = read(&mut queue, 0, 3);
    assert_eq!(found[..2 * PAGE], [[1; PAGE], [2; PAGE]].concat());
    assert_eq!(found[2 * PAGE..], [0; PAGE], "only the write buffer had it");
    assert_eq!(target.smart()["unsafe_shutdowns"], 1);
}

/// With the volatile write cache off, each write is durable.
#[test]
fn without_a_write_cache_all_data_survive() {
    let target = drive(BUFFER);
    let (mut admin, mut queue) = target.connect();
    admin.run(host::set_feature(0x06, 0), &[]).ok();
    write(&mut queue, 5, &[9; PAGE], 0).ok();
    target.plug();
    let (_admin, mut queue) = target.connect();
    assert_eq!(read(&mut queue, 5, 1), [9; PAGE]);
}

#[test]
fn commands_in_progress_end_without_a_reply_in_a_loss_of_power() {
    let sets = [SMALL, HANDLES, &[("timing", "scheduled"), ("flash.program", "900ms")]].concat();
    let target = Target::new(&config(None, &sets), Timekeeping::Simulated);
    let (mut admin, mut queue) = target.connect();
    let begun = Instant::now();
    queue.submit(write_command(0, 1, 1).in_capsule(PAGE), &[1; PAGE]);
    thread::sleep(Duration::from_millis(100));
    target.plug();
    assert_eq!((admin.termination(), queue.termination()), (None, None));
    assert!(begun.elapsed() < Duration::from_millis(800), "it waited for the program");
}

#[test]
fn a_reopened_image_has_its_data_and_its_life() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flash.img");
    let config = config(None, &[SMALL, HANDLES].concat());
    floatgate_lab::drive::live::create(&path, &config, BYTES, 3).unwrap();
    let serve =
        || Target::over(Stand::serve(ImageLocation::File(path.clone()), Timekeeping::None, vec![]));
    let before = {
        let target = serve();
        let (mut admin, mut queue) = target.connect();
        for at in 0..8 {
            write(&mut queue, at * 64, &vec![at as u8; 64 * PAGE], 1).ok();
        }
        flush(&mut queue);
        let logs = logs::Logs::new(&mut admin);
        target.stand.served.shut_down().unwrap();
        logs
    };
    let target = serve();
    let (mut admin, mut queue) = target.connect();
    assert_eq!(read(&mut queue, 64, 1), [1; PAGE]);
    let logs = logs::Logs::new(&mut admin);
    assert_eq!(logs.host_written, before.host_written);
    assert!(logs.media_written >= before.media_written && logs.erased >= before.erased);
    assert_eq!(logs.power_cycles, before.power_cycles + 1);
    logs.agree_with(&target.smart());
}

#[test]
fn hosts_come_and_go() {
    let target = drive(&[]);
    let connections = || target.stand.status()["server"]["connections"].as_u64();
    for round in 0..3 {
        let (mut admin, id) = Initiator::admin(target.address(), FANCY);
        let mut queue = Initiator::io(target.address(), FANCY, 1, id);
        write(&mut queue, round, &[round as u8; PAGE], 1).ok();
        let (_other, mut other) = target.connect();
        assert_eq!(read(&mut other, round, 1), [round as u8; PAGE]);
        eventually(|| connections() == Some(2));
        admin.run(identify(1, 0), &[]).ok();
    }
    eventually(|| connections() == Some(0));
}

#[test]
fn replies_take_as_long_as_the_modelled_drive() {
    let sets = [SMALL, HANDLES, &[("timing", "scheduled"), ("flash.program", "30ms")]].concat();
    let target = Target::new(&config(None, &sets), Timekeeping::Simulated);
    let (_admin, mut queue) = target.connect();
    let begun = Instant::now();
    write(&mut queue, 0, &[1; PAGE], 1).ok();
    assert!(begun.elapsed() >= Duration::from_millis(29), "{:?}", begun.elapsed());
}

#[test]
fn faults_reach_the_host_as_status_codes() {
    let target = drive(&[]);
    let (mut admin, mut queue) = target.connect();
    write(&mut queue, 0, &[1; PAGE], 0).ok();
    target.stand.ask(&json!({"do": "faults", "read_only": true})).unwrap();
    assert_eq!(write(&mut queue, 0, &[2; PAGE], 0).status, 0x182, "read-only range");
    assert_eq!(logs::Logs::new(&mut admin).critical & 8, 8, "the media are read-only");
    target
        .stand
        .ask(&json!({"do": "faults", "read_only": false, "read_error_share": 1.0}))
        .unwrap();
    let failed = queue.run(io(0x02, 0, 1).length(PAGE), &[]);
    assert_eq!(failed.status, 0x281, "unrecovered read error");
    target.stand.ask(&json!({"do": "faults", "read_error_share": 0.0})).unwrap();
    assert_eq!(read(&mut queue, 0, 1), [1; PAGE]);
}

#[test]
fn a_drive_of_odd_size_is_refused() {
    let stand = Stand::new(&config(None, SMALL), BYTES + 512, Timekeeping::None);
    let refused = |settings: Settings| {
        let target = start(&stand, settings, false);
        target.err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(refused(settings()).contains("expected a multiple of 4096 B"));
    let settings = Settings { block_bytes: 1024, ..settings() };
    assert!(refused(settings).contains("block_bytes: 1024 given; expected 512 or 4096"));
}
