//! When what happens next.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

/// No time at all.
pub(super) const NEVER: u64 = u64::MAX;

/// What happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    /// The cells of this die are done, unless they were interrupted.
    Cells(u32),
    /// A page has gone over this channel.
    Transfer(u32),
    /// A delay or a service of this node ends.
    Complete(u32),
    /// A command has been sent to this die.
    Commanded(u32),
    /// This die may be able to do something that it could not do before.
    Wake(u32),
    /// This server takes the next.
    Free(u32),
}

/// The next events. A die, a channel or a server has few of them at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    /// Time, kind and number of each, as one number that is the smaller the sooner it is.
    heap: BinaryHeap<Reverse<u128>>,
}

impl Events {
    /// The first time.
    #[inline(always)]
    pub(super) fn first(&self) -> u64 {
        self.heap.peek().map_or(NEVER, |Reverse(first)| (first >> 64) as u64)
    }

    #[inline(always)]
    pub(super) fn push(&mut self, time: u64, event: Event) {
        let (kind, number) = match event {
            Event::Cells(die) => (0, die),
            Event::Transfer(channel) => (1, channel),
            Event::Complete(node) => (2, node),
            Event::Commanded(die) => (3, die),
            Event::Wake(die) => (4, die),
            Event::Free(server) => (5, server),
        };
        self.heap.push(Reverse(u128::from(time) << 64 | kind << 32 | u128::from(number)));
    }

    /// The next event, if it is due.
    #[inline(always)]
    pub(super) fn pop_due(&mut self, now: u64) -> Option<Event> {
        if self.first() > now {
            return None;
        }
        let Reverse(first) = self.heap.pop()?;
        let number = first as u32;
        Some(match (first >> 32) as u32 {
            0 => Event::Cells(number),
            1 => Event::Transfer(number),
            2 => Event::Complete(number),
            3 => Event::Commanded(number),
            4 => Event::Wake(number),
            _ => Event::Free(number),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sooner_comes_first() {
        let all = [
            (3, Event::Cells(7)),
            (3, Event::Transfer(0)),
            (4, Event::Complete(u32::MAX)),
            (5, Event::Commanded(1)),
            (6, Event::Wake(2)),
            (u64::MAX - 1, Event::Free(3)),
        ];
        let mut events = Events::default();
        all.iter().rev().for_each(|&(time, event)| events.push(time, event));
        for (time, event) in all {
            assert_eq!((events.first(), events.pop_due(time - 1)), (time, None));
            assert_eq!(events.pop_due(time), Some(event));
        }
        assert_eq!((events.first(), events.pop_due(u64::MAX)), (NEVER, None));
    }
}
