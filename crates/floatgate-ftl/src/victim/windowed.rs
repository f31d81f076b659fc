//! Windowed greedy cleaning: the unit with the fewest valid pages of those that were sealed first.
//!
//! Hu, Eleftheriou, Haas, Iliadis and Pletka (SYSTOR 2009): greedy among the `w` oldest units; `w`
//! = 1 is FIFO, `w` = all is greedy. A window larger than the pool is all of the pool. Among
//! equally full units the one that has gone longest without losing a page is cleaned.
//!
//! The window is a [`Tournament`] of its units, so that a page lost costs a comparison or two;
//! what waits outside is a queue that a unit passes once in its life. Each kind of pool that is
//! asked for is set up when it first is.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use super::tournament::{Contender, FOREVER, Leaves, NOBODY, Tournament};
use super::{Victim, VictimConfig};
use crate::addr::Unit;
use crate::blocks::{Blocks, Pool};

/// Fewest valid pages of the oldest first.
#[derive(Clone, Debug)]
pub struct Windowed {
    window: usize,
    units: u32,
    /// Of the whole drive, and of each stream.
    whole: Option<Box<Windows>>,
    by_stream: Option<Box<Windows>>,
    changed: Vec<Unit>,
}

impl Windowed {
    /// With a window of so many units.
    pub fn new(config: &VictimConfig) -> Self {
        let window = config.window.max(1) as usize;
        let changed = Vec::new();
        Self { window, units: config.units, whole: None, by_stream: None, changed }
    }
}

impl Victim for Windowed {
    fn follows_changes(&self) -> bool {
        true
    }

    fn pick(&mut self, blocks: &mut Blocks, pool: Pool) -> Option<Unit> {
        blocks.take_changed(&mut self.changed);
        for windows in [&mut self.whole, &mut self.by_stream].into_iter().flatten() {
            self.changed.iter().for_each(|&unit| windows.follow(blocks, unit));
        }
        self.changed.clear();
        let (windows, count, number) = match pool {
            Pool::All => (&mut self.whole, 1, 0),
            Pool::Stream(stream) => (&mut self.by_stream, blocks.streams(Pool::All).len(), stream),
        };
        let windows = windows
            .get_or_insert_with(|| Box::new(Windows::new(blocks, self.units, count, self.window)));
        windows.emptiest(number.into())
    }
}

/// How full a unit is, and since when.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Fill {
    valid: u32,
    modified: u64,
    unit: Unit,
}

impl Contender for Fill {
    const NONE: Self = Self { valid: 0, modified: 0, unit: NOBODY };

    fn unit(&self) -> Unit {
        self.unit
    }

    fn beats(&self, other: &Self, _: u64) -> (bool, u64) {
        (self < other, FOREVER)
    }
}

/// A unit's place in the order of ages: the units that had been sealed before, and its number.
type Age = (u64, Unit);

/// Where a unit was seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Seen {
    age: Age,
    window: u8,
}

#[derive(Clone, Debug)]
struct Window {
    /// The oldest units, at most as many as the window has room for.
    inside: BTreeSet<Age>,
    outside: BTreeSet<Age>,
    tournament: Tournament<Fill>,
}

/// One window for all streams, or one for each.
#[derive(Clone, Debug)]
struct Windows {
    size: usize,
    leaves: Leaves,
    windows: Vec<Window>,
    seen: Vec<Option<Seen>>,
}

impl Windows {
    fn new(blocks: &Blocks, units: u32, count: usize, size: usize) -> Self {
        let window = Window {
            inside: BTreeSet::new(),
            outside: BTreeSet::new(),
            tournament: Tournament::new(),
        };
        let mut windows = Self {
            size,
            leaves: Leaves::new(units),
            windows: vec![window; count],
            seen: vec![None; units as usize],
        };
        (0..units).for_each(|unit| windows.follow(blocks, Unit(unit)));
        windows
    }

    fn emptiest(&mut self, window: usize) -> Option<Unit> {
        self.windows[window].tournament.winner(0).map(|fill| fill.unit)
    }

    fn follow(&mut self, blocks: &Blocks, unit: Unit) {
        let seen = blocks.is_sealed(unit).then(|| Seen {
            age: (blocks.sealed_after(unit), unit),
            window: if self.windows.len() == 1 { 0 } else { blocks.stream(unit) },
        });
        let before = core::mem::replace(&mut self.seen[unit.index()], seen);
        if before != seen {
            if let Some(before) = before {
                self.take_out(blocks, before);
            }
            if let Some(seen) = seen {
                self.put_in(blocks, seen);
            }
        } else if self.leaves.takes_part(unit) {
            let window = seen.map_or(0, |seen| seen.window);
            self.enter(blocks, window, unit);
        }
    }

    /// Puts a unit of the window into its tournament, or judges it anew.
    fn enter(&mut self, blocks: &Blocks, window: u8, unit: Unit) {
        let fill = Fill { valid: blocks.valid(unit), modified: blocks.modified(unit), unit };
        self.windows[usize::from(window)].tournament.set(&mut self.leaves, fill, 0);
    }

    fn put_in(&mut self, blocks: &Blocks, Seen { age, window: number }: Seen) {
        let window = &mut self.windows[usize::from(number)];
        window.inside.insert(age);
        let mut leaver = None;
        if window.inside.len() > self.size
            && let Some(youngest) = window.inside.pop_last()
        {
            window.outside.insert(youngest);
            leaver = Some(youngest.1);
        }
        if leaver != Some(age.1) {
            if let Some(leaver) = leaver {
                window.tournament.remove(&mut self.leaves, leaver, 0);
            }
            self.enter(blocks, number, age.1);
        }
    }

    fn take_out(&mut self, blocks: &Blocks, Seen { age, window: number }: Seen) {
        let window = &mut self.windows[usize::from(number)];
        if !window.inside.remove(&age) {
            window.outside.remove(&age);
            return;
        }
        window.tournament.remove(&mut self.leaves, age.1, 0);
        if let Some(oldest) = window.outside.pop_first() {
            window.inside.insert(oldest);
            self.enter(blocks, number, oldest.1);
        }
    }
}
