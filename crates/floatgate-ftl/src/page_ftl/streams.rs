//! Where the next page goes: one open unit per stream.
//!
//! The first streams belong to the placement, cold to hot. The streams for translation pages, for
//! static wear levelling, for the log and for the SLC cache follow in this order, if they exist.

use alloc::vec;
use alloc::vec::Vec;

use crate::addr::{Lpn, Ppn, Unit};
use crate::counters::StreamCounts;
use crate::geometry::{Geometry, Mode};
use crate::placement::AnyPlacement;
use crate::unit_table::{UnitTable, ValidShare};

/// The streams of a drive, and their open units.
#[derive(Debug)]
pub(super) struct Streams {
    /// Streams of the placement.
    data: u8,
    /// Stream for translation pages, if the map is on flash.
    map: Option<u8>,
    /// Stream for pages moved by wear levelling.
    wear: Option<u8>,
    /// Stream for the log.
    log: Option<u8>,
    /// Stream for the SLC cache, and the geometry of its units.
    slc: Option<(u8, Geometry)>,
    /// By stream: the next page and the end of the open unit. Both are equal if there is none.
    open: Vec<(u32, u32)>,
    /// Traffic by stream.
    traffic: Vec<StreamCounts>,
    /// Number of logical pages, from the first one, that count as truly hot.
    hot_pages: u32,
}

crate::state!(Streams { open } fixed { data, map, wear, log, slc, traffic, hot_pages });

impl Streams {
    /// Makes the streams of the placement and the configured other streams. No unit is open yet.
    pub(super) fn new(
        placement: &AnyPlacement,
        map: bool,
        wear: bool,
        log: bool,
        slc: Option<Geometry>,
    ) -> Self {
        let (data, hot_pages) = (placement.streams(), placement.hot_pages());
        let mut streams = data;
        let mut next = |exists: bool| {
            let stream = exists.then_some(streams);
            streams += u8::from(exists);
            stream
        };
        let (map, wear, log) = (next(map), next(wear), next(log));
        let slc = next(slc.is_some()).zip(slc);
        let open = vec![(0, 0); streams.into()];
        let traffic = vec![StreamCounts::default(); streams.into()];
        Self { data, map, wear, log, slc, open, traffic, hot_pages }
    }

    pub(super) fn count(&self) -> u8 {
        self.open.len() as u8
    }

    pub(super) fn data(&self) -> u8 {
        self.data
    }

    #[inline(always)]
    pub(super) fn map(&self) -> u8 {
        self.map.expect("the map is on flash")
    }

    pub(super) fn wear(&self) -> Option<u8> {
        self.wear
    }

    pub(super) fn log(&self) -> Option<u8> {
        self.log
    }

    pub(super) fn slc(&self) -> Option<u8> {
        self.slc.map(|(stream, _)| stream)
    }

    /// Returns the mode in which the units of a stream are programmed.
    pub(super) fn mode(&self, stream: u8) -> Mode {
        if self.slc() == Some(stream) { Mode::Slc } else { Mode::Native }
    }

    /// Returns the geometry in which the units of a stream are programmed.
    fn geometry<'a>(&'a self, stream: u8, native: &'a Geometry) -> &'a Geometry {
        self.slc.as_ref().filter(|slc| slc.0 == stream).map_or(native, |(_, geometry)| geometry)
    }

    pub(super) fn is_map(&self, stream: u8) -> bool {
        self.map == Some(stream)
    }

    /// Returns the stream for pages of a stream that are not sorted again. Pages moved by wear
    /// levelling are cold data. Pages written to a log also count as cold, for want of better
    /// information.
    pub(super) fn home(&self, stream: u8) -> u8 {
        if stream < self.data || self.is_map(stream) { stream } else { 0 }
    }

    /// Returns the next page of `stream`, if its unit has one left.
    #[inline(always)]
    pub(super) fn next(&mut self, stream: u8) -> Option<Ppn> {
        let (next, end) = &mut self.open[usize::from(stream)];
        (*next < *end).then(|| {
            *next += 1;
            Ppn::new(*next - 1)
        })
    }

    /// Returns whether a page is in a program unit that its stream still fills, and so not
    /// programmed yet.
    #[inline(always)]
    pub(super) fn holds_in_memory(&self, ppn: Ppn, geometry: &Geometry) -> bool {
        geometry.has_program_units()
            && self.open.iter().zip(0..).any(|(&(next, _), stream)| {
                let of = |ppn| self.geometry(stream, geometry).program_unit_of(ppn);
                ppn.get() < next && of(ppn) == of(Ppn::new(next))
            })
    }

    /// Returns the next page of a stream that has begun a program unit, and how many pages are left
    /// in it.
    pub(super) fn begun(&self, stream: u8, geometry: &Geometry) -> Option<(Ppn, u32)> {
        let next = Ppn::new(self.open[usize::from(stream)].0);
        let geometry = self.geometry(stream, geometry);
        let left = geometry.left_in_program_unit(next);
        (left < geometry.program_unit()).then_some((next, left))
    }

    /// Returns the number of the program unit of a page in the unit of a stream.
    pub(super) fn program_unit(&self, stream: u8, ppn: Ppn, geometry: &Geometry) -> u32 {
        self.geometry(stream, geometry).program_unit_of(ppn)
    }

