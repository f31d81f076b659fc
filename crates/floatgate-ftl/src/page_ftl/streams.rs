//! Where the next page goes: one open unit per stream.
//!
//! The first streams are those of the placement, cold to hot. Behind them come, each if it exists,
//! that of translation pages, that of what static wear levelling moves, that of the log, and that
//! of the SLC cache.

use alloc::vec;
use alloc::vec::Vec;

use crate::addr::{Ppn, Unit};
use crate::counters::StreamCounts;
use crate::geometry::{Geometry, Mode};
use crate::unit_table::UnitTable;

/// The streams of a drive, and their open units.
#[derive(Debug)]
pub(super) struct Streams {
    /// Streams of the placement.
    data: u8,
    /// That of translation pages, if the map is on flash.
    map: Option<u8>,
    /// That of what levelling of wear moves.
    wear: Option<u8>,
    /// That of the log.
    log: Option<u8>,
    /// That of the SLC cache, and the geometry of its units.
    slc: Option<(u8, Geometry)>,
    /// By stream: the next page and the end of the open unit; equal when there is none.
    open: Vec<(u32, u32)>,
    /// By stream.
    traffic: Vec<StreamCounts>,
}

crate::state!(Streams { open } fixed { data, map, wear, log, slc, traffic });

impl Streams {
    /// Those that there are beside the `data` ones of the placement; no unit is open yet.
    pub(super) fn new(data: u8, map: bool, wear: bool, log: bool, slc: Option<Geometry>) -> Self {
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
        Self { data, map, wear, log, slc, open, traffic }
    }

    /// How many there are.
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

    /// How the units of a stream are programmed.
    pub(super) fn mode(&self, stream: u8) -> Mode {
        if self.slc() == Some(stream) { Mode::Slc } else { Mode::Native }
    }

    /// The geometry in which the units of a stream are programmed.
    fn geometry<'a>(&'a self, stream: u8, native: &'a Geometry) -> &'a Geometry {
        self.slc.as_ref().filter(|slc| slc.0 == stream).map_or(native, |(_, geometry)| geometry)
    }

    pub(super) fn is_map(&self, stream: u8) -> bool {
        self.map == Some(stream)
    }

    /// The stream that pages of a stream go to if they are not sorted anew. What levelling of wear
    /// has moved is cold data; so is, for the want of anything better, what was written to a log.
    pub(super) fn home(&self, stream: u8) -> u8 {
        if stream < self.data || self.is_map(stream) { stream } else { 0 }
    }

    /// The next page of `stream`, if its unit has one left.
    #[inline(always)]
    pub(super) fn next(&mut self, stream: u8) -> Option<Ppn> {
        let (next, end) = &mut self.open[usize::from(stream)];
        (*next < *end).then(|| {
            *next += 1;
            Ppn::new(*next - 1)
        })
    }

    /// Whether a page is in the program unit that its stream fills, and so not programmed yet.
    #[inline(always)]
    pub(super) fn holds_in_memory(&self, ppn: Ppn, geometry: &Geometry) -> bool {
        geometry.has_program_units()
            && self.open.iter().zip(0..).any(|(&(next, _), stream)| {
                let of = |ppn| self.geometry(stream, geometry).program_unit_of(ppn);
                ppn.get() < next && of(ppn) == of(Ppn::new(next))
            })
    }

    /// The next page of a stream that has begun a program unit, and how many are left in that.
    pub(super) fn begun(&self, stream: u8, geometry: &Geometry) -> Option<(Ppn, u32)> {
        let next = Ppn::new(self.open[usize::from(stream)].0);
        let geometry = self.geometry(stream, geometry);
        let left = geometry.left_in_program_unit(next);
        (left < geometry.program_unit()).then_some((next, left))
    }

    /// The next pages of the unit of `stream` are programmed with something else.
    #[inline(always)]
    pub(super) fn skip(&mut self, stream: u8, pages: u32) {
        self.open[usize::from(stream)].0 += pages;
    }

    /// Pages that are left in the unit of `stream`.
    pub(super) fn room(&self, stream: u8) -> u32 {
        let (next, end) = self.open[usize::from(stream)];
        end - next
    }

    /// Pages that are left in the unit of `stream` even if the program unit that it has begun is
    /// filled with padding, as it may be when a unit is opened for another stream.
    pub(super) fn sure_room(&self, stream: u8, geometry: &Geometry) -> u32 {
        let padding = match geometry.loses_pages() {
            true => self.begun(stream, geometry).map_or(0, |(_, left)| left),
            false => 0,
        };
        self.room(stream) - padding
    }

    /// Pages that are left in the open units that data goes to, in native mode.
    pub(super) fn native_room(&self) -> u32 {
        let takes_data = |&stream: &u8| Some(stream) != self.map && self.slc() != Some(stream);
        (0..self.count()).filter(takes_data).map(|stream| self.room(stream)).sum()
    }

    /// Whether `stream` has a page left in its unit.
    pub(super) fn has_room(&self, stream: u8) -> bool {
        self.room(stream) > 0
    }

    /// How many streams of the placement run out of room at most when so many pages are divided
    /// among them.
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

    /// Opens a free unit for `stream`; the most worn one for data that nobody overwrites.
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

    /// Gives `stream` a unit of which so many pages are programmed already.
    pub(super) fn resume(&mut self, stream: u8, unit: Unit, programmed: u32, geometry: &Geometry) {
        assert!(!self.has_room(stream), "the open unit still has room");
        let first = geometry.page(unit, 0).get();
        let end = first + self.geometry(stream, geometry).unit_capacity();
        self.open[usize::from(stream)] = (first + programmed, end);
    }

    /// The host has written a page.
    #[inline(always)]
    pub(super) fn count_host_page(&mut self, stream: u8) {
        self.traffic[usize::from(stream)].host_pages += 1;
    }

    /// Cleaning has moved pages.
    pub(super) fn count_gc_pages(&mut self, stream: u8, pages: usize) {
        self.traffic[usize::from(stream)].gc_pages += pages as u64;
    }

    /// Traffic of the streams of data: those of the placement, that of the log and that of the SLC
    /// cache.
    pub(super) fn traffic(&self) -> Vec<StreamCounts> {
        let data = (0..self.data).chain(self.log).chain(self.slc());
        data.map(|stream| self.traffic[usize::from(stream)]).collect()
    }

    pub(super) fn reset_counters(&mut self) {
        self.traffic.fill(StreamCounts::default());
    }

    /// A unit with room is open for its stream, and programmed up to the next page.
    pub(super) fn check(&self, units: &UnitTable, geometry: &Geometry) {
        for stream in (0..self.count()).filter(|&stream| self.has_room(stream)) {
            let (unit, page) = geometry.place(Ppn::new(self.open[usize::from(stream)].0));
            assert_eq!((units.stream(unit), units.written(unit)), (stream, page), "{unit:?}");
        }
    }
}
