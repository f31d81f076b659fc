//! Rows that are programmed although they are not full, because their first page has waited too
//! long in the controller's memory. Padding fills the rest of such a row.
//!
//! A row is due some time after its first page. The drive programs it with the next access of the
//! host or, in a gap between requests, exactly when it is due.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use super::PageFtl;
use crate::addr::Ppn;
use crate::mapping::Mapping;
use crate::nand::{Chain, Clock, Nand};

/// Row number that names no row.
const NONE: u32 = u32::MAX;

/// A row that has begun to fill.
#[derive(Clone, Copy, Debug)]
struct Begun {
    due_ns: u64,
    stream: u8,
    row: u32,
}

/// Rows in the order in which they are due.
#[derive(Debug)]
pub(super) struct RowTimer {
    after_ns: u64,
    /// By stream: the row that was noted last.
    noted: Vec<u32>,
    begun: VecDeque<Begun>,
}

impl RowTimer {
    /// Makes a timer that programs rows this time after their first page.
    pub(super) fn new(after_ns: u64, streams: u8) -> Self {
        Self { after_ns, noted: vec![NONE; streams.into()], begun: VecDeque::new() }
    }

    /// Forgets all rows: the clock begins at zero again.
    pub(super) fn reset_counters(&mut self) {
        self.noted.fill(NONE);
        self.begun.clear();
    }

    /// Removes and returns the first row, if it is due before `until`.
    fn pop(&mut self, until: u64) -> Option<Begun> {
        let is_due = self.begun.front().is_some_and(|begun| begun.due_ns < until);
        if is_due { self.begun.pop_front() } else { None }
    }
}

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Notes that the host has written a page of a stream.
    pub(super) fn time_row(&mut self, stream: u8, at: Ppn) {
        if self.row_timer.is_none() {
            return;
        }
        let now_ns = self.store.now_ns();
        let row = self.streams.program_unit(stream, at, &self.store.geometry);
        let Some(RowTimer { after_ns, noted, begun }) = &mut self.row_timer else { return };
        let last = &mut noted[usize::from(stream)];
        if *last != row {
            *last = row;
            let due_ns = now_ns.saturating_add(*after_ns);
            begun.push_back(Begun { due_ns, stream, row });
        }
    }

    #[inline(always)]
    pub(super) fn program_due_rows(&mut self) -> Result<(), N::Error> {
        match self.row_timer {
            None => Ok(()),
            Some(_) => self.program_rows_until(self.store.now_ns().saturating_add(1)),
        }
    }

    /// Programs the rows that are due before `until`, each when it is due.
    pub(super) fn program_rows_until(&mut self, until: u64) -> Result<(), N::Error> {
        while let Some(Begun { due_ns, stream, row }) =
            self.row_timer.as_mut().and_then(|timer| timer.pop(until))
        {
            let next = self.streams.begun(stream, &self.store.geometry);
            let waits = |next| self.streams.program_unit(stream, next, &self.store.geometry) == row;
            if next.is_some_and(|(next, _)| waits(next)) {
                if due_ns > self.store.now_ns() {
                    self.store.clock().play(due_ns);
                }
                self.pad(stream, &mut Chain::START.work())?;
            }
        }
        Ok(())
    }
}
