//! The shape of a drive: how pages, erase units, planes, dies and channels nest.

mod mode;
mod parity;
mod shape;

use crate::addr::{Lbn, Lpn, PAGE_MAX, Ppn, Tpn, Unit};
pub use mode::{Mode, Modes};
use parity::ParityStripe;
#[cfg(test)]
pub(crate) use parity::tests::geometry as rows_with_parity;
use shape::DIES_MAX;
pub use shape::{ProgramUnit, Shape, ShapeError};

/// Divisor that is fixed at set-up. Division by a power of two is a shift.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Divisor {
    by: u32,
    shift: Option<u32>,
}

impl Divisor {
    fn new(by: u32) -> Self {
        Self { by, shift: by.is_power_of_two().then(|| by.trailing_zeros()) }
    }

    #[inline(always)]
    fn split(self, n: u32) -> (u32, u32) {
        match self.shift {
            Some(shift) => (n >> shift, n & (self.by - 1)),
            None => (n / self.by, n % self.by),
        }
    }
}

/// A checked [`Shape`], and the arithmetic on it. All other modules get their addresses from here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    shape: Shape,
    pages_per_unit: Divisor,
    /// Pages of a unit that can be programmed in the current mode.
    capacity: u32,
    superblock: Divisor,
    /// Number of superblocks that fit side by side into the planes of the drive.
    groups: Divisor,
    entries: Divisor,
    /// Map units in a program unit; 1 if each page is programmed alone.
    program_unit: Divisor,
    /// Flash pages in a program unit, and how many of them are on each plane.
    flash_pages: u32,
    levels: u32,
    /// Map units in a flash page, at least 1.
    pages_per_read: Divisor,
    /// Program units of data in a row of an erase unit: one on each die of the unit, except the
    /// dies that hold parity. Without program units: pages in a row, one on each plane of the unit.
    columns: Divisor,
    /// Layout of the parity over the dies.
    parity: Option<ParityStripe>,
}

impl Geometry {
    /// Checks every relation that the rest of the code relies on.
    ///
    /// # Errors
    /// A [`ShapeError`] that names the number that does not fit.
    pub fn new(shape: Shape) -> Result<Self, ShapeError> {
        for (what, n) in [
            ("flash.page", shape.page_bytes),
            ("flash.pages_per_block", shape.pages_per_block),
            ("flash.superblock", shape.superblock),
            ("flash.blocks", shape.units),
            ("flash.channels", shape.channels),
            ("flash.dies", shape.dies),
            ("flash.planes", shape.planes),
            ("the number of logical pages", shape.logical_pages),
            ("the bytes of a map entry", shape.entry_bytes),
        ] {
            if n == 0 {
                return Err(ShapeError::Zero(what));
            }
        }
        let dies = u64::from(shape.channels) * u64::from(shape.dies);
        let planes = dies.saturating_mul(u64::from(shape.planes));
        let per_unit = u64::from(shape.pages_per_block) * u64::from(shape.superblock);
        let pages = per_unit.saturating_mul(u64::from(shape.units));
        if planes > u64::from(PAGE_MAX) || pages > u64::from(PAGE_MAX) {
            return Err(ShapeError::TooManyPages { pages });
        }
        if dies > DIES_MAX {
            return Err(ShapeError::TooManyDies { dies });
        }
        if !planes.is_multiple_of(u64::from(shape.superblock)) {
            let planes = planes as u32;
            return Err(ShapeError::Superblock { superblock: shape.superblock, planes });
        }
        if !shape.page_bytes.is_power_of_two() {
            return Err(ShapeError::Page { page_bytes: shape.page_bytes });
        }
        let entries = shape.page_bytes / shape.entry_bytes;
        if entries == 0 {
            let Shape { page_bytes, entry_bytes, .. } = shape;
            return Err(ShapeError::Entry { page_bytes, entry_bytes });
        }
        let page = Self {
            shape,
            pages_per_unit: Divisor::new(per_unit as u32),
            capacity: per_unit as u32,
            superblock: Divisor::new(shape.superblock),
            groups: Divisor::new(planes as u32 / shape.superblock),
            entries: Divisor::new(entries),
            program_unit: Divisor::new(1),
            flash_pages: 1,
            levels: 1,
            pages_per_read: Divisor::new(1),
            columns: Divisor::new(shape.superblock),
            parity: None,
        };
        shape.program_unit.map_or(Ok(page), |unit| page.with_program_unit(unit))
    }

