//! A medium that logs every operation with its chain.

use std::sync::{Arc, Mutex};

use floatgate_ftl::addr::{Owner, Ppn, Tag, Unit};
use floatgate_ftl::forward_nand;
use floatgate_ftl::nand::{Cause, Chain, Move, Moves, Nand, ReadSource};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Read(Ppn, Owner),
    Program(Ppn, Owner),
    Copy(Ppn, Ppn, Owner),
    Erase(Unit),
}

/// One flash operation, with the end of its chain before and after it. Operations with equal chains
/// begin, or end, together.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub kind: Kind,
    pub cause: Cause,
    pub before: Chain,
    pub after: Chain,
}

/// Logged events; clones share them.
#[derive(Debug)]
pub struct Log<E = Event>(Arc<Mutex<Vec<E>>>);

impl<E> Clone for Log<E> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<E> Default for Log<E> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<E> Log<E> {
    /// Returns the events logged since the last call.
    pub fn take(&self) -> Vec<E> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    pub fn push(&self, event: E) {
        let mut events = self.0.lock().unwrap();
        assert!(events.len() < 4_000_000, "cleaning does not end");
        events.push(event);
    }
}

#[derive(Clone, Debug)]
pub struct Logged<N> {
    inner: N,
    log: Log,
}

impl<N> Logged<N> {
    pub fn new(inner: N, log: Log) -> Self {
        Self { inner, log }
    }

    fn log<T>(
        &mut self,
        kind: Kind,
        cause: Cause,
        chain: &mut Chain,
        work: impl FnOnce(&mut N, &mut Chain) -> T,
    ) -> T {
        let before = *chain;
        let result = work(&mut self.inner, chain);
        self.log.push(Event { kind, cause, before, after: *chain });
        result
    }
}

impl<N: Nand> Nand for Logged<N> {
    type Error = N::Error;
    type Clock = N::Clock;

    forward_nand!(clock pad load_payload set_mode report reset_counters);

    fn read(
        &mut self,
        from: Ppn,
        owner: Owner,
        source: ReadSource,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        let kind = Kind::Read(from, owner);
        self.log(kind, cause, chain, |nand, chain| nand.read(from, owner, source, cause, chain))
    }

    fn program(
        &mut self,
        to: Ppn,
        tag: Tag,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        let kind = Kind::Program(to, tag.owner);
        self.log(kind, cause, chain, |nand, chain| nand.program(to, tag, cause, chain))
    }

    fn copy(&mut self, moves: impl Moves, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        let before = *chain;
        let result = self.inner.copy(moves.clone(), cause, chain);
        for Move { from, to, owner, .. } in moves {
            let kind = Kind::Copy(from, to, owner);
            self.log.push(Event { kind, cause, before, after: *chain });
        }
        result
    }

    fn erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        self.log(Kind::Erase(unit), cause, chain, |nand, chain| nand.erase(unit, cause, chain))
    }
}
