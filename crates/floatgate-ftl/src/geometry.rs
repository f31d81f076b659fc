//! The shape of a drive: how pages, erase units, planes, dies and channels nest.

use crate::addr::{Lbn, Lpn, PAGE_MAX, Ppn, Tpn, Unit};

/// What a drive is made of, as the user states it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Bytes in a page.
    pub page_bytes: u32,
    /// Pages in a block.
    pub pages_per_block: u32,
    /// Blocks in an erase unit.
    pub superblock: u32,
    /// Erase units, the reserve included.
    pub units: u32,
    /// Channels of the drive.
    pub channels: u32,
    /// Dies on a channel.
    pub dies: u32,
    /// Planes in a die.
    pub planes: u32,
    /// Pages that the host can address.
    pub logical_pages: u32,
    /// Bytes of a map entry on flash.
    pub entry_bytes: u32,
}

/// Why a [`Shape`] is not a drive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ShapeError {
    /// A number that must be at least 1 is 0.
    Zero(&'static str),
    /// More pages than an address can name.
    TooManyPages {
        /// Physical pages asked for.
        pages: u64,
    },
    /// A superblock that does not tile the planes of the drive.
    Superblock {
        /// Blocks in the unit.
        superblock: u32,
        /// Planes of the drive.
        planes: u32,
    },
    /// More dies than the clock can name.
    TooManyDies {
        /// Dies of all channels.
        dies: u64,
    },
    /// A page that is no power of two.
    Page {
        /// Bytes in a page.
        page_bytes: u32,
    },
    /// A page too small for one map entry.
    Entry {
        /// Bytes in a page.
        page_bytes: u32,
        /// Bytes of an entry.
        entry_bytes: u32,
    },
}

/// The most dies that a drive has.
const DIES_MAX: u64 = 1 << 16;

impl core::fmt::Display for ShapeError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Zero(what) => write!(f, "{what} must be at least 1, not 0"),
            Self::TooManyPages { pages } => {
                write!(f, "a drive may have at most {PAGE_MAX} physical pages, not {pages}")
            }
            Self::Superblock { superblock, planes } => write!(
                f,
                "flash.superblock = {superblock} must divide the drive's {planes} planes \
                 (channels x dies x planes)"
            ),
            Self::TooManyDies { dies } => {
                write!(f, "flash.channels x flash.dies must be at most {DIES_MAX}, not {dies}")
            }
            Self::Page { page_bytes } => {
                write!(f, "flash.page must be a power of two, not {page_bytes} bytes")
            }
            Self::Entry { page_bytes, entry_bytes } => {
                write!(f, "a page of {page_bytes} bytes cannot hold map entries of {entry_bytes}")
            }
        }
    }
}

impl core::error::Error for ShapeError {}

/// Division by a number fixed at set-up: a shift where that is exact.
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

/// A checked [`Shape`], and the arithmetic on it. Everything else asks here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    shape: Shape,
    pages_per_unit: Divisor,
    superblock: Divisor,
    /// Units that lie side by side: how often a superblock fits into the planes.
    groups: Divisor,
    entries: Divisor,
}

impl Geometry {
    /// Checks every relation that the rest relies on.
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
        Ok(Self {
            shape,
            pages_per_unit: Divisor::new(per_unit as u32),
            superblock: Divisor::new(shape.superblock),
            groups: Divisor::new(planes as u32 / shape.superblock),
            entries: Divisor::new(entries),
        })
    }

    /// The shape this was made from.
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Log2 of the bytes in a page.
    #[inline(always)]
    pub const fn log2_page_bytes(&self) -> u32 {
        self.shape.page_bytes.trailing_zeros()
    }

    /// Erase units, the reserve included.
    pub const fn units(&self) -> u32 {
        self.shape.units
    }

    /// Pages in an erase unit.
    #[inline(always)]
    pub const fn pages_per_unit(&self) -> u32 {
        self.pages_per_unit.by
    }

    /// Pages of flash.
    pub const fn physical_pages(&self) -> u32 {
        self.shape.units * self.pages_per_unit.by
    }

    /// Pages that the host can address.
    pub const fn logical_pages(&self) -> u32 {
        self.shape.logical_pages
    }

    /// Map entries in a translation page.
    pub const fn entries_per_page(&self) -> u32 {
        self.entries.by
    }

    /// Translation pages that the whole map takes.
    pub const fn translation_pages(&self) -> u32 {
        self.shape.logical_pages.div_ceil(self.entries.by)
    }

    /// The translation page that holds this logical page's entry.
    #[inline(always)]
    pub fn translation_page(&self, lpn: Lpn) -> Tpn {
        Tpn::new(self.entries.split(lpn.get()).0)
    }

    /// Logical blocks; the last one may be short.
    pub const fn logical_blocks(&self) -> u32 {
        self.shape.logical_pages.div_ceil(self.pages_per_unit.by)
    }

    /// The logical block of a page, and its place there.
    #[inline(always)]
    pub fn logical_place(&self, lpn: Lpn) -> (Lbn, u32) {
        let (lbn, offset) = self.pages_per_unit.split(lpn.get());
        (Lbn(lbn), offset)
    }

    /// How many pages a logical block has.
    pub fn pages_of(&self, lbn: Lbn) -> u32 {
        let pages = self.pages_per_unit.by;
        pages.min(self.shape.logical_pages - lbn.0 * pages)
    }

    /// Page `offset` of a logical block.
    #[inline(always)]
    pub fn logical_page(&self, lbn: Lbn, offset: u32) -> Lpn {
        Lpn::new(lbn.0 * self.pages_per_unit.by + offset)
    }

    /// Planes of the whole drive.
    pub const fn planes(&self) -> u32 {
        self.shape.channels * self.shape.dies * self.shape.planes
    }

    /// Unit and page in the unit of a physical page.
    #[inline(always)]
    pub fn place(&self, ppn: Ppn) -> (Unit, u32) {
        let (unit, page) = self.pages_per_unit.split(ppn.get());
        (Unit(unit), page)
    }

    /// The unit of a physical page.
    #[inline(always)]
    pub fn unit(&self, ppn: Ppn) -> Unit {
        self.place(ppn).0
    }

    /// Page `page` of `unit`.
    #[inline(always)]
    pub fn page(&self, unit: Unit, page: u32) -> Ppn {
        Ppn::new(unit.0 * self.pages_per_unit.by + page)
    }

    /// Where a page lies: its plane among all of the drive, and its row in the block there.
    /// A unit is striped over planes, then dies, then channels.
    #[inline(always)]
    pub fn plane_and_row(&self, ppn: Ppn) -> (u32, u32) {
        let (unit, page) = self.place(ppn);
        let (row, column) = self.superblock.split(page);
        (self.first_plane(unit) + column, row)
    }

    /// The first of the planes that a unit is striped over.
    #[inline(always)]
    pub fn first_plane(&self, unit: Unit) -> u32 {
        self.groups.split(unit.0).1 * self.superblock.by
    }
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
