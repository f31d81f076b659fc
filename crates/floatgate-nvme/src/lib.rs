//! An NVMe target over TCP for drives in software.
//!
//! A program implements [`drive::Drive`]; any NVMe/TCP host, such as Linux's `nvme connect`,
//! attaches it. `README.md` has the table of commands, features and logs.
//!
//! The layers know only those below them:
//!
//! | module | content |
//! |---|---|
//! | [`tcp`] | the transport: connections, PDUs, data transfer, digests, threads |
//! | [`subsystem`] | the command layer: admin and I/O commands, features, logs, events, zones |
//! | [`drive`] | the interface of a drive; [`memory`] implements it for tests |
//! | [`spec`] | constants and entries of the specifications |

pub mod drive;
pub mod memory;
pub mod spec;
pub mod subsystem;
pub mod tcp;
