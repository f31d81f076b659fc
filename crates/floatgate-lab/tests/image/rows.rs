//! Drives that program rows of pages at once, and drives with an SLC cache.

use super::*;

/// Drive with dies that program 8 pages at once: two flash pages on each of two planes.
fn with_rows(is_protected: bool) -> Vec<(&'static str, &'static str)> {
    vec![
        ("flash.page", "1KiB"),
        ("mapping.unit", "512B"),
        ("flash.program_pages", "2"),
        ("flash.planes", "2"),
        ("flash.superblock", "2"),
        ("controller.power_protected", if is_protected { "true" } else { "false" }),
    ]
}

/// Drive with rows and an SLC cache of two units, and up to two more.
fn with_cache(is_protected: bool, when_full: &'static str) -> Vec<(&'static str, &'static str)> {
    let cache = [("slc.static", "8KiB"), ("slc.dynamic", "8KiB"), ("slc.when_full", when_full)];
    [&with_rows(is_protected)[..], &cache].concat()
}

/// Drive with rows over two dies. One die holds the parity of the other.
fn with_parity(is_protected: bool) -> Vec<(&'static str, &'static str)> {
    let parity = [("flash.dies", "2"), ("flash.superblock", "4"), ("flash.parity", "2")];
    [&with_rows(is_protected)[..], &parity].concat()
}

/// Returns all kinds of such drives that differ in how they keep unprogrammed data.
pub fn drives_with_rows() -> impl Iterator<Item = Vec<(&'static str, &'static str)>> {
    [false, true].into_iter().flat_map(|is_protected| {
        let caches = ["direct", "fold"].map(|when_full| with_cache(is_protected, when_full));
        [with_rows(is_protected), with_parity(is_protected)].into_iter().chain(caches)
    })
}

#[test]
fn bytes_survive_with_rows_and_an_slc_cache() {
    for drive in drives_with_rows() {
        let mapping = [("mapping.scheme", "dftl"), ("placement.scheme", "dac")];
        live(&[&drive[..], &mapping].concat(), 4, 150);
        let buffer = [("buffer.scheme", "bplru"), ("buffer.capacity", "4KiB")];
        live(&[&drive[..], &buffer].concat(), 2, 150);
    }
}

/// Data in the controller's memory is in the image if the memory is protected. Otherwise it is lost
/// with the process.
#[test]
fn data_in_memory_is_lost_without_protection() {
    for (is_protected, found) in [(true, [1; PAGE]), (false, [0; PAGE])] {
        let place = TempImage::new();
        let mut drive = place.create(&with_rows(is_protected));
        let mut page = [9; PAGE];
        drive.write(0, &[1; PAGE]).unwrap();
        drive.read(0, &mut page).unwrap();
        assert_eq!(page, [1; PAGE]);
        drop(drive);
        assert!(place.read()[..PAGE] == found);
        let mut drive = open(&place.image()).unwrap();
        drive.read(0, &mut page).unwrap();
        assert_eq!(page, found);
        // A FLUSH makes data durable in both cases.
        drive.write(0, &[2; PAGE]).unwrap();
        drive.flush().unwrap();
        drop(drive);
        assert!(place.read()[..PAGE] == [2; PAGE]);
    }
}
