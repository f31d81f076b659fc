//! Steady state of a large drive, sampled from a smaller drive.
//!
//! A model of the drive has its policies and its spare space, but fewer erase units, and fewer
//! pages in a unit. Random writes bring the model to its steady state. Each unit of the drive then
//! gets the share of valid pages of a model's unit of equal age. Uniform writes invalidate all
//! valid pages with equal probability, so the places of the valid pages in the unit, and their
//! logical pages, are random.
//!
//! The drive reaches this state by ordinary writes, in the order in which the model's units were
//! sealed. An invalid page is a write to the logical page that the next valid page holds. No unit
//! is cleaned meanwhile, so each physical page is programmed at most once. A few random writes
//! follow.

use floatgate_ftl::addr::Unit;
use floatgate_ftl::rng::Rng;
use floatgate_ftl::unit_table::{Pool, UnitTable};

use super::start::Filler;
use super::{Control, RunError};
use crate::config::{Capacity, Config, ConfigError, Flash, Ftl, Start, Timing};
use crate::drive::{Plan, build};
use crate::result::StartResult;
use crate::workload::scatter::Scatter;

/// Size of the largest model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Largest {
    pub units: u32,
    pub pages_per_unit: u32,
    /// Physical pages, which the time to fill the model depends on.
    pub pages: u32,
}

/// With these models the measured errors are those in `docs/drives.md`.
const LARGEST: Largest = Largest { units: 16_384, pages_per_unit: 16_384, pages: 8 << 20 };

/// Divisor of the logical pages that gives the random writes after the sampling. A few units of the
/// model are about to be cleaned, and their many copies on the drive would be cleaned one after the
/// other.
const FURTHER: u64 = 16;

/// Fills an erased drive with a sampled steady state.
pub(super) fn fill(
    filler: &mut Filler<'_>,
    config: &Config,
    plan: &Plan,
    seed: u64,
) -> Result<StartResult, RunError> {
    let reached = sample(LARGEST, filler, config, plan, seed)?;
    if reached.model_units.is_some() {
        write_further(filler, seed)?;
    }
    Ok(reached)
}

/// Samples the state of an erased drive from a model of at most this size. A drive that is not
/// larger is its own model, and its state is exact.
pub(super) fn sample(
    largest: Largest,
    filler: &mut Filler<'_>,
    config: &Config,
    plan: &Plan,
    seed: u64,
) -> Result<StartResult, RunError> {
    let room = filler.device.room_until_cleaning().expect("an erased page-mapped drive has room");
    let Some(model) = Model::new(config, plan, room, largest)? else {
        return filler.fill(config, seed);
    };
    let (steady, reached) = model.steady(seed, filler.control)?;
    let capacity = plan.geometry.unit_capacity();
    let units = (room / u64::from(capacity)) as usize;
    let mut writes = Writes::new(steady.valid_pages(units, capacity, filler.pages), capacity, seed);
    let count = writes.count();
    filler.control.begin("fill", count);
    filler.write(count, |_| writes.next())?;
    Ok(reached)
}

/// Writes random pages, so that the units that are cleaned next are in the drive's own order.
pub(super) fn write_further(filler: &mut Filler<'_>, seed: u64) -> Result<(), RunError> {
    let (pages, mut rng) = (filler.pages, Rng::new(seed ^ 0x4655_5254_4845));
    filler.control.begin("fill", pages / FURTHER);
    filler.write(pages / FURTHER, |_| rng.below(pages))
}

/// Smaller drive that behaves like the drive.
struct Model {
    config: Config,
    plan: Plan,
}

