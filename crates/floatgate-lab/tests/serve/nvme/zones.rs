//! A live drive in zones: data, write pointers, resets without copies, losses of power, and configs
//! that are refused. A zone begins every 16 blocks, and has 12 of them.

use floatgate_ftl::rng::Rng;

use super::*;

const ZONED: Sets<'_> = &[("flash.pages_per_block", "12")];
pub(super) const SIZE: u64 = 16;
pub(super) const CAPACITY: u64 = 12;
/// Zones of 12 pages and a mark in the 512 pages of the drive.
const ZONES: u64 = 39;

const EMPTY: (u8, u64) = (0x1, 0);
pub(super) const FULL: (u8, u64) = (0xe, CAPACITY);
pub(super) const CLOSED: u8 = 0x4;
const READ_ONLY: u8 = 0xd;

pub(super) fn config_of(sets: Sets<'_>) -> Config {
    config(None, &[SMALL, HANDLES, ZONED, sets].concat())
}

pub(super) fn over(stand: Stand) -> Target {
    Target { nvme: start(&stand, settings(), true).unwrap(), stand }
}

fn zoned() -> Target {
    over(Stand::new(&config_of(&[]), BYTES, Timekeeping::None))
}

fn append_command(zone: u64, blocks: u64) -> Build {
    io(0x7d, zone * SIZE, blocks as u32).length(PAGE * blocks as usize)
}

/// Appends blocks to a zone, and returns their first place in the zone.
pub(super) fn append(queue: &mut Initiator, zone: u64, blocks: u64, byte: u8) -> u64 {
    let done = queue.run(append_command(zone, blocks), &vec![byte; PAGE * blocks as usize]);
    assert_eq!(done.status, 0, "{:#x}", done.status);
    done.result - zone * SIZE
}

fn send(queue: &mut Initiator, zone: u64, action: u32) {
    queue.run(Build::new(0x79).namespace(1).start(zone * SIZE).dword(13, action), &[]).ok();
}

pub(super) fn finish(queue: &mut Initiator, zone: u64) {
    send(queue, zone, 2);
}

pub(super) fn reset(queue: &mut Initiator, zone: u64) {
    send(queue, zone, 4);
}

/// Returns states and write pointers of the first zones.
pub(super) fn states<const N: usize>(queue: &mut Initiator) -> [(u8, u64); N] {
    let bytes = 64 + 64 * N;
    let command = Build::new(0x7a).namespace(1).dword(12, bytes as u32 / 4 - 1);
    let data = queue.run(command.length(bytes), &[]).ok();
    assert_eq!(le64(&data, 0), ZONES);
    std::array::from_fn(|zone| {
        let zone = &data[64 + 64 * zone..];
        assert_eq!(le64(zone, 8), CAPACITY);
        (zone[1] >> 4, le64(zone, 24) - le64(zone, 16))
    })
}

/// Asserts that the drive erased units, and moved no page.
fn assert_not_cleaned(target: &Target, host_pages: u64) {
    let flash = &target.stand.status()["result"]["flash"];
    assert_eq!(
        (&flash["programs"]["gc"], &flash["programs"]["host"]),
        (&json!(0), &json!(host_pages))
    );
    assert!(flash["erases"]["gc"].as_u64().unwrap() > 100, "{flash}");
}

#[test]
fn zones_that_are_reset_leave_nothing_to_move() {
    let target = zoned();
    let (_admin, mut queue) = target.connect();
    let (mut rng, mut bytes, mut pages) = (Rng::new(5), [0; ZONES as usize], 0);
    for round in 0..120 {
        // Three zones are filled in turn, so that their pages alternate.
        let first = if round < 13 { round * 3 } else { rng.below(ZONES - 2) };
        for zone in first..first + 3 {
            reset(&mut queue, zone);
            bytes[zone as usize] = round as u8 + 1;
        }
        for place in (0..CAPACITY).step_by(2) {
            for zone in first..first + 3 {
                assert_eq!(append(&mut queue, zone, 2, round as u8 + 1), place);
                pages += 2;
            }
        }
    }
    assert_eq!(states(&mut queue), [FULL; 39]);
    for (zone, byte) in bytes.iter().enumerate() {
        let found = read(&mut queue, zone as u64 * SIZE, CAPACITY as u32);
        assert_eq!(found, vec![*byte; CAPACITY as usize * PAGE], "zone {zone}");
    }
    assert_not_cleaned(&target, pages);
}

