//! Power cuts between two requests, at every such point. With write-back only acknowledged writes
//! that were not flushed may be lost; with write-through nothing may be lost.

use std::sync::{Arc, Mutex};

use crate::common::buffer_rig::{BufferRig, LAYERS, Layered};
use crate::common::workload::{ANYTHING, Mix, Workload};
use crate::common::{SERIAL, TestNand};
use floatgate_ftl::addr::Lpn;
use floatgate_ftl::buffer::BUFFERS;
use floatgate_ftl::device::{Acknowledge, HostData};
use floatgate_ftl::parameters::names;
use floatgate_ftl::request::{Op, Request};

/// Number of the write whose data a page has, if any.
type Version = Option<u64>;

const PAGES: usize = SERIAL.logical_pages as usize;

/// The host's record of the data it has written, and of the data it reads.
struct Books {
    writes: u64,
    latest: Vec<Version>,
    read: Vec<Version>,
}

/// The host. It records versions and asserts nothing.
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

    /// Returns the versions that it has read from flash, by page.
    fn read(&self) -> Vec<Version> {
        self.0.lock().unwrap().read.clone()
    }

    /// Accepts the versions read last as the current versions.
    fn assert_usable(&self) {
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

/// Versions that each page may have after a power cut: its version at the last flush, and all
/// versions acknowledged since.
struct Allowed(Vec<Vec<Version>>);

impl Allowed {
    fn only(latest: &[Version]) -> Self {
        Self(latest.iter().map(|&version| vec![version]).collect())
    }

    /// Compares the read versions with the allowed ones. Returns the number of pages that are not
    /// at their latest version.
    fn hold(&self, read: &[Version]) -> usize {
        for (page, (version, allowed)) in read.iter().zip(&self.0).enumerate() {
            assert!(allowed.contains(version), "page {page} is {version:?}, not of {allowed:?}");
        }
        read.iter()
            .zip(&self.0)
            .filter(|(version, allowed)| allowed.last() != Some(version))
            .count()
    }

    /// Records the acknowledgement of a request.
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

/// Runs requests, and cuts the power after the first `cut` are acknowledged. The waiting requests
/// are sent again. Returns the number of pages that went back to an older version.
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
        // A second cut at the end, behind the flush.
        if number == cut || number + 1 == all.len() {
            drive.cut_power();
            drive.check();
            assert_eq!(drive.counters().buffer.unwrap().held, 0);
        }
        drive.run_ahead(&all[number..end], 1, &mut vec![]);
        if number == cut {
            lost = allowed.hold(&host.read());
            host.assert_usable();
        }
        allowed.acknowledged(all[number].op, &host.latest(), rig.acknowledge);
    }
    drive.check();
    assert_eq!(host.read(), host.latest(), "what is flushed is not lost");
    lost
}

#[test]
fn a_power_failure_loses_only_unflushed_data() {
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
