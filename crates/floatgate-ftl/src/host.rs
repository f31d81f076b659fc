//! Host layers: they change requests before these become commands of a drive.
//!
//! `plain` sends requests as they come. [`Shrd`] packs small random writes into a log; later the
//! drive moves them to their original addresses. A host layer is a state machine: it receives
//! requests and returns commands to send. It uses no drive and no clock, so it works in front of a
//! simulated drive and of a live one.

mod ring;
mod shrd;

pub use crate::counters::ShrdCounts;
pub use shrd::{Piece, RemapBatch, Remapping, Shrd, ShrdConfig, ShrdParameters, Twrite};

/// Sends requests as they come.
struct Plain;

impl Plain {
    const KEEPS_LOG: bool = false;
}

/// Declares the table of host layers: config name, type and parameters, description, source.
macro_rules! hosts {
    ($($name:ident $Type:ident($($Own:ident)?), $doc:literal, $source:literal;)*) => {
        crate::axis! {
            /// Every host layer.
            pub const HOSTS;
            /// Parameters for creating any host layer.
            pub struct HostConfig {
                /// Log2 of the page size in bytes.
                log2_page: u32,
                /// Number of user pages; a log lies behind them.
                user_pages: u32,
                /// Slots of the log, one page each.
                slots: u32,
                /// Largest write in bytes that counts as random.
                threshold: u64,
            }
            $($name $Type($($Own)?), $doc, $source;)*
        }

        /// Returns whether the named host layer keeps a log in the drive, behind the user's pages.
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
    /// Returns a config with the default parameters of every host layer.
    pub fn new(log2_page: u32, user_pages: u32, slots: u32, threshold: u64) -> Self {
        Self::defaults(log2_page, user_pages, slots, threshold)
    }
}