    /// Adds a program unit to the geometry: a die programs this many pages at once.
    fn with_program_unit(self, unit: ProgramUnit) -> Result<Self, ShapeError> {
        let Shape { planes, superblock, pages_per_block, .. } = self.shape;
        let ProgramUnit { pages, levels, .. } = unit;
        let flash_pages = levels.saturating_mul(planes);
        let (least, most) = (pages.min(flash_pages), pages.max(flash_pages));
        let tiles = least > 0
            && most.is_multiple_of(least)
            && most <= u8::MAX.into()
            && superblock.is_multiple_of(planes)
            && (u64::from(pages_per_block) * u64::from(planes)).is_multiple_of(pages.into());
        if !tiles {
            return Err(ShapeError::ProgramUnit { pages, flash_pages });
        }
        Self {
            program_unit: Divisor::new(pages),
            flash_pages,
            levels,
            pages_per_read: Divisor::new((pages / flash_pages).max(1)),
            columns: Divisor::new(superblock / planes),
            ..self
        }
        .with_parity(unit.stripe)
    }

    /// Returns whether a die programs several pages at once.
    #[inline(always)]
    pub const fn has_program_units(&self) -> bool {
        self.shape.program_unit.is_some()
    }

    /// Returns whether a loss of power destroys pages of program units that are not full.
    #[inline(always)]
    pub fn loses_pages(&self) -> bool {
        self.shape.program_unit.is_some_and(|unit| unit.pages > 1 && !unit.is_protected)
    }

    /// Returns the maximum number of units that padding takes while a victim of several erase units
    /// is emptied to `streams` streams. Each erase unit that is opened anew may pad one program
    /// unit of each other stream.
    pub fn units_padded(&self, erase_units: u32, streams: u8) -> u32 {
        let program_units = u64::from(erase_units - 1) * u64::from(streams.saturating_sub(1));
        let pages = u64::from(self.program_unit.by - 1) * program_units;
        match self.loses_pages() {
            true => u32::try_from(pages.div_ceil(self.capacity.into())).unwrap_or(u32::MAX),
            false => 0,
        }
    }

    /// Returns the number of map units in a program unit; 1 if every page is programmed alone.
    #[inline(always)]
    pub const fn program_unit(&self) -> u32 {
        self.program_unit.by
    }

    /// Returns the number of flash pages on each plane of a program unit.
    pub const fn levels(&self) -> u32 {
        self.levels
    }

    /// Returns the number of map units that one read of the cells serves: those in a flash page, at
    /// least 1.
    #[inline(always)]
    pub const fn pages_per_read(&self) -> u32 {
        self.pages_per_read.by
    }

    /// Returns the program unit of a page, counted over the whole drive.
    #[inline(always)]
    pub fn program_unit_of(&self, ppn: Ppn) -> u32 {
        self.program_unit.split(ppn.get()).0
    }

    /// Returns the first page of a page's program unit, and the number of pages from this page to
    /// the end of the program unit, this page included.
    #[inline(always)]
    pub(crate) fn program_unit_at(&self, ppn: Ppn) -> (Ppn, u32) {
        let at = self.program_unit.split(ppn.get()).1;
        (Ppn::new(ppn.get() - at), self.program_unit.by - at)
    }

    /// Returns the number of pages from this page to the end of its program unit, this page
    /// included.
    #[inline(always)]
    pub fn left_in_program_unit(&self, ppn: Ppn) -> u32 {
        self.program_unit.by - self.program_unit.split(ppn.get()).1
    }

    /// Returns whether two pages are in one flash page.
    #[inline(always)]
    pub fn is_read_with(&self, one: Ppn, other: Ppn) -> bool {
        let pages = self.pages_per_read.by;
        let first = one.get() - self.pages_per_read.split(one.get()).1;
        pages > 1 && other.get().wrapping_sub(first) < pages
    }

    /// Returns the number of transfers of a program unit, and the pages of each transfer. A program
    /// unit crosses the channel flash page by flash page, or map unit by map unit if these are
    /// larger. `None` without program units.
    pub const fn transfers_of_program_unit(&self) -> Option<(u32, u32)> {
        let pages = self.pages_per_read.by;
        if self.has_program_units() { Some((self.program_unit.by / pages, pages)) } else { None }
    }

