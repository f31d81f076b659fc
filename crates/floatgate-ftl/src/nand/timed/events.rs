//! Future events, in the order of time.

use alloc::collections::{BinaryHeap, VecDeque};
use core::cmp::Reverse;

use super::schedule::PAGE_TYPES;

/// Time of an event that never happens.
pub const NEVER: u64 = u64::MAX;

/// Event of a die, a channel, a node or a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The cells of this die are done, unless they were interrupted.
    Cells(u32),
    /// A page of this die has gone over its channel.
    Transfer(u32),
    /// A delay or a service of this node ends.
    Complete(u32),
    /// A command has been sent to this die.
    Commanded(u32),
    /// This die may be able to begin something new.
    Wake(u32),
    /// This server can take the next chain.
    Free(u32),
}

/// Class of events with a fixed delay: they end in the order in which they begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FixedDelay(u8);

/// Index of the events that have no fixed delay.
const OTHERS: usize = 0;

/// Index of the first delay for page types.
const OF_TYPES: usize = 5;

/// Number of page types with delays of their own. SLC mode is the last type.
const TYPES: usize = PAGE_TYPES + 1;

/// Number of indices: of fixed delays and of other events; and their number if all pages are of one
/// type.
const DELAYS: usize = OF_TYPES + 2 * TYPES;
const DELAYS_OF_ONE_TYPE: usize = OF_TYPES + 2;

impl FixedDelay {
    /// Page type of pages in SLC mode.
    pub const SLC: u32 = PAGE_TYPES as u32;

    pub const TRANSFER: Self = Self(1);
    pub const COMMAND: Self = Self(2);
    pub const ERASE: Self = Self(3);
    /// Transfer of the most pages that go over a channel at once: a page of each plane of a die, or
    /// a piece of a program unit.
    pub const MOST: Self = Self(4);

    /// Returns the delay of reads of a page type.
    #[inline(always)]
    pub fn read(page_type: u32) -> Self {
        Self(OF_TYPES as u8 + 2 * page_type as u8)
    }

    /// Returns the delay of programs of a page type.
    #[inline(always)]
    pub fn program(page_type: u32) -> Self {
        Self(OF_TYPES as u8 + 1 + 2 * page_type as u8)
    }
}

/// Queue of future events. Almost all events have a fixed delay, so the next event is the head of
/// one of a few queues. All other events are in a heap.
#[derive(Clone, Debug)]
pub struct Events {
    /// The smallest of `heads`, and the delay that it belongs to.
    first: u64,
    at: usize,
    /// Time of the first event of each fixed delay, and of the other events.
    heads: [u64; DELAYS],
    fixed: [VecDeque<(u64, Event)>; DELAYS],
    /// Number of fixed delays for the page types of the drive.
    used: usize,
    /// Time, kind and number of each event as one number, which is smaller for earlier events.
    others: BinaryHeap<Reverse<u128>>,
}

impl Events {
    /// Creates an empty queue for a drive with `page_types` page types.
    pub fn new(page_types: u32) -> Self {
        Self {
            first: NEVER,
            at: OTHERS,
            heads: [NEVER; DELAYS],
            fixed: Default::default(),
            used: OF_TYPES + 2 * page_types as usize,
            others: BinaryHeap::new(),
        }
    }

    /// Returns the time of the next event.
    #[inline(always)]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Adds an event with a fixed delay: it begins now and ends at `time`.
    #[inline(always)]
    pub fn push_fixed(&mut self, FixedDelay(at): FixedDelay, time: u64, event: Event) {
        let at = usize::from(at);
        let queue = &mut self.fixed[at];
        debug_assert!(
            queue.back().is_none_or(|last| last.0 <= time),
            "the event that began first ends first"
        );
        queue.push_back((time, event));
        if self.heads[at] == NEVER {
            self.set_head(at, time);
        }
    }

