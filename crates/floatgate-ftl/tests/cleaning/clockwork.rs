//! A medium on which every operation takes its time and nobody waits for a die: what a drive does
//! can be timed by adding up.

use std::convert::Infallible;

use floatgate_ftl::addr::{Owner, Ppn, Tag, Unit};
use floatgate_ftl::counters::Counters;
use floatgate_ftl::nand::{Cause, Chain, Counted, Move, Nand, Part};

pub const ERASE_NS: u64 = 1500;

/// Some pages take longer than others, so that it matters which of several is waited for.
pub fn read_ns(ppn: Ppn) -> u64 {
    25 + u64::from(ppn.get() % 5)
}

pub fn program_ns(ppn: Ppn) -> u64 {
    200 + u64::from(ppn.get() % 7)
}

/// Pages that are moved at once: the slowest is waited for, when they are read and when they are
/// programmed.
pub fn copy_ns(places: impl Iterator<Item = (Ppn, Ppn)> + Clone) -> u64 {
    let slowest = |times: &mut dyn Iterator<Item = u64>| times.max().unwrap_or(0);
    slowest(&mut places.clone().map(|(from, _)| read_ns(from)))
        + slowest(&mut places.map(|(_, to)| program_ns(to)))
}

/// Counts, and moves chains on.
#[derive(Clone, Debug, Default)]
pub struct Clockwork(Counted);

fn takes(chain: &mut Chain, ns: u64) {
    chain.wait(chain.now + ns, Part::Die);
}

impl Nand for Clockwork {
    type Error = Infallible;

    fn read(
        &mut self,
        from: Ppn,
        owner: Owner,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), Infallible> {
        takes(chain, read_ns(from));
        self.0.read(from, owner, cause, chain)
    }

    fn program(
        &mut self,
        to: Ppn,
        tag: Tag,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), Infallible> {
        takes(chain, program_ns(to));
        self.0.program(to, tag, cause, chain)
    }

    fn copy(&mut self, moves: &[Move], cause: Cause, chain: &mut Chain) -> Result<(), Infallible> {
        takes(chain, copy_ns(moves.iter().map(|moved| (moved.from, moved.to))));
        self.0.copy(moves, cause, chain)
    }

    fn erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) -> Result<(), Infallible> {
        takes(chain, ERASE_NS);
        self.0.erase(unit, cause, chain)
    }

    fn report(&self, counters: &mut Counters) {
        self.0.report(counters);
    }

    fn reset_counters(&mut self) {
        self.0.reset_counters();
    }
}
