//! Placement handles as the host sees them: the room in their reclaim units, a request for an empty
//! unit, and events (NVM Express TP4146).

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use super::PageFtl;
use crate::addr::{Lpn, Unit};
use crate::ftl::{HandleEvent, Handles};
use crate::mapping::Mapping;
use crate::nand::{Chain, Nand};

/// Maximum number of events that wait to be taken; the drive drops older events.
const EVENTS_MAX: usize = 256;

/// Events that the host has not taken yet, and the state from which new events follow.
#[derive(Debug)]
pub(super) struct HandleEvents {
    waiting: VecDeque<HandleEvent>,
    /// By handle: whether the drive has opened a reclaim unit that the host has not ended.
    opened: Vec<bool>,
    /// By handle: the first page that cleaning moves out of the current victim, and the number of
    /// such pages.
    moved: Vec<(Lpn, u64)>,
}

impl HandleEvents {
    /// `opened` states for each handle whether it has begun a reclaim unit.
    fn new(opened: Vec<bool>) -> Self {
        let moved = vec![(Lpn::new(0), 0); opened.len()];
        Self { waiting: VecDeque::with_capacity(EVENTS_MAX), opened, moved }
    }

    fn add(&mut self, event: HandleEvent) {
        if self.waiting.len() == EVENTS_MAX {
            self.waiting.pop_front();
        }
        self.waiting.push_back(event);
    }

    /// Notes that the drive opened a reclaim unit for a handle.
    pub(super) fn opened(&mut self, handle: u8) {
        if mem::replace(&mut self.opened[usize::from(handle)], true) {
            self.add(HandleEvent::NextUnit { handle });
        }
    }

    /// Notes that cleaning moves a page of a handle.
    pub(super) fn moved(&mut self, handle: u8, lpn: Lpn) {
        let (first, pages) = &mut self.moved[usize::from(handle)];
        if *pages == 0 {
            *first = lpn;
        }
        *pages += 1;
    }

    /// Notes that a victim is empty.
    pub(super) fn emptied(&mut self) {
        for handle in 0..self.moved.len() {
            let (first, pages) = self.moved[handle];
            if pages > 0 {
                self.add(HandleEvent::Moved { handle: handle as u8, first, pages });
                self.moved[handle].1 = 0;
            }
        }
    }
}

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Notes that a unit is opened for a stream.
    #[inline]
    pub(super) fn note_opened(&mut self, stream: u8) {
        if let Some(events) = &mut self.events
            && let Some(handle) = self.placement.handle_written_to(stream)
            && self.store.units.begins_reclaim_unit(stream)
        {
            events.opened(handle);
        }
    }

    /// Returns the stream that new writes of a handle go to.
    fn stream_of(&self, handle: u8) -> u8 {
        self.placement.stream_of_handle(handle).expect("the placement obeys the handle")
    }

    /// Returns the erase unit of a stream that has room.
    fn open_unit(&self, stream: u8) -> Option<Unit> {
        self.streams.open_unit(stream, &self.store.geometry)
    }

    /// Returns whether the reclaim unit of a stream has a programmed page, and is not full.
    fn has_begun(&self, stream: u8) -> bool {
        self.store.units.has_begun(stream, self.open_unit(stream))
    }
}

impl<N: Nand, M: Mapping> Handles<N::Error> for PageFtl<N, M> {
    fn room(&self, handle: u8) -> u64 {
        let stream = self.stream_of(handle);
        let room = self.streams.room(stream);
        let more = self.store.units.erase_units_left(stream, room > 0);
        u64::from(room) + u64::from(more) * u64::from(self.store.geometry.unit_capacity())
    }

    fn next_unit(&mut self, handle: u8, chain: &mut Chain) -> Result<u64, N::Error> {
        let stream = self.stream_of(handle);
        // The drive chose the victim under way while this room was still free, so that victim is
        // finished first.
        self.cleaner.active = true;
        self.finish_under_way(chain)?;
        self.cleaner.active = false;
        if !self.has_begun(stream) {
            return Ok(0);
        }
        let left = self.room(handle);
        self.pad(stream, chain)?;
        let open = self.open_unit(stream);
        self.streams.skip(stream, self.streams.room(stream));
        self.store.units.end_reclaim_unit(stream, open);
        if let Some(events) = &mut self.events {
            events.opened[usize::from(handle)] = false;
        }
        Ok(left)
    }

    fn take_events(&mut self, into: &mut Vec<HandleEvent>) {
        if self.events.is_none() {
            let streams = (0..self.placement.handles()).map(|handle| self.stream_of(handle));
            let opened = streams.map(|stream| self.has_begun(stream)).collect();
            self.events = Some(HandleEvents::new(opened));
        }
        into.extend(self.events.iter_mut().flat_map(|events| events.waiting.drain(..)));
    }
}

#[cfg(test)]
mod tests;
