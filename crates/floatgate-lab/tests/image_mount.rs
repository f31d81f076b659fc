//! Cost of mounting a large drive: flash reads and memory. It is a separate test program, because
//! the memory is measured for the whole process. Times depend on the machine and are only printed.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)] // In a test a panic is the report.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use floatgate_ftl::rng::Rng;
use floatgate_lab::config::Config;
use floatgate_lab::drive::live::{Live, create, open};

const PAGE: u64 = 4096;
const PAGES: u64 = (64 << 30) / PAGE;
/// Pages of a checkpoint, with four bytes for each logical page, and its other pages.
const CHECKPOINT_PAGES: u64 = PAGES * 4 / PAGE + 64;

/// Returns the peak memory of this process in bytes since the previous call.
fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    fs::write("/proc/self/clear_refs", "5").unwrap();
    kib << 10
}

/// Returns the processor time of this thread. It equals the elapsed time on a machine without other
/// work.
fn on_processor() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split_whitespace().next().unwrap().parse().unwrap())
}

/// Opens the drive. Returns the drive, the time, and bytes of memory for each page of its flash.
fn mount(path: &Path) -> (Box<dyn Live>, Duration, f64) {
    peak_bytes();
    let before = peak_bytes();
    let (start, began) = (Instant::now(), on_processor());
    let drive = open(path).unwrap();
    let took = start.elapsed();
    println!("  on a processor: {:?}", on_processor() - began);
    let bytes = peak_bytes().saturating_sub(before);
    let pages = drive.medium().geometry().physical_pages();
    (drive, took, bytes as f64 / f64::from(pages))
}

/// Makes random writes. One of eight runs of 64 writes has data. The others are zeros, which take
/// no space.
fn write(drive: &mut dyn Live, rng: &mut Rng, count: u64) {
    for number in 0..count {
        let fill = if number / 64 % 8 == 0 { 1 + (number % 255) as u8 } else { 0 };
        drive.write(rng.bits() % PAGES * PAGE, &[fill; PAGE as usize]).unwrap();
    }
}

#[test]
#[ignore = "writes hundreds of MiB; to be run with --release"]
fn a_sparse_image_of_64_gib_is_found_soon() {
    let folder = tempfile::tempdir().unwrap();
    for mapping in ["ideal", "dftl"] {
        let path = folder.path().join(mapping);
        let sets = [("mapping.scheme", mapping)].map(|(k, v)| (k.to_owned(), v.to_owned()));
        let config = Config::load(Some("small-nvme"), None, &sets).unwrap();
        let start = Instant::now();
        create(&path, &config, PAGES * PAGE, 1).unwrap();
        println!("{mapping}: created in {:?}", start.elapsed());
        let mut rng = Rng::new(1);
        // `written` pages since the last checkpoint.
        let mut report = |case: &str, written: u64, writes: u64, clean: bool| {
            let (mut drive, took, bytes) = mount(&path);
            println!("{mapping}, {case}: {took:?}, {bytes:.1} bytes for each page of flash");
            let mount = drive.mount();
            println!("  {mount:?}");
            let units = u64::from(drive.medium().geometry().units());
            assert!(
                mount.from_checkpoint && mount.tag_reads <= units + written,
                "{case}: {mount:?}"
            );
            assert!(mount.journal_reads <= CHECKPOINT_PAGES, "{case}: {mount:?}");
            if !cfg!(debug_assertions) {
                assert!(bytes < 12.0, "{case}: {bytes} bytes for each page of flash");
            }
            write(drive.as_mut(), &mut rng, writes);
            if clean {
                drive.shut_down().unwrap();
            }
        };
        report("empty", 0, 300_000, true);
        report("after a clean stop", 0, 240_000, false);
        // At most one map page for each page of data.
        report("after a crash", 2 * 240_000, 0, true);
        report("after a clean stop", 0, 0, false);
    }
}
