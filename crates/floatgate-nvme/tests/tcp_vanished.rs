//! Hosts that vanish leave nothing behind. The test counts threads and memory of its process, so it
//! has the process to itself.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod common;

use std::io::Write;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use common::initiator::{Initiator, LINUX, initialize};
use common::*;
use floatgate_nvme::tcp::{Options, Server};

/// Returns the threads of this process that belong to servers, and its memory in bytes.
fn threads_and_memory() -> (usize, u64) {
    let names = std::fs::read_dir("/proc/self/task")
        .unwrap()
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    let threads = names.filter(|name| name.starts_with("nvme-")).count();
    let memory = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = memory.split(' ').nth(1).unwrap().parse().unwrap();
    (threads, pages * 4096)
}

/// Lets hosts vanish at any moment: after a few bytes, before, within and after commands. Returns
/// the bytes by which each round of hosts after the first grew the process.
///
/// An allocator keeps a pool for each thread that ever ran at the same time, so some rounds grow.
/// Memory that a host leaves behind grows the process in all of them.
fn vanish(rounds: usize, hosts: u32) -> Vec<u64> {
    let (_, subsystem) = subsystem(PLAIN);
    let options = Options { workers: 2, ..Options::default() };
    let server =
        Server::start(Arc::clone(&subsystem), "127.0.0.1:0".parse().unwrap(), options).unwrap();
    let one = |number: u32| {
        let full = initialize(&LINUX);
        if number.is_multiple_of(5) {
            let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
            stream.write_all(&full[..(number / 5) as usize % 128]).unwrap();
            return;
        }
        if number % 5 == 1 {
            Initiator::open(server.address(), LINUX);
            return;
        }
        let (_admin, id) = Initiator::admin(server.address(), LINUX);
        let mut host = Initiator::io(server.address(), LINUX, 1, id);
        match number % 5 {
            2 => {
                let capsule = host.capsule(io(0x01, 0, 8).length(32768).id(1), &[]);
                host.send(&capsule);
            }
            3 => {
                let capsule = host.capsule(io(0x01, 0, 1).in_capsule(4096).id(1), &[1; 4096]);
                host.send(&capsule[..(number as usize * 37) % capsule.len()]);
            }
            _ => {
                for _ in 0..20 {
                    host.submit(io(0x02, 0, 16).length(65536), &[]);
                }
            }
        }
    };
    let settle = || {
        let begin = Instant::now();
        while server.connections() > 0 || subsystem.controllers() > 0 || threads_and_memory().0 > 2
        {
            assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", threads_and_memory());
            thread::sleep(Duration::from_millis(10));
        }
    };
    let memory: Vec<u64> = (0..rounds)
        .map(|_| {
            (0..hosts).for_each(one);
            settle();
            threads_and_memory().1
        })
        .collect();
    let (mut admin, _) = Initiator::admin(server.address(), LINUX);
    admin.run(identify(1, 0), &[]).ok();
    memory.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect()
}

#[test]
fn vanished_hosts_leave_nothing() {
    const HOSTS: u32 = 2_000;
    let growths = vanish(6, HOSTS);
    let least = *growths.iter().min().unwrap();
    assert!(least < u64::from(HOSTS) * 256, "{growths:?} bytes a round of {HOSTS} hosts");
}
