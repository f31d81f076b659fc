//! The lists of the units against linear scans over a naive account of every page.

use floatgate_ftl::addr::{Lpn, Owner, Ppn, Unit};
use floatgate_ftl::blocks::{Blocks, FreeOrder};
use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::rng::Rng;

const UNITS: u32 = 12;
const PAGES: u32 = 6;

const SHAPE: Shape = Shape {
    page_bytes: 64,
    pages_per_block: PAGES,
    superblock: 1,
    units: UNITS,
    channels: 1,
    dies: 1,
    planes: 1,
    logical_pages: UNITS * PAGES,
    entry_bytes: 4,
};

/// A unit as the naive model sees it.
#[derive(Clone, Debug, Default)]
struct Plain {
    valid: Vec<u32>,
    written: u32,
    erases: u32,
    /// When it was sealed, when it last lost a page, when it was erased last.
    sealed: Option<u64>,
    changed: u64,
    freed: u64,
}

struct Model {
    blocks: Blocks,
    units: Vec<Plain>,
    open: Option<u32>,
    order: FreeOrder,
    clock: u64,
}

fn owner(page: u32) -> Owner {
    Owner::Data(Lpn::new(page))
}

impl Model {
    fn new(order: FreeOrder) -> Self {
        let geometry = Geometry::new(SHAPE).expect("the shape is a drive");
        let blocks = Blocks::new(geometry, order);
        let fresh = |unit| Plain { freed: u64::from(unit), ..Plain::default() };
        let units = (0..UNITS).map(fresh).collect();
        Self { blocks, units, open: None, order, clock: u64::from(UNITS) }
    }

    fn sealed(&self) -> impl Iterator<Item = (u32, &Plain)> {
        (0..).zip(&self.units).filter(|(_, unit)| unit.sealed.is_some())
    }

    fn fewest_valid(&self) -> Option<Unit> {
        let best = self.sealed().min_by_key(|(_, unit)| (unit.valid.len(), unit.changed));
        best.map(|(number, _)| Unit(number))
    }

    fn oldest(&self) -> Option<Unit> {
        self.sealed().min_by_key(|(_, unit)| unit.sealed).map(|(number, _)| Unit(number))
    }

    fn program(&mut self) {
        let number = match self.open {
            Some(number) => number,
            None => {
                let Some(unit) = self.blocks.open(3) else { return };
                let free = (0..).zip(&self.units).filter(|(_, unit)| unit.written == 0);
                let worn = |unit: &Plain| match self.order {
                    FreeOrder::First => 0,
                    FreeOrder::LeastWorn => unit.erases,
                };
                let next = free.min_by_key(|(_, unit)| (worn(unit), unit.freed));
                assert_eq!(next.map(|(number, _)| number), Some(unit.0), "the next free unit");
                unit.0
            }
        };
        let unit = &mut self.units[number as usize];
        let page = number * PAGES + unit.written;
        self.blocks.validate(Ppn::new(page), owner(page));
        unit.valid.push(page);
        unit.written += 1;
        let full = unit.written == PAGES;
        self.open = (!full).then_some(number);
        if full {
            (unit.sealed, unit.changed) = (Some(self.clock), self.clock);
        }
    }

    fn invalidate(&mut self, rng: &mut Rng) {
        let unit = &mut self.units[rng.below(u64::from(UNITS)) as usize];
        if !unit.valid.is_empty() {
            let page = unit.valid.swap_remove(rng.below(unit.valid.len() as u64) as usize);
            self.blocks.invalidate(Ppn::new(page), owner(page));
            unit.changed = self.clock;
        }
    }

    fn clean(&mut self, victim: Option<Unit>) {
        let Some(victim) = victim else { return };
        self.blocks.begin_cleaning(victim);
        let unit = &mut self.units[victim.index()];
        for page in unit.valid.drain(..) {
            self.blocks.invalidate(Ppn::new(page), owner(page));
        }
        self.blocks.erased(victim);
        let erases = unit.erases + 1;
        *unit = Plain { erases, freed: self.clock, ..Plain::default() };
    }
}

fn compare(order: FreeOrder, seed: u64) {
    let (mut model, mut rng) = (Model::new(order), Rng::new(seed));
    for _ in 0..5000 {
        model.clock += 1;
        match rng.below(20) {
            0 => model.clean(model.fewest_valid()),
            1 => model.clean(model.oldest()),
            2..10 => model.invalidate(&mut rng),
            _ => model.program(),
        }
        model.blocks.check();
        assert_eq!(model.blocks.fewest_valid(), model.fewest_valid());
        assert_eq!(model.blocks.oldest(), model.oldest());
        assert_eq!(model.blocks.sealed().count(), model.sealed().count());
        assert!(model.blocks.wear().eq(model.units.iter().map(|unit| unit.erases)));
        let free = model.units.iter().filter(|unit| unit.written == 0).count();
        assert_eq!(model.blocks.free_units() as usize, free);
    }
    assert!(model.units.iter().all(|unit| unit.erases > 5), "every unit was cleaned");
}

#[test]
fn the_lists_agree_with_scans() {
    for seed in 0..10 {
        compare(FreeOrder::First, seed);
        compare(FreeOrder::LeastWorn, seed);
    }
}
