//! The medium with clocks: every die and every channel knows when it is next free.
//!
//! An operation starts when its chain and its die are free, in the order in which operations are
//! issued. A read holds its die until the page is transferred; a program waits for its die before
//! the transfer (no cache register). A transfer takes the first time at which its channel is idle,
//! between the transfers of other dies too. Pages of one row of a unit on several planes of a die
//! form one multi-plane operation if each is ready before the cells start. A copy goes through the
//! controller, over the channel both ways, because that is where the error correction is.
//!
//! Two simplifications: command cycles delay an operation but leave the channel free, and a page
//! that joins a multi-plane program moves its start by one transfer while the pages that joined
//! before keep the end they were given.

use alloc::vec;
use alloc::vec::Vec;

use super::{Cause, Chain, Move, Nand, Occupation, Part};
use crate::addr::{Owner, Ppn, Tag, Unit};
use crate::counters::Counters;
use crate::geometry::{Geometry, Shape};

/// Durations in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Cells to register.
    pub read_ns: u64,
    /// Register to cells.
    pub program_ns: u64,
    /// Erase of a block, or of one block in every plane of a die.
    pub erase_ns: u64,
    /// Transfer of one page over the channel.
    pub transfer_ns: u64,
    /// Command cycles, per operation.
    pub command_ns: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Read,
    Program,
}

/// The multi-plane operation that a die did last; another plane may still join it.
#[derive(Clone, Copy, Debug)]
struct Group {
    kind: Kind,
    unit: Unit,
    row: u32,
    planes: u64,
    /// When the die became free for it.
    ready: u64,
    /// When the cells start.
    start: u64,
}

#[derive(Clone, Copy, Debug)]
struct Die {
    free: u64,
    busy: u64,
    last: Cause,
    group: Option<Group>,
}

const IDLE: Die = Die { free: 0, busy: 0, last: Cause::Host, group: None };

impl Die {
    /// Occupies the die until `until`; `from` is when this operation began to need it.
    #[inline(always)]
    fn occupy(&mut self, from: u64, until: u64, cause: Cause) {
        self.busy += until.saturating_sub(self.free.max(from));
        self.free = self.free.max(until);
        self.last = cause;
    }

    /// The group that a page ready at `now` can join.
    #[inline(always)]
    fn joins(&self, kind: Kind, unit: Unit, row: u32, plane: u64, now: u64) -> Option<Group> {
        self.group.filter(|g| {
            g.kind == kind
                && g.unit == unit
                && g.row == row
                && g.planes & plane == 0
                && now <= g.start
        })
    }
}

/// When a channel is taken. Transfers are booked as they are issued, which is not in order of
/// time: the idle times before the last bookings are remembered, so that others can use them.
#[derive(Clone, Copy, Debug, Default)]
struct Channel {
    /// Nothing is booked from here on.
    free: u64,
    /// Idle times before that, as (start, end), the earliest first: the last four that were long
    /// enough for a transfer. One that is put there leaves what is behind it. Four are enough while
    /// a channel has as few operations on their way; of more, some transfers end later than they
    /// could.
    gaps: [(u64, u64); 4],
}

impl Channel {
    /// Books the first `duration` at or after `now`; the answer is when it ends.
    #[inline(always)]
    fn book(&mut self, now: u64, duration: u64) -> u64 {
        // The last idle time ends last, and most transfers come after it.
        if now + duration <= self.gaps[self.gaps.len() - 1].1 {
            for gap in &mut self.gaps {
                let start = now.max(gap.0);
                if start + duration <= gap.1 {
                    gap.0 = start + duration;
                    return gap.0;
                }
            }
        }
        if now >= self.free + duration {
            self.gaps.copy_within(1.., 0);
            self.gaps[self.gaps.len() - 1] = (self.free, now);
        }
        self.free = now.max(self.free) + duration;
        self.free
    }
}

/// Clocks around another medium.
#[derive(Clone, Debug)]
pub struct Timed<N> {
    inner: N,
    geometry: Geometry,
    timing: Timing,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    planes: Vec<Plane>,
    end: u64,
}

/// Where a plane is. A table of them, so that no operation has to divide.
#[derive(Clone, Copy, Debug)]
struct Plane {
    die: u32,
    channel: u32,
    /// The plane among those of its die.
    bit: u64,
}

impl Plane {
    fn new(plane: u32, shape: &Shape) -> Self {
        let die = plane / shape.planes;
        Self { die, channel: die / shape.dies, bit: 1 << (plane % shape.planes).min(63) }
    }
}

/// Where a page is, and what is free when.
struct Site {
    die: usize,
    channel: usize,
    plane: u64,
    unit: Unit,
    row: u32,
}

impl<N> Timed<N> {
    /// An idle drive.
    pub fn new(inner: N, geometry: Geometry, timing: Timing) -> Self {
        let shape = geometry.shape();
        Self {
            inner,
            geometry,
            timing,
            dies: vec![IDLE; (shape.channels * shape.dies) as usize],
            channels: vec![Channel::default(); shape.channels as usize],
            planes: (0..geometry.planes()).map(|plane| Plane::new(plane, shape)).collect(),
            end: 0,
        }
    }

    #[inline(always)]
    fn site(&self, ppn: Ppn) -> Site {
        let unit = self.geometry.unit(ppn);
        let (plane, row) = self.geometry.plane_and_row(ppn);
        let Plane { die, channel, bit } = self.planes[plane as usize];
        Site { die: die as usize, channel: channel as usize, plane: bit, unit, row }
    }

