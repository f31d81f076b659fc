//! The medium in a file compared with the medium that checks the rules of flash.

use std::collections::BTreeMap;

use floatgate_ftl::addr::{Lpn, Owner, Ppn, Tag, Tpn, Unit};
use floatgate_ftl::geometry::{Geometry, Mode, Shape};
use floatgate_ftl::nand::{Cause, Chain, Checked, Counted, Nand, Tagged, Tear};
use floatgate_lab::stored::Stored;
use proptest::collection::vec;
use proptest::prelude::*;

use super::rows::with_rows;
use super::{JOURNAL, PAGE, SHAPE, TempImage, UNITS, cases, read, step};

/// Applies the same operation to both media of a pair.
macro_rules! both {
    ($pair:ident, |$nand:ident| $act:expr) => {{
        let $nand = $pair.stored.as_mut().unwrap();
        $act;
        let $nand = &mut $pair.checked;
        $act;
    }};
}

/// File medium and rule-checking medium, which get the same operations.
struct Pair {
    place: TempImage,
    stored: Option<Stored>,
    checked: Checked<Counted>,
    /// Contents last programmed, by page.
    data: BTreeMap<u32, (Owner, Option<Vec<u8>>)>,
    serial: u64,
    geometry: Geometry,
}

impl Pair {
    fn new(shape: Shape) -> Self {
        let place = TempImage::new();
        let stored = place.create_as(shape);
        let geometry = *stored.medium_geometry();
        let checked = Checked::new(Counted::new(&geometry), geometry);
        Self { place, stored: Some(stored), checked, data: BTreeMap::new(), serial: 0, geometry }
    }

    /// Returns the geometry of the mode in which a unit is programmed.
    fn geometry_of(&self, unit: u32) -> Geometry {
        self.geometry.in_mode(self.checked.mode(Unit(unit)))
    }

    /// Ends the process, which loses the same data as a power failure.
    fn reopen(&mut self) {
        self.stored = None;
        let stored = self.place.open();
        assert_eq!(stored.missing(), None, "each page that was synced is there");
        self.stored = Some(stored);
        self.checked.lose_memory();
        self.checked.reset_counters();
        let (checked, geometry) = (&self.checked, self.geometry);
        self.data.retain(|&page, _| checked.tag(Ppn::new(page)).is_some());
        for unit in (0..geometry.units()).map(Unit) {
            if checked.programmed(unit) > 0 {
                assert_eq!(self.stored.as_ref().unwrap().mode(unit), checked.mode(unit));
            }
        }
        // The mode of an erased unit is not recorded.
        let erased = (0..geometry.units()).map(Unit).filter(|&unit| checked.programmed(unit) == 0);
        for unit in erased.collect::<Vec<_>>() {
            both!(self, |nand| nand.set_mode(unit, Mode::Native));
        }
    }

    fn stored(&mut self) -> &mut Stored {
        self.stored.as_mut().unwrap()
    }

    fn act(&mut self, choice: u32) {
        let (unit, choice) = (choice % (UNITS + JOURNAL), choice / (UNITS + JOURNAL));
        let (what, choice) = (choice % 16, choice / 16);
        let next = self.checked.programmed(Unit(unit));
        let (pages, capacity) =
            (self.geometry.pages_per_unit(), self.geometry_of(unit).unit_capacity());
        match what {
            0 if self.stored().programmed(Unit(unit)) > 0 => {
                both!(self, |nand| nand
                    .erase(Unit(unit), Cause::Gc, &mut Chain::default())
                    .unwrap());
                self.data.retain(|page, _| page / pages != unit);
            }
            1 => self.stored().sync(),
            2 => self.reopen(),
            10 if self.geometry.has_slc_mode() && next == 0 => {
                let mode = if choice.is_multiple_of(2) { Mode::Slc } else { Mode::Native };
                both!(self, |nand| nand.set_mode(Unit(unit), mode));
            }
            11 if !next.is_multiple_of(self.geometry_of(unit).program_unit()) => {
                let from = self.geometry.page(Unit(unit), next);
                let left = self.geometry_of(unit).left_in_program_unit(from);
                both!(self, |nand| nand.pad(from, left, &mut Chain::default()).unwrap());
            }
            3..=6 => self.move_some(unit, (next, capacity), choice),
            _ if next < capacity => self.program(unit * pages + next, what, choice),
            _ => {}
        }
    }

