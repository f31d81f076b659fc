//! The medium that panics when a rule of NAND is broken, so that every test of an FTL tests the
//! rules.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::{Cause, Chain, Move, Moves, Nand, ReadSource, Tagged, Tear};
use crate::addr::{Lpn, Owner, OwnerSlot, Ppn, Tag, Unit};
use crate::geometry::{Geometry, Mode, Modes};

/// Asserts the rules of [`Nand`] around another medium. Costs 24 bytes per page.
#[derive(Clone, Debug)]
pub struct Checked<N> {
    inner: N,
    geometry: Geometry,
    modes: Modes,
    gaps: bool,
    /// The page after the last one programmed since the last erase, by unit.
    programmed: Vec<u32>,
    /// Out-of-band area of every programmed page.
    oob: Vec<Oob>,
    /// Payloads of the layer, by page, and the payload that it programs next.
    notes: BTreeMap<u32, Vec<u8>>,
    loaded: Option<Vec<u8>>,
}

/// A [`Tag`] or none, packed.
#[derive(Clone, Copy, Debug)]
struct Oob {
    owner: OwnerSlot,
    original: Option<Lpn>,
    sequence: u64,
    serial: u64,
}

impl Oob {
    const NONE: Self = Self { owner: OwnerSlot::NONE, original: None, sequence: 0, serial: 0 };

    fn from_tag(Tag { owner, original, sequence, serial }: Tag) -> Self {
        Self { owner: OwnerSlot::from_owner(owner), original, sequence, serial }
    }

    fn tag(self) -> Option<Tag> {
        let Self { original, sequence, serial, .. } = self;
        self.owner.get().map(|owner| Tag { owner, original, sequence, serial })
    }
}

impl<N> Checked<N> {
    /// Creates an erased drive of this geometry.
    pub fn new(inner: N, geometry: Geometry) -> Self {
        Self {
            inner,
            geometry,
            modes: Modes::new(geometry),
            gaps: false,
            programmed: vec![0; geometry.units() as usize],
            oob: vec![Oob::NONE; geometry.physical_pages() as usize],
            notes: BTreeMap::new(),
            loaded: None,
        }
    }

    /// Allows gaps: the order of programs stays ascending, but the layer may leave pages out.
    #[must_use]
    pub fn with_gaps(self) -> Self {
        Self { gaps: true, ..self }
    }

    /// Replaces the tag of a page, or removes it: for tests of recovery.
    pub fn set_tag(&mut self, ppn: Ppn, tag: Option<Tag>) {
        self.oob[ppn.index()] = tag.map_or(Oob::NONE, Oob::from_tag);
    }

    /// Removes the layer's payload of a page: for tests of recovery.
    pub fn lose_payload(&mut self, ppn: Ppn) {
        self.notes.remove(&ppn.get());
    }

    fn assert_holds(&self, ppn: Ppn, owner: Owner) {
        let (unit, page) = self.geometry.place(ppn);
        assert!(page < self.programmed[unit.index()], "{ppn:?} of {unit:?} is not programmed");
        let tag = self.oob[ppn.index()].tag();
        let owned = tag
            .is_some_and(|tag| tag.owner == owner || tag.original.map(Owner::Data) == Some(owner));
        assert!(owned, "{ppn:?} belongs to another, as {tag:?} says, not to {owner:?}");
    }

    fn note_program(&mut self, to: Ppn, tag: Option<Tag>) {
        let (unit, page) = self.geometry.place(to);
        let next = &mut self.programmed[unit.index()];
        let in_order = page == *next || (self.gaps && page > *next);
        assert!(in_order, "{unit:?} must be programmed in order: {page} is not {next}");
        let capacity = self.modes.geometry_of(unit).unit_capacity();
        assert!(page < capacity, "{unit:?} holds {capacity} pages in its mode, not page {page}");
        for gap in *next..page {
            self.oob[self.geometry.page(unit, gap).index()] = Oob::NONE;
        }
        *next = page + 1;
        self.oob[to.index()] = tag.map_or(Oob::NONE, Oob::from_tag);
        if let Some(note) = self.loaded.take() {
            self.notes.insert(to.get(), note);
        }
    }

