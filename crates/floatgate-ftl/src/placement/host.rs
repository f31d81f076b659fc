//! Host: the host groups its data by placement handles, as with flexible data placement (NVM
//! Express TP4146, 2022; Allison et al., "Towards Efficient Flash Caches with Emerging NVMe
//! Flexible Data Placement SSDs", EuroSys 2025).
//!
//! Each handle has a reclaim unit, here an open erase unit. The pages that cleaning moves
//!
//! - share erase units with moved pages of other handles, but with no host writes, if the handles
//!   are *initially isolated*;
//! - stay with their handle, if the handles are *persistently isolated*.
//!
//! A write with a handle that the drive does not have goes to handle 0, and is counted. In the
//! standard the drive chooses a handle and logs an event. Writes without a handle have handle 0.
//! Decided here: a page keeps the handle of its last write while it is in a write buffer. A drive
//! would keep the handle in its buffer; memory for that is not counted.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::{HostWrite, Placement, PlacementConfig, PlacementDemands, PlacementEvent, Relocation};
use crate::counters::Counters;
use crate::policy::Policy;

crate::choice! {
    /// How long data of different placement handles is kept apart.
    pub enum Isolation {
        /// Until cleaning moves it. Moved pages of all handles share erase units.
        Initially = "initially",
        /// Permanently.
        Persistently = "persistently",
    }
}

/// A stream for each handle, after one stream for moved pages if they are shared.
#[derive(Clone, Debug)]
pub struct Host {
    handles: u8,
    /// The stream of handle 0.
    first: u8,
    /// Handle of the last write, by page.
    given: Vec<u8>,
    unknown: u64,
}

crate::state!(Host { given, unknown } fixed { handles, first });

impl Host {
    /// Starts with no page written.
    pub fn new(config: &PlacementConfig) -> Self {
        let given = vec![0; config.geometry.logical_pages() as usize];
        Self { handles: config.handles, first: first(config), given, unknown: 0 }
    }

    /// Notes the handle of a write. Pages with an unknown handle count as written with handle 0.
    #[inline]
    fn label(&mut self, lpns: Range<u32>, handle: u16) {
        let known = u8::try_from(handle).ok().filter(|&handle| handle < self.handles);
        self.unknown += u64::from(known.is_none());
        self.given[lpns.start as usize..lpns.end as usize].fill(known.unwrap_or(0));
    }
}

fn first(config: &PlacementConfig) -> u8 {
    u8::from(config.isolation == Isolation::Initially)
}

impl Placement for Host {
    fn demands(config: &PlacementConfig) -> PlacementDemands {
        // One stream for each handle, and one for moved pages if they are shared.
        let streams = PlacementDemands::streams(config.handles + first(config));
        PlacementDemands { sorts_moved: true, ..streams }
    }

    #[inline(always)]
    fn stream(&mut self, write: HostWrite) -> u8 {
        self.first + self.given[write.lpn.index()]
    }

    #[inline]
    fn moved(&mut self, relocation: Relocation) -> u8 {
        if self.first > 0 { 0 } else { relocation.stream }
    }

    /// Classifies a page as if its handle were written now.
    fn classify(&self, relocation: Relocation) -> u8 {
        self.first + self.given[relocation.lpn.index()]
    }

    #[inline(always)]
    fn observe(&mut self, event: PlacementEvent) {
        if let PlacementEvent::Labelled { lpns, handle } = event {
            self.label(lpns, handle);
        }
    }
}

impl Policy for Host {
    fn report(&self, counters: &mut Counters) {
        counters.unknown_handles = self.unknown;
    }

    fn reset_counters(&mut self) {
        self.unknown = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::*;
    use super::*;

    fn host(isolation: Isolation) -> Host {
        let config = PlacementConfig { handles: 3, isolation, ..config(100) };
        let streams = if isolation == Isolation::Initially { 4 } else { 3 };
        assert_eq!(Host::demands(&config).streams, streams);
        Host::new(&config)
    }

    #[test]
    fn pages_go_with_the_handle_of_their_last_write() {
        for (isolation, first) in [(Isolation::Initially, 1), (Isolation::Persistently, 0)] {
            let mut host = host(isolation);
            host.label(10..20, 2);
            host.label(15..16, 1);
            for (lpn, handle) in [(9, 0), (10, 2), (14, 2), (15, 1), (16, 2), (19, 2), (20, 0)] {
                assert_eq!(host.stream(write(lpn)), first + handle, "page {lpn}");
                assert_eq!(host.classify(relocation(lpn, 0)), first + handle);
            }
        }
    }

    #[test]
    fn moved_pages_share_a_stream_or_stay() {
        for stream in 0..3 {
            assert_eq!(host(Isolation::Initially).moved(relocation(7, stream)), 0);
            assert_eq!(host(Isolation::Persistently).moved(relocation(7, stream)), stream);
        }
    }

    #[test]
    fn a_handle_that_there_is_not_is_counted_and_is_handle_0() {
        let mut host = host(Isolation::Persistently);
        host.label(0..100, 2);
        for handle in [3, 255, 256, 258, u16::MAX] {
            host.label(5..6, handle);
            assert_eq!(host.stream(write(5)), 0);
            assert_eq!(host.stream(write(6)), 2);
        }
        assert_eq!(host.counters().unknown_handles, 5);
        host.reset_counters();
        assert_eq!(host.counters().unknown_handles, 0);
    }
}
