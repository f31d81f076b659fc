//! Drives that are aged before their first client.

use std::path::PathBuf;

use floatgate_lab::config::Config;
use floatgate_lab::drive::live::{Description, Timekeeping};
use floatgate_lab::image;
use floatgate_lab::run::{AgedError, Control, New, create_aged};
use floatgate_lab::serve::{Backend, ImageLocation, SetupError};
use serde_json::{Value, json};

use super::worlds::{assert_agree, play, simulated, with_shadows};
use super::{LATER, SHRD, SMALL, Sets, Stand, config, read};

const BYTES: u64 = 8 << 20;

const STEADY: Sets<'_> = &[("start.fill", "steady"), ("start.volumes_max", "2")];

fn location(config: &Config, image: Option<PathBuf>) -> ImageLocation {
    ImageLocation::Aged { image, config: Box::new(config.clone()), bytes: BYTES, seed: 3 }
}

/// Checks that live drive, shadow, and a simulation of the recording from the same start have the
/// same counts.
fn agrees(sets: Sets<'_>, time: Timekeeping, is_image: bool) {
    let timing = [("timing", if time == Timekeeping::None { "none" } else { "scheduled" })];
    let config = config(None, &[SMALL, STEADY, &timing, sets].concat());
    let folder = tempfile::tempdir().unwrap();
    let image = is_image.then(|| folder.path().join("flash.img"));
    let also = Config {
        ftl: floatgate_lab::config::Ftl { journal: true, ..config.ftl.clone() },
        ..config.clone()
    };
    // A shadow that packs requests waits for the next ones, so it never has all of them.
    let packs = sets.contains(&("host.scheme", "shrd"));
    let shadows = if packs { vec![] } else { vec![("same".to_owned(), also)] };
    let stand = Stand::serve(location(&config, image.clone()), time, shadows);
    let before = stand.status();
    assert_eq!(before["aged"], true);
    assert_eq!(before["result"]["flash"]["programs"]["host"], 0, "nothing of the start is counted");
    assert_eq!(before["smart"]["host_bytes_written"], 0);
    assert!(read(&stand.client(), 0, BYTES as usize).iter().all(|&byte| byte == 0));
    play(&stand.client(), if time == Timekeeping::None { 1500 } else { 300 }, 5);
    let status = with_shadows(&stand);
    stand.ask(&json!({"do": "check"})).unwrap();
    stand.served.shut_down().unwrap();
    let simulated = simulated(&config, &stand, time);
    let live = &status["result"];
    assert_eq!(live["start"], simulated["start"], "{sets:?}");
    assert_agree(live, &simulated, time);
    for shadow in status["also"].as_array().unwrap() {
        assert_eq!(shadow["result"]["start"], simulated["start"]);
        if time == Timekeeping::None {
            assert_agree(&shadow["result"], &simulated, time);
        }
    }
    if let Some(path) = image {
        drop(stand);
        let report = image::check(&path).unwrap();
        assert_eq!(report.problem_count, 0, "{:?}", report.problems);
        let again = Stand::serve(ImageLocation::File(path), time, vec![]);
        assert_eq!(
            (&again.status()["aged"], &again.status()["power"]["cuts"]),
            (&json!(true), &json!(0))
        );
    }
}

#[test]
fn counts_agree_with_a_simulation_from_the_same_start() {
    for mapping in ["ideal", "dftl", "tlllp"] {
        agrees(&[("mapping.scheme", mapping)], Timekeeping::None, false);
    }
    for scheme in ["bast", "fast"] {
        agrees(&[("ftl.scheme", scheme)], Timekeeping::None, false);
    }
    for buffer in ["bplru", "lru"] {
        let through = ("buffer.acknowledge", "write_through");
        for extra in [&[][..], &[through]] {
            let sets = [("buffer.scheme", buffer), ("buffer.capacity", "256KiB")];
            agrees(&[&sets[..], extra].concat(), Timekeeping::None, false);
        }
    }
    agrees(SHRD, Timekeeping::None, false);
    agrees(&[("placement.scheme", "dac"), ("start.fill", "random")], Timekeeping::None, false);
    let play = "uniform:span=4MiB,writes=2000,reads=0.3,size=3KiB";
    agrees(&[("start.fill", "sequential"), ("start.play", play)], Timekeeping::None, false);
}

#[test]
fn counts_agree_with_rows_and_an_slc_cache() {
    let rows = [
        ("flash.program_pages", "2"),
        ("flash.planes", "2"),
        ("flash.superblock", "2"),
        ("slc.static", "256KiB"),
        ("slc.dynamic", "256KiB"),
    ];
    for is_protected in ["true", "false"] {
        let sets = [&rows[..], &[("controller.power_protected", is_protected)]].concat();
        agrees(&sets, Timekeeping::None, true);
    }
}

#[test]
fn counts_and_times_agree_with_a_clock() {
    agrees(&[("mapping.scheme", "dftl")], Timekeeping::Simulated, true);
    agrees(SHRD, Timekeeping::Simulated, false);
}

