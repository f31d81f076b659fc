//! Windowed greedy cleaning: cleans the unit with the fewest valid pages among the units that were
//! sealed first.
//!
//! Hu, Eleftheriou, Haas, Iliadis and Pletka (SYSTOR 2009): greedy among the `w` oldest units. `w`
//! = 1 is FIFO, `w` = all is greedy. A window larger than the pool is the whole pool. Among equally
//! full units the policy cleans the one that has lost no page for the longest time.
//!
//! The window is a [`Tournament`] of its units, so a lost page costs a comparison or two. The units
//! outside wait in a queue, which each unit passes once in its life. The windows for a kind of pool
//! are set up at its first use.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use super::tournament::{Contender, FOREVER, Leaves, NOBODY, Tournament};
use super::{Victim, VictimConfig};
use crate::addr::Unit;
use crate::parameters::round;
use crate::policy::Policy;
use crate::prefetch::prefetch;
use crate::unit_table::{Pool, UnitTable, ValidShare};

crate::parameters! {
    /// Parameters of [`Windowed`].
    pub struct WindowedConfig {
        /// The window, the units sealed first, as a share of the drive's reclaim units. The
        /// smallest window, one unit, is "fifo"; 1 is "greedy".
        window: f64 = 0.1, above 0 to 1;
    }
}

/// Windowed: the unit with the fewest valid pages among the oldest ones first.
#[derive(Clone, Debug)]
pub struct Windowed {
    window: usize,
    units: u32,
    /// Windows of the whole drive, and of each stream.
    whole: Option<AgeWindows>,
    by_stream: Option<AgeWindows>,
    changed: Vec<Unit>,
}

crate::state!(Windowed { whole, by_stream, changed } fixed { window, units });

impl Windowed {
    /// Makes the policy with a window of the configured share of the units, at least one unit.
    pub fn new(config: &VictimConfig) -> Self {
        let units = f64::from(config.reclaim_units);
        let window = round(config.windowed.window * units).max(1) as usize;
        let changed = Vec::new();
        Self { window, units: config.units, whole: None, by_stream: None, changed }
    }
}

impl Victim for Windowed {
    fn follows_changes(&self) -> bool {
        true
    }

    fn pick(&mut self, table: &mut UnitTable, pool: Pool) -> Option<Unit> {
        table.take_changed(&mut self.changed);
        for windows in [&mut self.whole, &mut self.by_stream].into_iter().flatten() {
            windows.follow(table, &self.changed);
        }
        self.changed.clear();
        let (windows, count, number) = match pool {
            Pool::All => (&mut self.whole, 1, 0),
            Pool::Stream(stream) => (&mut self.by_stream, table.streams(Pool::All).len(), stream),
        };
        let windows =
            windows.get_or_insert_with(|| AgeWindows::new(table, self.units, count, self.window));
        windows.emptiest(number.into())
    }
}

impl Policy for Windowed {}

/// Share of valid pages of a unit, and time of its last change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Fill {
    valid: ValidShare,
    modified: u64,
    unit: Unit,
}

crate::state!(blank Fill { valid, modified, unit });

impl Contender for Fill {
    const NONE: Self = Self { valid: ValidShare { valid: 0, pages: 1 }, modified: 0, unit: NOBODY };

    fn unit(&self) -> Unit {
        self.unit
    }

    fn beats(&self, other: &Self, _: u64) -> (bool, u64) {
        (self < other, FOREVER)
    }
}

/// Distance of prefetches, in units.
const AHEAD: usize = 6;

/// Number of units that were sealed before a unit, plus 1; 0 if the unit is not sealed.
type Age = u64;

#[derive(Clone, Debug)]
struct AgeWindow {
    /// The oldest units, up to the size of the window.
    inside: Tournament<Fill>,
    /// The other units, the oldest first. An entry with an outdated age belongs to a unit that has
    /// left.
    outside: VecDeque<(Age, Unit)>,
}

crate::state!(blank AgeWindow { inside, outside });

/// One window for all streams, or one for each.
#[derive(Clone, Debug)]
struct AgeWindows {
    size: usize,
    leaves: Leaves,
    windows: Vec<AgeWindow>,
    /// Last known age of each unit.
    ages: Vec<Age>,
    /// Window of each unit.
    homes: Vec<u8>,
    /// Units sealed since the last update, not queued yet.
    newcomers: Vec<(Age, Unit)>,
}

crate::state!(blank AgeWindows { size, leaves, windows, ages, homes, newcomers });

impl AgeWindows {
    fn new(table: &UnitTable, units: u32, count: usize, size: usize) -> Self {
        let window = AgeWindow { inside: Tournament::new(), outside: VecDeque::new() };
        let mut windows = Self {
            size,
            leaves: Leaves::new(units),
            windows: vec![window; count],
            ages: vec![0; units as usize],
            homes: vec![0; units as usize],
            newcomers: Vec::new(),
        };
        windows.follow(table, &(0..units).map(Unit).collect::<Vec<_>>());
        windows
    }

    fn emptiest(&mut self, window: usize) -> Option<Unit> {
        self.windows[window].inside.winner(0).map(|fill| fill.unit)
    }

    /// Updates the windows for units that have changed.
    fn follow(&mut self, table: &UnitTable, changed: &[Unit]) {
        for (at, &unit) in changed.iter().enumerate() {
            if let Some(&soon) = changed.get(at + AHEAD) {
                table.prefetch_unit(soon);
                self.leaves.prefetch(soon);
                prefetch(&self.ages, soon.index());
            }
            let age = if table.is_sealed(unit) { table.sealed_after(unit) + 1 } else { 0 };
            let before = mem::replace(&mut self.ages[unit.index()], age);
            let is_inside = self.leaves.takes_part(unit);
            if is_inside && age == before {
                self.enter(table, unit);
            } else if is_inside {
                let window = &mut self.windows[usize::from(self.homes[unit.index()])];
                window.inside.remove(&mut self.leaves, unit, 0);
            }
            if age > 0 && age != before {
                self.newcomers.push((age, unit));
            }
        }
        self.queue_up(table);
        (0..self.windows.len()).for_each(|window| self.fill(table, window));
    }

    /// Puts newcomers behind all other units of their windows.
    fn queue_up(&mut self, table: &UnitTable) {
        self.newcomers.sort_unstable();
        for (age, unit) in self.newcomers.drain(..) {
            let home = if self.windows.len() == 1 { 0 } else { table.stream(unit) };
            self.homes[unit.index()] = home;
            let outside = &mut self.windows[usize::from(home)].outside;
            outside.push_back((age, unit));
            if outside.len() > 2 * self.ages.len() {
                outside.retain(|&(age, unit)| self.ages[unit.index()] == age);
            }
        }
    }

    fn fill(&mut self, table: &UnitTable, number: usize) {
        while self.windows[number].inside.len() < self.size
            && let Some((age, unit)) = self.windows[number].outside.pop_front()
        {
            if self.ages[unit.index()] == age {
                self.enter(table, unit);
            }
        }
    }

    /// Puts a unit into the tournament of its window, or updates it there.
    fn enter(&mut self, table: &UnitTable, unit: Unit) {
        let fill = Fill { valid: table.valid_share(unit), modified: table.modified(unit), unit };
        let window = &mut self.windows[usize::from(self.homes[unit.index()])];
        window.inside.set(&mut self.leaves, fill, 0);
    }
}
