//! A drive as the host sees it: requests in bytes, command queues, a write buffer, completions.
//!
//! [`Ssd`] admits requests to its queues and serves them, through its write buffer if it has one.
//! [`ShrdDevice`] is the host layer SHRD in front of an [`Ssd`]: it packs the requests that the
//! queue admits, and sends commands of its own. Both use one path for every page, `PageIo`. The
//! components of a request's latency (its blame) are those of its page that completes last.

mod buffered;
mod extent;
mod forward;
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

/// Any drive. The caller passes requests in batches.
pub trait Device: Inspect + DeviceClock + Send {
    /// Begins the first `count` requests. Appends the completions that are due, from this call and
    /// earlier ones, in the order of the requests. The requests after `count` are a preview, as
    /// many as [`Device::sees_ahead`] returns: the next call begins with them. Without any request
    /// the drive completes everything that it has begun.
    fn run_ahead(&mut self, requests: &[Request], count: usize, done: &mut Vec<Completion>);

    /// Resets counters and clocks to zero and empties the queue. Fill and wear of the drive stay.
    fn reset_counters(&mut self);

    /// Serves requests until all are complete, and appends their completions.
    fn run(&mut self, batch: &[Request], done: &mut Vec<Completion>) {
        self.run_ahead(batch, batch.len(), done);
        self.run_ahead(&[], 0, done);
    }

    /// Returns how many requests the drive wants to see beyond those that it must serve: the
    /// requests that can be in its queues meanwhile.
    fn sees_ahead(&self) -> usize {
        0
    }

    /// Writes back the write buffer and the mapping cache, as an idle drive does.
    fn write_back(&mut self) {}

    /// Returns the state that changes while the drive is filled, or `None` if the drive cannot save
    /// all of it. The counters must be zero.
    fn state(&mut self) -> Option<&mut dyn State> {
        None
    }

    /// Passes the host's future requests to the policies that are offline bounds.
    fn set_future(&mut self, _: FutureKnowledge) {}

    /// Cuts the power and restores it, between two requests. Pages that only the write buffer held
    /// are lost. The model assumes that the translation layer loses no state.
    fn cut_power(&mut self) {}
}

/// State of a drive that can be read without changing it.
pub trait Inspect {
    /// Returns the counts of every layer since the last [`Device::reset_counters`].
    fn counters(&self) -> Counters;

    /// Returns the state of the erase units. Wear counts from the last [`Device::reset_counters`].
    fn units(&self) -> &UnitTable;

    /// Recomputes the redundant state and asserts that it is consistent.
    fn check(&self);

    /// Returns an upper bound on the pages that the host can program before a unit is cleaned. The
    /// true number is smaller if the drive also programs map pages or partial pages. `None` once
    /// cleaning has begun, and on drives that merge units instead.
    fn room_until_cleaning(&self) -> Option<u64> {
        None
    }
}

/// Clock of a drive. The defaults are those of a drive without a clock.
pub trait DeviceClock {
    /// Freezes the clock: from now on no operation takes time. The drive does the same work in the
    /// same order, except where a decision depends on which requests are complete. No request may
    /// be in progress.
    fn freeze(&mut self) {}

    /// Lets the clock run again.
    fn thaw(&mut self) {}

    /// Records a window of time, until the counters are reset.
    fn record(&mut self, _: Recording) {}

    /// Returns the recording, and the observed request, if the window has begun.
    fn recorded(&self) -> Option<(Recorded, Option<Request>)> {
        None
    }
}

/// Drive for a host that does not know its next request and waits for each request separately. The
/// host controls how simulated time advances.
pub trait Paced: Device {
    /// Begins the first `count` requests without reporting completions. Returns the number of the
    /// first request. The other requests are a preview, as for [`Device::run_ahead`]: the next call
    /// begins with them.
    fn begin(&mut self, requests: &[Request], count: usize) -> u64;

    /// Advances time until a request ends, but at most to `until`. Appends the requests that have
    /// ended, with their numbers.
    fn pass_to_end(&mut self, until: u64, ended: &mut Vec<(u64, Completion)>);

    /// Advances time to `until`, or to the end of the last request in progress if that is sooner.
    /// Appends the requests that have ended, with their numbers.
    fn pass_time(&mut self, until: u64, ended: &mut Vec<(u64, Completion)>);

    /// Returns the time in nanoseconds since the last [`Device::reset_counters`], and the time of
    /// the next event if the host begins nothing. The latter is `None` if no event is due.
    fn time(&self) -> (u64, Option<u64>);
}

/// Returns the pages that a read or a write touches, in the order of their map accesses.
#[inline(always)]
pub fn pages(request: &Request, log2_page: u32) -> Range<u64> {
    let first = request.offset >> log2_page;
    // An empty request touches no page, wherever it starts.
    if request.length == 0 {
        return first..first;
    }
    first..(request.offset + request.length).div_ceil(1 << log2_page)
}

/// Returns the pages that a trim covers completely: only these are forgotten.
pub fn whole_pages(request: &Request, log2_page: u32) -> Range<u64> {
    let end = (request.offset + request.length) >> log2_page;
    request.offset.div_ceil(1 << log2_page)..end
}
