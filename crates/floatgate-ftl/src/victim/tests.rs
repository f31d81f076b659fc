//! Every policy against a naive scan, over random histories of the units.

mod drawn;
mod tournaments;

use core::cmp::Ordering;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::addr::{Lpn, Owner, Ppn};
use crate::geometry::{Geometry, Shape};
use crate::parameters::names;
use crate::rng::Rng;
use crate::unit_table::FreeOrder;

const STREAMS: u8 = 3;

fn shape(units: u32, pages: u32) -> Shape {
    Shape { pages_per_block: pages, units, logical_pages: units * pages, ..Shape::SMALL }
}

fn owner(page: u32) -> Owner {
    Owner::Data(Lpn::new(page))
}

/// Units that are written, emptied and cleaned at random.
struct History {
    table: UnitTable,
    units: u32,
    pages: u32,
    /// Valid pages of each unit.
    valid: Vec<Vec<u32>>,
    written: Vec<u32>,
    open: [Option<Unit>; STREAMS as usize],
    rng: Rng,
}

impl History {
    fn new(units: u32, pages: u32, seed: u64) -> Self {
        let geometry = Geometry::new(shape(units, pages)).expect("the shape is a drive");
        let mut table = UnitTable::new(geometry, FreeOrder::First, STREAMS);
        table.track_changes();
        let valid = vec![vec![]; units as usize];
        let (written, rng) = (vec![0; units as usize], Rng::new(seed));
        Self { table, units, pages, valid, written, open: Default::default(), rng }
    }

    fn below(&mut self, n: u32) -> u32 {
        self.rng.below(n.into()) as u32
    }

    fn program(&mut self, stream: u8) {
        let open = &mut self.open[usize::from(stream)];
        let Some(unit) = open.or_else(|| self.table.open(stream)) else { return };
        let page = unit.0 * self.pages + self.written[unit.index()];
        self.table.validate(Ppn::new(page), owner(page));
        self.valid[unit.index()].push(page);
        self.written[unit.index()] += 1;
        *open = (self.written[unit.index()] < self.pages).then_some(unit);
    }

    fn invalidate(&mut self, unit: u32) {
        let count = self.valid[unit as usize].len() as u32;
        if count > 0 {
            let at = self.below(count) as usize;
            let page = self.valid[unit as usize].swap_remove(at);
            self.table.invalidate(Ppn::new(page), owner(page));
        }
    }

    fn clean(&mut self, unit: Unit) {
        self.table.begin_cleaning(unit);
        for page in self.valid[unit.index()].drain(..) {
            self.table.invalidate(Ppn::new(page), owner(page));
        }
        self.table.erased(unit);
        self.written[unit.index()] = 0;
    }

    /// One event. Losses concentrate on a few units, and the clock sometimes does not advance.
    fn step(&mut self) {
        for _ in 0..self.below(4) {
            self.table.tick();
        }
        match self.below(16) {
            0 => {
                let sealed: Vec<Unit> = self.table.sealed(Pool::All).collect();
                if !sealed.is_empty() {
                    let at = self.below(sealed.len() as u32);
                    self.clean(sealed[at as usize]);
                }
            }
            1 if self.below(50) == 0 => {
                let unit = self.below(self.units);
                (0..self.pages).for_each(|_| self.invalidate(unit));
            }
            1..8 => {
                let span = if self.below(2) == 0 { self.units } else { self.units.div_ceil(4) };
                let unit = self.below(span);
                self.invalidate(unit);
            }
            _ => {
                let stream = self.below(STREAMS.into()) as u8;
                self.program(stream);
            }
        }
    }

    fn sealed(&self, pool: Pool) -> Vec<Unit> {
        self.table.sealed(pool).collect()
    }
}

fn pool(rng: &mut Rng) -> Pool {
    match rng.below(2 * u64::from(STREAMS)) as u8 {
        stream if stream < STREAMS => Pool::Stream(stream),
        _ => Pool::All,
    }
}

