//! The medium in a file against the one that knows the rules.

use std::collections::BTreeMap;
use std::convert::Infallible;

use floatgate_ftl::addr::{Lpn, Owner, Ppn, Tag, Tpn, Unit};
use floatgate_ftl::nand::{Cause, Chain, Checked, Counted, Nand, NoClock, Tagged};
use floatgate_lab::stored::Stored;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{JOURNAL, PAGE, PAGES, Place, UNITS, cases, read, step};

/// A file medium and the one that knows the rules, which are told the same.
struct Pair {
    place: Place,
    stored: Option<Stored>,
    checked: Checked<Counted>,
    /// What was last programmed, by page.
    data: BTreeMap<u32, (Owner, Option<Vec<u8>>)>,
    serial: u64,
}

impl Pair {
    fn new() -> Self {
        let place = Place::new();
        let stored = place.create();
        let checked = Checked::new(Counted::default(), *stored.medium_geometry());
        Self { place, stored: Some(stored), checked, data: BTreeMap::new(), serial: 0 }
    }

    fn stored(&mut self) -> &mut Stored {
        self.stored.as_mut().unwrap()
    }

    fn both(&mut self, mut act: impl FnMut(&mut dyn Nand<Error = Infallible, Clock = NoClock>)) {
        act(self.stored.as_mut().unwrap());
        act(&mut self.checked);
    }

    fn act(&mut self, choice: u32) {
        let (unit, choice) = (choice % (UNITS + JOURNAL), choice / (UNITS + JOURNAL));
        let (what, choice) = (choice % 16, choice / 16);
        let next = self.checked.programmed(Unit(unit));
        match what {
            0 if self.stored().programmed(Unit(unit)) > 0 => {
                self.both(|nand| nand.erase(Unit(unit), Cause::Gc, &mut Chain::default()).unwrap());
                self.data.retain(|page, _| page / PAGES != unit);
            }
            1 => self.stored().sync(),
            2 => {
                self.stored = None;
                self.stored = Some(self.place.open());
                self.checked.reset_counters();
            }
            3..=6 => self.move_some(unit, next, choice),
            _ if next < PAGES => self.program(unit * PAGES + next, what, choice),
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
                self.both(|nand| nand.load_payload(note));
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
        self.both(|nand| nand.program(Ppn::new(page), tag, cause, &mut Chain::default()).unwrap());
        if what != 7 {
            self.data.insert(page, (tag.owner, readable));
        }
    }

    /// Moves pages of another unit that follow each other, notes left out.
    fn move_some(&mut self, unit: u32, next: u32, choice: u32) {
        let from = choice % ((UNITS + JOURNAL) * PAGES);
        let pages = self.data.range(from..).filter(|(page, _)| *page / PAGES != unit);
        let pages: Vec<_> = pages.take((PAGES - next) as usize).collect();
        let at = |index: usize| unit * PAGES + next + index as u32;
        let moves: Vec<_> = (pages.iter().enumerate())
            .map(|(index, (page, content))| {
                step(**page, at(index), content.0, self.serial + 1 + index as u64)
            })
            .collect();
        let copies: Vec<_> = pages.into_iter().map(|(_, content)| content.clone()).collect();
        self.serial += moves.len() as u64;
        self.data.extend(copies.into_iter().enumerate().map(|(index, copy)| (at(index), copy)));
        self.both(|nand| nand.copy(&moves, Cause::Gc, &mut Chain::default()).unwrap());
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
        assert!(stored.fault().is_none() && stored.corrupt_reads() == 0);
        stored.reset_counters();
        self.checked.reset_counters();
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn it_is_the_medium_that_knows_the_rules(choices in vec(any::<u32>(), 1..150)) {
        let mut pair = Pair::new();
        for choices in choices.chunks(10) {
            choices.iter().for_each(|&choice| pair.act(choice));
            pair.compare();
        }
    }
}