/// Cuts the power, and checks the data that a client reads afterwards.
#[test]
fn an_aged_drive_is_found_again_after_a_loss_of_power() {
    for sets in [&[][..], SHRD, &[("ftl.scheme", "fast")]] {
        let config = config(None, &[SMALL, STEADY, &[("timing", "none")], sets].concat());
        let stand = Stand::serve(location(&config, None), Timekeeping::None, vec![]);
        stand.client().write(4096, &[7; 4096], LATER).unwrap();
        stand.client().flush().unwrap();
        stand.ask(&json!({"do": "plug"})).unwrap();
        let bytes = read(&stand.client(), 0, BYTES as usize);
        assert!(bytes[4096..8192].iter().all(|&byte| byte == 7));
        assert!(bytes[..4096].iter().chain(&bytes[8192..]).all(|&byte| byte == 0));
        stand.ask(&json!({"do": "check"})).unwrap();
    }
}

#[test]
fn an_image_of_an_aged_drive_is_complete_or_not_there() {
    let config = config(None, &[SMALL, STEADY, &[("mapping.scheme", "dftl")]].concat());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flash.img");
    let new = New { config: &config, bytes: BYTES, seed: 3 };
    let control = Control::default();
    control.cancel();
    create_aged(&new, &path, &control).unwrap_err();
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "cancelled");
    create_aged(&new, &path, &Control::default()).unwrap();
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    let error = create_aged(&new, &path, &Control::default()).unwrap_err().to_string();
    assert!(error.contains("exists"), "{error}");
    assert_eq!(image::check(&path).unwrap().problem_count, 0);
    let info = image::info(&path).unwrap();
    assert_eq!(info["aged"], true);
    assert_eq!(info["pages"]["mapped"], BYTES / 4096);
    let stand = Stand::serve(ImageLocation::File(path), Timekeeping::None, vec![]);
    let status = stand.status();
    assert_eq!(status["smart"]["unsafe_shutdowns"], 0);
    assert!(status["smart"]["erases_mean"].as_f64() > Some(1.0), "it is worn");
    // It has no free room: cleaning begins with the first pages.
    assert!(status["cleaning_begins_after_bytes"].as_u64().unwrap_or(0) < BYTES / 8, "{status}");
    let nowhere = folder.path().join("no/flash.img");
    create_aged(&new, &nowhere, &Control::default()).unwrap_err();
}

#[test]
fn a_start_that_writes_nothing_ages_nothing() {
    let config = config(None, &[SMALL, &[("start.fill", "none"), ("timing", "none")]].concat());
    let setup = floatgate_lab::serve::Setup {
        location: location(&config, None),
        name: "here".into(),
        time: Timekeeping::None,
        transport: std::time::Duration::ZERO,
        record: None,
        also: vec![],
    };
    let Err(error) = floatgate_lab::serve::Served::new(setup) else { panic!("it is served") };
    assert!(matches!(&error, SetupError::Drive(AgedError::Run(_))), "{error}");
    assert!(error.to_string().contains("expected \"random\" or \"steady\""), "{error}");
}

/// Older images lack this field: they have no aged drives.
#[test]
fn a_drive_that_was_not_aged_is_described_as_ever() {
    let config = config(None, SMALL);
    let of =
        |aged| Description { bytes: BYTES, seed: 3, aged, zoned: false, config: config.clone() };
    let text = |aged| serde_json::to_value(of(aged)).unwrap();
    assert_eq!(text(false).get("aged"), None);
    assert_eq!(text(true)["aged"], true);
    assert_eq!(serde_json::from_value::<Description>(text(false)).unwrap(), of(false));
}

/// Whole pages in order: cleaning begins exactly after the announced number of bytes.
#[test]
fn cleaning_begins_when_it_is_announced() {
    let ahead = [("cleaning.high_water", "8"), ("cleaning.copies_per_write", "4")];
    for sets in [&[][..], &ahead, &[("cleaning.low_water", "6")]] {
        let sets = [SMALL, &[("mapping.scheme", "ideal"), ("timing", "none")], sets].concat();
        let stand = Stand::new(&config(None, &sets), 1 << 20, Timekeeping::None);
        let room = || stand.status()["cleaning_begins_after_bytes"].as_u64();
        // Units of the journal are erased for the map.
        let erases = || stand.status()["result"]["flash"]["erases"]["gc"].as_u64().unwrap();
        let first = room().unwrap();
        assert!(first > 1 << 20, "{first}");
        // The first pages stay valid, so that cleaning has pages to copy.
        for (page, left) in (0..first / 4096).map(|page| (page, first - page * 4096)) {
            if page % 37 == 0 || left == 4096 {
                assert_eq!(room(), Some(left), "{sets:?}");
                assert_eq!(erases(), 0, "{sets:?} at page {page}");
            }
            stand.client().write(page % 256 * 4096, &[1; 4096], LATER).unwrap();
        }
        assert_eq!(erases(), 0, "{sets:?}");
        let pages = 256..256 + 64;
        pages.for_each(|page| stand.client().write(page % 256 * 4096, &[1; 4096], LATER).unwrap());
        assert!(erases() > 0);
        assert_eq!(room(), None, "cleaning has begun");
        stand.ask(&json!({"do": "reset"})).unwrap();
        assert_eq!(room(), None, "it stays so");
    }
    let merges = config(None, &[SMALL, &[("ftl.scheme", "bast")]].concat());
    let stand = Stand::new(&merges, 1 << 20, Timekeeping::None);
    assert_eq!(stand.status()["cleaning_begins_after_bytes"], Value::Null);
}
