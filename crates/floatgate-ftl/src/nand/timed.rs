//! The medium with a clock: a graph of operations, and a scheduler that plays it.
//!
//! ```text
//! waits for the end of its chains, and for work as a whole
//!   │ the last of them ends
//!   ▼
//! ready ──┬── join, release of a core ─────────────────────────────────────────────> done
//!   │     ├── delay ─────────────────────────────── runs ──────────────────────────> done
//!   │     └── service ──── queued at its server ─── runs ──────────────────────────> done
//!   │
//!   ├──────── operation with hazards ──── blocked ──┐
//!   │ operation without hazards                     │ the last hazard ends
//!   ▼                                               │
//! queued at its die <───────────────────────────────┘
//!   │ the die begins it
//!   ▼
//! command ┬── read ─────── in the cells ── queued for the channel ── on the channel ──> done
//!         ├── program ──── queued for the channel ── on the channel ── in the cells ──> done
//!         └── erase ────── in the cells ──────────────────────────────────────────────> done
//!
//! program or erase in the cells <─────────────> suspended, for reads that go first
//! ```
//!
//! The picture shows the states of a node, which is an operation or another piece of work. The
//! medium below carries out each operation at once; its time is simulated afterwards. [`graph`]
//! knows what each node waits for, [`dies`] play operations, and [`services`] play the other work.
//! The scheduler advances the time, and passes nodes between these three owners. The recorder
//! observes dies and channels.
//!
//! A read occupies its die until the page is transferred, and a program occupies its die from
//! before the transfer on, unless there is a cache register. Consecutive operations in a die's
//! queue form one multi-plane operation if their pages are in one row of a unit, on different
//! planes of the die. A copy goes through the controller, over the channel both ways, because the
//! controller corrects errors.
//!
//! The clock splits a request's time into components: the request's own operations by their cause,
//! and each wait by the activity of the die or the channel. A die that waits for its channel passes
//! on the activity of the channel.
//!
//! Two simplifications: command cycles delay an operation but leave the channel free, and a page
//! that enters the queue later cannot join an operation that has begun.

mod chains;
mod dies;
mod events;
mod graph;
mod issuer;
mod pool;
mod program_units;
mod recorder;
mod schedule;
mod scheduler;
mod services;
mod wait_queue;

use alloc::vec::Vec;

use graph::Kind;
use issuer::Issuer;
use program_units::ProgramUnits;
pub use schedule::{
    Controller, Order, PAGE_TYPES, PageTimes, Schedule, SlcTimes, Stripe, Suspend, Timing,
};
pub use scheduler::Scheduler;

use super::{Cause, Chain, Clock, Moves, Nand, ReadSource, Tagged};
use crate::addr::{Owner, Ppn, Tag, Unit};
use crate::counters::Counters;
use crate::geometry::{Geometry, Mode};
use crate::saved::{Carrier, State, carry};

/// Adds a clock to another medium.
#[derive(Clone, Debug)]
pub struct Timed<N> {
    inner: N,
    issuer: Issuer,
    program_units: ProgramUnits,
}

impl<N> Timed<N> {
    /// Creates an idle drive whose dies do one thing after the other.
    pub fn new(inner: N, geometry: Geometry, timing: Timing) -> Self {
        Self::with_schedule(inner, geometry, timing, Schedule::default())
    }

    /// Creates an idle drive.
    pub fn with_schedule(inner: N, geometry: Geometry, timing: Timing, schedule: Schedule) -> Self {
        let issuer = Issuer::new(geometry, timing, schedule);
        Self { inner, issuer, program_units: ProgramUnits::default() }
    }

    /// Returns the medium below.
    pub fn inner(&self) -> &N {
        &self.inner
    }

    /// Returns the medium below, to change it.
    pub fn inner_mut(&mut self) -> &mut N {
        &mut self.inner
    }

    /// Makes operations of some causes take no time, to answer questions such as: what if there
    /// were no cleaning?
    pub fn with_free(mut self, causes: &[Cause]) -> Self {
        self.issuer.set_free(causes);
        self
    }

    /// Returns the number of operations and delays that are not complete.
    pub fn outstanding(&self) -> usize {
        self.issuer.scheduler.graph.nodes().outstanding()
    }

    /// Returns whether operations take time, and whether a die programs several pages at once.
    #[inline(always)]
    fn takes(&self) -> (bool, bool) {
        (self.issuer.scheduler.takes_time(), self.issuer.geometry.has_program_units())
    }
}

