//! A drive as the host sees it: requests in bytes, command queues, a write buffer, completions.
//!
//! [`Ssd`] admits requests to its queues and serves them, by way of its write buffer if it has one.
//! [`ShrdDevice`] is the host layer SHRD in front of an [`Ssd`]: it packs what the queue admits,
//! and sends commands of its own. Below both is one path for every page, `PageIo`. The blame of the
//! page that is done last is the blame of its request.

mod buffered;
mod extent;
mod link;
mod outstanding;
mod page_io;
mod shrd_device;
mod ssd;

pub use buffered::{Acknowledge, WriteBuffer};
pub use link::HostLink;
pub use shrd_device::{Dispatching, ShrdDevice};
pub use ssd::Ssd;

use alloc::vec::Vec;
use core::ops::Range;

pub use crate::counters::{BufferCounts, Counters, HostCounts, LayerCounts};
use crate::future::FutureKnowledge;
pub use crate::nand::HostData;
use crate::nand::{Recorded, Recording};
use crate::request::{Completion, Request};
use crate::saved::State;
use crate::unit_table::UnitTable;

/// Any drive. Called once per batch of requests.
pub trait Device: Send {
    /// Begins the first `count` requests, and appends what became of those that are complete, of
    /// this call and of calls before, in the order of the requests. The others are those that come
    /// after them, as many as [`Device::sees_ahead`] says: the first of the next call. Without any
    /// request all that were begun become complete.
    fn run_ahead(&mut self, requests: &[Request], count: usize, done: &mut Vec<Completion>);

    /// Enters what every layer has counted since the last [`Device::reset_counters`].
    fn report(&self, counters: &mut Counters);

    /// The state of the erase units; wear is counted from the last [`Device::reset_counters`].
    fn units(&self) -> &UnitTable;

    /// Counters and clocks back to zero, an empty queue; the drive stays as full and as worn.
    fn reset_counters(&mut self);

    /// Recomputes what can be recomputed, and asserts that it agrees.
    fn check(&self);

    /// How many requests after those that it is to serve the drive wants to see: what can stand in
    /// its queues meanwhile.
    fn sees_ahead(&self) -> usize {
        0
    }

    /// Writes back the write buffer and the mapping cache, as a drive does that has nothing else to
    /// do.
    fn write_back(&mut self) {}

    /// Nothing takes time from now on: a drive does the same, in the same order, as far as that
    /// does not depend on what is complete. Nothing may be under way.
    fn stand_still(&mut self) {}

    /// The clock goes on.
    fn go_on(&mut self) {}

    /// What changes while the drive is filled, if all of it can be saved. The counters are at zero.
    fn state(&mut self) -> Option<&mut dyn State> {
        None
    }

    /// Tells the policies that are bounds what the host will do from now on.
    fn set_future(&mut self, _: FutureKnowledge) {}

    /// Pages that the host can have programmed until a unit is cleaned, at most: fewer where pages
    /// of the map or parts of pages are programmed, too. None once cleaning has begun, and where
    /// units are merged instead.
    fn room_until_cleaning(&self) -> Option<u64> {
        None
    }

    /// From now on a window of time is recorded, until the counters are reset; on a drive without
    /// a clock there is none.
    fn record(&mut self, _: Recording) {}

    /// What was recorded, and the request that is looked at, if the window has begun.
    fn recorded(&self) -> Option<(Recorded, Option<Request>)> {
        None
    }

    /// The power fails and comes back between two requests: what only the write buffer held is
    /// gone. The translation layer is taken to know all that it did.
    fn cut_power(&mut self) {}

    /// Serves requests, all of them to their end, and appends what became of each.
    fn run(&mut self, batch: &[Request], done: &mut Vec<Completion>) {
        self.run_ahead(batch, batch.len(), done);
        self.run_ahead(&[], 0, done);
    }

    /// The account of all layers.
    fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        self.report(&mut counters);
        counters
    }

    /// Erases of every unit since the last [`Device::reset_counters`].
    fn wear(&self) -> Vec<u32> {
        self.units().wear().collect()
    }

    /// Pages of every unit that hold what is still valid, translation pages included.
    fn valid_pages(&self) -> Vec<u32> {
        self.units().valid_pages().collect()
    }

    /// Units that are free.
    fn free_units(&self) -> u32 {
        self.units().free_units()
    }
}

/// A drive whose host does not know what it will ask for next, and waits for each request by
/// itself: time passes as the host has it.
pub trait Paced: Device {
    /// Begins requests; nothing is told. The answer is the number of the first.
    fn begin(&mut self, requests: &[Request]) -> u64;

    /// Time passes until `until`, as far as a request is under way: after the last of them the
    /// clock stands at its end. Those that have ended are appended with their numbers.
    fn pass_time(&mut self, until: u64, ended: &mut Vec<(u64, Completion)>);

    /// The time, in nanoseconds since the last [`Device::reset_counters`], and when something
    /// happens next if the host begins nothing; none if nothing will.
    fn time(&self) -> (u64, Option<u64>);
}

/// The pages that a read or a write touches, in the order in which their map entries are accessed.
#[inline(always)]
pub fn pages(request: &Request, log2_page: u32) -> Range<u64> {
    let first = request.offset >> log2_page;
    // No bytes are no pages, wherever they start.
    if request.length == 0 {
        return first..first;
    }
    first..(request.offset + request.length).div_ceil(1 << log2_page)
}

/// The pages that a trim covers as a whole: those that it forgets.
pub fn whole_pages(request: &Request, log2_page: u32) -> Range<u64> {
    let end = (request.offset + request.length) >> log2_page;
    request.offset.div_ceil(1 << log2_page)..end
}
