//! A live drive that serves several clients at once. A front end calls it: the plugin of nbdkit, or
//! the NVMe target ([`NvmeTarget`]).
//!
//! # A request
//!
//! ```text
//!               admission            leader              delivery
//!   arrived ──────────────> begun ──────────> completed ─────────> answered
//!      │  room, power         │  time passes      its thread wakes     ^
//!      │                      │                                        │
//!      │ refused: read-only,  │ the plug is pulled                     │
//!      │ power cut, too long  v                                        │
//!      └───────────────────> failed ───────────────────────────────────┘
//! ```
//!
//! - *Arrived*: the server has copied the data of a write, without a lock. The request waits for a
//!   slot in the drive's queue, or for the end of a pause ([`admission`]). With SHRD, writes of
//!   whole pages wait in a list, and the first of their threads that finds room begins them
//!   together.
//! - *Begun*: the drive has performed the request in full, under the leader's lock. A read knows
//!   where its bytes are, and fetches them without the lock.
//! - *Completed*: simulated time has reached the end of the request. One waiting thread leads: it
//!   lets time pass for all ([`leader`]). Without a clock a request completes as it begins.
//! - *Answered*: the thread of the request has its reply, and has measured how late the reply is
//!   ([`delivery`]).
//!
//! # The drive
//!
//! ```text
//!   shut down <───── paused <─────> serving <─────────────┐
//!               stop         reset     │ plug pulled      │ found
//!                                      v                  │
//!                                  power off ─────> recovering ─────> lost
//!                                         lock taken        not found
//! ```
//!
//! A power cut ends all connections: their later requests fail, and clients connect again. No
//! request brings back a drive that is lost or shut down.
//!
//! # Around the drive
//!
//! Next to the drive the server may run a recording of the requests, shadow drives that receive the
//! same requests ([`shadow`]), and a control socket for inspection and power cuts ([`control`]).

mod actions;
mod admission;
mod backend;
mod client;
mod clock;
mod connections;
mod control;
mod delivery;
mod document;
mod gauges;
mod history;
mod leader;
mod nvme;
mod panics;
mod parameters;
mod recorder;
mod served;
mod service;
mod setup;
mod shadow;
mod smart;
mod snapshot;
mod state;
#[cfg(test)]
mod test_drive;
mod traffic;

pub use backend::{Backend, ChangeOptions, ServeError, Stream};
pub use client::Client;
pub use control::{Listener, listen};
pub use nvme::{NvmeError, NvmeTarget};
pub use parameters::{PARAMETERS_HELP, Parameters};
pub use served::Served;
pub use service::Service;
pub use setup::{ImageLocation, Setup, SetupError};
