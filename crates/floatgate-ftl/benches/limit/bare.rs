//! A translation layer of arrays: the minimum cost of a page write.
//!
//! It stores the map, the owner of each flash page, the number of valid pages of each unit, and
//! lists of the full units by valid pages, the last changed at the end. It prefetches the pages of
//! a batch in two steps: first the map entries, then the state of the replaced pages.

use floatgate_ftl::geometry::Geometry;

const NONE: u32 = u32::MAX;
/// Map entries are prefetched `FAR` writes ahead, and the state of replaced pages `NEAR` writes
/// ahead.
const FAR: usize = 32;
const NEAR: usize = 16;

/// Victim policy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    Greedy,
    CostBenefit,
}

pub struct Bare {
    map: Vec<u32>,
    owner: Vec<u32>,
    valid: Vec<u16>,
    /// Time of the last change of a unit; only for cost-benefit.
    changed: Vec<u32>,
    /// Doubly linked lists: units, then a head for each number of valid pages. Units that are not
    /// full point to themselves.
    before: Vec<u32>,
    after: Vec<u32>,
    free: Vec<u32>,
    lowest: u32,
    next: u32,
    end: u32,
    unit: u32,
    low_water: u32,
    choice: Choice,
    now: u32,
    pub programs: u64,
}

impl Bare {
    pub fn new(geometry: &Geometry, low_water: u32, choice: Choice) -> Self {
        let (units, unit) = (geometry.units(), geometry.pages_per_unit());
        let alone: Vec<u32> = (0..units + unit + 1).collect();
        Self {
            map: vec![NONE; geometry.logical_pages() as usize],
            owner: vec![NONE; geometry.physical_pages() as usize],
            valid: vec![0; units as usize],
            changed: vec![0; units as usize],
            before: alone.clone(),
            after: alone,
            free: (0..units).rev().collect(),
            lowest: unit,
            next: 0,
            end: 0,
            unit,
            low_water,
            choice,
            now: 0,
            programs: 0,
        }
    }

    pub fn write_all(&mut self, pages: &[u32]) {
        for (at, &page) in pages.iter().enumerate() {
            if let Some(&far) = pages.get(at + FAR) {
                prefetch(&self.map, far as usize);
            }
            if let Some(&near) = pages.get(at + NEAR) {
                let old = self.map[near as usize];
                if old != NONE {
                    prefetch(&self.owner, old as usize);
                    prefetch(&self.valid, (old / self.unit) as usize);
                }
            }
            self.write(page);
        }
    }

    #[inline(always)]
    fn write(&mut self, page: u32) {
        self.now += 1;
        if self.next == self.end {
            self.open();
            while (self.free.len() as u32) < self.low_water - 1 {
                self.clean();
            }
        }
        let old = self.map[page as usize];
        if old != NONE {
            self.owner[old as usize] = NONE;
            let unit = old / self.unit;
            self.valid[unit as usize] -= 1;
            self.lose(unit);
        }
        self.program(page);
    }

    #[inline(always)]
    fn program(&mut self, page: u32) {
        let to = self.next;
        self.map[page as usize] = to;
        self.owner[to as usize] = page;
        self.valid[(to / self.unit) as usize] += 1;
        self.next += 1;
        self.programs += 1;
        if self.next == self.end {
            let unit = to / self.unit;
            self.changed[unit as usize] = self.now;
            self.add(unit);
        }
    }

    fn open(&mut self) {
        let unit = self.free.pop().expect("cleaning keeps units free");
        (self.next, self.end) = (unit * self.unit, (unit + 1) * self.unit);
    }

    #[inline(always)]
    fn lose(&mut self, unit: u32) {
        let at = unit as usize;
        if self.after[at] != unit {
            self.changed[at] = self.now;
            self.remove(unit);
            self.add(unit);
        }
    }

    #[inline(always)]
    fn remove(&mut self, unit: u32) {
        let (before, after) = (self.before[unit as usize], self.after[unit as usize]);
        self.after[before as usize] = after;
        self.before[after as usize] = before;
        self.after[unit as usize] = unit;
    }

    #[inline(always)]
    fn add(&mut self, unit: u32) {
        let valid = u32::from(self.valid[unit as usize]);
        let head = self.valid.len() as u32 + valid;
        let last = self.before[head as usize];
        self.after[last as usize] = unit;
        self.before[unit as usize] = last;
        self.after[unit as usize] = head;
        self.before[head as usize] = unit;
        self.lowest = self.lowest.min(valid);
    }

    fn first(&self, valid: u32) -> Option<u32> {
        let head = self.valid.len() as u32 + valid;
        let first = self.after[head as usize];
        (first != head).then_some(first)
    }

    /// Returns the unit to clean. The first unit of each list has not changed for longest, so it is
    /// the best of its list.
    fn victim(&mut self) -> u32 {
        while self.first(self.lowest).is_none() {
            self.lowest += 1;
        }
        let best = match self.choice {
            Choice::Greedy => self.first(self.lowest),
            Choice::CostBenefit => {
                let value = |&unit: &u32| {
                    let valid = f64::from(self.valid[unit as usize]);
                    let age = f64::from(self.now - self.changed[unit as usize]);
                    age * (f64::from(self.unit) - valid) / valid
                };
                let heads = (self.lowest..self.unit).filter_map(|valid| self.first(valid));
                heads.max_by(|one, other| value(one).total_cmp(&value(other)))
            }
        };
        best.expect("a unit is full")
    }

    fn clean(&mut self) {
        let victim = self.victim();
        self.remove(victim);
        let pages = victim * self.unit..(victim + 1) * self.unit;
        for page in pages.clone() {
            let owner = self.owner[page as usize];
            if owner != NONE {
                prefetch(&self.map, owner as usize);
            }
        }
        for page in pages {
            let owner = std::mem::replace(&mut self.owner[page as usize], NONE);
            if owner != NONE {
                if self.next == self.end {
                    self.open();
                }
                self.program(owner);
            }
        }
        self.valid[victim as usize] = 0;
        self.free.insert(0, victim);
    }
}

#[inline(always)]
fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    if let Some(element) = slice.get(index) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the pointer comes from a reference, and prefetching has no effect on memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(element).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}
