//! Dies and channels, and what they do with the operations that enter them.

mod alone;
mod channel;
mod context;
mod die;
mod flash;
mod shared;

use alloc::vec::Vec;

pub use context::DieContext;

use super::events::Events;
use super::graph::Nodes;
use super::schedule::{Schedule, Timing};
use crate::clock::{Share, Span};
use crate::counters::{Counters, DieUse, Occupation};
use crate::geometry::Geometry;
use channel::Channel;
use die::Die;
use shared::Shared;

/// The dies and channels of a drive.
#[derive(Clone, Debug)]
pub struct Dies {
    dies: Vec<Die>,
    channels: Vec<Channel>,
    shared: Shared,
}

impl Dies {
    /// Creates idle dies.
    pub fn new(geometry: &Geometry, timing: Timing, schedule: Schedule) -> Self {
        let shape = geometry.shape();
        let dies = (shape.channels * shape.dies) as usize;
        Self {
            dies: (0..dies).map(|die| Die::new(die, die / shape.dies as usize)).collect(),
            channels: (0..shape.channels).map(Channel::new).collect(),
            shared: Shared::new(geometry, timing, schedule),
        }
    }

    /// Returns the number of dies and channels.
    pub fn lanes(&self) -> usize {
        self.dies.len() + self.channels.len()
    }

    /// Returns whether a die programs several pages at once.
    #[inline(always)]
    pub fn has_program_units(&self) -> bool {
        self.shared.has_program_units()
    }

    /// Borrows a die, its channel, and everything that they act on.
    #[inline(always)]
    pub fn context<'a>(
        &'a mut self,
        die: usize,
        nodes: &'a mut Nodes,
        events: &'a mut Events,
        now: u64,
    ) -> DieContext<'a> {
        let Self { dies, channels, shared, .. } = self;
        let die = &mut dies[die];
        DieContext { channel: &mut channels[die.channel], die, shared, nodes, events, now }
    }

    /// Marks a die: it may be able to begin something.
    pub fn mark(&mut self, die: usize) {
        self.dies[die].set_dirty(&mut self.shared);
    }

    /// Returns whether dies or channels are marked.
    #[inline(always)]
    pub fn is_any_marked(&self) -> bool {
        !self.shared.dirty_dies.is_empty() || !self.shared.dirty_channels.is_empty()
    }

    /// Returns the marked die, if no other die and no channel is marked.
    #[inline(always)]
    pub fn only_marked(&self) -> Option<usize> {
        match self.shared.dirty_dies[..] {
            [die] if self.shared.dirty_channels.is_empty() => Some(die as usize),
            _ => None,
        }
    }

    /// Returns a marked die, by its place in the order in which dies were marked. That is mostly
    /// the order of age of their operations, so pages mostly join a channel's queue at its end.
    #[inline(always)]
    pub fn marked(&self, at: usize) -> Option<usize> {
        self.shared.dirty_dies.get(at).map(|&die| die as usize)
    }

    /// Drops the list of marked dies, which have begun all that they can.
    #[inline(always)]
    pub fn clear_marked(&mut self) {
        self.shared.dirty_dies.clear();
    }

    /// Returns the next page that a marked channel takes.
    #[inline(always)]
    pub fn next_transfer(&mut self) -> Option<u32> {
        let channel = self.shared.dirty_channels.pop()?;
        self.channels[channel as usize].pop()
    }

    /// Removes and returns a page that has just been completed.
    #[inline(always)]
    pub fn pop_completed(&mut self) -> Option<u32> {
        self.shared.completed.pop()
    }

    /// Returns the nanoseconds that a read saves if it transfers only a share of its page.
    #[inline(always)]
    pub fn saved_ns(&self, share: Share) -> u64 {
        let page_ns = self.shared.timing.transfer_ns;
        page_ns - share.transfer_ns(page_ns)
    }

    /// Returns the span of a die since its account was last brought up to date.
    pub fn span(&self, die: usize, now: u64) -> Option<Span> {
        self.dies[die].span(now)
    }

    /// Returns the spans of all dies, as [`Dies::span`].
    pub fn spans(&self, now: u64) -> impl Iterator<Item = Span> {
        self.dies.iter().filter_map(move |die| die.span(now))
    }

    /// Returns the span of the transfer that the channel of a die begins now.
    pub fn span_of_transfer(&self, die: usize, now: u64) -> Span {
        let channel = self.dies[die].channel;
        self.channels[channel].span((self.dies.len() + channel) as u32, now)
    }

    /// Writes the times of dies and channels until now into the counters.
    pub fn report(&self, counters: &mut Counters, now: u64) {
        counters.dies = self.dies.iter().map(|die| die.used(now)).collect();
        counters.channels = self.channels.iter().map(|channel| channel.used(now)).collect();
        let busy = counters.dies.iter().map(DieUse::busy_ns);
        counters.occupation = Occupation {
            end_ns: if self.dies.iter().any(Die::is_busy) { now } else { self.shared.end },
            busy_ns: busy.clone().sum(),
            busiest_ns: busy.max().unwrap_or(0),
        };
    }
}