    /// Skips the next pages of the unit of `stream`, which are programmed with other data.
    #[inline(always)]
    pub(super) fn skip(&mut self, stream: u8, pages: u32) {
        self.open[usize::from(stream)].0 += pages;
    }

    /// Returns the number of pages left in the unit of `stream`.
    pub(super) fn room(&self, stream: u8) -> u32 {
        let (next, end) = self.open[usize::from(stream)];
        end - next
    }

    /// Returns the unit of `stream`, if it has a page left.
    pub(super) fn open_unit(&self, stream: u8, geometry: &Geometry) -> Option<Unit> {
        let next = Ppn::new(self.open[usize::from(stream)].0);
        self.has_room(stream).then(|| geometry.unit(next))
    }

    /// Returns the number of pages left in the unit of `stream`, after padding of the program unit
    /// that it has begun. Padding may happen when a unit is opened for another stream.
    pub(super) fn sure_room(&self, stream: u8, geometry: &Geometry) -> u32 {
        let padding = match geometry.loses_pages() {
            true => self.begun(stream, geometry).map_or(0, |(_, left)| left),
            false => 0,
        };
        self.room(stream) - padding
    }

    /// Returns the number of pages left in the open units for data, in native mode.
    pub(super) fn native_room(&self) -> u32 {
        let takes_data = |&stream: &u8| Some(stream) != self.map && self.slc() != Some(stream);
        (0..self.count()).filter(takes_data).map(|stream| self.room(stream)).sum()
    }

    /// Returns the number of pages left in all open units in native mode.
    pub(super) fn all_native_room(&self) -> u32 {
        let is_native = |&stream: &u8| self.slc() != Some(stream);
        (0..self.count()).filter(is_native).map(|stream| self.room(stream)).sum()
    }

    /// Returns whether `stream` has a page left in its unit.
    pub(super) fn has_room(&self, stream: u8) -> bool {
        self.room(stream) > 0
    }

    /// Returns the maximum number of placement streams that run out of room when `pages` pages are
    /// divided among them.
    pub(super) fn units_at_worst(&self, pages: u32, geometry: &Geometry) -> u32 {
        let mut rooms = [0; u8::MAX as usize];
        let rooms = &mut rooms[..usize::from(self.data)];
        for (stream, room) in rooms.iter_mut().enumerate() {
            *room = self.sure_room(stream as u8, geometry);
        }
        rooms.sort_unstable();
        let mut left = pages;
        let fill = |&room: &u32| left.checked_sub(room + 1).map(|rest| left = rest);
        rooms.iter().map_while(fill).count() as u32
    }

    /// Opens a free unit for `stream`. For the wear levelling stream it is the most worn free unit.
    pub(super) fn open(&mut self, stream: u8, units: &mut UnitTable, geometry: &Geometry) -> Unit {
        let unit = match self.wear == Some(stream) {
            true => units.open_most_worn(stream),
            false => units.open(stream),
        };
        let unit = unit.expect("cleaning keeps a free unit per stream");
        units.set_mode(unit, self.mode(stream));
        self.resume(stream, unit, 0, geometry);
        unit
    }

    /// Makes `unit` the open unit of `stream`, after its first `programmed` pages.
    pub(super) fn resume(&mut self, stream: u8, unit: Unit, programmed: u32, geometry: &Geometry) {
        assert!(!self.has_room(stream), "the open unit still has room");
        let first = geometry.page(unit, 0).get();
        let end = first + self.geometry(stream, geometry).unit_capacity();
        self.open[usize::from(stream)] = (first + programmed, end);
    }

    #[inline(always)]
    pub(super) fn count_host_page(&mut self, stream: u8, lpn: Lpn) {
        self.traffic[usize::from(stream)].host_pages += 1;
        if lpn.get() < self.hot_pages {
            self.traffic[usize::from(stream)].hot_pages += 1;
        }
    }

    pub(super) fn count_gc_pages(&mut self, stream: u8, pages: usize) {
        self.traffic[usize::from(stream)].gc_pages += pages as u64;
    }

    /// Counts a unit that is about to be emptied: its valid pages, and the pages that it holds.
    pub(super) fn count_victim(&mut self, stream: u8, share: ValidShare) {
        let traffic = &mut self.traffic[usize::from(stream)];
        traffic.victims += 1;
        traffic.victim_valid_pages += u64::from(share.valid);
        traffic.victim_pages += u64::from(share.pages);
    }

    /// Returns the traffic of the data streams: placement, log and SLC cache.
    pub(super) fn traffic(&self) -> Vec<StreamCounts> {
        let data = (0..self.data).chain(self.log).chain(self.slc());
        data.map(|stream| self.traffic[usize::from(stream)]).collect()
    }

    pub(super) fn reset_counters(&mut self) {
        self.traffic.fill(StreamCounts::default());
    }

    /// Asserts that each unit with room is open for its stream, and programmed up to the next page.
    pub(super) fn check(&self, units: &UnitTable, geometry: &Geometry) {
        for stream in (0..self.count()).filter(|&stream| self.has_room(stream)) {
            let (unit, page) = geometry.place(Ppn::new(self.open[usize::from(stream)].0));
            assert_eq!((units.stream(unit), units.written(unit)), (stream, page), "{unit:?}");
        }
    }
}
