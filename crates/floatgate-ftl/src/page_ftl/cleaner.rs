//! State of cleaning: the victim policy and its settings, the work in progress, and counts.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::ahead::UnderWay;
use super::levelling::Levelling;
use super::pacing::{Pace, Pacing};
use super::slc::SlcConfig;
use crate::addr::{Lpn, Owner, Ppn, Unit};
use crate::counters::Cleans;
use crate::geometry::Geometry;
use crate::unit_table::UnitTable;
use crate::victim::Victim;

/// When units are cleaned, and where their pages go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cleaning {
    /// A write that needs a unit opens one, and then cleans until `low_water - 1` units are free.
    pub low_water: u32,
    /// Stream that the pages of a victim go to.
    pub destination: Destination,
    /// Units that a victim is chosen from.
    pub scope: Scope,
    /// Pages moved with each page of a host write.
    pub pace: Option<Pace>,
    /// Host idle time after which units are cleaned, while fewer than `high_water` are free.
    pub idle_after_ns: Option<u64>,
    /// Number of free units at which cleaning ahead of need stops. With a proportional pace: a
    /// victim begins when the free pages, with those of open units, are down to one unit less than
    /// this.
    pub high_water: u32,
    /// Lazy cleaning: largest share of valid pages, in millionths, with which cleaning ahead of
    /// need takes a victim.
    pub lazy: Option<u32>,
    /// Whether a wholly valid erase unit of a victim goes to another reclaim unit as it is, instead
    /// of being copied.
    pub relabel: bool,
    /// The SLC cache, whose units are folded.
    pub slc: Option<SlcConfig>,
    /// Static wear levelling: the least worn unit is moved when its erase count lags behind the
    /// highest count by more than this.
    pub wear_gap: Option<u32>,
}

impl Cleaning {
    /// Cleans in the foreground only, from all units, with the destinations of the scheme.
    pub fn new(low_water: u32) -> Self {
        Self {
            low_water,
            destination: Destination::Scheme,
            scope: Scope::All,
            pace: None,
            idle_after_ns: None,
            high_water: low_water,
            lazy: None,
            relabel: false,
            slc: None,
            wear_gap: None,
        }
    }

    /// Returns the lowest `low_water` with which a drive with this number of open units never runs
    /// out of free units. `erase_units` is the maximum number of erase units of a victim. At worst,
    /// cleaning a victim opens each stream's next unit. A victim that is emptied step by step may
    /// do so twice, before and after a stream has run out. A victim of several erase units may also
    /// fill the unit that was opened before it was cleaned.
    pub fn least_low_water(&self, frontiers: u8, erase_units: u32) -> u32 {
        let ahead = self.pace.is_some() || self.idle_after_ns.is_some();
        u32::from(frontiers) * if ahead { 2 } else { 1 } + 1 + u32::from(erase_units > 1)
    }

    /// Returns the lowest `high_water` with which a write never waits for a whole victim. With a
    /// proportional pace, three things take free pages while a victim is emptied: the victim, of
    /// up to `victim_units` units; free pages of open units, which other streams cannot take; and
    /// copies that the drive owes. `unit_pages` is the size of a unit.
    pub fn least_high_water(&self, frontiers: u8, victim_units: u32, unit_pages: u32) -> u32 {
        match self.pace {
            Some(Pace::Proportional { debt }) => self
                .low_water
                .saturating_add(u32::from(frontiers))
                .saturating_add(victim_units)
                .saturating_add(debt.div_ceil(unit_pages)),
            Some(Pace::Fixed(_)) | None => self.low_water,
        }
    }
}

crate::choice! {
    /// Which stream the pages moved by cleaning go to.
    pub enum Destination {
        /// As in the scheme's paper; where the paper is silent, the stream that the pages are in.
        Scheme = "scheme",
        /// The stream that the pages are in.
        Same = "same",
        /// The coldest stream.
        Cold = "cold",
        /// The stream that the scheme would now choose for the pages.
        Reclassify = "reclassify",
    }
}

crate::choice! {
    /// Which erase units a victim is chosen from.
    pub enum Scope {
        /// All units.
        All = "all",
        /// Units of the stream that needs a unit; all units, if that victim would free no space.
        Stream = "stream",
        /// First the stream, then the unit: units of the stream whose units together have the most
        /// invalid pages. Only full units count. All units, if that victim would free no space.
        MostInvalid = "most_invalid",
        /// First the stream, then the unit: units of the stream that occupies the most flash for
        /// each valid page, so the greatest share of its pages is invalid. Only full units count.
        /// All units, if that victim would free no space.
        Pressure = "pressure",
    }
}

/// The victim policy, and the state of cleaning.
pub(super) struct Cleaner {
    pub(super) victim: Box<dyn Victim + Send>,
    pub(super) config: Cleaning,
    /// Whether cleaning is in progress. A unit that is opened meanwhile must not start another
    /// clean.
    pub(super) active: bool,
    pub(super) under_way: Option<UnderWay>,
    pub(super) pacing: Pacing,
    pub(super) levelling: Option<Levelling>,
    pub(super) counts: Cleans,
    /// Erase units of the current victim.
    pub(super) members: Vec<Unit>,
    /// New places of the data pages of the current victim.
    pub(super) moved: Vec<(Lpn, Ppn)>,
    // Scratch buffers, kept to avoid allocation.
    pub(super) valid: Vec<(Ppn, Owner)>,
    pub(super) sorted: Vec<(u8, Ppn, Owner)>,
    pub(super) group: Vec<(Ppn, Owner)>,
}

impl Cleaner {
    pub(super) fn new(
        victim: Box<dyn Victim + Send>,
        config: Cleaning,
        geometry: &Geometry,
    ) -> Self {
        let pages = geometry.pages_per_unit() as usize;
        Self {
            victim,
            config,
            active: false,
            under_way: None,
            pacing: Pacing::new(&config, geometry),
            levelling: config.wear_gap.map(|gap| Levelling::new(gap, geometry.units())),
            counts: Cleans::default(),
            members: Vec::new(),
            moved: Vec::with_capacity(pages),
            valid: Vec::with_capacity(pages),
            sorted: Vec::new(),
            group: Vec::new(),
        }
    }

    /// Resets counters and wear. Work in progress continues.
    pub(super) fn reset_counters(&mut self, units: u32) {
        self.counts = Cleans::default();
        self.pacing.reset_counters();
        if let Some(levelling) = &mut self.levelling {
            *levelling = Levelling::new(levelling.gap(), units);
        }
    }

    /// Asserts that no clean is in progress between requests, except step-by-step cleaning.
    pub(super) fn check(&self, units: &UnitTable) {
        assert!(!self.active, "a clean has ended");
        if let Some(under_way) = &self.under_way {
            under_way.check(units);
        }
        if let Some(levelling) = &self.levelling {
            levelling.check(units);
        }
    }
}
