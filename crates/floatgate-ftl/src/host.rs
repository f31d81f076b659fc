//! What the host does with requests before they are commands of a drive.
//!
//! `plain` sends them as they come. [`Shrd`] packs small random writes into a log and has the drive
//! put them back later. A host layer is a state machine: it is told of requests and answers what to
//! send. It knows no drive and no clock, so that it works before a simulated and a live one alike.

mod ring;
mod shrd;

pub use crate::counters::ShrdCounts;
pub use shrd::{Batch, Piece, Remapping, Shrd, ShrdConfig, ShrdParameters, Twrite};

/// Requests are sent as they come.
struct Plain;

impl Plain {
    const KEEPS_LOG: bool = false;
}

/// The table of host layers: config name, type and parameters, what it does, where it is from.
macro_rules! hosts {
    ($($name:ident $Type:ident($($Own:ident)?), $doc:literal, $source:literal;)*) => {
        crate::axis! {
            /// Every host layer.
            pub const HOSTS;
            /// What every host layer is made from.
            pub struct HostConfig {
                /// Log2 of the bytes of a page.
                log2_page: u32,
                /// Pages of the user; a log lies behind them.
                user_pages: u32,
                /// Slots of the log, a page each.
                slots: u32,
                /// Bytes up to which a write counts as random.
                threshold: u64,
            }
            $($name $Type($($Own)?), $doc, $source;)*
        }

        /// Whether the host layer of this name keeps a log in the drive, behind the user's pages.
        pub fn keeps_log(name: &str) -> bool {
            match name {
                $(stringify!($name) => $Type::KEEPS_LOG,)*
                _ => false,
            }
        }
    };
}

hosts! {
    plain Plain(), "Requests are sent as they come.",
        "the reference of SHRD (Kim, Shin, Jeong and Kim, FAST 2017)";
    shrd Shrd(ShrdParameters),
        "Small random writes go to a sequential log; the drive remaps them in order later.",
        "Kim, Shin, Jeong and Kim, FAST 2017";
}

impl HostConfig {
    /// The default parameters of every host layer.
    pub fn new(log2_page: u32, user_pages: u32, slots: u32, threshold: u64) -> Self {
        Self::defaults(log2_page, user_pages, slots, threshold)
    }
}
