//! Parity over dies, so that a failed die loses no data.
//!
//! Each row of an erase unit has one program unit on each die of the erase unit. These program
//! units are divided into stripes, and one program unit of each stripe holds parity. In the first
//! row it is the last one of the stripe, in the next row the one before it, and so on, cyclically.
//! So all dies serve the same share of reads. Parity pages have no page number. The controller
//! writes them when a stripe has all its data; a translation layer neither places nor moves them.

use super::{Divisor, Geometry, ShapeError};
use crate::addr::Ppn;

/// Layout of the parity over the dies of an erase unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ParityStripe {
    /// Program units of data in a stripe.
    data: Divisor,
    /// Pages of data in a stripe.
    pages: Divisor,
}

impl ParityStripe {
    /// Returns this layout for program units of `pages` pages.
    pub(super) fn of_program_units(self, pages: u32) -> Self {
        Self { pages: Divisor::new(self.data.by * pages), ..self }
    }

    /// Returns the position in the stripe that holds the parity of a row.
    fn place(self, row: u32) -> u32 {
        self.data.by - row % (self.data.by + 1)
    }

    /// Returns the die of a data column in a row, counted among the dies of its unit.
    pub(super) fn die(self, row: u32, column: u32) -> u32 {
        let (stripe, at) = self.data.split(column);
        stripe * (self.data.by + 1) + at + u32::from(at >= self.place(row))
    }

    /// Returns the die with the parity of a column in a row, counted among the dies of its unit.
    fn die_of_parity(self, row: u32, column: u32) -> u32 {
        self.data.split(column).0 * (self.data.by + 1) + self.place(row)
    }
}

impl Geometry {
    /// Adds parity to the geometry: one of every `stripe` program units holds parity.
    pub(super) fn with_parity(self, stripe: Option<u32>) -> Result<Self, ShapeError> {
        let Some(stripe) = stripe else { return Ok(self) };
        let dies = self.columns.by;
        if stripe < 2 || !dies.is_multiple_of(stripe) {
            return Err(ShapeError::Stripe { stripe, dies });
        }
        let columns = dies - dies / stripe;
        let pages = self.pages_per_unit.by / dies * columns;
        let data = Divisor::new(stripe - 1);
        let parity = ParityStripe { data, pages: data }.of_program_units(self.program_unit.by);
        Ok(Self {
            pages_per_unit: Divisor::new(pages),
            capacity: pages,
            columns: Divisor::new(columns),
            parity: Some(parity),
            ..self
        })
    }

    /// Returns the number of pages in an erase unit, parity pages included.
    pub const fn pages_with_parity(&self) -> u32 {
        self.shape.pages_per_block * self.shape.superblock
    }

    /// Returns the first page of a page's parity stripe, and the number of pages from this page to
    /// the end of the stripe, this page included.
    #[inline(always)]
    pub(crate) fn stripe_of(&self, ppn: Ppn) -> Option<(Ppn, u32)> {
        let ParityStripe { pages, .. } = self.parity?;
        let at = pages.split(ppn.get()).1;
        Some((Ppn::new(ppn.get() - at), pages.by - at))
    }

    /// Returns the number of whole parity stripes before a page of the drive; 0 without parity.
    #[inline(always)]
    pub(crate) fn stripes_before(&self, ppn: Ppn) -> u32 {
        self.parity.map_or(0, |parity| parity.pages.split(ppn.get()).0)
    }

    /// Returns the location of the parity of a page's stripe, as [`Geometry::plane_and_row`] does
    /// for data.
    pub(crate) fn parity_plane_and_row(&self, ppn: Ppn) -> Option<(u32, u32)> {
        let parity = self.parity?;
        let (unit, page) = self.place(ppn);
        let (row, column) = self.columns.split(self.program_unit.split(page).0);
        let die = parity.die_of_parity(row, column);
        Some((self.first_plane(unit) + die * self.shape.planes, row * self.levels))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::addr::Unit;
    use crate::geometry::{Mode, ProgramUnit, Shape};

    /// Two erase units on 8 dies with 2 planes; 12 rows of 3 levels; 2 map units in a flash page.
    pub(crate) fn geometry(stripe: Option<u32>) -> Result<Geometry, ShapeError> {
        Geometry::new(Shape {
            page_bytes: 8192,
            pages_per_block: 72,
            superblock: 16,
            units: 2,
            channels: 4,
            dies: 2,
            planes: 2,
            logical_pages: 1,
            entry_bytes: 4,
            program_unit: Some(ProgramUnit { pages: 12, levels: 3, is_protected: true, stripe }),
        })
    }

    /// Each die has exactly one program unit, data or parity, in each row. If two overlapped or one
    /// were missing, data would be lost or flash wasted.
    #[test]
    fn data_and_parity_fill_every_row_of_every_die_once() {
        for (stripe, mode) in [(2, Mode::Native), (4, Mode::Native), (8, Mode::Slc)] {
            let geometry = geometry(Some(stripe)).unwrap().in_mode(mode);
            let program_unit = geometry.program_unit();
            let dies = 8;
            let mut places = Vec::new();
            let mut parity = alloc::vec![0; dies as usize];
            for page in (0..geometry.unit_capacity()).step_by(program_unit as usize) {
                let ppn = geometry.page(Unit(1), page);
                places.push(geometry.plane_and_row(ppn));
                let (first, left) = geometry.stripe_of(ppn).unwrap();
                assert_eq!(left % program_unit, 0);
                if left == program_unit {
                    let place = geometry.parity_plane_and_row(ppn).unwrap();
                    assert_eq!(geometry.parity_plane_and_row(first), Some(place));
                    parity[place.0 as usize / 2] += 1;
                    places.push(place);
                }
            }
            places.sort_unstable();
            let rows = 0..72 / 6;
            let levels = geometry.levels();
            let all =
                (0..dies).flat_map(|die| rows.clone().map(move |row| (die * 2, row * levels)));
            assert!(places.into_iter().eq(all), "stripes of {stripe}");
            let share = 12 / stripe;
            assert!(parity.iter().all(|&units| units >= share && units <= share + 1), "{parity:?}");
        }
    }

    #[test]
    fn parity_takes_its_share_of_a_unit() {
        let (with, without) = (geometry(Some(4)).unwrap(), geometry(None).unwrap());
        assert_eq!(without.pages_per_unit(), 72 * 16);
        assert_eq!(with.pages_per_unit(), 72 * 12);
        assert_eq!(with.pages_with_parity(), 72 * 16);
        assert_eq!(with.row_pages(), 12 * 6);
        assert_eq!(without.stripe_of(Ppn::new(5)), None);
    }

    #[test]
    fn stripes_have_to_tile_the_dies() {
        for stripe in [0, 1, 3, 16] {
            assert_eq!(geometry(Some(stripe)), Err(ShapeError::Stripe { stripe, dies: 8 }));
        }
    }
}