    #[inline(always)]
    fn transfer(&mut self, channel: usize, chain: &mut Chain) {
        if self.timing.transfer_ns > 0 {
            let end = self.channels[channel].book(chain.now, self.timing.transfer_ns);
            chain.wait(end, Part::Bus);
        }
    }

    /// A free die for an operation: a group to join, or a new one.
    #[inline(always)]
    fn engage(&mut self, kind: Kind, site: &Site, chain: &mut Chain) -> Group {
        let die = &self.dies[site.die];
        if let Some(mut group) = die.joins(kind, site.unit, site.row, site.plane, chain.now) {
            chain.wait(group.ready, die.last.part());
            group.planes |= site.plane;
            return group;
        }
        chain.wait(die.free, die.last.part());
        let Site { unit, row, plane, .. } = *site;
        let start = chain.now + self.timing.command_ns;
        Group { kind, unit, row, planes: plane, ready: chain.now, start }
    }

    #[inline(always)]
    fn time_read(&mut self, from: Ppn, cause: Cause, chain: &mut Chain) {
        let site = self.site(from);
        let group = self.engage(Kind::Read, &site, chain);
        let began = chain.now;
        chain.wait(group.start, Part::Bus);
        chain.wait(group.start + self.timing.read_ns, cause.part());
        self.transfer(site.channel, chain);
        self.finish(&site, group, began, cause, chain);
    }

    #[inline(always)]
    fn time_program(&mut self, to: Ppn, cause: Cause, chain: &mut Chain) {
        let site = self.site(to);
        let mut group = self.engage(Kind::Program, &site, chain);
        let began = chain.now;
        chain.wait(began + self.timing.command_ns, Part::Bus);
        self.transfer(site.channel, chain);
        group.start = group.start.max(chain.now);
        chain.wait(group.start, Part::Bus);
        chain.wait(group.start + self.timing.program_ns, cause.part());
        self.finish(&site, group, began, cause, chain);
    }

    #[inline(always)]
    fn finish(&mut self, site: &Site, group: Group, began: u64, cause: Cause, chain: &Chain) {
        let die = &mut self.dies[site.die];
        die.occupy(began, chain.now, cause);
        die.group = Some(group);
        self.end = self.end.max(chain.now);
    }

    /// Operations that do not depend on each other: all begin now, the chain goes on after the one
    /// that ends last; of several that end together that is the last in order.
    #[inline(always)]
    fn all_at_once<T>(
        &mut self,
        of: &[T],
        chain: &mut Chain,
        operation: impl Fn(&mut Self, &T, &mut Chain),
    ) {
        let (begin, mut last) = (*chain, *chain);
        for item in of {
            let mut branch = begin;
            operation(self, item, &mut branch);
            last = last.last(branch);
        }
        *chain = last;
    }

    /// One erase per die of the unit, all dies at once.
    fn time_erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) {
        let shape = *self.geometry.shape();
        let first = self.geometry.first_plane(unit);
        let last = first + shape.superblock - 1;
        let dies: Vec<u32> = (first / shape.planes..=last / shape.planes).collect();
        self.all_at_once(&dies, chain, |timed, &die, branch| {
            let at = die as usize;
            branch.wait(timed.dies[at].free, timed.dies[at].last.part());
            let began = branch.now;
            branch.wait(began + timed.timing.command_ns, Part::Bus);
            branch.wait(branch.now + timed.timing.erase_ns, cause.part());
            timed.dies[at].occupy(began, branch.now, cause);
            timed.dies[at].group = None;
        });
        self.end = self.end.max(chain.now);
    }
}

impl<N: Nand> Nand for Timed<N> {
    type Error = N::Error;

    #[inline(always)]
    fn read(
        &mut self,
        from: Ppn,
        owner: Owner,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        self.time_read(from, cause, chain);
        self.inner.read(from, owner, cause, chain)
    }

    #[inline(always)]
    fn program(
        &mut self,
        to: Ppn,
        tag: Tag,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        self.time_program(to, cause, chain);
        self.inner.program(to, tag, cause, chain)
    }

    #[inline(always)]
    fn copy(&mut self, moves: &[Move], cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        self.all_at_once(moves, chain, |timed, step, chain| {
            timed.time_read(step.from, cause, chain)
        });
        self.all_at_once(moves, chain, |timed, step, chain| {
            timed.time_program(step.to, cause, chain)
        });
        self.inner.copy(moves, cause, chain)
    }

    fn load_payload(&mut self, bytes: &[u8]) {
        self.inner.load_payload(bytes);
    }

    fn erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        self.time_erase(unit, cause, chain);
        self.inner.erase(unit, cause, chain)
    }

    fn report(&self, counters: &mut Counters) {
        self.inner.report(counters);
        counters.occupation = Occupation {
            end_ns: self.end,
            busy_ns: self.dies.iter().map(|die| die.busy).sum(),
            busiest_ns: self.dies.iter().map(|die| die.busy).max().unwrap_or(0),
        };
    }

    fn reset_counters(&mut self) {
        self.inner.reset_counters();
        self.dies.fill(IDLE);
        self.channels.fill(Channel::default());
        self.end = 0;
    }
}

#[cfg(test)]
mod tests;
