//! The medium that keeps a copy of the flash for each moment at which the power could have failed.
//!
//! Nothing happens on flash between two operations, so the moments are few: after each program or
//! erase, and in the middle of it. A program that is cut short uses up its page and leaves nothing
//! readable, neither data nor out-of-band area; checksums reveal it. An erase that is cut short
//! leaves any of the unit's pages readable, and the unit has to be erased again before it is
//! programmed. A recovery from each of these copies covers each moment, and the workload runs only
//! once.

use alloc::vec::Vec;
use core::iter;
use core::mem;

use super::{Cause, Chain, Moves, Nand, Tagged};
use crate::addr::{Ppn, Tag, Unit};

/// A medium whose operations can be cut short.
pub trait Tear {
    /// Cuts a program short: the next page of its unit is used up, and nothing can be read from it.
    /// Where program units are programmed as a whole, this holds for all pages of the program unit
    /// that this page fills; for any other page nothing happens.
    fn tear_program(&mut self, to: Ppn);

    /// Cuts the power. Pages of program units that are not full are lost. If these are protected,
    /// the controller instead fills their program units with padding and programs them.
    fn lose_memory(&mut self);

    /// Cuts an erase short: the unit has to be erased again. Until then only the pages (counted
    /// within the unit) for which `survives` returns true can be read.
    fn tear_erase(&mut self, unit: Unit, survives: fn(u32) -> bool);
}

/// Pages that survive an erase cut short: none, every other page, or all but a few.
const LEFT_BY_ERASE: [fn(u32) -> bool; 3] = [|_| false, |page| page % 2 == 1, |page| page % 4 != 0];

/// Selection of the moments to keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Watch {
    /// None.
    No,
    /// Every n-th, beginning with the first.
    Every(u64),
    /// The one with this number, from 0.
    Only(u64),
}

/// An operation that was cut short.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Torn {
    /// A program, and the tag that it would have written.
    Program(Ppn, Tag),
    /// A copy to this page.
    Copy(Ppn),
    /// An erase.
    Erase(Unit),
}

/// A moment at which the power fails.
#[derive(Clone, Debug)]
pub struct Cut<N> {
    /// Number of moments before this one.
    pub moment: u64,
    /// The operation that was cut short, if one was.
    pub torn: Option<Torn>,
    /// The medium as the power cut leaves it.
    pub medium: N,
}

/// Wraps a medium, and keeps a copy of it for each moment that [`Watch`] selects.
#[derive(Clone, Debug)]
pub struct PowerCut<N> {
    inner: N,
    watch: Watch,
    moments: u64,
    cuts: Vec<Cut<N>>,
}

impl<N> PowerCut<N> {
    /// Creates a wrapper that keeps no copies yet.
    pub fn new(inner: N) -> Self {
        Self { inner, watch: Watch::No, moments: 0, cuts: Vec::new() }
    }

    /// Starts to keep copies. The next moment has number 0.
    pub fn watch(&mut self, watch: Watch) {
        self.watch = watch;
        self.moments = 0;
    }

    /// Takes the copies kept since the last call.
    pub fn cuts(&mut self) -> Vec<Cut<N>> {
        mem::take(&mut self.cuts)
    }

    /// Returns the number of moments since the last call of [`PowerCut::watch`].
    pub fn moments(&self) -> u64 {
        self.moments
    }

    /// Returns the wrapped medium.
    pub fn inner(&self) -> &N {
        &self.inner
    }

    /// Returns the wrapped medium.
    pub fn inner_mut(&mut self) -> &mut N {
        &mut self.inner
    }
}

impl<N: Clone + Tear> PowerCut<N> {
    /// Counts a moment, after an operation or in the middle of it, and keeps a copy if it is
    /// selected.
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

#[deny(clippy::missing_trait_methods)]
impl<N: Nand + Clone + Tear> Nand for PowerCut<N> {
    type Error = N::Error;
    type Clock = N::Clock;

    crate::forward_nand!(clock read set_mode load_payload close_stripe report reset_counters);
    crate::forward_nand!(read_failed is_read_only alone);

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

    fn copy(&mut self, moves: impl Moves, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        for step in moves {
            self.torn(Torn::Copy(step.to), |torn| torn.tear_program(step.to));
            self.inner.copy(iter::once(step), cause, chain)?;
            self.after();
        }
        Ok(())
    }

    fn erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        for survives in LEFT_BY_ERASE {
            self.torn(Torn::Erase(unit), |torn| torn.tear_erase(unit, survives));
        }
        self.inner.erase(unit, cause, chain)?;
        self.after();
        Ok(())
    }
}

impl<N: Tagged + Clone + Tear> Tagged for PowerCut<N> {
    crate::forward_nand!(tags);
}