    /// Clears the tag and the payload of a page.
    fn clear(&mut self, ppn: Ppn) {
        self.oob[ppn.index()] = Oob::NONE;
        self.notes.remove(&ppn.get());
    }
}

#[deny(clippy::missing_trait_methods)]
impl<N: Nand> Nand for Checked<N> {
    type Error = N::Error;
    type Clock = N::Clock;

    crate::forward_nand!(clock close_stripe report reset_counters read_failed is_read_only alone);

    fn read(
        &mut self,
        from: Ppn,
        owner: Owner,
        source: ReadSource,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        self.assert_holds(from, owner);
        self.inner.read(from, owner, source, cause, chain)
    }

    fn program(
        &mut self,
        to: Ppn,
        tag: Tag,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        self.note_program(to, Some(tag));
        self.inner.program(to, tag, cause, chain)
    }

    fn pad(&mut self, from: Ppn, pages: u32, chain: &mut Chain) -> Result<(), N::Error> {
        for step in 0..pages {
            self.note_program(Ppn::new(from.get() + step), None);
        }
        self.inner.pad(from, pages, chain)
    }

    fn copy(&mut self, moves: impl Moves, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        for Move { from, to, owner, serial, .. } in moves.clone() {
            self.assert_holds(from, owner);
            let tag = Tag::new(owner, self.oob[from.index()].sequence, serial);
            self.note_program(to, Some(tag));
        }
        self.inner.copy(moves, cause, chain)
    }

    fn load_payload(&mut self, bytes: &[u8]) {
        self.loaded = Some(bytes.to_vec());
        self.inner.load_payload(bytes);
    }

    fn set_mode(&mut self, unit: Unit, mode: Mode) {
        assert_eq!(self.programmed[unit.index()], 0, "the mode of {unit:?}, which is not erased");
        self.modes.set(unit, mode);
        self.inner.set_mode(unit, mode);
    }

    fn erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        assert!(self.programmed[unit.index()] > 0, "{unit:?} is already erased");
        self.programmed[unit.index()] = 0;
        if !self.notes.is_empty() {
            self.notes.retain(|&page, _| self.geometry.unit(Ppn::new(page)) != unit);
        }
        self.inner.erase(unit, cause, chain)
    }
}

impl<N: Nand> Tagged for Checked<N> {
    fn tag(&self, ppn: Ppn) -> Option<Tag> {
        let (unit, page) = self.geometry.place(ppn);
        let programmed = page < self.programmed[unit.index()];
        if programmed { self.oob[ppn.index()].tag() } else { None }
    }

    fn programmed(&self, unit: Unit) -> u32 {
        self.programmed[unit.index()]
    }

    fn mode(&self, unit: Unit) -> Mode {
        self.modes.mode(unit)
    }

    fn payload(&self, ppn: Ppn) -> Option<Vec<u8>> {
        self.notes.get(&ppn.get()).cloned()
    }
}

impl<N> Tear for Checked<N> {
    fn tear_program(&mut self, to: Ppn) {
        let (unit, page) = self.geometry.place(to);
        let programmed = self.programmed[unit.index()];
        let in_mode = self.modes.geometry_of(unit);
        let left_out = match in_mode.program_unit() {
            // Protected memory has power to finish each program that was begun.
            _ if self.geometry.has_program_units() && !self.geometry.loses_pages() => return,
            1 => programmed..=page,
            _ if in_mode.left_in_program_unit(to) > 1 => return,
            pages => page + 1 - pages..=page,
        };
        left_out.for_each(|page| self.clear(self.geometry.page(unit, page)));
        self.programmed[unit.index()] = page + 1;
        self.loaded = None;
    }

