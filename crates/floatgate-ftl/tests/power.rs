//! The power fails between two requests, at each place where it can. What was acknowledged and not
//! flushed may be lost if the buffer writes back, and nothing else; if it writes through, nothing.

#![allow(clippy::unwrap_used)] // In a test a panic is the report.

mod common;

use std::sync::{Arc, Mutex};

use common::buffer_rig::{BufferRig, LAYERS, Layered};
use common::workload::{ANYTHING, Mix, Workload};
use common::{SERIAL, TestNand};
use floatgate_ftl::addr::Lpn;
use floatgate_ftl::buffer::BUFFERS;
use floatgate_ftl::device::{Acknowledge, HostData};
use floatgate_ftl::parameters::names;
use floatgate_ftl::request::{Op, Request};

/// What a page holds: the number of the write that it is from, if any.
type Version = Option<u64>;

const PAGES: usize = SERIAL.logical_pages as usize;

/// What the host has written, and what it reads.
struct Books {
    writes: u64,
    latest: Vec<Version>,
    read: Vec<Version>,
}

/// The host: it notes, and asserts nothing.
#[derive(Clone)]
struct Host(Arc<Mutex<Books>>);

impl Host {
    fn new() -> Self {
        let nothing = vec![None; PAGES];
        Self(Arc::new(Mutex::new(Books { writes: 0, latest: nothing.clone(), read: nothing })))
    }

    fn latest(&self) -> Vec<Version> {
        self.0.lock().unwrap().latest.clone()
    }

    /// What it has read from the flash of each page.
    fn read(&self) -> Vec<Version> {
        self.0.lock().unwrap().read.clone()
    }

    /// It takes what it has read for what there is.
    fn goes_on(&self) {
        let mut books = self.0.lock().unwrap();
        books.latest = books.read.clone();
    }
}

impl HostData<TestNand> for Host {
    fn accept(&mut self, lpn: Lpn) {
        let mut books = self.0.lock().unwrap();
        books.writes += 1;
        books.latest[lpn.index()] = Some(books.writes);
    }

    fn load(&mut self, lpn: Lpn, nand: &mut TestNand) {
        nand.set_register(self.0.lock().unwrap().latest[lpn.index()].unwrap());
    }

    fn unload(&mut self, lpn: Lpn, found: bool, nand: &TestNand) {
        self.0.lock().unwrap().read[lpn.index()] = found.then(|| nand.register());
    }

    fn forget(&mut self, lpn: Lpn) {
        self.0.lock().unwrap().latest[lpn.index()] = None;
    }
}

/// What each page may hold after a power cut: what it held at the last flush, and all that was
/// acknowledged since.
struct Allowed(Vec<Vec<Version>>);

impl Allowed {
    fn only(latest: &[Version]) -> Self {
        Self(latest.iter().map(|&version| vec![version]).collect())
    }

    /// Holds what was read against it; the answer is how many pages are not at their latest.
    fn hold(&self, read: &[Version]) -> usize {
        for (page, (version, allowed)) in read.iter().zip(&self.0).enumerate() {
            assert!(allowed.contains(version), "page {page} is {version:?}, not of {allowed:?}");
        }
        read.iter()
            .zip(&self.0)
            .filter(|(version, allowed)| allowed.last() != Some(version))
            .count()
    }

    /// A request has been acknowledged.
    fn acknowledged(&mut self, op: Op, latest: &[Version], acknowledge: Acknowledge) {
        if op == Op::Flush || acknowledge == Acknowledge::WriteThrough {
            *self = Self::only(latest);
            return;
        }
        for (allowed, &version) in self.0.iter_mut().zip(latest) {
            if allowed.last() != Some(&version) {
                allowed.push(version);
            }
        }
    }
}

/// Runs requests, of which the first `cut` are acknowledged when the power fails; those that wait
/// then are sent again. The answer is how many pages went back to an older version.
fn cut_after(cut: usize, layer: &'static str, rig: BufferRig, requests: &[Request]) -> usize {
    let page_bytes = u64::from(SERIAL.page_bytes);
    let probe = Workload::pages(Op::Read, 0, PAGES as u64, page_bytes);
    let flush = Request { at_ns: 0, op: Op::Flush, offset: 0, length: 0, stream: 0 };
    let (before, after) = requests.split_at(cut);
    let all = [before, &[probe], after, &[flush, probe]].concat();

    let host = Host::new();
    let mut drive = Layered::new(layer, SERIAL, rig, host.clone()).drive;
    rig.next_uses(SERIAL, &all, &mut *drive);
    let (mut allowed, mut lost) = (Allowed::only(&host.latest()), 0);
    let ahead = drive.sees_ahead();
    for number in 0..all.len() {
        let end = all.len().min(number + 1 + ahead);
        // And once more at the end, behind the flush.
        if number == cut || number + 1 == all.len() {
            drive.cut_power();
            drive.check();
            assert_eq!(drive.counters().buffer.unwrap().held, 0);
        }
        drive.run_ahead(&all[number..end], 1, &mut vec![]);
        if number == cut {
            lost = allowed.hold(&host.read());
            host.goes_on();
        }
        allowed.acknowledged(all[number].op, &host.latest(), rig.acknowledge);
    }
    drive.check();
    assert_eq!(host.read(), host.latest(), "what is flushed is not lost");
    lost
}

#[test]
fn only_what_was_not_flushed_is_lost_wherever_the_power_fails() {
    let mix = Mix { flushes: 3, trims: 2, ..ANYTHING };
    for scheme in names(BUFFERS) {
        for layer in LAYERS {
            for acknowledge in [Acknowledge::WriteBack, Acknowledge::WriteThrough] {
                let rig = BufferRig::new(scheme, acknowledge);
                let (pages, page_bytes) = (SERIAL.logical_pages, SERIAL.page_bytes);
                let requests = Workload::new(3, mix, pages, page_bytes).batch(60);
                let cuts = 0..=requests.len();
                let lost: usize = cuts.map(|cut| cut_after(cut, layer, rig, &requests)).sum();
                let back = acknowledge == Acknowledge::WriteBack;
                assert_eq!(lost > 0, back, "{scheme} {layer}: {lost} pages went back");
            }
        }
    }
}
