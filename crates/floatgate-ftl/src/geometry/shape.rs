//! Dimensions of a drive, as the user states them, and the errors in them.

use crate::addr::PAGE_MAX;

/// Dimensions of a drive, as the user states them.
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
    /// The program unit, if a die programs more than a page at once.
    pub program_unit: Option<ProgramUnit>,
}

/// Pages that a die programs at once: a row of flash pages on all planes of a die, at all levels of
/// its cells (the lower, middle and upper page of TLC). The map units in it are consecutive. They
/// fill the flash pages of the first level, plane by plane, and then the next level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgramUnit {
    /// Map units in a program unit.
    pub pages: u32,
    /// Flash pages on each plane: one for each bit of a cell in the row.
    pub levels: u32,
    /// Whether the pages that wait in the controller's memory for a full program unit survive a
    /// loss of power.
    pub is_protected: bool,
    /// Program units in a parity stripe, each on another die: one of them holds the parity of the
    /// others.
    pub stripe: Option<u32>,
}

/// Error in a [`Shape`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ShapeError {
    /// A number that must be at least 1 is 0.
    Zero(&'static str),
    /// More pages than an address can name.
    TooManyPages {
        /// Physical pages of the shape.
        pages: u64,
    },
    /// A superblock that does not tile the planes of the drive.
    Superblock {
        /// Blocks in the unit.
        superblock: u32,
        /// Planes of the drive.
        planes: u32,
    },
    /// A program unit that does not tile the blocks of a die.
    ProgramUnit {
        /// Map units in the program unit.
        pages: u32,
        /// Flash pages in the program unit.
        flash_pages: u32,
    },
    /// Parity stripes that do not tile the dies of an erase unit.
    Stripe {
        /// Program units in a stripe.
        stripe: u32,
        /// Dies of an erase unit.
        dies: u32,
    },
    /// More dies than the clock can name.
    TooManyDies {
        /// Dies of all channels.
        dies: u64,
    },
    /// Page size that is not a power of two.
    Page {
        /// Bytes in a page.
        page_bytes: u32,
    },
    /// Page too small for one map entry.
    Entry {
        /// Bytes in a page.
        page_bytes: u32,
        /// Bytes of an entry.
        entry_bytes: u32,
    },
}

/// Largest number of dies in a drive.
pub(super) const DIES_MAX: u64 = 1 << 16;

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
            Self::ProgramUnit { pages, flash_pages } => write!(
                f,
                "a program unit of {flash_pages} flash pages holds {pages} pages of the map: \
                 expected one number to divide the other, whole blocks of such units, and erase \
                 units over all planes of a die"
            ),
            Self::Stripe { stripe, dies } => write!(
                f,
                "a parity stripe of {stripe} dies: expected at least 2, and a divisor of the \
                 {dies} dies of an erase unit"
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
