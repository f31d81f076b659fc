//! Asynchronous events of a controller (Base 2.0, 5.2).

use std::collections::VecDeque;

use crate::spec::features::notice;

/// Maximum number of requests that wait for an event.
pub(super) const REQUESTS_MAX: usize = 4;

/// An event: its type, information and log page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Event {
    pub kind: u8,
    pub information: u8,
    pub log: u8,
}

impl Event {
    /// Returns dword 0 of the completion.
    pub const fn dword(self) -> u32 {
        notice::dword(self.kind, self.information, self.log)
    }
}

/// Waiting requests and events of a controller.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// Command identifiers of the requests.
    requests: VecDeque<u16>,
    /// Events without a request.
    pending: VecDeque<Event>,
    /// Reported events: they are masked until the host reads their log page.
    reported: Vec<Event>,
}

impl Events {
    /// Adds a request. Returns an event that was waiting for it.
    ///
    /// # Errors
    /// Too many requests.
    pub fn request(&mut self, id: u16) -> Result<Option<Event>, ()> {
        if self.requests.len() >= REQUESTS_MAX {
            return Err(());
        }
        let event = self.pending.pop_front();
        match event {
            Some(event) => self.reported.push(event),
            None => self.requests.push_back(id),
        }
        Ok(event)
    }

    /// Adds an event, unless it is masked. Returns the request that it completes.
    pub fn raise(&mut self, event: Event) -> Option<u16> {
        if self.reported.contains(&event) || self.pending.contains(&event) {
            return None;
        }
        let request = self.requests.pop_front();
        match request {
            Some(_) => self.reported.push(event),
            None => self.pending.push_back(event),
        }
        request
    }

    /// Allows the events of a log page again: the host has read the page.
    pub fn unmask(&mut self, log: u8) {
        self.reported.retain(|event| event.log != log);
    }

    /// Removes a request. Returns whether it was waiting.
    pub fn abort(&mut self, id: u16) -> bool {
        let at = self.requests.iter().position(|request| *request == id);
        at.and_then(|at| self.requests.remove(at)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGED: Event = Event { kind: 2, information: 0, log: 4 };
    const SPARE: Event = Event { kind: 1, information: 2, log: 2 };

    #[test]
    fn an_event_is_reported_once_until_its_log_is_read() {
        let mut events = Events::default();
        assert_eq!(events.request(7), Ok(None));
        assert_eq!(events.raise(CHANGED), Some(7));
        assert_eq!(events.request(8), Ok(None));
        assert_eq!(events.raise(CHANGED), None, "it is masked");
        events.unmask(2);
        assert_eq!(events.raise(CHANGED), None, "another page was read");
        events.unmask(4);
        assert_eq!(events.raise(CHANGED), Some(8));
    }

    #[test]
    fn an_event_waits_for_a_request() {
        let mut events = Events::default();
        assert_eq!((events.raise(SPARE), events.raise(CHANGED)), (None, None));
        assert_eq!(events.raise(SPARE), None, "it waits already");
        assert_eq!(events.request(1), Ok(Some(SPARE)));
        assert_eq!(events.request(2), Ok(Some(CHANGED)));
        assert_eq!(events.request(3), Ok(None));
    }

    #[test]
    fn requests_are_limited_and_can_be_aborted() {
        let mut events = Events::default();
        assert!((0..4).all(|id| events.request(id) == Ok(None)));
        assert_eq!(events.request(4), Err(()));
        assert!(events.abort(2) && !events.abort(2));
        assert_eq!(events.request(4), Ok(None));
    }

    #[test]
    fn the_dword_has_type_information_and_log() {
        assert_eq!(SPARE.dword(), 0x0002_0201);
    }
}