    /// Adds any other event.
    pub fn push(&mut self, time: u64, event: Event) {
        let (kind, number) = match event {
            Event::Cells(die) => (0, die),
            Event::Complete(node) => (1, node),
            Event::Wake(die) => (2, die),
            Event::Free(server) => (3, server),
            Event::Transfer(die) => (4, die),
            Event::Commanded(_) => unreachable!("commands have a fixed delay"),
        };
        self.others.push(Reverse(u128::from(time) << 64 | kind << 32 | u128::from(number)));
        if time < self.heads[OTHERS] {
            self.set_head(OTHERS, time);
        }
    }

    /// Notes the time of the first event of a delay.
    #[inline(always)]
    fn set_head(&mut self, at: usize, time: u64) {
        self.heads[at] = time;
        if time < self.first {
            (self.first, self.at) = (time, at);
        }
    }

    /// Removes and returns the next event, if it is due.
    #[inline(always)]
    pub fn pop_due(&mut self, now: u64) -> Option<Event> {
        if self.first > now {
            return None;
        }
        let event = if self.at == OTHERS {
            self.pop_other()?
        } else {
            let queue = &mut self.fixed[self.at];
            let (time, event) = queue.pop_front()?;
            self.heads[self.at] = queue.front().map_or(NEVER, |&(time, _)| time);
            // Operations that began together end together.
            if self.heads[self.at] == time {
                return Some(event);
            }
            event
        };
        (self.first, self.at) = (self.heads[OTHERS], OTHERS);
        // Two loops: most drives only need the first one, whose length is a constant.
        for at in 1..DELAYS_OF_ONE_TYPE {
            self.set_head(at, self.heads[at]);
        }
        for at in DELAYS_OF_ONE_TYPE..self.used {
            self.set_head(at, self.heads[at]);
        }
        Some(event)
    }

    fn pop_other(&mut self) -> Option<Event> {
        let Reverse(first) = self.others.pop()?;
        self.heads[OTHERS] = self.others.peek().map_or(NEVER, |Reverse(next)| (next >> 64) as u64);
        let number = first as u32;
        Some(match (first >> 32) as u32 {
            0 => Event::Cells(number),
            1 => Event::Complete(number),
            2 => Event::Wake(number),
            3 => Event::Free(number),
            _ => Event::Transfer(number),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn earlier_events_come_first() {
        let all = [
            (3, Event::Cells(7)),
            (4, Event::Complete(u32::MAX)),
            (6, Event::Wake(2)),
            (u64::MAX - 1, Event::Free(3)),
        ];
        let mut events = Events::new(4);
        all.iter().rev().for_each(|&(time, event)| events.push(time, event));
        for (time, event) in all {
            assert_eq!((events.first(), events.pop_due(time - 1)), (time, None));
            assert_eq!(events.pop_due(time), Some(event));
        }
        assert_eq!((events.first(), events.pop_due(u64::MAX)), (NEVER, None));
    }

    #[test]
    fn events_with_and_without_fixed_delay_are_in_one_order() {
        let mut events = Events::new(4);
        events.push_fixed(FixedDelay::program(0), 70, Event::Cells(1));
        events.push_fixed(FixedDelay::read(3), 20, Event::Cells(2));
        events.push(30, Event::Wake(9));
        events.push_fixed(FixedDelay::TRANSFER, 5, Event::Transfer(3));
        events.push_fixed(FixedDelay::read(3), 25, Event::Cells(4));
        events.push_fixed(FixedDelay::program(0), 75, Event::Cells(2));
        let found: Vec<_> = core::iter::from_fn(|| {
            let time = events.first();
            events.pop_due(time).map(|event| (time, event))
        })
        .collect();
        let expected = [
            (5, Event::Transfer(3)),
            (20, Event::Cells(2)),
            (25, Event::Cells(4)),
            (30, Event::Wake(9)),
            (70, Event::Cells(1)),
            (75, Event::Cells(2)),
        ];
        assert_eq!(found, expected);
    }
}
