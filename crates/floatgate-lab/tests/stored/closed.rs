//! Records in an image about its synced pages: their count, and the shutdown of the drive.

use std::path::Path;

use super::*;

const COUNT_AT: u64 = POINT_AT + 40;

fn states(place: &TempImage) -> Vec<PageState> {
    Stored::open_read_only(&place.image()).unwrap().inspect(Unit(0), true).unwrap()
}

fn missing(place: &TempImage) -> Option<(u64, u64)> {
    Stored::open_read_only(&place.image()).unwrap().missing()
}

/// Makes an image with three pages in unit 0.
fn filled() -> (TempImage, Stored) {
    let place = TempImage::new();
    let mut nand = place.create();
    (0..3).for_each(|page| program(&mut nand, page, page, 1 + u64::from(page), 1));
    (place, nand)
}

#[test]
fn after_a_shutdown_no_record_is_torn() {
    // Damage to the last page, and to an erased page.
    for (page, expected) in [(2, Some((2, 3))), (3, None)] {
        let (place, mut nand) = filled();
        nand.close();
        drop(nand);
        place.flip(record_at(page) + 8);
        assert_eq!(states(&place)[page as usize], PageState::Damaged);
        assert_eq!(missing(&place), expected);
        // Opening changes nothing until a page is programmed.
        assert_eq!(place.open().torn_pages(), 0);
        assert_eq!(states(&place)[page as usize], PageState::Damaged);
    }
}

#[test]
fn a_missing_record_stays_missing() {
    for (damage, is_closed) in [(1, true), (1, false), (40, true), (40, false)] {
        let (place, mut nand) = filled();
        if is_closed {
            nand.close()
        } else {
            nand.sync()
        }
        drop(nand);
        place.overwrite(record_at(2), &vec![0; damage]);
        if damage == 1 {
            place.flip(record_at(2) + 36);
        }
        for _ in 0..2 {
            assert_eq!(missing(&place), Some((2, 3)));
            drop(place.open());
        }
        let mut nand = place.open();
        program(&mut nand, 4, 5, 9, 1);
        nand.sync();
        assert_eq!(nand.missing(), Some((3, 4)));
        erase(&mut nand, 0);
        nand.close();
        drop(nand);
        assert_eq!(missing(&place), Some((1, 2)));
    }
}

#[test]
fn a_record_that_is_set_back_is_noticed() {
    let (place, mut nand) = filled();
    nand.sync();
    let mut old = [0; 40];
    File::open(place.image()).unwrap().read_exact_at(&mut old, record_at(0)).unwrap();
    erase(&mut nand, 0);
    program(&mut nand, 0, 7, 8, 2);
    nand.close();
    drop(nand);
    assert_eq!(missing(&place), None);
    place.overwrite(record_at(0), &old);
    assert_eq!(missing(&place), Some((1, 1)));
}

/// The shutdown record is cleared by the first change.
#[test]
fn a_program_after_a_shutdown_may_be_torn() {
    let changes: [&dyn Fn(&mut Stored); 2] =
        [&|nand| program(nand, 3, 3, 4, 1), &|nand| erase(nand, 1)];
    for change in changes {
        let (place, mut nand) = filled();
        nand.close();
        drop(nand);
        let mut nand = place.open();
        change(&mut nand);
        drop(nand);
        place.overwrite(record_at(3), &[0x5a; 17]);
        assert_eq!((states(&place)[3], missing(&place)), (PageState::Torn, None));
    }
}

#[test]
fn damage_in_front_of_the_records_is_named() {
    let damaged = |at: u64| {
        let (place, mut nand) = filled();
        nand.close();
        drop(nand);
        assert_eq!(place.open().damaged_records(), [] as [&str; 0]);
        place.flip(at);
        let nand = Stored::open_read_only(&place.image()).unwrap();
        assert_eq!(nand.missing(), None, "the count vouches for nothing");
        let [what] = nand.damaged_records() else { panic!("{:?}", nand.damaged_records()) };
        *what
    };
    assert_eq!(damaged(POINT_AT + 3), "the sync point is damaged");
    assert_eq!(damaged(POINT_AT + 8), "the sync point is damaged");
    assert_eq!(damaged(POINT_AT + 12), "the erases are damaged");
    assert_eq!(damaged(COUNT_AT), "the count of synced pages is damaged");
    assert_eq!(damaged(COUNT_AT + 16), "the count of synced pages is damaged");
    assert_eq!(damaged(POINT_AT + 512), "the record of the drive's life is damaged");
    assert_eq!(damaged(POINT_AT + 512 + 55), "the record of the drive's life is damaged");
}

/// A drive of an older version opens, and keeps its version.
#[test]
fn older_images_are_used_without_a_count() {
    for (shape, version) in [(SHAPE, 1), (rows::with_rows(false), 2)] {
        let place = TempImage::new();
        drop(place.create_as(shape));
        make_older(&place, version);
        let mut nand = place.open();
        (0..4).for_each(|page| program(&mut nand, page, page, 1 + u64::from(page), 1));
        nand.sync();
        (4..8).for_each(|page| program(&mut nand, page, page, 1 + u64::from(page), 2));
        erase(&mut nand, 0);
        nand.close();
        drop(nand);
        let bytes = fs::read(place.image()).unwrap();
        assert_eq!((bytes[8], &bytes[COUNT_AT as usize..][..24]), (version, &[0; 24][..]));
        let mut nand = place.open();
        assert_eq!((nand.missing(), nand.damaged_records().len()), (None, 0));
        assert_eq!(sync_point(&place), 9);
        // The other pages were in the erased unit.
        let kept = (version == 1).then_some(vec![2; PAGE]);
        assert_eq!(read(&mut nand, PAGES, data_of(4)), kept);
    }
}

/// Converts the image of an erased drive to an older version: without a count, and without a life.
fn make_older(place: &TempImage, version: u8) {
    let mut bytes = fs::read(place.image()).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    bytes[8] = version;
    let checksum = crc32fast::hash(&[&bytes[..16], &bytes[20..length]].concat());
    bytes[16..20].copy_from_slice(&checksum.to_le_bytes());
    bytes[POINT_AT as usize..OOB_AT as usize].fill(0);
    fs::write(place.image(), bytes).unwrap();
}

/// macOS lacks this call to make a FIFO.
#[cfg(target_os = "linux")]
#[test]
fn a_special_file_is_refused_at_once() {
    use rustix::fs::{CWD, FileType, mknodat};
    let place = TempImage::new();
    let path = place.image();
    let refuse = |path: &Path| {
        for open in [Stored::open, Stored::open_read_only] {
            let error = open(path).unwrap_err().to_string();
            let expected = format!("{} is no regular file; expected an image", path.display());
            assert_eq!(error, expected);
        }
    };
    refuse(place.folder.path());
    refuse(Path::new("/dev/null"));
    // A child process would keep the locks of images that other tests have open.
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    mknodat(CWD, &path, FileType::Fifo, mode, 0).unwrap();
    refuse(&path);
    assert!(
        Stored::create(&path, SHAPE, 0, "").unwrap_err().to_string().contains("exists already")
    );
    fs::remove_file(&path).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
    refuse(&path);
}
