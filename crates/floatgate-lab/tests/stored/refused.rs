//! Files that are no image, and paths where no image can be created.

use super::*;

#[test]
fn a_file_that_is_no_image_is_refused() {
    let check = |damage: &dyn Fn(&TempImage), expected: &str| {
        let place = TempImage::new();
        drop(place.create());
        damage(&place);
        let refusal = place.refusal();
        assert!(refusal.starts_with(place.image().to_str().unwrap()), "{refusal}");
        assert!(refusal.contains(expected), "{refusal} does not say: {expected}");
    };
    let length = DATA_AT + 16 * PAGE as u64;
    let set_len = |place: &TempImage, bytes| {
        OpenOptions::new().write(true).open(place.image()).unwrap().set_len(bytes).unwrap();
    };
    check(&|place| place.overwrite(0, b"QFI\xfb"), "it begins with \"QFI\\xfbTIMG\", not with");
    check(&|place| set_len(place, 0), "it begins with \"\", not with \"FLOATIMG\"");
    for bytes in [1, 7, 8, 11, 59, 60, 65] {
        let cut = format!("was cut short: its {bytes} bytes are less than a header");
        check(&|place| set_len(place, bytes), &cut);
    }
    check(
        &|place| place.overwrite(8, &[5]),
        "is an image of version 5; this program reads versions 1 to 4",
    );
    check(&|place| place.overwrite(8, &[9]), "is an image of version 9");
    check(&|place| place.overwrite(12, &[0xff; 4]), "cannot be 4294967295 bytes long");
    check(&|place| place.overwrite(12, &[1, 0]), "cannot be 1 bytes long");
    check(&|place| place.overwrite(20, &[1]), "has a damaged header: its checksum is");
    check(&|place| place.overwrite(62, b"b"), "has a damaged header: its checksum is");
    check(&|place| set_len(place, length - 1), "is 25599 bytes long; by its header it should be");
    check(&|place| set_len(place, length + 1), "is 25601 bytes long; by its header it should be");
    check(&|place| fs::remove_file(place.image()).unwrap(), "could not be opened");
}

#[test]
fn numbers_with_a_sound_checksum_may_still_be_no_drive() {
    let place = TempImage::new();
    drop(place.create());
    let bytes = fs::read(place.image()).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    for index in 0..10 {
        for number in [0, 3, u32::MAX / 2, u32::MAX - 2, u32::MAX] {
            for all in [false, true] {
                let mut bytes = bytes.clone();
                for at in if all { 0..=index } else { index..=index } {
                    bytes[20 + 4 * at..][..4].copy_from_slice(&number.to_le_bytes());
                }
                let mut hasher = crc32fast::Hasher::new();
                hasher.update(&bytes[..16]);
                hasher.update(&bytes[20..length]);
                bytes[16..20].copy_from_slice(&hasher.finalize().to_le_bytes());
                place.overwrite(0, &bytes[..length]);
                // The numbers may describe a drive, but most of them do not fit the file.
                if let Err(error) = Stored::open(&place.image()) {
                    let text = error.to_string();
                    assert!(text.contains("is not a drive") || text.contains("long"), "{text}");
                }
            }
        }
    }
}

#[test]
fn a_file_that_is_there_is_not_overwritten() {
    let place = TempImage::new();
    fs::write(place.image(), "precious").unwrap();
    let error = Stored::create(&place.image(), SHAPE, 0, "").unwrap_err();
    assert!(matches!(error.problem, Problem::Exists));
    assert_eq!(error.path, place.image());
    assert_eq!(fs::read(place.image()).unwrap(), b"precious");
}

#[test]
fn a_failed_creation_leaves_no_file() {
    let place = TempImage::new();
    let check = |shape, journal_units, text: &str, expected: &str| {
        let error = Stored::create(&place.image(), shape, journal_units, text).unwrap_err();
        assert!(error.to_string().contains(expected), "{error} does not say: {expected}");
        assert!(!place.image().exists());
    };
    check(SHAPE, 0, &"x".repeat(TEXT_BYTES_MAX + 1), "a config text of 16325 bytes");
    check(SHAPE, u32::MAX, "", "3 + 4294967295 units");
    check(SHAPE, u32::MAX - 3, "", "at most 2147483646 physical pages");
    check(Shape { page_bytes: 1 << 30, ..SHAPE }, 0, "", "a page may have at most");
    check(Shape { dies: 0, ..SHAPE }, 0, "", "flash.dies must be at least 1");
    // Longer than the maximum file size of most file systems.
    let shape = Shape { page_bytes: 16 << 20, pages_per_block: 1 << 20, units: 2000, ..SHAPE };
    match Stored::create(&place.image(), shape, 0, "") {
        Ok(_) => fs::remove_file(place.image()).unwrap(),
        Err(error) => assert!(error.to_string().contains("could not be given its length")),
    }
    assert!(!place.image().exists());
    drop(Stored::create(&place.image(), SHAPE, 0, &"x".repeat(TEXT_BYTES_MAX)).unwrap());
    assert_eq!(place.open().text().len(), TEXT_BYTES_MAX);
}

/// On systems that can find and make holes in files.
#[cfg(target_os = "linux")]
#[test]
fn an_empty_drive_takes_no_space() {
    let place = TempImage::new();
    let shape = Shape {
        page_bytes: 4096,
        pages_per_block: 256,
        superblock: 16,
        units: 4096,
        channels: 4,
        dies: 4,
        planes: 1,
        logical_pages: 15 << 20,
        entry_bytes: 4,
        program_unit: None,
    };
    let mut nand = Stored::create(&place.image(), shape, 2, "").unwrap();
    for unit in [0, 2000, 4097] {
        nand.set_register(&[1; 4096]);
        let tag = Tag::new(data_of(unit), 1, unit.into());
        nand.program(Ppn::new(unit * 4096), tag, Cause::Host, &mut Chain::default()).unwrap();
    }
    nand.sync();
    drop(nand);
    let stat = fs::metadata(place.image()).unwrap();
    assert!(stat.len() > 64 << 30);
    assert!(stat.blocks() * 512 < 4 << 20, "{} bytes", stat.blocks() * 512);
    let mut nand = place.open();
    assert!(nand.scanned_bytes() < 1 << 20, "{} bytes were read", nand.scanned_bytes());
    assert_eq!([0, 1, 2000, 4097].map(|unit| nand.programmed(Unit(unit))), [1, 0, 1, 1]);
    assert_eq!(read(&mut nand, 2000 * 4096, data_of(2000)).unwrap(), [1; 4096]);
    // Erased space is returned to the file system.
    [0, 2000, 4097].into_iter().for_each(|unit| erase(&mut nand, unit));
    nand.sync();
    let left = fs::metadata(place.image()).unwrap().blocks();
    let page = 4096 / 512;
    assert!(left + 2 * 3 * page <= stat.blocks(), "{left} blocks are left of {}", stat.blocks());
    assert!(nand.fault().is_none());
}