/// Saves no outstanding work: when the counters have just been reset, no work is outstanding.
impl<N: Nand> State for Timed<N> {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        carry(self.inner.state(), by);
        self.issuer.modes.carry(by);
    }
}

#[deny(clippy::missing_trait_methods)]
impl<N: Nand> Nand for Timed<N> {
    type Error = N::Error;
    type Clock = Scheduler;

    crate::forward_nand!(load_payload read_failed is_read_only counters);

    #[inline(always)]
    fn clock(&self) -> &Scheduler {
        &self.issuer.scheduler
    }

    #[inline(always)]
    fn clock_mut(&mut self) -> &mut Scheduler {
        &mut self.issuer.scheduler
    }

    #[inline(always)]
    fn read(
        &mut self,
        from: Ppn,
        owner: Owner,
        source: ReadSource,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        match self.takes() {
            (false, _) => {}
            (true, true) => {
                let page = (from, 1);
                self.program_units.read(&mut self.issuer, page, source, cause, chain);
            }
            (true, false) => self.issuer.issue_page(Kind::Read, from, cause, chain),
        }
        self.inner.read(from, owner, source, cause, chain)
    }

    #[inline(always)]
    fn program(
        &mut self,
        to: Ppn,
        tag: Tag,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        match self.takes() {
            (false, _) => {}
            (true, true) => self.program_units.fill(&mut self.issuer, to, 1, cause, chain),
            (true, false) => {
                self.issuer.issue_page(Kind::Program, to, cause, chain);
                if cause == Cause::Host {
                    self.issuer.scheduler.frees(*chain, 1);
                }
            }
        }
        self.inner.program(to, tag, cause, chain)
    }

    fn pad(&mut self, from: Ppn, pages: u32, chain: &mut Chain) -> Result<(), N::Error> {
        if self.issuer.scheduler.takes_time() {
            self.program_units.fill(&mut self.issuer, from, pages, Cause::Pad, chain);
        }
        self.inner.pad(from, pages, chain)
    }

    #[inline(always)]
    fn copy(&mut self, moves: impl Moves, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        match self.takes() {
            (false, _) => {}
            (true, true) => self.program_units.copy(&mut self.issuer, moves.clone(), cause, chain),
            (true, false) => self.issuer.issue_copy(moves.clone(), cause, chain),
        }
        self.inner.copy(moves, cause, chain)
    }

    #[inline(always)]
    fn copy_rows(
        &mut self,
        moves: impl Moves,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        match self.takes() {
            (true, true) => self.program_units.copy(&mut self.issuer, moves.clone(), cause, chain),
            (true, false) => self.issuer.issue_rows(moves.clone(), cause, chain),
            (false, _) => {}
        }
        self.inner.copy_rows(moves, cause, chain)
    }

    /// Program units take their rows one by one, if operations take time.
    #[inline(always)]
    fn takes_rows(&self) -> bool {
        self.takes() != (true, true) && self.inner.takes_rows()
    }

    fn set_mode(&mut self, unit: Unit, mode: Mode) {
        self.issuer.modes.set(unit, mode);
        self.inner.set_mode(unit, mode);
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        self.inner.state()?;
        Some(self)
    }

    fn close_stripe(&mut self, last: Ppn) {
        if self.issuer.scheduler.takes_time() {
            self.program_units.program_parity_early(&mut self.issuer, last);
        }
        self.inner.close_stripe(last);
    }

    fn erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        if self.issuer.scheduler.takes_time() {
            self.program_units.drop_open(&mut self.issuer, unit);
            self.issuer.issue_erase(unit, cause, chain);
        }
        self.inner.erase(unit, cause, chain)
    }

    fn report(&self, counters: &mut Counters) {
        self.inner.report(counters);
        let Scheduler { dies, now, .. } = &self.issuer.scheduler;
        dies.report(counters, *now);
        self.program_units.report(&mut counters.flash);
    }

    /// Drops outstanding work. A frozen clock stays frozen.
    fn reset_counters(&mut self) {
        self.inner.reset_counters();
        self.issuer.reset();
        self.program_units = ProgramUnits::default();
    }
}

/// The medium below provides the out-of-band areas.
impl<N: Tagged> Tagged for Timed<N> {
    crate::forward_nand!(tags);

    fn tags(&self, unit: Unit, geometry: &Geometry, tags: &mut Vec<Option<Tag>>) {
        self.inner.tags(unit, geometry, tags);
    }
}

#[cfg(test)]
mod tests;
