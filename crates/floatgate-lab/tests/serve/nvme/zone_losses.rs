//! Zones of a drive that loses its power while hosts write: write pointers and data afterwards.

use std::sync::Mutex;

use floatgate_ftl::rng::Rng;

use super::zones::{CAPACITY, CLOSED, FULL, SIZE};
use super::zones::{append, config_of, finish, over, reset, states};
use super::*;

/// Hosts, each with four zones, of which one is active at a time.
const HOSTS: usize = 4;
const EACH: usize = 4;
const ALL: usize = HOSTS * EACH;

/// Knowledge of a host about a zone.
#[derive(Clone, Debug, Default)]
struct Known {
    /// Bytes of the blocks that the host has appended, with those in progress.
    blocks: Vec<u8>,
    /// Least written blocks after a loss of power.
    durable: usize,
    /// Whether a reset is in progress.
    is_emptied: bool,
}

/// Fills zones in turn, with flushes and early ends, until the connection ends.
fn work(mut queue: Initiator, host: usize, known: &Mutex<Vec<Known>>, seed: u64) {
    let mut rng = Rng::new(seed);
    let change =
        |zone: usize, change: &dyn Fn(&mut Known)| change(&mut known.lock().unwrap()[zone]);
    for turn in 0_usize.. {
        let zone = host * EACH + turn % EACH;
        change(zone, &|one| (one.durable, one.is_emptied) = (0, true));
        reset(&mut queue, zone as u64);
        change(zone, &|one| *one = Known::default());
        let mut written = 0;
        while written < CAPACITY {
            match rng.below(12) {
                0 => {
                    flush(&mut queue);
                    change(zone, &|one| one.durable = one.blocks.len());
                }
                1 => {
                    finish(&mut queue, zone as u64);
                    change(zone, &|one| one.durable = CAPACITY as usize);
                    break;
                }
                _ => {
                    let blocks = (rng.below(4) + 1).min(CAPACITY - written);
                    let byte = rng.below(255) as u8 + 1;
                    change(zone, &|one| one.blocks.extend(vec![byte; blocks as usize]));
                    assert_eq!(append(&mut queue, zone as u64, blocks, byte), written);
                    written += blocks;
                }
            }
        }
    }
}

/// Asserts that the drive has what the hosts know, finishes the zones that are active, and returns
/// what is known then.
fn verified(queue: &mut Initiator, known: &[Known]) -> Vec<Known> {
    let found = states::<ALL>(queue);
    let check = |(zone, one): (usize, &Known)| {
        let (state, written) = (found[zone], found[zone].1 as usize);
        assert!(written >= one.durable, "zone {zone} has {state:?} of {one:?}");
        let data = read(queue, zone as u64 * SIZE, CAPACITY as u32);
        let bytes: Vec<_> = data.chunks_exact(PAGE).map(|block| block[0]).collect();
        assert!(data.chunks_exact(PAGE).zip(&bytes).all(|(block, byte)| *block == [*byte; PAGE]));
        for (at, &byte) in bytes.iter().enumerate() {
            let expected = one.blocks.get(at).copied().filter(|_| at < written).unwrap_or(0);
            let is_old = one.is_emptied && byte == 0;
            assert!(byte == expected || is_old, "block {at} of zone {zone} has {byte}: {one:?}");
        }
        assert!(state == FULL || written <= one.blocks.len(), "zone {zone} has {state:?}");
        if state.0 == CLOSED {
            finish(queue, zone as u64);
        }
        let durable = if written > 0 { CAPACITY as usize } else { 0 };
        Known { blocks: bytes, durable, is_emptied: false }
    };
    known.iter().enumerate().map(check).collect()
}

/// Asserts that a host ended because its connection did.
fn assert_disconnected(ended: thread::Result<()>) {
    let Err(reason) = ended else { panic!("the host works until its connection ends") };
    let reason = reason.downcast_ref::<String>().cloned().or_else(|| {
        let text: Option<&&str> = reason.downcast_ref();
        text.map(|text| (*text).to_owned())
    });
    let reason = reason.unwrap_or_default();
    let expected = ["the connection is open", "BrokenPipe", "ConnectionReset"];
    assert!(expected.iter().any(|text| reason.contains(text)), "{reason}");
}

fn lose_power_again_and_again(sets: Sets<'_>, time: Timekeeping) {
    let target = over(Stand::new(&config_of(sets), BYTES, time));
    let known = Mutex::new(vec![Known::default(); ALL]);
    for round in 0..8 {
        let (_admin, id) = Initiator::admin(target.address(), LINUX);
        let queue = |host| Initiator::io(target.address(), LINUX, host as u16 + 1, id);
        let queues: Vec<_> = (0..HOSTS).map(queue).collect();
        thread::scope(|scope| {
            let hosts = queues.into_iter().enumerate().map(|(host, queue)| {
                let (known, seed) = (&known, (round * HOSTS + host) as u64);
                scope.spawn(move || work(queue, host, known, seed))
            });
            let hosts: Vec<_> = hosts.collect();
            thread::sleep(Duration::from_millis(40));
            target.plug();
            hosts.into_iter().for_each(|host| assert_disconnected(host.join()));
        });
        target.stand.ask(&json!({"do": "check"})).unwrap();
        let (_admin, mut queue) = target.connect();
        let mut known = known.lock().unwrap();
        *known = verified(&mut queue, &known);
        flush(&mut queue);
        verified(&mut queue, &known);
    }
    assert_eq!(target.smart()["unsafe_shutdowns"], 8);
}

#[test]
fn pointers_and_data_agree_after_each_loss_of_power() {
    lose_power_again_and_again(&[], Timekeeping::None);
}

#[test]
fn a_program_in_progress_may_be_lost_and_leaves_no_gap() {
    let sets: Sets<'_> = &[("timing", "scheduled"), ("flash.program", "400us")];
    lose_power_again_and_again(sets, Timekeeping::Simulated);
}
