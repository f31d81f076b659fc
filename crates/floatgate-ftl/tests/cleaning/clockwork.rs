//! A medium on which every operation takes its time and no operation waits for a die. The time of a
//! drive is then a sum, and the end of a chain is fixed when the chain is issued.

mod table;

use std::convert::Infallible;

use floatgate_ftl::addr::{Owner, Ppn, Tag, Unit};
use floatgate_ftl::forward_nand;
use floatgate_ftl::nand::{Cause, Chain, Clock, Component, Counted, Move, Moves, Nand, ReadSource};

use crate::common::log::{Kind, Log};
use table::Table;

pub const ERASE_NS: u64 = 1500;

/// Some pages take longer than others, so a wait for the wrong page changes the time.
pub fn read_ns(ppn: Ppn) -> u64 {
    25 + u64::from(ppn.get() % 5)
}

pub fn program_ns(ppn: Ppn) -> u64 {
    200 + u64::from(ppn.get() % 7)
}

/// Returns the time to move pages in parallel: the slowest read plus the slowest program.
pub fn copy_ns(places: impl Iterator<Item = (Ppn, Ppn)> + Clone) -> u64 {
    let slowest = |times: &mut dyn Iterator<Item = u64>| times.max().unwrap_or(0);
    slowest(&mut places.clone().map(|(from, _)| read_ns(from)))
        + slowest(&mut places.map(|(_, to)| program_ns(to)))
}

/// One flash operation with its begin and end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    pub kind: Kind,
    pub cause: Cause,
    pub begin: u64,
    pub end: u64,
}

/// Counts operations, extends chains, and logs each operation with its time.
#[derive(Clone, Debug)]
pub struct Clockwork {
    inner: Counted,
    table: Table,
    log: Log<Step>,
}

impl Clockwork {
    pub fn new(log: Log<Step>) -> Self {
        Self { inner: Counted::default(), table: Table::default(), log }
    }

    fn takes(&mut self, kinds: &[Kind], cause: Cause, chain: &mut Chain, ns: u64) {
        let begin = self.table.end(*chain);
        self.table.delay(chain, ns, Component::Die);
        let end = self.table.end(*chain);
        kinds.iter().for_each(|&kind| self.log.push(Step { kind, cause, begin, end }));
    }
}

impl Nand for Clockwork {
    type Error = Infallible;
    type Clock = Table;

    forward_nand!(set_mode report);

    fn clock(&self) -> &Table {
        &self.table
    }

    fn clock_mut(&mut self) -> &mut Table {
        &mut self.table
    }

    fn read(
        &mut self,
        from: Ppn,
        owner: Owner,
        source: ReadSource,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), Infallible> {
        self.takes(&[Kind::Read(from, owner)], cause, chain, read_ns(from));
        self.inner.read(from, owner, source, cause, chain)
    }

    fn program(
        &mut self,
        to: Ppn,
        tag: Tag,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), Infallible> {
        self.takes(&[Kind::Program(to, tag.owner)], cause, chain, program_ns(to));
        self.inner.program(to, tag, cause, chain)
    }

    fn pad(&mut self, _: Ppn, _: u32, _: &mut Chain) -> Result<(), Infallible> {
        unreachable!("every page is programmed by itself")
    }

    fn copy(
        &mut self,
        moves: impl Moves,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), Infallible> {
        let ns = copy_ns(moves.clone().map(|moved| (moved.from, moved.to)));
        let kind = |Move { from, to, owner, .. }| Kind::Copy(from, to, owner);
        self.takes(&moves.clone().map(kind).collect::<Vec<_>>(), cause, chain, ns);
        self.inner.copy(moves, cause, chain)
    }

    fn erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) -> Result<(), Infallible> {
        self.takes(&[Kind::Erase(unit)], cause, chain, ERASE_NS);
        self.inner.erase(unit, cause, chain)
    }

    fn reset_counters(&mut self) {
        self.inner.reset_counters();
        self.table = Table::default();
    }
}
