//! Random damage gives an error, or reads return the written data.

use std::collections::BTreeMap;
use std::fs;
use std::sync::LazyLock;

use floatgate_ftl::addr::{Owner, Ppn, Tag, Tpn, Unit};
use floatgate_ftl::nand::{Cause, Chain, Nand, Tagged};
use floatgate_lab::stored::Stored;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{
    DATA_AT, OOB_AT, PAGE, POINT_AT, TempImage, cases, copy, data_of, erase, program, read, step,
};

/// Data by page.
type Pages = BTreeMap<u32, Vec<u8>>;

/// Image with data of every kind, and the expected data of its pages.
static SAMPLE: LazyLock<(Vec<u8>, Pages)> = LazyLock::new(sample);

fn sample() -> (Vec<u8>, Pages) {
    let place = TempImage::new();
    let mut nand = place.create();
    (0..4).for_each(|page| program(&mut nand, page, page, page.into(), 0x80 + page as u8));
    nand.load_payload(&[0x77; 50]);
    let tag = Tag::new(Owner::Translation(Tpn::new(1)), 4, 4);
    nand.program(Ppn::new(12), tag, Cause::Map, &mut Chain::default()).unwrap();
    let moves: Vec<_> =
        (0..3).map(|page| step(page, 4 + page, data_of(page), 5 + u64::from(page))).collect();
    copy(&mut nand, &moves);
    nand.sync();
    program(&mut nand, 7, 3, 9, 0x99);
    let pages = (0..8).map(|page| {
        let byte = if page == 7 { 0x99 } else { 0x80 + (page % 4) as u8 };
        (page, vec![byte; PAGE])
    });
    (fs::read(place.image()).unwrap(), pages.collect())
}

/// Opens the image and reads all pages: every successful read must be right.
fn check_damaged(image: &[u8], pages: &Pages) {
    let place = TempImage::new();
    fs::write(place.image(), image).unwrap();
    let Ok(mut nand) = Stored::open(&place.image()) else { return };
    let geometry = *nand.medium_geometry();
    let mut tags = vec![];
    for unit in (0..geometry.units()).map(Unit) {
        nand.tags(unit, &geometry, &mut tags);
        assert_eq!(tags.len(), nand.programmed(unit) as usize);
    }
    for page in 0..geometry.physical_pages() {
        if let Some(note) = nand.payload(Ppn::new(page)) {
            assert_eq!((page, note), (12, vec![0x77; 50]));
        }
        let tag = nand.tag(Ppn::new(page));
        let data = read(&mut nand, page, tag.map_or(data_of(page), |tag| tag.owner));
        if let (Some(data), Some(expected)) = (data, pages.get(&page)) {
            assert_eq!(&data, expected, "page {page}");
        }
    }
    let moved = read(&mut nand, 4, data_of(0));
    copy(&mut nand, &[step(4, 8, data_of(0), 20)]);
    assert_eq!(read(&mut nand, 8, data_of(0)), moved);
    (0..geometry.units()).for_each(|unit| erase(&mut nand, unit));
    assert!(nand.fault().is_none());
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn any_bytes_are_an_error(bytes in vec(any::<u8>(), 0..2000), header in any::<bool>()) {
        let place = TempImage::new();
        let header = if header { &b"FLOATIMG\x01\0\0\0\x40\0\0\0"[..] } else { &[] };
        fs::write(place.image(), [header, &bytes].concat()).unwrap();
        prop_assert!(place.refusal().contains("image"));
    }

    #[test]
    fn damage_never_reads_as_data(
        changes in vec((0..4usize, any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        let (mut image, pages) = SAMPLE.clone();
        for (area, index, byte) in changes {
            let (start, length) = [(0, 80), (POINT_AT, 64), (OOB_AT, 640), (DATA_AT, 1024)][area];
            // Any damage to the header is fatal, so the header is rarely damaged.
            if area > 0 || byte < 8 {
                image[start as usize + index.index(length)] = byte;
            }
        }
        check_damaged(&image, &pages);
    }
}