    /// Returns the number of pages in a row of a unit: those written before the first plane is
    /// written again.
    pub const fn row_pages(&self) -> u32 {
        self.program_unit.by * self.columns.by
    }

    /// Returns the shape that this geometry was made from.
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns log2 of the bytes in a page.
    #[inline(always)]
    pub const fn log2_page_bytes(&self) -> u32 {
        self.shape.page_bytes.trailing_zeros()
    }

    /// Returns the number of erase units, the reserve included.
    pub const fn units(&self) -> u32 {
        self.shape.units
    }

    /// Returns the number of pages in an erase unit, without parity pages.
    #[inline(always)]
    pub const fn pages_per_unit(&self) -> u32 {
        self.pages_per_unit.by
    }

    /// Returns the number of pages of an erase unit that can hold data: all pages, but fewer in SLC
    /// mode.
    #[inline(always)]
    pub const fn unit_capacity(&self) -> u32 {
        self.capacity
    }

    /// Returns the number of flash pages, without parity pages.
    pub const fn physical_pages(&self) -> u32 {
        self.shape.units * self.pages_per_unit.by
    }

    /// Returns the number of pages that the host can address.
    pub const fn logical_pages(&self) -> u32 {
        self.shape.logical_pages
    }

    /// Returns the number of map entries in a translation page.
    pub const fn entries_per_page(&self) -> u32 {
        self.entries.by
    }

    /// Returns the number of translation pages of the whole map.
    pub const fn translation_pages(&self) -> u32 {
        self.shape.logical_pages.div_ceil(self.entries.by)
    }

    /// Returns the translation page that holds this logical page's entry.
    #[inline(always)]
    pub fn translation_page(&self, lpn: Lpn) -> Tpn {
        Tpn::new(self.entries.split(lpn.get()).0)
    }

    /// Returns the number of logical blocks. The last one may be short.
    pub const fn logical_blocks(&self) -> u32 {
        self.shape.logical_pages.div_ceil(self.pages_per_unit.by)
    }

    /// Returns the logical block of a page, and the page's offset in the block.
    #[inline(always)]
    pub fn logical_place(&self, lpn: Lpn) -> (Lbn, u32) {
        let (lbn, offset) = self.pages_per_unit.split(lpn.get());
        (Lbn(lbn), offset)
    }

    /// Returns the number of pages of a logical block.
    pub fn pages_of(&self, lbn: Lbn) -> u32 {
        let pages = self.pages_per_unit.by;
        pages.min(self.shape.logical_pages - lbn.0 * pages)
    }

    /// Returns page `offset` of a logical block.
    #[inline(always)]
    pub fn logical_page(&self, lbn: Lbn, offset: u32) -> Lpn {
        Lpn::new(lbn.0 * self.pages_per_unit.by + offset)
    }

    /// Returns the number of planes of the whole drive.
    pub const fn planes(&self) -> u32 {
        self.shape.channels * self.shape.dies * self.shape.planes
    }

    /// Returns the unit of a physical page, and the page's number in the unit.
    #[inline(always)]
    pub fn place(&self, ppn: Ppn) -> (Unit, u32) {
        let (unit, page) = self.pages_per_unit.split(ppn.get());
        (Unit(unit), page)
    }

    /// Returns the unit of a physical page.
    #[inline(always)]
    pub fn unit(&self, ppn: Ppn) -> Unit {
        self.place(ppn).0
    }

    /// Returns page `page` of `unit`.
    #[inline(always)]
    pub fn page(&self, unit: Unit, page: u32) -> Ppn {
        Ppn::new(unit.0 * self.pages_per_unit.by + page)
    }

    /// Returns the location of a page: the plane, counted over the whole drive, and the row in the
    /// block on that plane. A unit is striped over planes, then dies, then channels.
    #[inline(always)]
    pub fn plane_and_row(&self, ppn: Ppn) -> (u32, u32) {
        let (unit, page) = self.place(ppn);
        if self.has_program_units() {
            return self.plane_and_level(unit, page);
        }
        let (row, column) = self.superblock.split(page);
        (self.first_plane(unit) + column, row)
    }

