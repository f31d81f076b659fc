//! One type per address space; there is no conversion between them.
//!
//! A page address is 32 bits wide. The assertion below therefore proves that the map costs 4 bytes
//! per logical page. A drive may have up to 2^31 - 2 pages (8 TiB of 4 KiB pages).

use core::fmt;
use core::num::NonZeroU32;

use crate::saved::{Blank, Carrier, State};

/// Largest page number of either kind.
pub const PAGE_MAX: u32 = (1 << 31) - 2;

macro_rules! page_number {
    ($(#[$doc:meta])* $Name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Name(NonZeroU32);

        impl $Name {
            /// Returns the page with this number, at most [`PAGE_MAX`].
            #[inline(always)]
            pub const fn new(number: u32) -> Self {
                match NonZeroU32::new(number + 1) {
                    Some(stored) if number <= PAGE_MAX => Self(stored),
                    _ => panic!("page number beyond PAGE_MAX"),
                }
            }

            /// Returns the number of this page, from 0.
            #[inline(always)]
            pub const fn get(self) -> u32 {
                self.0.get() - 1
            }

            /// Returns the page that comes `pages` pages after this one. That page must exist.
            #[inline(always)]
            pub const fn after(self, pages: u32) -> Self {
                Self(self.0.saturating_add(pages))
            }

            /// Returns the number of this page as a table index.
            #[inline(always)]
            pub const fn index(self) -> usize {
                self.get() as usize
            }
        }

        impl State for $Name {
            #[inline(always)]
            fn carry(&mut self, by: &mut Carrier<'_>) {
                let mut number = self.get();
                number.carry(by);
                *self = Self::new(number);
            }
        }

        impl Blank for $Name {
            const BLANK: Self = Self::new(0);
        }

        impl fmt::Debug for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($Name), "({})"), self.get())
            }
        }
    };
}

page_number!(
    /// Logical page number: the address that the host uses.
    Lpn
);
page_number!(
    /// Physical page number: `unit * pages_per_unit + page`.
    Ppn
);
page_number!(
    /// Translation page number: `LPN / entries per translation page`.
    Tpn
);

const _: () = assert!(size_of::<Option<Ppn>>() == 4);

/// Erase unit: a block, or blocks striped over planes, dies and channels (a superblock).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Unit(pub u32);

crate::state!(blank Unit(_));

impl Unit {
    /// Returns the unit's number as a table index.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Logical block: as many logical pages as an erase unit has pages. Block maps map logical blocks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Lbn(pub u32);

impl Lbn {
    /// Returns the block's number as a table index.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Owner of a physical page, as the page's out-of-band area states it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// A page of host data.
    Data(Lpn),
    /// A translation page, which holds map entries.
    Translation(Tpn),
}

/// Contents of a page's out-of-band area: enough to rebuild the map after it is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tag {
    /// The owner that the page is written for.
    pub owner: Owner,
    /// For a log page that the host will remap: the logical page that it will become.
    pub original: Option<Lpn>,
    /// Sequence number of the data: newer data has a higher number, and a copy keeps the number of
    /// its original.
    pub sequence: u64,
    /// Serial number of the program: each later program has a higher number, copies included.
    pub serial: u64,
}

impl Tag {
    /// Returns the tag of a page that will not be remapped.
    #[inline(always)]
    pub const fn new(owner: Owner, sequence: u64, serial: u64) -> Self {
        Self { owner, original: None, sequence, serial }
    }
}

/// Counters that number data and programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stamp {
    /// Sequence number of the newest data.
    pub sequence: u64,
    /// Serial number of the latest program.
    pub serial: u64,
}

crate::state!(Stamp { sequence, serial });

impl Stamp {
    /// Returns the tag of new data.
    #[inline(always)]
    pub const fn write(&mut self, owner: Owner) -> Tag {
        self.sequence += 1;
        Tag::new(owner, self.sequence, self.copy())
    }

    /// Returns the serial number of the next copy.
    #[inline(always)]
    pub const fn copy(&mut self) -> u64 {
        self.copies(1)
    }

    /// Returns the serial number of the first of `pages` copies, which have consecutive numbers.
    #[inline(always)]
    pub const fn copies(&mut self, pages: u32) -> u64 {
        let first = self.serial + 1;
        self.serial += pages as u64;
        first
    }
}

/// An [`Owner`] or none, packed into 4 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OwnerSlot(u32);

crate::state!(blank OwnerSlot(_));

impl State for Owner {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        let mut slot = OwnerSlot::from_owner(*self);
        slot.carry(by);
        *self = slot.get().unwrap_or(Self::BLANK);
    }
}

impl Blank for Owner {
    const BLANK: Self = Self::Data(Lpn::BLANK);
}

impl OwnerSlot {
    /// No owner: the page is free or holds nothing valid.
    pub const NONE: Self = Self(0);
    const TRANSLATION: u32 = 1 << 31;

    /// Packs an owner.
    #[inline(always)]
    pub const fn from_owner(owner: Owner) -> Self {
        match owner {
            Owner::Data(Lpn(stored)) => Self(stored.get()),
            Owner::Translation(Tpn(stored)) => Self(stored.get() | Self::TRANSLATION),
        }
    }

    /// Returns the owner, if there is one.
    #[inline(always)]
    pub const fn get(self) -> Option<Owner> {
        let Some(stored) = NonZeroU32::new(self.0 & !Self::TRANSLATION) else { return None };
        Some(match self.0 & Self::TRANSLATION {
            0 => Owner::Data(Lpn(stored)),
            _ => Owner::Translation(Tpn(stored)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_survive_packing() {
        assert_eq!(OwnerSlot::NONE.get(), None);
        for number in [0, 1, 77, PAGE_MAX] {
            for owner in [Owner::Data(Lpn::new(number)), Owner::Translation(Tpn::new(number))] {
                assert_eq!(OwnerSlot::from_owner(owner).get(), Some(owner));
            }
        }
    }

    #[test]
    #[should_panic(expected = "beyond PAGE_MAX")]
    fn a_page_number_that_does_not_fit_is_a_bug() {
        Lpn::new(PAGE_MAX + 1);
    }
}
