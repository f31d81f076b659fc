//! Flash translation layers, written once: the same code simulates a drive and runs one.
//!
//! Policies decide, and the engine acts. A policy (mapping cache, placement, victim choice, write
//! buffer, log blocks) is a small state machine that touches no flash. An engine,
//! [`page_ftl::PageFtl`] or [`log_ftl::LogFtl`], asks its policies and does the work on a
//! [`nand::Nand`]. [`device::Ssd`] puts the queue, the buffer and the host interface in front.
//!
//! This crate uses no system clock, file, thread or random hash order, and has no dependency.

#![no_std]
#![forbid(unsafe_op_in_unsafe_fn)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod addr;
pub mod buffer;
mod clock;
pub mod counters;
pub mod device;
pub mod ftl;
pub mod future;
pub mod geometry;
pub mod host;
pub mod intmap;
pub mod journal;
pub mod log_block;
pub mod log_ftl;
pub mod lru;
pub mod mapping;
pub mod nand;
pub mod page_ftl;
pub mod parameters;
pub mod placement;
pub mod policy;
mod prefetch;
pub mod queue;
pub mod recovery;
pub mod request;
pub mod rng;
pub mod saved;
pub mod store;
pub mod unit_table;
pub mod victim;

/// The examples of `docs/adding-a-policy.md`, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/adding-a-policy.md")]
struct AddingAPolicy;