    /// Returns the location of a page on a drive with program units. On each die a row of program
    /// units takes one row of the block for each level.
    fn plane_and_level(&self, unit: Unit, page: u32) -> (u32, u32) {
        let planes = self.shape.planes;
        let (group, at) = self.program_unit.split(page);
        let (row, column) = self.columns.split(group);
        let die = self.parity.map_or(column, |parity| parity.die(row, column));
        let flash_page = at * self.flash_pages / self.program_unit.by;
        let (level, plane) = (flash_page / planes, flash_page % planes);
        (self.first_plane(unit) + die * planes + plane, row * self.levels + level)
    }

    /// Returns the first plane that a unit is striped over.
    #[inline(always)]
    pub fn first_plane(&self, unit: Unit) -> u32 {
        self.groups.split(unit.0).1 * self.superblock.by
    }
}

#[cfg(test)]
impl Shape {
    /// Small drive of most unit tests: one plane, and 16 map entries in a page.
    pub(crate) const SMALL: Self = Self {
        page_bytes: 64,
        pages_per_block: 4,
        superblock: 1,
        units: 8,
        channels: 1,
        dies: 1,
        planes: 1,
        logical_pages: 16,
        entry_bytes: 4,
        program_unit: None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape {
        page_bytes: 4096,
        pages_per_block: 256,
        superblock: 16,
        units: 10,
        channels: 4,
        dies: 2,
        planes: 2,
        logical_pages: 36_000,
        entry_bytes: 4,
        program_unit: None,
    };

    #[test]
    fn a_striped_unit_visits_planes_first() {
        let g = Geometry::new(SHAPE).unwrap();
        assert_eq!(g.pages_per_unit(), 4096);
        assert_eq!(g.plane_and_row(g.page(Unit(3), 0)), (0, 0));
        assert_eq!(g.plane_and_row(g.page(Unit(3), 17)), (1, 1));
        assert_eq!(g.translation_pages(), 36);
        assert_eq!(g.translation_page(Lpn::new(1024)), Tpn::new(1));
    }

    #[test]
    fn units_of_one_block_take_turns_on_the_planes() {
        let g = Geometry::new(Shape { superblock: 1, pages_per_block: 100, ..SHAPE }).unwrap();
        assert_eq!(g.place(Ppn::new(250)), (Unit(2), 50));
        assert_eq!(g.plane_and_row(Ppn::new(250)), (2, 50));
    }

    #[test]
    fn the_last_logical_block_may_be_short() {
        let g = Geometry::new(Shape { superblock: 1, pages_per_block: 100, ..SHAPE }).unwrap();
        assert_eq!(g.logical_place(Lpn::new(250)), (Lbn(2), 50));
        assert_eq!(g.logical_page(Lbn(2), 50), Lpn::new(250));
        assert_eq!((g.logical_blocks(), g.pages_of(Lbn(359))), (360, 100));
        let shape = Shape { logical_pages: 950, superblock: 1, pages_per_block: 100, ..SHAPE };
        let g = Geometry::new(shape).unwrap();
        assert_eq!((g.logical_blocks(), g.pages_of(Lbn(9))), (10, 50));
    }

    #[test]
    fn wrong_shapes_are_named() {
        let check = |shape: Shape, expected: &str| {
            let error = Geometry::new(shape).unwrap_err();
            let mut text = alloc::string::String::new();
            core::fmt::write(&mut text, format_args!("{error}")).unwrap();
            assert!(text.contains(expected), "{text}");
        };
        check(Shape { superblock: 3, ..SHAPE }, "must divide the drive's 16 planes");
        check(Shape { dies: 0, ..SHAPE }, "flash.dies must be at least 1");
        check(Shape { units: u32::MAX, ..SHAPE }, "at most");
        let most = u32::MAX;
        check(Shape { channels: most, dies: most, planes: most, ..SHAPE }, "at most");
        let shape = Shape { channels: 1 << 9, dies: 1 << 7, planes: 1, superblock: 1, ..SHAPE };
        assert_eq!(Geometry::new(shape).map(|_| ()), Ok(()));
        check(Shape { dies: (1 << 7) + 1, ..shape }, "at most 65536, not 66048");
        check(Shape { page_bytes: 3000, ..SHAPE }, "a power of two, not 3000");
        check(Shape { page_bytes: 2, ..SHAPE }, "cannot hold map entries");
    }
}
