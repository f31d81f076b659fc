//! Several clients, each with a part of the drive. The client knows the expected bytes of its part.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use floatgate_ftl::rng::Rng;
use floatgate_lab::drive::live::{LiveError, Timekeeping};
use floatgate_lab::serve::{Backend, Client, ServeError};

use super::{LATER, NOW, SHRD, SMALL, Sets, Stand, config, read};

const CLIENTS: usize = 4;
/// Not a whole number of pages.
const PART: usize = (1 << 20) + 700;

fn work(client: &Client, number: usize, requests: u64) {
    let (base, mut known) = (number * PART, vec![0_u8; PART]);
    let mut rng = Rng::new(number as u64 + 1);
    for _ in 0..requests {
        let aligned = rng.below(2) == 0;
        let length = if aligned { 4096 } else { rng.below(30_000) as usize };
        let mut at = rng.below((PART - length) as u64) as usize;
        if aligned {
            at = ((base + at) / 4096 * 4096).max(base.next_multiple_of(4096)) - base;
            at = at.min((PART - length) / 4096 * 4096);
        }
        let (offset, range) = ((base + at) as u64, at..at + length);
        match rng.below(10) {
            0..5 => {
                let fill = rng.below(256) as u8;
                let bytes: Vec<u8> = (0..length).map(|at| fill.wrapping_add(at as u8)).collect();
                client.write(offset, &bytes, if fill == 0 { NOW } else { LATER }).unwrap();
                known[range].copy_from_slice(&bytes);
            }
            5 => {
                client.zero(offset, length as u64, rng.below(2) == 0, LATER).unwrap();
                known[range].fill(0);
            }
            6 => {
                client.trim(offset, length as u64, LATER).unwrap();
                // A trim discards only whole pages.
                let first = (base + at).next_multiple_of(4096);
                let end = (base + at + length) / 4096 * 4096;
                if first < end {
                    known[first - base..end - base].fill(0);
                }
            }
            7 if rng.below(10) == 0 => client.flush().unwrap(),
            _ => assert!(read(client, offset, length) == known[range], "{length} at {offset}"),
        }
    }
    assert!(read(client, base as u64, PART) == known, "client {number}");
}

fn clients(sets: Sets<'_>, time: Timekeeping, requests: u64) {
    let config = config(None, &[SMALL, sets].concat());
    let stand = Stand::new(&config, (CLIENTS * PART) as u64, time);
    thread::scope(|scope| {
        for number in 0..CLIENTS {
            let client = stand.client();
            scope.spawn(move || work(&client, number, requests));
        }
    });
    let status = stand.status();
    assert_eq!(
        (&status["server"]["errors"], &status["server"]["in_flight"]),
        (&0.into(), &0.into())
    );
}

#[test]
fn every_client_reads_its_writes() {
    for sets in [
        &[][..],
        &[("mapping.scheme", "tlllp")],
        &[("placement.scheme", "asa"), ("mapping.scheme", "dftl")],
        &[("ftl.scheme", "bast")],
        &[("buffer.scheme", "fab"), ("buffer.capacity", "128KiB")],
        SHRD,
    ] {
        clients(sets, Timekeeping::None, 1500);
    }
}

#[test]
fn every_client_reads_its_writes_on_a_drive_with_a_clock() {
    let fast = [("flash.program", "20us"), ("flash.read", "5us"), ("flash.erase", "100us")];
    for sets in [&[][..], SHRD, &[("queue.depth", "2")]] {
        clients(&[&fast, sets].concat(), Timekeeping::Simulated, 200);
    }
}

