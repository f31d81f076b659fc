//! Drives that have failed, and drives whose image is gone: every report states it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use floatgate_lab::drive::live::{LiveError, Timekeeping, create};
use floatgate_lab::image;
use floatgate_lab::serve::{Backend, ImageLocation, ServeError};
use serde_json::{Value, json};

use super::{LATER, SMALL, Stand, config, read};

const BYTES: u64 = 1 << 20;

fn served(folder: &tempfile::TempDir) -> (PathBuf, Stand) {
    let path = folder.path().join("flash.img");
    create(&path, &config(None, SMALL), BYTES, 3).unwrap();
    (path.clone(), Stand::serve(ImageLocation::File(path), Timekeeping::None, vec![]))
}

fn cut_to(path: &Path, bytes: u64) {
    File::options().write(true).open(path).unwrap().set_len(bytes).unwrap();
}

/// Checks all reports about a drive that has failed for this reason.
fn has_failed(stand: &Stand, why: &str) {
    let status = stand.status();
    let failure = status["failure"].as_str().unwrap();
    assert!(failure.contains(why) && failure.contains("nothing is read or written"), "{failure}");
    let smart = stand.ask(&json!({"do": "smart"})).unwrap();
    assert_eq!(smart["critical_warnings"], json!([failure]));
    assert_eq!(status["warnings"][0], failure);
    assert_eq!(stand.ask(&json!({"do": "check"})), Err(failure.to_owned()));
    assert_eq!(stand.served.trouble().as_deref(), Some(failure));
    let refused = stand.client().read(0, &mut [0; 4096]);
    assert!(matches!(refused, Err(ServeError::Drive(LiveError::Stopped { .. }))), "{refused:?}");
}

#[test]
fn a_drive_without_trouble_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let memory = Stand::new(&config(None, SMALL), BYTES, Timekeeping::None);
    for stand in [served(&folder).1, memory] {
        stand.client().write(0, &[1; 4096], LATER).unwrap();
        let status = stand.status();
        assert_eq!((&status["failure"], &status["image_gone"]), (&Value::Null, &Value::Null));
        assert_eq!(stand.served.trouble(), None);
        stand.ask(&json!({"do": "check"})).unwrap();
    }
}

/// The status reports the failure before any client request.
#[test]
fn a_file_that_was_cut_short_has_failed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, stand) = served(&folder);
    stand.client().write(0, &[1; 4096], LATER).unwrap();
    let length = fs::metadata(&path).unwrap().len();
    cut_to(&path, length - 1);
    let why = format!("the file has {} bytes; expected {length}", length - 1);
    has_failed(&stand, &why);
    cut_to(&path, length);
    has_failed(&stand, &why);
    assert!(stand.ask(&json!({"do": "stop"})).is_err());
}

/// A page is looked up under the lock, and its bytes are read after it is released.
#[test]
fn a_read_that_the_file_fails_stops_the_drive() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flash.img");
    create(&path, &config(None, SMALL), BYTES, 3).unwrap();
    let pages = image::info(&path).unwrap()["geometry"]["physical_pages"].as_u64().unwrap();
    let stand = Stand::serve(ImageLocation::File(path.clone()), Timekeeping::None, vec![]);
    stand.client().write(0, &[1; 4096], LATER).unwrap();
    let length = fs::metadata(&path).unwrap().len();
    // The file keeps the records, and loses the data of all pages.
    cut_to(&path, length - pages * 4096);
    let refused = stand.client().read(0, &mut [0; 4096]);
    assert!(matches!(refused, Err(ServeError::Drive(LiveError::Stopped { .. }))), "{refused:?}");
    // The file has its length again before the next look at it.
    cut_to(&path, length);
    has_failed(&stand, "the image has failed");
}

#[test]
fn an_image_that_is_removed_or_replaced_is_gone() {
    for replaces in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (path, stand) = served(&folder);
        let away = folder.path().join("away.img");
        stand.client().write(0, &[1; 4096], LATER).unwrap();
        fs::rename(&path, &away).unwrap();
        if replaces {
            fs::copy(&away, &path).unwrap();
        }
        let status = stand.status();
        let gone = status["image_gone"].as_str().unwrap();
        assert!(gone.contains("flash.img is not the file that was served any more"), "{gone}");
        assert_eq!((&status["warnings"][0], &status["failure"]), (&json!(gone), &Value::Null));
        assert_eq!(stand.ask(&json!({"do": "check"})), Err(gone.to_owned()));
        assert_eq!(stand.served.trouble().as_deref(), Some(gone));
        // The open file is still served, recovered, and copied.
        stand.client().write(4096, &[2; 4096], LATER).unwrap();
        stand.client().flush().unwrap();
        stand.ask(&json!({"do": "plug"})).unwrap();
        assert_eq!(read(&stand.client(), 4096, 4096), [2; 4096]);
        let copy = folder.path().join("copy.img");
        stand.ask(&json!({"do": "snapshot", "to": copy})).unwrap();
        assert_eq!(image::check(&copy).unwrap().problem_count, 0);
        // Another server may use the new file at this path without affecting this server.
        if replaces {
            let other = Stand::serve(ImageLocation::File(path.clone()), Timekeeping::None, vec![]);
            other.client().write(4096, &[3; 4096], LATER).unwrap();
            assert_eq!(read(&stand.client(), 4096, 4096), [2; 4096]);
            assert_eq!(other.status()["image_gone"], Value::Null);
            assert!(stand.status()["image_gone"].is_string());
        }
        fs::rename(&away, &path).unwrap();
        assert_eq!(stand.status()["image_gone"], Value::Null, "it is back");
    }
}

/// A drive that recovery cannot open again: every later request gets the reason.
#[test]
fn a_drive_that_is_lost_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let (path, stand) = served(&folder);
    cut_to(&path, 100);
    let lost = stand.ask(&json!({"do": "plug"})).unwrap_err();
    assert!(lost.contains("the drive was not found again after its power failed"), "{lost}");
    for what in ["status", "smart", "check", "plug", "blocks"] {
        assert_eq!(stand.ask(&json!({"do": what})), Err(lost.clone()), "{what}");
    }
    let refused = stand.client().read(0, &mut [0; 4096]).unwrap_err();
    assert_eq!(refused.to_string(), lost);
}