impl Model {
    /// Makes a model of a drive that programs `room` pages before it cleans. `None` if the drive is
    /// not larger than a model.
    fn new(
        config: &Config,
        plan: &Plan,
        room: u64,
        largest: Largest,
    ) -> Result<Option<Self>, ConfigError> {
        let capacity = plan.geometry.unit_capacity();
        let in_block = config.flash.pages_per_block;
        let pages_per_block = pages_of_model(config, capacity, largest.pages_per_unit);
        let of_model =
            (u64::from(capacity) * u64::from(pages_per_block) / u64::from(in_block)) as u32;
        let units = plan.units_in_service.min(largest.units.min(largest.pages / of_model));
        if (units, pages_per_block) == (plan.units_in_service, in_block) {
            return Ok(None);
        }
        // On average half of the open unit is programmed. The open unit and the free units are a
        // larger share of a smaller drive, so the model has slightly more spare space.
        let in_use = room as f64 / f64::from(capacity) - 0.5;
        let in_use_of_model = in_use - f64::from(plan.units_in_service) + f64::from(units);
        let pages = f64::from(of_model);
        let per_unit = f64::from(plan.user_pages()) / f64::from(capacity) / in_use;
        let logical = (per_unit * in_use_of_model * pages).floor();
        let spare = 1.0 - (logical + 0.5) / (f64::from(units) * pages);
        let Config { flash, start, ftl, .. } = config.clone();
        let config = Config {
            timing: Timing::None,
            flash: Flash { blocks: Some(units * flash.superblock), pages_per_block, ..flash },
            capacity: Capacity { spare_factor: Some(spare), over_provisioning: None, reserve: 0.0 },
            ftl: Ftl { journal: false, ..ftl },
            start: Start { play: None, ..start },
            ..config.clone()
        };
        let plan = Plan::new(&config, 1)?;
        Ok(Some(Self { config, plan }))
    }

    /// Fills the model until it is steady. Also returns how this state was reached.
    fn steady(&self, seed: u64, control: &Control) -> Result<(Steady, StartResult), RunError> {
        let mut device = build(&self.config, &self.plan, seed, false)?;
        let reached = Filler::new(&self.plan, device.as_mut(), control).fill(&self.config, seed)?;
        let capacity = self.plan.geometry.unit_capacity();
        let steady = Steady::new(device.units(), capacity);
        let reached = StartResult {
            model_units: Some(self.plan.units_in_service),
            model_pages_per_unit: Some(capacity),
            ..reached
        };
        Ok((steady, reached))
    }
}

/// Returns the pages of a block of the model of a drive with units of `capacity` pages: whole rows
/// and map units, with at most `most` pages in a unit. A divisor is best, as then all units of the
/// drive are equal multiples of units of the model. Without a divisor of at least half of that size
/// it is the largest such number, because smaller units flatter a drive.
fn pages_of_model(config: &Config, capacity: u32, most: u32) -> u32 {
    let Flash { pages_per_block, program_pages, page, .. } = config.flash;
    let fits = |pages: u32| {
        u64::from(capacity) * u64::from(pages) <= u64::from(most) * u64::from(pages_per_block)
    };
    let is_whole = |pages: &u32| {
        let bytes = u64::from(*pages) * page.0;
        pages.is_multiple_of(program_pages) && bytes.is_multiple_of(config.unit_bytes())
    };
    let mut all = (1..=pages_per_block).rev().filter(is_whole);
    let Some(largest) = all.clone().find(|&pages| fits(pages)) else {
        return all.next_back().unwrap_or(pages_per_block);
    };
    let is_half = |pages: &u32| *pages > largest / 2 || *pages == largest;
    let divisor = all.find(|&pages| fits(pages) && pages_per_block.is_multiple_of(pages));
    divisor.filter(is_half).unwrap_or(largest)
}

/// Steady state of a model.
struct Steady {
    /// Pages in a unit.
    capacity: u32,
    /// Valid pages of the sealed units, in the order of sealing.
    sealed: Vec<u32>,
    /// Programmed pages of the open unit.
    open: u32,
}

impl Steady {
    fn new(units: &UnitTable, capacity: u32) -> Self {
        let mut sealed: Vec<Unit> = units.sealed(Pool::All).collect();
        sealed.sort_unstable_by_key(|unit| units.sealed_after(*unit));
        let all = (0..units.wear().count() as u32).map(Unit);
        let open =
            all.map(|unit| units.written(unit)).find(|written| (1..capacity).contains(written));
        let sealed = sealed.into_iter().map(|unit| units.valid(unit)).collect();
        Self { capacity, sealed, open: open.unwrap_or(capacity) }
    }

