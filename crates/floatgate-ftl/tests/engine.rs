//! Tests of the engine, one binary: every test crate that instantiates the engine compiles it anew.

#![allow(clippy::unwrap_used)] // In a test, a panic reports the failure.

mod common;

mod buffered;
mod cleaning;
mod clock_drives;
mod clock_graphs;
mod clock_laws;
mod closed_forms;
mod counterfactual;
mod differential;
mod golden;
mod hotcold;
mod identities;
mod log_blocks;
mod log_costs;
mod naive_bast;
mod naive_buffers;
mod naive_caches;
mod naive_dftl;
mod naive_eti;
mod naive_fast;
mod naive_tlllp;
mod naive_tpftl;
mod ncq_hits;
mod pacing;
mod power;
mod recordings;
mod separation;
mod shadow;
mod shrd;
mod shrd_costs;
mod shrd_recovery;
mod timing;
mod two_level_drives;
mod unit_table;
