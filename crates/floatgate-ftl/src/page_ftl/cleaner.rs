//! Who cleans: what decides which unit and when, what is under way, and what has been done.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::ahead::UnderWay;
use super::levelling::Levelling;
use super::slc::SlcConfig;
use crate::addr::{Lpn, Owner, Ppn};
use crate::counters::Cleans;
use crate::geometry::Geometry;
use crate::unit_table::UnitTable;
use crate::victim::Victim;

/// When units are cleaned, and where what is in them goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cleaning {
    /// A write that needs a unit opens one, and has units cleaned until this many less that one are
    /// free.
    pub low_water: u32,
    /// Where the pages of a victim go.
    pub destination: Destination,
    /// Which units a victim is chosen from.
    pub scope: Scope,
    /// Pages that are moved with each page that the host writes, while fewer than `high_water`
    /// units are free.
    pub pace: Option<u32>,
    /// How long the host must have been idle for units to be cleaned, while fewer than
    /// `high_water` are free.
    pub idle_after_ns: Option<u64>,
    /// Up to how many free units cleaning ahead of need goes.
    pub high_water: u32,
    /// The SLC cache, whose units are folded.
    pub slc: Option<SlcConfig>,
    /// The least worn unit is moved elsewhere when a cleaned unit has been erased by more than this
    /// more often.
    pub wear_gap: Option<u32>,
}

impl Cleaning {
    /// In the foreground only, all units alike, as the schemes have it.
    pub fn new(low_water: u32) -> Self {
        Self {
            low_water,
            destination: Destination::Scheme,
            scope: Scope::All,
            pace: None,
            idle_after_ns: None,
            high_water: low_water,
            slc: None,
            wear_gap: None,
        }
    }

    /// The lowest `low_water` with which a drive with so many open units never runs out of free
    /// ones: cleaning a victim opens each stream's next unit at worst. A victim that is emptied bit
    /// by bit may do so twice, before and after a stream has run out.
    pub fn least_low_water(&self, frontiers: u8) -> u32 {
        let ahead = self.pace.is_some() || self.idle_after_ns.is_some();
        u32::from(frontiers) * if ahead { 2 } else { 1 } + 1
    }
}

crate::choice! {
    /// Which stream the pages that cleaning moves go to.
    pub enum Destination {
        /// As in the scheme's paper; where it is silent, the stream that they are in.
        Scheme = "scheme",
        /// The stream that they are in.
        Same = "same",
        /// The coldest stream.
        Cold = "cold",
        /// The stream that the scheme would put them in now.
        Reclassify = "reclassify",
    }
}

crate::choice! {
    /// Which erase units a victim is chosen from.
    pub enum Scope {
        /// All.
        All = "all",
        /// Those of the stream that needs a unit; all, if its victim would free no space.
        Stream = "stream",
    }
}

/// The victim policy, and the state of cleaning.
pub(super) struct Cleaner {
    pub(super) victim: Box<dyn Victim + Send>,
    pub(super) config: Cleaning,
    /// Whether units are being cleaned: what that opens units for must not clean in turn.
    pub(super) active: bool,
    pub(super) under_way: Option<UnderWay>,
    pub(super) levelling: Option<Levelling>,
    pub(super) counts: Cleans,
    /// Where data pages of the victim under way have gone.
    pub(super) moved: Vec<(Lpn, Ppn)>,
    // What follows is kept for its memory.
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
            levelling: config.wear_gap.map(|gap| Levelling::new(gap, geometry.units())),
            counts: Cleans::default(),
            moved: Vec::with_capacity(pages),
            valid: Vec::with_capacity(pages),
            sorted: Vec::new(),
            group: Vec::new(),
        }
    }

    /// Counters and wear from zero; what is under way goes on.
    pub(super) fn reset_counters(&mut self, units: u32) {
        self.counts = Cleans::default();
        if let Some(levelling) = &mut self.levelling {
            *levelling = Levelling::new(levelling.gap(), units);
        }
    }

    /// Between requests nothing is being cleaned, but for the unit that is emptied bit by bit.
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
