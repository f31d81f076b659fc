//! What the host does with requests before they are commands of a drive.
//!
//! `plain` sends them as they come. [`Shrd`] packs small random writes into a log and has the drive
//! put them back later. A host layer is a state machine: it is told of requests and answers what to
//! send. It knows no drive and no clock, so that it works before a simulated and a live one alike.

mod ring;
mod shrd;

pub use crate::counters::ShrdCounts;
pub use shrd::{Batch, Piece, Remapping, Shrd, ShrdConfig, Twrite};

/// Name, doc line and source of every host layer.
pub const HOSTS: &[(&str, &str, &str)] = &[
    (
        "plain",
        "Requests are sent as they come.",
        "the reference of SHRD (Kim, Shin, Jeong and Kim, FAST 2017)",
    ),
    (
        "shrd",
        "Small random writes go to a log in sequence; the drive remaps them later, sorted.",
        "Kim, Shin, Jeong and Kim, FAST 2017",
    ),
];
