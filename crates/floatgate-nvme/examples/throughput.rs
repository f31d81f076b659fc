//! Throughput of the transport on loopback: four connections, 32 commands at a time on each, 4 KiB.
//!
//! The drive does nothing, or takes a while, so that the figures are those of the transport:
//!
//! ```text
//! cargo run --release -p floatgate-nvme --example throughput
//! ```

#![allow(clippy::unwrap_used)] // Without a server there is nothing to measure.

#[path = "../tests/common/mod.rs"]
mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::initiator::{Initiator, LINUX, Manner};
use common::{PLAIN, io, settings};
use floatgate_nvme::drive::{
    Drive, DriveError, DriveEvent, Health, Session, Shape, Traffic, WriteOptions, ZoneFill,
};
use floatgate_nvme::subsystem::Subsystem;
use floatgate_nvme::tcp::{Options, Server};

const CONNECTIONS: u16 = 4;
const DEPTH: usize = 32;
const SECONDS: u64 = 2;

/// A drive that only takes time.
struct Empty(Duration);

impl Drive for Empty {
    fn shape(&self) -> Shape {
        PLAIN
    }

    fn attach(&self) -> Arc<dyn Session> {
        Arc::new(Self(self.0))
    }

    fn health(&self) -> Health {
        Health::default()
    }

    fn traffic(&self) -> Traffic {
        Traffic::default()
    }

    fn room(&self, _: u16) -> u64 {
        0
    }

    fn take_events(&self) -> Vec<DriveEvent> {
        vec![]
    }

    fn zone(&self, _: u64) -> Option<ZoneFill> {
        None
    }
}

impl Empty {
    fn work(&self) {
        if !self.0.is_zero() {
            thread::sleep(self.0);
        }
    }
}

impl Session for Empty {
    fn read(&self, _: u64, _: &mut [u8]) -> Result<(), DriveError> {
        self.work();
        Ok(())
    }

    fn write(&self, _: u64, _: &[u8], _: WriteOptions) -> Result<(), DriveError> {
        self.work();
        Ok(())
    }

    fn zero(&self, _: u64, _: u64, _: bool, _: WriteOptions) -> Result<(), DriveError> {
        Ok(())
    }

    fn deallocate(&self, _: u64, _: u64) -> Result<(), DriveError> {
        Ok(())
    }

    fn flush(&self) -> Result<(), DriveError> {
        Ok(())
    }

    fn next_unit(&self, _: u16) -> Result<u64, DriveError> {
        Ok(0)
    }

    fn reset_zone(&self, _: u64) -> Result<(), DriveError> {
        Ok(())
    }

    fn finish_zone(&self, _: u64) -> Result<(), DriveError> {
        Ok(())
    }
}

/// Keeps a queue full until the time is over. Counts completed commands.
fn load(mut host: Initiator, writes: bool, in_capsule: bool, done: &AtomicU64, until: Instant) {
    let data = [7; 4096];
    let mut state = 1_u64;
    let mut submit = |host: &mut Initiator| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let command = io(if writes { 0x01 } else { 0x02 }, (state >> 33) % 4096, 1);
        match (writes, in_capsule) {
            (true, true) => host.submit(command.in_capsule(4096), &data),
            (true, false) => host.submit(command.length(4096), &data),
            _ => host.submit(command.length(4096), &[]),
        }
    };
    let mut waiting: std::collections::VecDeque<u16> =
        (0..DEPTH).map(|_| submit(&mut host)).collect();
    while Instant::now() < until {
        let Some(first) = waiting.pop_front() else { break };
        host.wait(first).ok();
        done.fetch_add(1, Ordering::Relaxed);
        waiting.push_back(submit(&mut host));
    }
}

/// Returns the processor time of this process, of which the host takes a part. Linux counts it in
/// 10 ms.
fn processor_us() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split(' ').skip(12).take(2);
    fields.filter_map(|field| field.parse::<u64>().ok()).sum::<u64>() * 10_000
}

/// Returns commands a second, and the processor time of a command in microseconds.
fn measure(
    delay: Duration,
    workers: usize,
    manner: Manner,
    writes: bool,
    in_capsule: bool,
) -> (u64, f64) {
    let subsystem = Subsystem::new(settings(), Arc::new(Empty(delay))).unwrap();
    let options = Options { workers, ..Options::default() };
    let server = Server::start(subsystem, ([127, 0, 0, 1], 0).into(), options).unwrap();
    let (_admin, id) = Initiator::admin(server.address(), manner);
    let done = AtomicU64::new(0);
    let before = processor_us();
    let until = Instant::now() + Duration::from_secs(SECONDS);
    thread::scope(|scope| {
        for queue in 1..=CONNECTIONS {
            let host = Initiator::io(server.address(), manner, queue, id);
            let done = &done;
            scope.spawn(move || load(host, writes, in_capsule, done, until));
        }
    });
    let done = done.load(Ordering::Relaxed);
    (done / SECONDS, (processor_us() - before) as f64 / done as f64)
}

fn main() {
    println!("commands a second, processor time of a command (host and subsystem):");
    println!("write in capsule, write by R2T, read");
    for delay in [Duration::ZERO, Duration::from_micros(100)] {
        for workers in [0, 1, 4, 16, 32] {
            let run = |writes, in_capsule| measure(delay, workers, LINUX, writes, in_capsule);
            let all = [run(true, true), run(true, false), run(false, false)];
            let all = all.map(|(rate, us)| format!("{rate} ({us:.1} us)"));
            println!("{delay:?}, {workers} workers: {}", all.join(", "));
        }
    }
}
