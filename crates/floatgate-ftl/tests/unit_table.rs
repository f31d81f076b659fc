//! Compares the lists of the units with linear scans over a naive account of every page.

use crate::common::SERIAL;
use floatgate_ftl::addr::{Lpn, Owner, Ppn, Unit};
use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::rng::Rng;
use floatgate_ftl::unit_table::{FreeOrder, Pool, UnitTable};

const UNITS: u32 = 12;
const PAGES: u32 = 6;
const STREAMS: u8 = 3;

const SHAPE: Shape =
    Shape { pages_per_block: PAGES, units: UNITS, logical_pages: UNITS * PAGES, ..SERIAL };

/// A unit in the naive model.
#[derive(Clone, Debug, Default)]
struct Plain {
    stream: u8,
    valid: Vec<u32>,
    written: u32,
    erases: u32,
    /// Times at which it was sealed, last lost a page, and was last erased.
    sealed: Option<u64>,
    changed: u64,
    freed: u64,
    /// Whether it was sealed, changed or taken since the last query.
    noted: bool,
}

struct Model {
    table: UnitTable,
    units: Vec<Plain>,
    open: [Option<u32>; STREAMS as usize],
    order: FreeOrder,
    clock: u64,
}

fn owner(page: u32) -> Owner {
    Owner::Data(Lpn::new(page))
}

impl Model {
    fn new(order: FreeOrder) -> Self {
        let geometry = Geometry::new(SHAPE).expect("the shape is a drive");
        let mut table = UnitTable::new(geometry, order, STREAMS);
        table.track_changes();
        let fresh = |unit| Plain { freed: u64::from(unit), ..Plain::default() };
        let units = (0..UNITS).map(fresh).collect();
        Self { table, units, open: [None; STREAMS as usize], order, clock: u64::from(UNITS) }
    }

    fn sealed(&self, pool: Pool) -> impl Iterator<Item = (u32, &Plain)> {
        let of_pool = move |stream| pool == Pool::All || pool == Pool::Stream(stream);
        let units = (0..).zip(&self.units);
        units.filter(move |(_, unit)| unit.sealed.is_some() && of_pool(unit.stream))
    }

    fn fewest_valid(&self, stream: u8) -> Option<Unit> {
        let sealed = self.sealed(Pool::Stream(stream));
        let best = sealed.min_by_key(|(_, unit)| (unit.valid.len(), unit.changed));
        best.map(|(number, _)| Unit(number))
    }

    fn oldest(&self, pool: Pool) -> Option<Unit> {
        self.sealed(pool).min_by_key(|(_, unit)| unit.sealed).map(|(number, _)| Unit(number))
    }

    /// Opens the next free unit of a stream. The last stream gets the most worn unit.
    fn open(&mut self, stream: u8) -> Option<u32> {
        let free = (0..).zip(&self.units).filter(|(_, unit)| unit.written == 0);
        let open: Vec<u32> = self.open.iter().flatten().copied().collect();
        let free = free.filter(|(number, _)| !open.contains(number));
        if stream + 1 == STREAMS {
            let most = free.map(|(_, unit)| unit.erases).max();
            let unit = self.table.open_most_worn(stream);
            assert_eq!(unit.map(|unit| self.units[unit.index()].erases), most);
            return unit.map(|unit| unit.0);
        }
        let worn = |unit: &Plain| match self.order {
            FreeOrder::First => 0,
            FreeOrder::LeastWorn => unit.erases,
        };
        let next = free.min_by_key(|(_, unit)| (worn(unit), unit.freed)).map(|(number, _)| number);
        assert_eq!(self.table.open(stream).map(|unit| unit.0), next, "the next free unit");
        next
    }

    fn program(&mut self, stream: u8) {
        let place = usize::from(stream);
        let Some(number) = self.open[place].or_else(|| self.open(stream)) else { return };
        let unit = &mut self.units[number as usize];
        let page = number * PAGES + unit.written;
        self.table.validate(Ppn::new(page), owner(page));
        unit.valid.push(page);
        unit.written += 1;
        let full = unit.written == PAGES;
        self.open[place] = (!full).then_some(number);
        unit.stream = stream;
        if full {
            (unit.sealed, unit.changed, unit.noted) = (Some(self.clock), self.clock, true);
        }
    }

