//! The medium that remembers what was on flash at every moment at which the power could have
//! failed.
//!
//! Nothing happens on flash between two operations, so the moments are few: after each program or
//! erase, and in the middle of it. A program that is cut short spends its page and leaves nothing
//! that can be read, neither data nor out-of-band area; whoever keeps checksums finds that out. An
//! erase that is cut short leaves any of the unit's pages readable, and the unit has to be erased
//! again before it is programmed. A recovery that starts from each of these states is a recovery
//! from each moment, without the workload being run again for each.

use alloc::vec::Vec;
use core::iter;
use core::mem;

use super::{Cause, Chain, Moves, Nand, Source, Tagged};
use crate::addr::{Owner, Ppn, Tag, Unit};
use crate::counters::Counters;
use crate::geometry::Mode;

/// A medium of which operations can be cut short.
pub trait Tear {
    /// The next page of its unit is spent, and nothing can be read from it. Where program units are
    /// programmed as a whole that is so for all of the one that this page makes full; for another
    /// page nothing happens.
    fn tear_program(&mut self, to: Ppn);

    /// Power is gone. So are the pages of program units that are not full; if these are protected,
    /// the controller has filled them with padding and programmed them.
    fn lose_memory(&mut self);

    /// The unit has to be erased again; until then only the pages (counted within the unit) that
    /// `survives` says can be read.
    fn tear_erase(&mut self, unit: Unit, survives: fn(u32) -> bool);
}

/// What an erase that is cut short may leave: nothing, every other page, or all but a few.
const LEFT_BY_ERASE: [fn(u32) -> bool; 3] = [|_| false, |page| page % 2 == 1, |page| page % 4 != 0];

/// Which moments are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Watch {
    /// None.
    No,
    /// Every n-th, from the first on.
    Every(u64),
    /// The one with this number, from 0.
    Only(u64),
}

/// An operation that is cut short.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Torn {
    /// A program, with what was to be in the out-of-band area.
    Program(Ppn, Tag),
    /// A copy to this page.
    Copy(Ppn),
    /// An erase.
    Erase(Unit),
}

/// A moment at which power fails.
#[derive(Clone, Debug)]
pub struct Cut<N> {
    /// How many moments were before it.
    pub moment: u64,
    /// The operation that was cut short, if one was.
    pub torn: Option<Torn>,
    /// What is on flash.
    pub medium: N,
}

/// Keeps a copy of the medium around which it is for the moments that it is told to watch.
#[derive(Clone, Debug)]
pub struct PowerCut<N> {
    inner: N,
    watch: Watch,
    moments: u64,
    cuts: Vec<Cut<N>>,
}

impl<N> PowerCut<N> {
    /// Does not watch yet.
    pub fn new(inner: N) -> Self {
        Self { inner, watch: Watch::No, moments: 0, cuts: Vec::new() }
    }

    /// Keeps copies from now on, which is moment 0.
    pub fn watch(&mut self, watch: Watch) {
        self.watch = watch;
        self.moments = 0;
    }

    /// What was kept since this was last asked.
    pub fn cuts(&mut self) -> Vec<Cut<N>> {
        mem::take(&mut self.cuts)
    }

    /// Moments since it was told to watch.
    pub fn moments(&self) -> u64 {
        self.moments
    }

    /// The medium as it is.
    pub fn inner(&self) -> &N {
        &self.inner
    }

    /// The medium as it is.
    pub fn inner_mut(&mut self) -> &mut N {
        &mut self.inner
    }
}

impl<N: Clone + Tear> PowerCut<N> {
    /// The moment after an operation, or in the middle of it.
    fn moment(&mut self, tear: Option<(Torn, impl FnOnce(&mut N))>) {
        let keep = match self.watch {
            Watch::No => return,
            Watch::Every(every) => self.moments.is_multiple_of(every),
            Watch::Only(moment) => self.moments == moment,
        };
        if keep {
            let mut medium = self.inner.clone();
            let torn = tear.map(|(torn, tear)| {
                tear(&mut medium);
                torn
            });
            medium.lose_memory();
            self.cuts.push(Cut { moment: self.moments, torn, medium });
        }
        self.moments += 1;
    }

    fn after(&mut self) {
        self.moment(None::<(Torn, fn(&mut N))>);
    }

    fn torn(&mut self, torn: Torn, tear: impl FnOnce(&mut N)) {
        self.moment(Some((torn, tear)));
    }
}

impl<N: Nand + Clone + Tear> Nand for PowerCut<N> {
    type Error = N::Error;
    type Clock = N::Clock;

    #[inline(always)]
    fn clock(&self) -> &N::Clock {
        self.inner.clock()
    }

    #[inline(always)]
    fn clock_mut(&mut self) -> &mut N::Clock {
        self.inner.clock_mut()
    }

    fn read(
        &mut self,
        from: Ppn,
        owner: Owner,
        source: Source,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        self.inner.read(from, owner, source, cause, chain)
    }

    fn program(
        &mut self,
        to: Ppn,
        tag: Tag,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        self.torn(Torn::Program(to, tag), |torn| torn.tear_program(to));
        self.inner.program(to, tag, cause, chain)?;
        self.after();
        Ok(())
    }

    fn pad(&mut self, from: Ppn, pages: u32, chain: &mut Chain) -> Result<(), N::Error> {
        self.inner.pad(from, pages, chain)?;
        self.after();
        Ok(())
    }

    fn set_mode(&mut self, unit: Unit, mode: Mode) {
        self.inner.set_mode(unit, mode);
    }

    fn copy(&mut self, moves: impl Moves, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        for step in moves {
            self.torn(Torn::Copy(step.to), |torn| torn.tear_program(step.to));
            self.inner.copy(iter::once(step), cause, chain)?;
            self.after();
        }
        Ok(())
    }

    fn load_payload(&mut self, bytes: &[u8]) {
        self.inner.load_payload(bytes);
    }

    fn erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        for survives in LEFT_BY_ERASE {
            self.torn(Torn::Erase(unit), |torn| torn.tear_erase(unit, survives));
        }
        self.inner.erase(unit, cause, chain)?;
        self.after();
        Ok(())
    }

    fn report(&self, counters: &mut Counters) {
        self.inner.report(counters);
    }

    fn reset_counters(&mut self) {
        self.inner.reset_counters();
    }
}

impl<N: Tagged + Clone + Tear> Tagged for PowerCut<N> {
    fn tag(&self, ppn: Ppn) -> Option<Tag> {
        self.inner.tag(ppn)
    }

    fn programmed(&self, unit: Unit) -> u32 {
        self.inner.programmed(unit)
    }

    fn mode(&self, unit: Unit) -> Mode {
        self.inner.mode(unit)
    }

    fn payload(&self, ppn: Ppn) -> Option<Vec<u8>> {
        self.inner.payload(ppn)
    }
}
