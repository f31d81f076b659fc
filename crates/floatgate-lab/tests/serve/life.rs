//! The drive's record of its life continues over resets, losses of power and restarts.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use floatgate_lab::drive::live::{Timekeeping, create};
use floatgate_lab::serve::{Backend, ImageLocation};
use serde_json::{Value, json};

use super::{LATER, SMALL, Stand, config, read};

const BYTES: u64 = 1 << 20;
const PAGE: u64 = 4096;

/// Bytes of an image with the life of its drive.
const LIFE: std::ops::Range<u64> = 16_896..16_952;

fn image(folder: &tempfile::TempDir) -> std::path::PathBuf {
    let path = folder.path().join("flash.img");
    create(&path, &config(None, SMALL), BYTES, 3).unwrap();
    path
}

fn serve(path: &Path) -> Stand {
    Stand::serve(ImageLocation::File(path.to_path_buf()), Timekeeping::None, vec![])
}

fn smart(stand: &Stand) -> Value {
    stand.ask(&json!({"do": "smart"})).unwrap()
}

/// Returns pages written and read, and unsafe shutdowns.
fn totals(stand: &Stand) -> (u64, u64, u64) {
    let smart = smart(stand);
    let number = |name: &str| smart[name].as_u64().unwrap();
    let programmed = number("media_bytes_written");
    assert!(number("lifetime_media_bytes_written") >= programmed, "{smart}");
    let written = number("host_bytes_written");
    assert_eq!(smart["write_amplification"], json!(programmed as f64 / written as f64));
    (written / PAGE, number("host_bytes_read") / PAGE, number("unsafe_shutdowns"))
}

fn work(stand: &Stand) {
    (0..32).for_each(|page| stand.client().write(page * PAGE, &[1; 4096], LATER).unwrap());
    (0..4).for_each(|page| drop(read(&stand.client(), page * PAGE, 8192)));
}

#[test]
fn life_continues_over_resets_and_plugs() {
    let folder = tempfile::tempdir().unwrap();
    let config = Box::new(config(None, SMALL));
    let memory = ImageLocation::Memory { config, bytes: BYTES, seed: 3 };
    for location in [memory, ImageLocation::File(image(&folder))] {
        let stand = Stand::serve(location, Timekeeping::None, vec![]);
        work(&stand);
        assert_eq!(totals(&stand), (32, 8, 0));
        stand.ask(&json!({"do": "reset"})).unwrap();
        assert_eq!(totals(&stand), (32, 8, 0));
        work(&stand);
        // Counts survive, even if nothing was flushed.
        for cuts in 1..3 {
            stand.ask(&json!({"do": "plug"})).unwrap();
            assert_eq!(totals(&stand), (64, 16, cuts));
        }
        work(&stand);
        assert_eq!(totals(&stand), (96, 24, 2));
        assert_eq!(stand.status()["result"]["workload"]["write_pages"], 32);
    }
}

/// A page is programmed for each write, even for a short one.
#[test]
fn the_bytes_of_the_host_are_those_that_it_asks_for() {
    for sets in [&[][..], &[("mapping.unit", "16KiB"), ("flash.page", "16KiB")]] {
        let config = config(None, &[SMALL, &[("mapping.scheme", "ideal")], sets].concat());
        let stand = Stand::new(&config, BYTES, Timekeeping::None);
        let page = stand.status()["page_bytes"].as_u64().unwrap();
        (0..8).for_each(|at| stand.client().write(at * page, &[1; 512], LATER).unwrap());
        (0..4).for_each(|at| drop(read(&stand.client(), at * page + 3, 100)));
        let smart = smart(&stand);
        assert_eq!(smart["host_bytes_written"], 8 * 512);
        assert_eq!(smart["host_bytes_read"], 400);
        assert_eq!(smart["media_bytes_written"], 8 * page);
        let amplification = json!(page as f64 / 512.0);
        assert_eq!(smart["write_amplification"], amplification);
        let result = &stand.status()["result"];
        assert_eq!(result["write_amplification"], amplification);
        assert_eq!(result["workload"]["write_bytes"], 8 * 512);
    }
}

/// Older images count pages, and lack the bit for counts in bytes.
#[test]
fn a_life_in_pages_continues_in_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = image(&folder);
    let mut record = [0; 56];
    for (at, number) in [(0, 5_u64), (8, 7), (16, 9)] {
        record[at..at + 8].copy_from_slice(&number.to_le_bytes());
    }
    let checksum = crc32fast::hash(&record[..52]);
    record[52..].copy_from_slice(&checksum.to_le_bytes());
    File::options().write(true).open(&path).unwrap().write_all_at(&record, LIFE.start).unwrap();
    for opened in 0..2 {
        let stand = serve(&path);
        stand.client().write(0, &[1; 512], LATER).unwrap();
        let smart = smart(&stand);
        assert_eq!(smart["host_bytes_written"], 7 * PAGE + 512 * (opened + 1));
        assert_eq!(smart["host_bytes_read"], 5 * PAGE);
        assert_eq!(smart["unsafe_shutdowns"], 0);
        stand.served.shut_down().unwrap();
    }
}