/// Compares the policy with the scan at random times. Some of the chosen units are cleaned.
fn compare(name: &str, config: &VictimConfig, pages: u32, naive: Naive) {
    for seed in 0..10 {
        let mut history = History::new(config.units, pages, seed);
        let mut policy = victim(name, config).expect("a row of the table");
        let mut asked = 0;
        for step in 0..6000 {
            history.step();
            if history.rng.below(6) > 0 {
                continue;
            }
            let pool = pool(&mut history.rng);
            let picked = policy.pick(&mut history.table, pool);
            let expected = naive(&history.table, &history.sealed(pool));
            assert_eq!(picked, expected, "{name}, {pool:?}, step {step} of seed {seed}");
            if let Some(unit) = picked.filter(|_| history.rng.below(3) == 0) {
                history.clean(unit);
            }
            asked += u32::from(picked.is_some());
        }
        assert!(asked > 100 || config.units < 4, "{asked} choices were compared");
    }
}

type Naive = fn(&UnitTable, &[Unit]) -> Option<Unit>;

/// The best unit by a scan. `line` returns gain, cost and origin.
fn best(
    table: &UnitTable,
    units: &[Unit],
    line: fn(&UnitTable, Unit) -> (u64, u64, u64),
) -> Option<Unit> {
    let by_score = |&a: &Unit, &b: &Unit| {
        let ((gain_a, cost_a, from_a), (gain_b, cost_b, from_b)) = (line(table, a), line(table, b));
        let age = |from: u64| table.now() - from;
        let origins = || from_b.cmp(&from_a).then(b.cmp(&a));
        match (cost_a, cost_b) {
            (0, 0) => origins(),
            (0, _) => Ordering::Greater,
            (_, 0) => Ordering::Less,
            _ => (gain_a * age(from_a) * cost_b)
                .cmp(&(gain_b * age(from_b) * cost_a))
                .then((gain_a * cost_b).cmp(&(gain_b * cost_a)))
                .then_with(origins),
        }
    };
    units.iter().copied().max_by(by_score)
}

fn gain(table: &UnitTable, unit: Unit) -> u64 {
    u64::from(table.pages_per_unit() - table.valid(unit))
}

fn cost_benefit(table: &UnitTable, units: &[Unit]) -> Option<Unit> {
    best(table, units, |table, unit| {
        (gain(table, unit), u64::from(table.valid(unit)) * 2, table.modified(unit))
    })
}

fn lfs_cost_benefit(table: &UnitTable, units: &[Unit]) -> Option<Unit> {
    best(table, units, |table, unit| {
        let (valid, pages) = (table.valid(unit), table.pages_per_unit());
        let cost = if valid == 0 { 0 } else { pages + valid };
        (gain(table, unit), cost.into(), table.sealed_at(unit))
    })
}

fn cat(table: &UnitTable, units: &[Unit]) -> Option<Unit> {
    best(table, units, |table, unit| {
        let times = u64::from(table.lifetime_erases(unit)) + 1;
        (gain(table, unit), u64::from(table.valid(unit)) * times, table.opened(unit))
    })
}

fn windowed<const W: usize>(table: &UnitTable, units: &[Unit]) -> Option<Unit> {
    let mut units = units.to_vec();
    units.sort_by_key(|&unit| table.sealed_after(unit));
    units.truncate(W);
    units.into_iter().min_by_key(|&unit| (table.valid(unit), table.modified(unit), unit))
}

fn config(units: u32) -> VictimConfig {
    VictimConfig::new(units, STREAMS)
}

#[test]
fn age_weighted_policies_agree_with_scans() {
    let policies: [(&str, Naive); 3] =
        [("cost_benefit", cost_benefit), ("lfs_cost_benefit", lfs_cost_benefit), ("cat", cat)];
    for (name, naive) in policies {
        for (units, pages) in [(40, 5), (13, 16), (4, 1)] {
            compare(name, &config(units), pages, naive);
        }
    }
}

