//! Which data goes together: the stream, and so the open unit, of each written page.

mod single;

pub use single::Single;

use crate::addr::Lpn;

/// What is known about a page that is about to be programmed.
#[derive(Clone, Copy, Debug)]
pub struct WriteHint {
    /// The page.
    pub lpn: Lpn,
    /// Pages of the host request that it belongs to.
    pub request_pages: u32,
}

/// Sorts pages into streams. Asked once per page write.
pub trait Placement {
    /// How many streams it sorts into, at least 1.
    fn streams(&self) -> u8;

    /// The stream of a page that the host writes.
    fn stream(&mut self, hint: WriteHint) -> u8;
}

/// The table of placements: config name, variant and type, what it does, where it is from.
macro_rules! placements {
    ($($name:literal $Type:ident, $doc:literal, $source:literal;)*) => {
        /// Name, doc line and source of every placement.
        pub const PLACEMENTS: &[(&str, &str, &str)] = &[$(($name, $doc, $source)),*];

        /// Any placement of the table, without a virtual call per page.
        #[derive(Clone, Debug)]
        pub enum AnyPlacement {
            $(#[doc = $doc] $Type($Type),)*
        }

        impl AnyPlacement {
            /// The placement of this name, if there is one.
            pub fn new(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$Type($Type)),)*
                    _ => None,
                }
            }
        }

        impl Placement for AnyPlacement {
            fn streams(&self) -> u8 {
                match self {
                    $(Self::$Type(placement) => placement.streams(),)*
                }
            }

            #[inline(always)]
            fn stream(&mut self, hint: WriteHint) -> u8 {
                match self {
                    $(Self::$Type(placement) => placement.stream(hint),)*
                }
            }
        }
    };
}

placements! {
    "single" Single, "All data in one stream: no separation.",
        "the reference of every separation paper, e.g. Desnoyers, SYSTOR 2012";
}