/// Each handle has one zone at a time, however commands overlap.
#[test]
fn hosts_write_to_zones_at_once() {
    let target = zoned();
    let rounds = 50;
    let (_admin, id) = Initiator::admin(target.address(), LINUX);
    thread::scope(|scope| {
        for thread in 0..4 {
            let mut queue = Initiator::io(target.address(), LINUX, thread + 1, id);
            scope.spawn(move || {
                for round in 0..rounds {
                    let zone = u64::from(thread) * 9 + round % 9;
                    reset(&mut queue, zone);
                    let data = vec![round as u8; 4 * PAGE];
                    let appends = [(); 3].map(|()| queue.submit(append_command(zone, 4), &data));
                    for command in appends {
                        queue.wait(command).ok();
                    }
                    let found = read(&mut queue, zone * SIZE, CAPACITY as u32);
                    assert_eq!(found, vec![round as u8; CAPACITY as usize * PAGE]);
                }
            });
        }
    });
    assert_not_cleaned(&target, 4 * rounds * CAPACITY);
}

#[test]
fn zones_outlive_a_loss_of_power() {
    let target = zoned();
    let (_admin, mut queue) = target.connect();
    append(&mut queue, 0, 5, 1);
    append(&mut queue, 1, 3, 2);
    finish(&mut queue, 1);
    append(&mut queue, 2, CAPACITY, 3);
    append(&mut queue, 3, 7, 4);
    reset(&mut queue, 3);
    // Zeros move the pointer like other data, and deallocation does not move it.
    queue.run(io(0x08, 4 * SIZE, 2).dword(12, 1 << 25 | 1), &[]).ok();
    let mut range = vec![0; 16];
    (range[4], range[8]) = (4, 1);
    queue.run(Build::new(0x09).namespace(1).dword(11, 4).length(16), &range).ok();
    flush(&mut queue);
    let before = states::<6>(&mut queue);
    target.plug();
    let (_admin, mut queue) = target.connect();
    let after = states::<6>(&mut queue);
    assert_eq!(after, [(CLOSED, 5), FULL, FULL, EMPTY, (CLOSED, 2), EMPTY]);
    assert_eq!(after.map(|(_, written)| written), before.map(|(_, written)| written));
    assert_eq!(append(&mut queue, 0, 7, 5), 5);
    let expected = [vec![1; 5 * PAGE], vec![5; 7 * PAGE], vec![0; 4 * PAGE], vec![2; PAGE]];
    assert_eq!(read(&mut queue, 0, 17), expected.concat(), "with the gap behind the zone");
    reset(&mut queue, 1);
    assert_eq!(states(&mut queue), [FULL, EMPTY]);
    assert_eq!(append(&mut queue, 1, CAPACITY, 6), 0);
}

/// A refused write leaves no gap behind.
#[test]
fn zones_of_a_drive_that_was_read_only_continue() {
    let target = zoned();
    let (_admin, mut queue) = target.connect();
    append(&mut queue, 0, 5, 1);
    target.stand.ask(&json!({"do": "faults", "read_only": true})).unwrap();
    assert_eq!(queue.run(append_command(0, 2), &[2; 2 * PAGE]).status, 0x1ba);
    assert_eq!(states(&mut queue), [(READ_ONLY, 5), (READ_ONLY, 0)]);
    target.stand.ask(&json!({"do": "faults", "read_only": false})).unwrap();
    assert_eq!(append(&mut queue, 0, 7, 3), 5);
    let expected = [vec![1; 5 * PAGE], vec![3; 7 * PAGE]].concat();
    assert_eq!(read(&mut queue, 0, CAPACITY as u32), expected);
}