    fn lose_memory(&mut self) {
        for unit in (0..self.geometry.units()).map(Unit) {
            let pages = self.modes.geometry_of(unit).program_unit();
            let programmed = self.programmed[unit.index()];
            let (kept, full) =
                (programmed - programmed % pages, programmed.next_multiple_of(pages));
            let is_lost = self.geometry.loses_pages();
            let (cleared, left) =
                if is_lost { (kept..programmed, kept) } else { (programmed..full, full) };
            cleared.for_each(|page| self.clear(self.geometry.page(unit, page)));
            self.programmed[unit.index()] = left;
        }
    }

    fn tear_erase(&mut self, unit: Unit, survives: fn(u32) -> bool) {
        let pages = self.geometry.pages_per_unit();
        let lost = |&page: &u32| page >= self.programmed[unit.index()] || !survives(page);
        let lost: Vec<u32> = (0..pages).filter(lost).collect();
        lost.into_iter().for_each(|page| self.clear(self.geometry.page(unit, page)));
        self.programmed[unit.index()] = pages;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::Lpn;
    use crate::geometry::Shape;
    use crate::nand::Counted;

    const ME: Owner = Owner::Data(Lpn::new(5));
    const MOVE: Move =
        Move { from: Ppn::new(0), to: Ppn::new(4), owner: ME, serial: 0, joins_read: false };

    fn tiny() -> Checked<Counted> {
        let shape = Shape { units: 3, logical_pages: 8, ..Shape::SMALL };
        Checked::new(Counted::default(), Geometry::new(shape).unwrap())
    }

    fn program(nand: &mut Checked<Counted>, page: u32) {
        nand.program(Ppn::new(page), Tag::new(ME, 0, 0), Cause::Host, &mut Chain::default())
            .unwrap();
    }

    #[test]
    #[should_panic(expected = "in order")]
    fn pages_are_programmed_in_order() {
        program(&mut tiny(), 1);
    }

    #[test]
    #[should_panic(expected = "in order")]
    fn gaps_are_not_filled_in() {
        let mut nand = tiny().with_gaps();
        program(&mut nand, 2);
        program(&mut nand, 1);
    }

    #[test]
    #[should_panic(expected = "belongs to another")]
    fn a_gap_is_not_read() {
        let mut nand = tiny().with_gaps();
        program(&mut nand, 0);
        nand.erase(Unit(0), Cause::Gc, &mut Chain::default()).unwrap();
        program(&mut nand, 2);
        nand.read(Ppn::new(0), ME, ReadSource::Cells, Cause::Host, &mut Chain::default()).unwrap();
    }

    #[test]
    #[should_panic(expected = "in order")]
    fn a_page_is_programmed_once_between_erases() {
        let mut nand = tiny();
        program(&mut nand, 0);
        program(&mut nand, 0);
    }

    #[test]
    #[should_panic(expected = "not programmed")]
    fn a_free_page_is_not_read() {
        tiny()
            .read(Ppn::new(0), ME, ReadSource::Cells, Cause::Host, &mut Chain::default())
            .unwrap();
    }

    #[test]
    #[should_panic(expected = "belongs to another")]
    fn a_page_is_read_by_its_owner_only() {
        let mut nand = tiny();
        program(&mut nand, 0);
        let other = Owner::Data(Lpn::new(6));
        nand.read(Ppn::new(0), other, ReadSource::Cells, Cause::Host, &mut Chain::default())
            .unwrap();
    }

    #[test]
    fn an_erased_unit_starts_again() {
        let mut nand = tiny();
        program(&mut nand, 0);
        nand.copy([MOVE].into_iter(), Cause::Gc, &mut Chain::default()).unwrap();
        nand.erase(Unit(0), Cause::Gc, &mut Chain::default()).unwrap();
        program(&mut nand, 0);
        nand.read(Ppn::new(4), ME, ReadSource::Cells, Cause::Host, &mut Chain::default()).unwrap();
        let counts = nand.counters().flash;
        assert_eq!((counts.programs[0], counts.programs[2], counts.erases[2]), (2, 1, 1));
        assert_eq!((counts.reads[0], counts.reads[2]), (1, 1));
    }
}
