//! The transport: NVMe over TCP (TCP Transport 1.0).
//!
//! ```text
//!   Server ── a thread for each connection ──> receive ─┬> capsule ──┬───────> execute ──> reply
//!                                                       │            └ R2T ┐     ^
//!                                                       └> host data ──────┴─────┘
//! ```
//!
//! Threads, not an asynchronous runtime: a drive answers each call when it is done, so a command in
//! execution needs a thread anyway. The thread of a connection receives, and executes short I/O
//! commands ([`Options::in_place`]); [`Options::workers`] threads execute the others. Replies of
//! several threads leave in one write.
//!
//! A malformed PDU ends its connection, after a termination request. The loss of a power ends all
//! connections of the controller without a word. If the admin queue's connection ends, so do those
//! of the I/O queues; if one of an I/O queue ends, the others remain.

mod commands;
mod connection;
pub mod inflow;
mod input;
mod output;
mod pace;
pub mod pdu;
mod plan;
mod server;
mod stream;
mod workers;

pub use self::connection::serve;
pub use self::server::{Options, Server};
pub use self::stream::Stream;