/// One client rewrites pages one after the other, as fast as it can, while others read. A page that
/// is read during the clean of its unit has old or new data.
#[test]
fn pages_that_are_read_while_they_are_erased_are_whole() {
    let stand = Stand::new(&config(None, SMALL), 1 << 20, Timekeeping::None);
    let client = &stand.client();
    (0..256).for_each(|page| client.write(page * 4096, &[0; 4096], LATER).unwrap());
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for seed in 0..3 {
            let is_over = &is_over;
            scope.spawn(move || {
                let mut rng = Rng::new(seed);
                while !is_over.load(Ordering::Relaxed) {
                    let page = read(client, rng.below(256) * 4096, 4096);
                    assert!(page.iter().all(|&byte| byte == page[0]));
                }
            });
        }
        let mut rng = Rng::new(9);
        for _ in 0..30_000 {
            let fill = 1 + rng.below(255) as u8;
            client.write(rng.below(256) * 4096, &[fill; 4096], LATER).unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let status = stand.status();
    assert!(status["result"]["cleaning"]["cleans"].as_u64() != Some(0));
    assert!(status["server"]["parallel_reads"].as_u64().unwrap() > 0);
}

/// A long read loads parts of the map into a small cache and evicts dirty parts. Cleaning makes
/// room for them, also in units with pages that the same read has already located.
#[test]
fn pages_that_a_read_itself_has_moved_are_read() {
    let sets = [("mapping.scheme", "dftl"), ("mapping.cache", "1KiB"), ("cleaning.victim", "fifo")];
    let stand = Stand::new(&config(None, &[SMALL, &sets].concat()), 8 << 20, Timekeeping::None);
    let client = &stand.client();
    let mut known = vec![0_u8; 8 << 20];
    let mut rng = Rng::new(5);
    for _ in 0..8000 {
        let at = rng.below(2048) as usize * 4096;
        let fill = 1 + rng.below(255) as u8;
        known[at..at + 4096].fill(fill);
        client.write(at as u64, &[fill; 4096], LATER).unwrap();
        if rng.below(16) == 0 {
            let at = rng.below(1600) as usize * 4096 + 77;
            assert!(read(client, at as u64, 1 << 20) == known[at..at + (1 << 20)]);
        }
    }
}

#[test]
fn holes_are_extents_without_data() {
    for sets in [&[][..], SHRD, &[("buffer.scheme", "lru"), ("buffer.capacity", "64KiB")]] {
        let stand =
            Stand::new(&config(None, &[SMALL, sets].concat()), PART as u64, Timekeeping::None);
        let client = &stand.client();
        let all = PART as u64;
        assert_eq!(client.extents(0, all).unwrap(), [(0, all, true)]);
        client.write(8192, &[1; 4096], LATER).unwrap();
        client.write(20_000, &[1; 3], LATER).unwrap();
        let extents = client.extents(100, all - 100).unwrap();
        let expected = [
            (100, 8092, true),
            (8192, 4096, false),
            (12_288, 4096, true),
            (16_384, 4096, false),
            (20_480, all - 20_480, true),
        ];
        assert_eq!(extents, expected);
        client.zero(8192, 8292, true, LATER).unwrap();
        assert_eq!(client.extents(8192, 8192).unwrap(), [(8192, 8192, true)]);
        assert_eq!(read(client, 20_000, 3), [1; 3]);
    }
}

#[test]
fn requests_beyond_the_drive_are_refused_and_counted() {
    let stand = Stand::new(&config(None, SMALL), PART as u64, Timekeeping::None);
    let (client, end) = (&stand.client(), PART as u64);
    let beyond = |end| Err(ServeError::Drive(LiveError::Beyond { end, bytes: PART as u64 }));
    assert_eq!(client.write(end - 1, &[1, 2], LATER), beyond(end + 1));
    assert_eq!(client.read(end, &mut [0]), beyond(end + 1));
    assert_eq!(client.trim(end, 1, LATER), beyond(end + 1));
    assert_eq!(client.zero(0, u64::MAX, true, LATER), beyond(u64::MAX));
    assert_eq!(stand.status()["server"]["errors"], 4);
    assert_eq!(stand.status()["result"]["workload"]["requests"], 0);
}

/// A reply comes no earlier than the completion in the simulated drive. The delay beyond it is
/// measured.
#[test]
fn replies_are_delayed() {
    let sets = [("flash.read", "3ms"), ("flash.program", "5ms"), ("flash.bus", "none")];
    let config = config(None, &[SMALL, &sets].concat());
    let stand = Stand::new(&config, 1 << 20, Timekeeping::Simulated);
    let timed = |work: &dyn Fn()| {
        let begin = Instant::now();
        work();
        begin.elapsed()
    };
    for page in 0..10 {
        let write = timed(&|| stand.client().write(page * 4096, &[1; 4096], LATER).unwrap());
        let read = timed(&|| drop(read(&stand.client(), page * 4096, 4096)));
        assert!(write >= Duration::from_millis(5) && read >= Duration::from_millis(3));
    }
    let status = stand.status();
    let latency = &status["result"]["latency"];
    assert_eq!(
        (&latency["write"]["mean_us"], &latency["read"]["mean_us"]),
        (&5000.0.into(), &3000.0.into())
    );
    let held = &status["server"]["holding"];
    assert_eq!(held["error_us"]["count"], 20);
    let error = held["error_us"]["mean"].as_f64().unwrap();
    let real = status["server"]["latency_us"]["write"]["mean"].as_f64().unwrap();
    // Both are rounded: the error to a microsecond, the latency by its histogram.
    assert!(error >= 0.0 && real > 4990.0, "{error} {real}");
}

/// A reply is measured even if its request completes while another client advances the time.
#[test]
fn every_delayed_reply_is_measured() {
    let stand = Stand::new(&config(None, SMALL), 1 << 20, Timekeeping::Simulated);
    thread::scope(|scope| {
        for first in 0..6 {
            let client = stand.client();
            scope.spawn(move || {
                for page in first..first + 50 {
                    client.write(page * 4096, &[1; 4096], LATER).unwrap();
                    drop(read(&client, page * 4096, 4096));
                }
            });
        }
    });
    let held = &stand.status()["server"]["holding"];
    assert_eq!(held["error_us"]["count"], 600);
    let beyond = held["mean_excess"].as_f64().unwrap();
    assert!(beyond > 0.0 && beyond.is_finite());
}