    fn invalidate(&mut self, rng: &mut Rng) {
        let unit = &mut self.units[rng.below(u64::from(UNITS)) as usize];
        if !unit.valid.is_empty() {
            let page = unit.valid.swap_remove(rng.below(unit.valid.len() as u64) as usize);
            self.table.invalidate(Ppn::new(page), owner(page));
            unit.changed = self.clock;
            unit.noted |= unit.sealed.is_some();
        }
    }

    fn clean(&mut self, victim: Option<Unit>) {
        let Some(victim) = victim else { return };
        self.table.begin_cleaning(victim);
        let unit = &mut self.units[victim.index()];
        for page in unit.valid.drain(..) {
            self.table.invalidate(Ppn::new(page), owner(page));
        }
        self.table.erased(victim);
        let erases = unit.erases + 1;
        *unit = Plain { erases, freed: self.clock, noted: true, ..Plain::default() };
    }
}

fn compare(order: FreeOrder, seed: u64) {
    let (mut model, mut rng) = (Model::new(order), Rng::new(seed));
    for step in 0..8000 {
        model.clock += 1;
        model.table.tick();
        let stream = rng.below(STREAMS.into()) as u8;
        match rng.below(20) {
            0 => model.clean(model.fewest_valid(stream)),
            1 => model.clean(model.oldest(Pool::All)),
            2..10 => model.invalidate(&mut rng),
            _ => model.program(stream),
        }
        model.table.check();
        agree(&model, Pool::Stream(stream));
        agree(&model, Pool::All);
        assert_eq!(model.table.fewest_valid(stream), model.fewest_valid(stream));
        assert!(model.table.wear().eq(model.units.iter().map(|unit| unit.erases)));
        let valid = model.units.iter().map(|unit| unit.valid.len() as u32);
        assert!(model.table.valid_pages().eq(valid));
        let free = model.units.iter().filter(|unit| unit.written == 0).count();
        assert_eq!(model.table.free_units() as usize, free);
        if step % 7 == 0 {
            agree_on_changes(&mut model);
        }
    }
    assert!(model.units.iter().all(|unit| unit.erases > 5), "every unit was cleaned");
}

fn agree(model: &Model, pool: Pool) {
    assert_eq!(model.table.oldest(pool), model.oldest(pool));
    assert_eq!(model.table.sealed(pool).count(), model.sealed(pool).count());
    assert_eq!(model.table.sealed_units(pool) as usize, model.sealed(pool).count());
    (0..STREAMS).for_each(|stream| agree_on_streams(model, stream));
    for (number, unit) in model.sealed(pool) {
        let since = model.table.now() - model.table.modified(Unit(number));
        assert_eq!(model.clock - unit.changed, since, "the age of {number}");
    }
}

/// Compares a stream with the streams that are first by invalid pages and by their share.
fn agree_on_streams(model: &Model, stream: u8) {
    let of = |stream| {
        let units = model.sealed(Pool::Stream(stream));
        let losses = units.map(|(_, unit)| PAGES - unit.valid.len() as u32);
        losses.fold((0, 0), |(invalid, pages), lost| (invalid + lost, pages + PAGES))
    };
    let (invalid, pages) = of(stream);
    // A lower stream wins against an equal one.
    let beats = |first: u8, (this, other): (u32, u32)| match first < stream {
        true => this >= other,
        false => this > other,
    };
    match model.table.stream_with_most_invalid().filter(|&first| first != stream) {
        Some(first) => assert!(pages == 0 || beats(first, (of(first).0, invalid))),
        None => assert!(pages > 0 || model.sealed(Pool::All).count() == 0),
    }
    if let Some(first) = model.table.stream_under_pressure().filter(|&first| first != stream) {
        let (most, of_pages) = of(first);
        assert!(pages == 0 || beats(first, (most * pages, invalid * of_pages)));
    }
}

fn agree_on_changes(model: &mut Model) {
    let mut changed = vec![];
    model.table.take_changed(&mut changed);
    changed.sort_unstable();
    let noted = (0..).zip(&model.units).filter(|(_, unit)| unit.noted);
    assert!(changed.into_iter().eq(noted.map(|(number, _)| Unit(number))), "what has changed");
    model.units.iter_mut().for_each(|unit| unit.noted = false);
}

#[test]
fn the_lists_agree_with_scans() {
    for seed in 0..10 {
        compare(FreeOrder::First, seed);
        compare(FreeOrder::LeastWorn, seed);
    }
}
