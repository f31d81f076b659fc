//! Host: the host groups its data by placement handles, as with flexible data placement (NVM
//! Express TP4146, 2022; Allison et al., "Towards Efficient Flash Caches with Emerging NVMe
//! Flexible Data Placement SSDs", EuroSys 2025).
//!
//! Each handle has a reclaim unit, here an open erase unit. The pages that cleaning moves
//!
//! - share erase units with moved pages of other handles, but with no host writes, if the handles
//!   are *initially isolated*;
//! - stay with their handle, if the handles are *persistently isolated*. They fill the unit that
//!   new writes of the handle fill, or a unit of their own, as in the emulator WARP (Song et al.,
//!   FAST 2026). The standard allows both.
//!
//! A write with a handle that the drive does not have goes to handle 0, and is counted. In the
//! standard the drive chooses a handle and logs an event. Writes without a handle have handle 0.
//! Decided here: a page keeps the handle of its last write while it is in a write buffer. A drive
//! would keep the handle in its buffer; memory for that is not counted.

use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::{HostWrite, Placement, PlacementConfig, PlacementDemands, PlacementEvent, Relocation};
use crate::addr::Lpn;
use crate::counters::Counters;
use crate::parameters::Refusal;
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

crate::choice! {
    /// Which unit of a persistently isolated handle takes the pages that cleaning moves.
    pub enum MovedPages {
        /// The unit that new writes of the handle fill.
        WithWrites = "with_writes",
        /// A unit of their own.
        Apart = "apart",
    }
}

/// Maximum number of handles, if the moved pages of each handle have a unit of their own.
const APART_MAX: u8 = 120;

/// The streams of placement handles: a stream for each handle, after the streams for moved pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HandleStreams {
    /// Streams for moved pages: none, one that all handles share, or one for each handle.
    moved: u8,
    are_shared: bool,
}

impl HandleStreams {
    /// Returns the streams of the handles of a config.
    pub fn new(config: &PlacementConfig) -> Self {
        let are_shared = config.isolation == Isolation::Initially;
        let moved = match config.moved_pages {
            _ if are_shared => 1,
            MovedPages::WithWrites => 0,
            MovedPages::Apart => config.handles.min(APART_MAX),
        };
        Self { moved, are_shared }
    }

    /// Returns the handle whose pages are in a stream. `None` for the stream of moved pages that
    /// all handles share.
    pub fn handle(self, stream: u8) -> Option<u8> {
        let written = stream.checked_sub(self.moved);
        written.or((!self.are_shared).then_some(stream))
    }

    /// Returns the stream of new writes of a handle.
    #[inline(always)]
    fn of_written(self, handle: u8) -> u8 {
        self.moved + handle
    }

    /// Returns the stream of the pages that cleaning moves out of a stream.
    #[inline]
    fn of_moved(self, stream: u8) -> u8 {
        match self.moved {
            0 => stream,
            1 => 0,
            moved => stream % moved,
        }
    }
}

/// Placement that obeys the host's placement handles.
#[derive(Clone, Debug)]
pub struct Host {
    handles: u8,
    streams: HandleStreams,
    /// Handle of the last write, by page.
    given: Vec<u8>,
    unknown: u64,
}

crate::state!(Host { given, unknown } fixed { handles, streams });

impl Host {
    /// Starts with no page written.
    pub fn new(config: &PlacementConfig) -> Self {
        let given = vec![0; config.geometry.logical_pages() as usize];
        let streams = HandleStreams::new(config);
        Self { handles: config.handles, streams, given, unknown: 0 }
    }

    /// Returns the handle of a page's last write.
    #[inline]
    pub(super) fn handle_of_page(&self, lpn: Lpn) -> u8 {
        self.given[lpn.index()]
    }

    pub(super) fn handles(&self) -> u8 {
        self.handles
    }

    /// Returns the stream of new writes of a handle, if there is such a handle.
    pub(super) fn stream_of_handle(&self, handle: u8) -> Option<u8> {
        (handle < self.handles).then(|| self.streams.of_written(handle))
    }

    /// Returns the handle whose new writes go to a stream.
    pub(super) fn handle_written_to(&self, stream: u8) -> Option<u8> {
        stream.checked_sub(self.streams.moved).filter(|&handle| handle < self.handles)
    }

    /// As [`HandleStreams::handle`].
    pub(super) fn handle_of_stream(&self, stream: u8) -> Option<u8> {
        self.streams.handle(stream)
    }

    /// Returns the stream of the pages that cleaning moves out of a stream.
    #[inline]
    pub(super) fn stream_of_moved(&self, stream: u8) -> u8 {
        self.streams.of_moved(stream)
    }

