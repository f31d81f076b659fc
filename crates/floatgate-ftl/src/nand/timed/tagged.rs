//! The out-of-band areas of a medium with a clock: the medium below provides them.

use alloc::vec::Vec;

use super::Timed;
use crate::addr::{Ppn, Tag, Unit};
use crate::geometry::{Geometry, Mode};
use crate::nand::Tagged;

impl<N: Tagged> Tagged for Timed<N> {
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

    fn tags(&self, unit: Unit, geometry: &Geometry, tags: &mut Vec<Option<Tag>>) {
        self.inner.tags(unit, geometry, tags);
    }
}