    fn program(&mut self, page: u32, what: u32, choice: u32) {
        self.serial += 1;
        let lpn = Lpn::new(choice % 8);
        let mut tag = Tag::new(Owner::Data(lpn), self.serial, self.serial);
        let data = vec![(choice >> 3) as u8; PAGE];
        let (cause, readable) = match what {
            7 => {
                let note = &data[..choice as usize % (PAGE + 1)];
                both!(self, |nand| nand.load_payload(note));
                (Cause::Map, None)
            }
            8 => {
                tag.owner = Owner::Translation(Tpn::new(0));
                (Cause::Map, None)
            }
            _ => {
                tag.original = (what == 9).then_some(Lpn::new(choice % 5));
                self.stored().set_register(&data);
                (Cause::Host, Some(data))
            }
        };
        both!(self, |nand| nand
            .program(Ppn::new(page), tag, cause, &mut Chain::default())
            .unwrap());
        if what != 7 {
            self.data.insert(page, (tag.owner, readable));
        }
    }

    /// Moves consecutive pages from other units to this unit.
    fn move_some(&mut self, unit: u32, (next, capacity): (u32, u32), choice: u32) {
        let per_unit = self.geometry.pages_per_unit();
        let from = choice % ((UNITS + JOURNAL) * per_unit);
        let pages = self.data.range(from..).filter(|(page, _)| *page / per_unit != unit);
        let pages: Vec<_> = pages.take((capacity - next) as usize).collect();
        let at = |index: usize| unit * per_unit + next + index as u32;
        let moves: Vec<_> = (pages.iter().enumerate())
            .map(|(index, (page, content))| {
                step(**page, at(index), content.0, self.serial + 1 + index as u64)
            })
            .collect();
        let copies: Vec<_> = pages.into_iter().map(|(_, content)| content.clone()).collect();
        self.serial += moves.len() as u64;
        self.data.extend(copies.into_iter().enumerate().map(|(index, copy)| (at(index), copy)));
        both!(self, |nand| {
            nand.copy(moves.iter().copied(), Cause::Gc, &mut Chain::default()).unwrap()
        });
    }

    fn compare(&mut self) {
        let geometry = *self.stored().medium_geometry();
        let stored = self.stored.as_mut().unwrap();
        assert_eq!(stored.counters().flash, self.checked.counters().flash);
        let mut tags = [vec![], vec![]];
        for unit in (0..geometry.units()).map(Unit) {
            assert_eq!(stored.programmed(unit), self.checked.programmed(unit));
            stored.tags(unit, &geometry, &mut tags[0]);
            self.checked.tags(unit, &geometry, &mut tags[1]);
            assert_eq!(tags[0], tags[1]);
        }
        for page in 0..geometry.physical_pages() {
            let ppn = Ppn::new(page);
            assert_eq!(stored.tag(ppn), self.checked.tag(ppn), "{ppn:?}");
            assert_eq!(stored.payload(ppn), self.checked.payload(ppn), "{ppn:?}");
        }
        for (&page, (owner, data)) in &self.data {
            let data = data.clone().unwrap_or(vec![0; PAGE]);
            assert_eq!(read(stored, page, *owner), Some(data), "page {page}");
        }
        assert!(stored.fault().is_none() && stored.life().damaged_reads == 0);
        stored.reset_counters();
        self.checked.reset_counters();
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn it_is_the_medium_that_knows_the_rules(
        choices in vec(any::<u32>(), 1..150),
        rows in prop::option::of(any::<bool>()),
    ) {
        let mut pair = Pair::new(rows.map_or(SHAPE, with_rows));
        for choices in choices.chunks(10) {
            choices.iter().for_each(|&choice| pair.act(choice));
            pair.compare();
        }
    }
}