    /// Notes the handle of a write. Pages with an unknown handle count as written with handle 0.
    #[inline]
    fn label(&mut self, lpns: Range<u32>, handle: u16) {
        let known = u8::try_from(handle).ok().filter(|&handle| handle < self.handles);
        self.unknown += u64::from(known.is_none());
        self.given[lpns.start as usize..lpns.end as usize].fill(known.unwrap_or(0));
    }
}

impl Placement for Host {
    fn demands(config: &PlacementConfig) -> PlacementDemands {
        let moved = HandleStreams::new(config).moved;
        let refusal = (moved > 1 && config.handles > APART_MAX).then(|| Refusal {
            key: "placement.handles",
            given: config.handles.to_string(),
            expected: format!("at most {APART_MAX} with placement.moved_pages = \"apart\""),
        });
        let handles = if refusal.is_some() { APART_MAX } else { config.handles };
        PlacementDemands {
            sorts_moved: true,
            refusal,
            ..PlacementDemands::streams(handles + moved)
        }
    }

    #[inline(always)]
    fn stream(&mut self, write: HostWrite) -> u8 {
        self.streams.of_written(self.given[write.lpn.index()])
    }

    #[inline]
    fn moved(&mut self, relocation: Relocation) -> u8 {
        self.stream_of_moved(relocation.stream)
    }

    /// Classifies a page as if the host wrote it again with its handle.
    fn classify(&self, relocation: Relocation) -> u8 {
        self.streams.of_written(self.given[relocation.lpn.index()])
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

    /// Makes the placement of a drive with three handles, which has this number of streams.
    fn host((isolation, moved_pages): (Isolation, MovedPages), streams: u8) -> Host {
        let config = PlacementConfig { handles: 3, isolation, moved_pages, ..config(100) };
        assert_eq!(Host::demands(&config).streams, streams);
        Host::new(&config)
    }

    const INITIALLY: (Isolation, MovedPages) = (Isolation::Initially, MovedPages::WithWrites);
    const PERSISTENTLY: (Isolation, MovedPages) = (Isolation::Persistently, MovedPages::WithWrites);
    const APART: (Isolation, MovedPages) = (Isolation::Persistently, MovedPages::Apart);

    #[test]
    fn pages_go_with_the_handle_of_their_last_write() {
        for (kind, streams, first) in [(INITIALLY, 4, 1), (PERSISTENTLY, 3, 0), (APART, 6, 3)] {
            let mut host = host(kind, streams);
            host.label(10..20, 2);
            host.label(15..16, 1);
            for (lpn, handle) in [(9, 0), (10, 2), (14, 2), (15, 1), (16, 2), (19, 2), (20, 0)] {
                assert_eq!(host.stream(write(lpn)), first + handle, "page {lpn}");
                assert_eq!(host.classify(relocation(lpn, 0)), first + handle);
            }
        }
    }

    #[test]
    fn moved_pages_share_a_stream_or_stay_or_have_one_of_their_handle() {
        for stream in 0..4 {
            assert_eq!(host(INITIALLY, 4).moved(relocation(7, stream)), 0);
        }
        for stream in 0..3 {
            assert_eq!(host(PERSISTENTLY, 3).moved(relocation(7, stream)), stream);
        }
        for stream in 0..6 {
            assert_eq!(host(APART, 6).moved(relocation(7, stream)), stream % 3);
        }
    }

    #[test]
    fn streams_have_the_pages_of_a_handle_or_of_all() {
        let handles = |(isolation, moved_pages), streams: u8| -> Vec<Option<u8>> {
            let config = PlacementConfig { handles: 3, isolation, moved_pages, ..config(100) };
            (0..streams).map(|stream| HandleStreams::new(&config).handle(stream)).collect()
        };
        assert_eq!(handles(INITIALLY, 4), [None, Some(0), Some(1), Some(2)]);
        assert_eq!(handles(PERSISTENTLY, 3), [Some(0), Some(1), Some(2)]);
        let both = [Some(0), Some(1), Some(2), Some(0), Some(1), Some(2)];
        assert_eq!(handles(APART, 6), both);
    }

    #[test]
    fn two_streams_for_each_handle_are_too_many_for_some_drives() {
        let (isolation, moved_pages) = APART;
        let demands = |handles| {
            Host::demands(&PlacementConfig { handles, isolation, moved_pages, ..config(100) })
        };
        assert_eq!((demands(120).streams, demands(120).refusal), (240, None));
        let refusal = demands(121).refusal.expect("too many");
        assert_eq!((refusal.key, &*refusal.given), ("placement.handles", "121"));
    }

    #[test]
    fn a_handle_that_there_is_not_is_counted_and_is_handle_0() {
        let mut host = host(PERSISTENTLY, 3);
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