#[test]
fn the_status_counts_zones_by_state() {
    let target = zoned();
    let (_admin, mut queue) = target.connect();
    append(&mut queue, 0, 5, 1);
    append(&mut queue, 1, 1, 1);
    finish(&mut queue, 1);
    send(&mut queue, 2, 3);
    let zones = &target.stand.status()["zones"];
    assert_eq!(
        *zones,
        json!({
            "bytes": 16 * PAGE,
            "capacity_bytes": 12 * PAGE,
            "active_max": 4,
            "states": {
                "empty": ZONES - 3,
                "implicitly_open": 1,
                "explicitly_open": 1,
                "closed": 0,
                "full": 1,
            },
        })
    );
    let other = Target::new(&config_of(&[]), Timekeeping::None);
    assert_eq!(other.stand.status()["zones"], Value::Null);
}

#[test]
fn blocks_of_512_bytes_need_pages_of_512_bytes() {
    let sets: Sets<'_> = &[("flash.page", "512B"), ("flash.pages_per_block", "96")];
    let stand = Stand::new(&config_of(sets), BYTES, Timekeeping::None);
    let settings = Settings { block_bytes: 512, ..settings() };
    let target = Target { nvme: start(&stand, settings, true).unwrap(), stand };
    let (_admin, mut queue) = target.connect();
    // A zone of 96 blocks begins every 128 blocks.
    let written = queue.run(io(0x7d, 128, 3).length(3 * 512), &[1; 3 * 512]);
    assert_eq!((written.status, written.result), (0, 128));
    flush(&mut queue);
    target.plug();
    let (_admin, mut queue) = target.connect();
    let written = queue.run(io(0x7d, 128, 93).length(93 * 512), &[2; 93 * 512]);
    assert_eq!((written.status, written.result), (0, 131));
    let expected = [vec![1; 3 * 512], vec![2; 93 * 512], vec![0; 32 * 512]].concat();
    assert_eq!(queue.run(io(0x02, 128, 128).length(128 * 512), &[]).ok(), expected);
}

#[test]
fn a_reopened_image_has_its_zones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flash.img");
    floatgate_lab::drive::live::create_zoned(&path, &config_of(&[]), BYTES, 3).unwrap();
    let serve = || {
        let location = ImageLocation::File(path.clone());
        over(Stand::serve(location, Timekeeping::None, vec![]))
    };
    {
        let target = serve();
        let (_admin, mut queue) = target.connect();
        append(&mut queue, 0, 5, 1);
        append(&mut queue, 1, 3, 2);
        finish(&mut queue, 1);
        target.stand.served.shut_down().unwrap();
    }
    let target = serve();
    let (_admin, mut queue) = target.connect();
    assert_eq!(states(&mut queue), [(CLOSED, 5), FULL, EMPTY]);
    assert_eq!(append(&mut queue, 0, 1, 1), 5);
}

#[test]
fn drives_that_cannot_keep_zones_apart_are_refused() {
    for (sets, expected) in [
        (
            &[("placement.scheme", "single")][..],
            "placement.scheme: \"single\" given; expected \"host\" for a drive in zones",
        ),
        (BUFFER, "buffer.scheme: \"lru\" given; expected \"none\""),
        (
            &[("flash.page", "8KiB"), ("capacity.spare_factor", "0.6")],
            "flash.page: 8192 B given; expected at most 4096 B",
        ),
        (
            &[("placement.reclaim_unit", "[\"48KiB\", \"48KiB\", \"96KiB\", \"48KiB\"]")],
            "placement.reclaim_unit: several sizes given; expected one size",
        ),
    ] {
        let stand = Stand::new(&config_of(sets), BYTES, Timekeeping::None);
        let error = start(&stand, settings(), true).err().map(|error| error.to_string());
        assert!(error.as_ref().is_some_and(|text| text.contains(expected)), "{error:?}");
    }
    let stand = Stand::new(&config_of(&[]), BYTES, Timekeeping::None);
    let blocks = Settings { block_bytes: 512, ..settings() };
    let error = start(&stand, blocks, true).err().map(|error| error.to_string());
    assert_eq!(
        error.as_deref(),
        Some("block_bytes: 512 given; expected at least a page of 4096 with zones")
    );
}