    /// Returns the valid pages of `units` units of `capacity` pages, `sum` in total. The last unit
    /// is open, and all its programmed pages are valid.
    fn valid_pages(&self, units: usize, capacity: u32, sum: u64) -> Vec<u32> {
        let times = capacity.div_ceil(self.capacity);
        let scaled =
            |pages: u32| (u64::from(pages) * u64::from(capacity) / u64::from(self.capacity)) as u32;
        let sealed = units - 1;
        let mut valid: Vec<u32> = (0..sealed)
            .map(|unit| {
                let of_model = self.sealed[unit * self.sealed.len() / sealed];
                let within = unit as u32 % times;
                (scaled(of_model) + within).saturating_sub(times / 2).min(capacity)
            })
            .collect();
        let most = sum.min(capacity.into());
        let least = sum.saturating_sub(sealed as u64 * u64::from(capacity)).min(most);
        let open = u64::from(scaled(self.open)).clamp(least, most) as u32;
        spread(&mut valid, capacity, sum - u64::from(open));
        valid.push(open);
        valid
    }
}

/// Changes numbers of valid pages, all by about as much, so that their sum is `sum`. Begins with
/// the youngest units, which may have no room for more: the older units take the rest. If the
/// oldest units are full or empty, too, the units before them take it.
fn spread(valid: &mut [u32], capacity: u32, sum: u64) {
    let total: u64 = valid.iter().copied().map(u64::from).sum();
    let missing = sum as i64 - total as i64;
    let (units, mut given) = (valid.len() as i64, 0);
    let give = |valid: &mut u32, pages: i64| {
        let before = i64::from(*valid);
        let after = (before + pages).clamp(0, capacity.into());
        *valid = after as u32;
        after - before
    };
    for (n, valid) in (1..).zip(valid.iter_mut().rev()) {
        given += give(valid, missing * n / units - given);
    }
    for valid in valid {
        given += give(valid, missing - given);
    }
    assert_eq!(given, missing, "the units hold the logical pages");
}

/// Logical pages of the writes that lead to a state.
struct Writes {
    /// Valid pages of each unit. The last unit is open, and has no invalid pages.
    valid: Vec<u32>,
    capacity: u32,
    /// Number of the next unit.
    unit: usize,
    /// Pages of the unit that are not written yet, and how many of them will be valid.
    left: u32,
    valid_left: u32,
    rng: Rng,
    order: Scatter,
    /// Valid pages so far, and the logical page of the next one.
    held: u64,
    next: u64,
    pages: u64,
}

impl Writes {
    fn new(valid: Vec<u32>, capacity: u32, seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ 0x5341_4d50_4c45);
        let pages = valid.iter().copied().map(u64::from).sum();
        let order = Scatter::new(pages, &mut rng);
        let next = order.place(0);
        let (unit, left, valid_left, held) = (0, 0, 0, 0);
        Self { valid, capacity, unit, left, valid_left, rng, order, held, next, pages }
    }

    /// Returns the number of writes.
    fn count(&self) -> u64 {
        let open = self.valid.last().copied().unwrap_or(0);
        (self.valid.len() as u64 - 1) * u64::from(self.capacity) + u64::from(open)
    }

    /// Returns the logical page of the next write.
    fn next(&mut self) -> u64 {
        if self.left == 0 {
            self.valid_left = self.valid[self.unit];
            self.unit += 1;
            let is_open = self.unit == self.valid.len();
            self.left = if is_open { self.valid_left } else { self.capacity };
        }
        let page = self.next;
        if self.rng.below(self.left.into()) < self.valid_left.into() {
            self.valid_left -= 1;
            self.held += 1;
            self.next = self.order.place(self.held % self.pages);
        }
        self.left -= 1;
        page
    }
}
