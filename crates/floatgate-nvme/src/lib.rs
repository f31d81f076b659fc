//! An NVMe target for drives in software.
//!
//! A program implements [`drive::Drive`]; the command layer gives hosts controllers over it.
//! `README.md` has the table of commands, features and logs.
//!
//! The layers know only those below them:
//!
//! | module | content |
//! |---|---|
//! | [`subsystem`] | the command layer: admin and I/O commands, features, logs, events, zones |
//! | [`drive`] | the interface of a drive; [`memory`] implements it for tests |
//! | [`spec`] | constants and entries of the specifications |

pub mod drive;
pub mod memory;
pub mod spec;
pub mod subsystem;