#[test]
fn an_image_keeps_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = image(&folder);
    for round in 1..4 {
        let stand = serve(&path);
        assert_eq!(smart(&stand)["unsafe_shutdowns"], 0, "it was shut down");
        work(&stand);
        assert_eq!(totals(&stand), (32 * round, 8 * round, 0));
        stand.served.shut_down().unwrap();
    }
}

/// A process that ends without a shutdown loses the counts since the last flush.
#[test]
fn a_crash_is_an_unsafe_shutdown() {
    let folder = tempfile::tempdir().unwrap();
    let path = image(&folder);
    for crash in 0..3 {
        let stand = serve(&path);
        assert_eq!(smart(&stand)["unsafe_shutdowns"], crash);
        work(&stand);
        stand.client().flush().unwrap();
        stand.client().write(0, &[1; 4096], LATER).unwrap();
    }
    let stand = serve(&path);
    work(&stand);
    assert_eq!(totals(&stand), (4 * 32, 4 * 8, 3));
    stand.served.shut_down().unwrap();
    assert_eq!(totals(&serve(&path)), (4 * 32, 4 * 8, 3));
}

/// Images of earlier versions have zeros at this position.
#[test]
fn an_image_without_it_begins_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = image(&folder);
    let stand = serve(&path);
    work(&stand);
    stand.served.shut_down().unwrap();
    drop(stand);
    for bytes in [[0; 56], [7; 56]] {
        File::options().write(true).open(&path).unwrap().write_all_at(&bytes, LIFE.start).unwrap();
        let stand = serve(&path);
        work(&stand);
        assert_eq!(totals(&stand), (32, 8, 0));
        assert!(smart(&stand)["lifetime_media_bytes_written"].as_u64() > Some(63 * PAGE));
        stand.served.shut_down().unwrap();
        let bytes = fs::read(&path).unwrap();
        assert!(bytes[LIFE.start as usize..LIFE.end as usize].iter().any(|&byte| byte > 7));
    }
}

/// Images of earlier versions have zeros in the place of the second record.
#[test]
fn an_image_without_counts_of_requests_begins_them_and_keeps_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = image(&folder);
    for is_old in [false, true] {
        let stand = serve(&path);
        work(&stand);
        stand.served.shut_down().unwrap();
        drop(stand);
        if is_old {
            let file = File::options().write(true).open(&path).unwrap();
            file.write_all_at(&[0; 44], LIFE.end).unwrap();
        }
        let smart = smart(&serve(&path));
        let rounds = if is_old { 2 } else { 1 };
        assert_eq!(smart["host_bytes_written"], 32 * rounds * PAGE);
        let (writes, reads, cycles) = if is_old { (0, 0, 1) } else { (32, 4, 2) };
        assert_eq!((&smart["host_writes"], &smart["host_reads"]), (&json!(writes), &json!(reads)));
        assert_eq!(smart["power_cycles"], cycles);
        assert_eq!(smart["media_bytes_read"] == 0, is_old);
    }
}

/// A failed read is one error. An image keeps the number of errors.
#[test]
fn errors_are_counted_once_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = image(&folder);
    let stand = serve(&path);
    work(&stand);
    let errors = |stand: &Stand, made: u64, is_critical: bool| {
        let smart = smart(stand);
        assert_eq!(smart["media_errors"], made);
        let critical = smart["critical_warnings"].to_string();
        assert_eq!(critical.contains("damaged"), is_critical, "{critical}");
    };
    stand.ask(&json!({"do": "faults", "read_error_share": 1.0})).unwrap();
    stand.client().read(0, &mut [0; 4096]).unwrap_err();
    errors(&stand, 1, false);
    stand.ask(&json!({"do": "faults", "read_error_share": 0.0})).unwrap();
    stand.client().read(0, &mut [0; 4096]).unwrap();
    errors(&stand, 1, false);
    stand.client().flush().unwrap();
    // All data of the drive is overwritten in the file.
    let file = File::options().write(true).open(&path).unwrap();
    for (page, bytes) in (0..).zip(fs::read(&path).unwrap().chunks(4096)) {
        if bytes.iter().all(|&byte| byte == 1) {
            file.write_all_at(&[9; 4096], page * PAGE).unwrap();
        }
    }
    stand.client().read(0, &mut [0; 4096]).unwrap_err();
    errors(&stand, 2, true);
    stand.served.shut_down().unwrap();
    drop(stand);
    errors(&serve(&path), 2, true);
}
