//! A medium on which every operation takes its time and nobody waits for a die: what a drive does
//! can be timed by adding up.

use std::convert::Infallible;

use floatgate_ftl::addr::{Owner, Ppn, Tag, Unit};
use floatgate_ftl::nand::{Cause, Chain, Counted, FlashCounts, Move, Nand, Occupation, Part};

pub const READ_NS: u64 = 25;
pub const PROGRAM_NS: u64 = 200;
pub const ERASE_NS: u64 = 1500;

/// Pages that are moved at once take as long as one.
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
        takes(chain, READ_NS);
        self.0.read(from, owner, cause, chain)
    }

    fn program(
        &mut self,
        to: Ppn,
        tag: Tag,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), Infallible> {
        takes(chain, PROGRAM_NS);
        self.0.program(to, tag, cause, chain)
    }

    fn copy(&mut self, moves: &[Move], cause: Cause, chain: &mut Chain) -> Result<(), Infallible> {
        takes(chain, READ_NS + PROGRAM_NS);
        self.0.copy(moves, cause, chain)
    }

    fn erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) -> Result<(), Infallible> {
        takes(chain, ERASE_NS);
        self.0.erase(unit, cause, chain)
    }

    fn counts(&self) -> FlashCounts {
        self.0.counts()
    }

    fn occupation(&self) -> Occupation {
        self.0.occupation()
    }

    fn restart(&mut self) {
        self.0.restart();
    }
}
