//! Proportional pace of the naive drive: copies in proportion to the pages that are taken, and a
//! debt with a bound.

use floatgate_ftl::nand::Cause;

use super::{Naive, State};

/// Progress of a victim, or the wait for the next one.
#[derive(Default)]
pub(super) struct Progress {
    /// Valid pages of the victim when it began; the pages over which they are spread.
    valid: u64,
    span: u64,
    /// Pages taken since then, other than copies, and pages copied.
    pub taken: u64,
    copied: u64,
    /// Ends of all batches of copies with their pages, and the latest end that a page has waited
    /// for.
    batches: Vec<(u64, u64)>,
    line: u64,
}

impl Progress {
    /// Ends a victim: the next page looks for another one.
    pub fn end(&mut self) {
        self.plan(0, 0);
    }

    /// Forgets the times, which begin at zero again.
    pub fn forget_times(&mut self) {
        (self.batches, self.line) = (vec![], 0);
    }

    fn plan(&mut self, valid: u64, span: u64) {
        (self.valid, self.span, self.taken, self.copied) = (valid, span, 0, 0);
    }

    /// Returns the copies that should have begun, and have not.
    fn owed(&self) -> u64 {
        let mut due = self.valid;
        while due > 0 && self.taken < self.span && (due - 1) * self.span >= self.valid * self.taken
        {
            due -= 1;
        }
        due.saturating_sub(self.copied)
    }
}

impl Naive {
    /// Admits a page of the host: begins the copies that are due, and waits until the debt is
    /// within its bound. Returns the time of the wait.
    pub(super) fn pay(&mut self, debt: u32, now: &mut u64) -> u64 {
        let (begin, debt) = (*now, u64::from(debt));
        let shape = self.geometry.shape();
        let batch = u64::from(shape.planes.min(shape.superblock)).min(debt);
        self.pace.taken += 1;
        if !self.busy && self.free_units() >= self.cleaning.low_water {
            if self.under_way.is_none() && self.pace.taken >= self.pace.span {
                self.look_for_victim(batch);
            }
            self.busy = true;
            while let Some(under_way) = &self.under_way {
                let unit = under_way.units[0];
                let is_over = self.pace.taken >= self.pace.span;
                let copies = self.pace.owed().min(batch);
                let is_empty = self.pages(unit).is_empty();
                if !is_empty && (copies == 0 || (copies < batch && !is_over)) {
                    break;
                }
                let copies = if is_empty { 0 } else { copies };
                self.wait_for_room(copies, debt, now);
                let mut work = *now;
                let copied = self.move_left(copies as usize, &mut work);
                self.pace.copied += copied;
                if copied > 0 {
                    self.pace.batches.push((work, copied));
                }
            }
            self.busy = false;
        }
        self.wait_for_room(self.pace.owed(), debt, now);
        *now - begin
    }

    /// Waits for the oldest batches while the debt with further copies is too high, and for all
    /// batches that earlier pages have waited for.
    fn wait_for_room(&mut self, copies: u64, debt: u64, now: &mut u64) {
        let owing = |batches: &[(u64, u64)]| batches.iter().map(|batch| batch.1).sum::<u64>();
        while !self.pace.batches.is_empty() && owing(&self.pace.batches) + copies > debt {
            let (end, _) = self.pace.batches.remove(0);
            self.pace.line = self.pace.line.max(end);
        }
        *now = self.pace.line.max(*now);
    }

    /// Begins a victim if so few pages are free that it is time to.
    fn look_for_victim(&mut self, batch: u64) {
        let capacity = u64::from(self.geometry.pages_per_unit());
        let of = |state: State, taken: fn(usize) -> u64| {
            let units = self.units.iter().filter(|unit| unit.state == state);
            units.map(|unit| capacity - taken(unit.pages.len())).sum::<u64>()
        };
        let free = of(State::Free, |_| 0) + of(State::Open, |written| written as u64);
        let target = u64::from(self.cleaning.high_water - 1) * capacity;
        if free > target {
            return self.pace.plan(0, free - target);
        }
        let Some((unit, to)) = self.ahead() else { return self.pace.plan(0, batch) };
        let valid = u64::from(self.all_valid(unit));
        let members = self.members(unit).to_vec();
        let gain = members.len() as u64 * capacity - valid;
        let short = target - free;
        let least = gain - gain / 2;
        let span = if short + least > gain { least } else { gain - short };
        self.begin(unit, Cause::Gc);
        self.pace.plan(valid, span.max(1));
        if !self.proceed(members, to) {
            self.pace.end();
        }
    }
}
