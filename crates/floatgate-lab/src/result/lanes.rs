//! Use of the time of dies and channels.

use floatgate_ftl::counters::{Counters, DieUse};
use floatgate_ftl::nand::{Blame, Component};
use schemars::JsonSchema;
use serde::Serialize;

/// Use of each die's time: shares from 0 to 1 that sum to 1. One entry per die, with the dies of
/// the first channel first. Empty if time is not simulated.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DiesResult {
    /// Reading cells.
    pub read: Vec<f64>,
    /// Programming cells.
    pub program: Vec<f64>,
    /// Erasing cells.
    pub erase: Vec<f64>,
    /// Sending a page or a command.
    pub transfer: Vec<f64>,
    /// Waiting for the channel.
    pub wait: Vec<f64>,
    /// Idle.
    pub idle: Vec<f64>,
}

/// Use of each channel's time, by purpose of the transfers: shares from 0 to 1 that sum to 1. One
/// entry per channel. Empty if time is not simulated.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChannelsResult {
    /// Data of the host.
    pub host: Vec<f64>,
    /// Translation pages, and the journal.
    pub map: Vec<f64>,
    /// Cleaning, and wear levelling.
    pub gc: Vec<f64>,
    /// Merges of log blocks.
    pub merge: Vec<f64>,
    /// Remapping commanded by the host.
    pub remap: Vec<f64>,
    /// Idle.
    pub idle: Vec<f64>,
}

/// Nanoseconds of a run, from its start to the end of the last flash operation.
fn whole(counters: &Counters) -> u64 {
    counters.occupation.end_ns
}

/// Returns the parts as shares of `whole`; 0 if `whole` is 0.
fn shares(parts: impl Iterator<Item = u64>, whole: u64) -> Vec<f64> {
    parts.map(|ns| if whole == 0 { 0.0 } else { ns as f64 / whole as f64 }).collect()
}

/// Returns the rest of each share. Without any flash operation the rest is everything.
fn idle(busy: impl Iterator<Item = u64>, whole: u64) -> Vec<f64> {
    shares(busy.map(|ns| whole.max(1) - ns), whole.max(1))
}

impl DiesResult {
    pub(super) fn new(counters: &Counters) -> Self {
        let whole = whole(counters);
        let of = |ns: fn(&DieUse) -> u64| shares(counters.dies.iter().map(ns), whole);
        Self {
            read: of(|die| die.read_ns),
            program: of(|die| die.program_ns),
            erase: of(|die| die.erase_ns),
            transfer: of(|die| die.transfer_ns),
            wait: of(|die| die.wait_ns),
            idle: idle(counters.dies.iter().map(DieUse::busy_ns), whole),
        }
    }
}

impl ChannelsResult {
    pub(super) fn new(counters: &Counters) -> Self {
        let whole = whole(counters);
        let of = |component: Component| {
            shares(counters.channels.iter().map(|channel| channel.0[component as usize]), whole)
        };
        Self {
            host: of(Component::Bus),
            map: of(Component::Map),
            gc: of(Component::Gc),
            merge: of(Component::Merge),
            remap: of(Component::Remap),
            idle: idle(counters.channels.iter().map(Blame::total), whole),
        }
    }
}