#[test]
fn windows_agree_with_scans() {
    for (units, pages) in [(40, 5), (13, 16), (4, 1)] {
        let with = |window: u32| {
            let window = f64::from(window) / f64::from(units);
            VictimConfig { windowed: WindowedConfig { window }, ..config(units) }
        };
        compare("windowed", &with(1), pages, windowed::<1>);
        compare("windowed", &with(4), pages, windowed::<4>);
        compare("windowed", &with(1000), pages, windowed::<1000>);
    }
}

#[test]
fn the_first_sealed_is_that_of_a_scan() {
    let first: Naive =
        |table, units| units.iter().copied().min_by_key(|&unit| table.sealed_after(unit));
    compare("fifo", &config(40), 5, first);
}

/// `Cold` and `Hot`: of the units with the fewest valid pages, the unit of the coldest or hottest
/// stream that has lost no page for the longest time. `Oldest`: the unit of any stream that has
/// lost no page for the longest time.
#[test]
fn greedy_breaks_ties_as_configured() {
    for tie in [Tie::Cold, Tie::Hot, Tie::Oldest] {
        let (mut policy, mut ties) = (Greedy::new(&VictimConfig { tie, ..config(30) }), 0);
        let mut history = History::new(30, 4, 7);
        for _ in 0..20_000 {
            history.step();
            let pool = pool(&mut history.rng);
            let sealed = history.sealed(pool);
            let picked = policy.pick(&mut history.table, pool);
            assert_eq!(picked.is_some(), !sealed.is_empty());
            let Some(unit) = picked else { continue };
            let table = &history.table;
            let order = |unit: Unit| {
                let stream = i32::from(table.stream(unit));
                let first = match tie {
                    Tie::Cold => stream,
                    Tie::Hot => -stream,
                    Tie::Oldest => 0,
                };
                (table.valid(unit), first, table.modified(unit))
            };
            assert!(sealed.iter().all(|&other| order(unit) <= order(other)), "{tie:?}");
            // Without the tie rule, a unit of another stream would also do.
            let rival = |&&other: &&Unit| {
                table.valid(other) == table.valid(unit) && order(other) != order(unit)
            };
            ties += u32::from(sealed.iter().any(|unit| rival(&unit)));
            if history.rng.below(8) == 0 {
                history.clean(unit);
            }
        }
        assert!(ties > 1000, "{ties}");
    }
}

/// All units written in turn, each for a stream. Time advances in between.
fn full(units: u32, pages: u32) -> History {
    let mut history = History::new(units, pages, 1);
    for unit in 0..units {
        (0..pages).for_each(|_| {
            history.table.tick();
            history.program((unit % u32::from(STREAMS)) as u8);
        });
    }
    history
}

#[test]
fn an_empty_pool_gives_nothing() {
    for name in names(VICTIMS) {
        let mut policy = victim(name, &config(8)).expect("a row of the table");
        let mut history = History::new(8, 4, 1);
        let mut none = |history: &mut History, pool| {
            assert_eq!(policy.pick(&mut history.table, pool), None, "{name}");
        };
        none(&mut history, Pool::All);
        (0..3).for_each(|_| history.program(1)); // Open, not sealed.
        none(&mut history, Pool::All);
        history.program(1);
        none(&mut history, Pool::Stream(0));
        assert_eq!(policy.pick(&mut history.table, Pool::Stream(1)), Some(Unit(0)), "{name}");
        assert_eq!(policy.pick(&mut history.table, Pool::All), Some(Unit(0)), "{name}");
        history.clean(Unit(0));
        for pool in [Pool::All, Pool::Stream(1)] {
            assert_eq!(policy.pick(&mut history.table, pool), None, "{name}");
        }
    }
}
