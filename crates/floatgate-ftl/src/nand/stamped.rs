//! The medium that stores a version per page, so that a read can be compared with the last write.

use alloc::vec;
use alloc::vec::Vec;

use super::{Cause, Chain, HostData, Move, Moves, Nand, ReadSource, Tagged, Tear};
use crate::addr::{Lpn, Owner, Ppn, Tag, Unit};
use crate::counters::Counters;
use crate::geometry::Mode;

/// Stores one 8-byte version per page around another medium.
#[derive(Clone, Debug)]
pub struct Stamped<N> {
    inner: N,
    register: u64,
    stamps: Vec<u64>,
}

impl<N> Stamped<N> {
    /// Creates a drive of `pages` physical pages.
    pub fn new(inner: N, pages: u32) -> Self {
        Self { inner, register: 0, stamps: vec![0; pages as usize] }
    }

    /// Returns the wrapped medium.
    pub fn inner_mut(&mut self) -> &mut N {
        &mut self.inner
    }

    /// Returns the version in the page register: the version that the host read last.
    pub fn register(&self) -> u64 {
        self.register
    }

    /// Puts a version into the page register: the version that the host programs next.
    pub fn set_register(&mut self, version: u64) {
        self.register = version;
    }
}

impl<N: Nand> Nand for Stamped<N> {
    type Error = N::Error;
    type Clock = N::Clock;

    #[inline(always)]
    fn clock(&self) -> &N::Clock {
        self.inner.clock()
    }

    #[inline(always)]
    fn clock_mut(&mut self) -> &mut N::Clock {
        self.inner.clock_mut()
    }

    fn read(
        &mut self,
        from: Ppn,
        owner: Owner,
        source: ReadSource,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        self.inner.read(from, owner, source, cause, chain)?;
        if cause == Cause::Host {
            self.register = self.stamps[from.index()];
        }
        Ok(())
    }

    fn program(
        &mut self,
        to: Ppn,
        tag: Tag,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        self.inner.program(to, tag, cause, chain)?;
        self.stamps[to.index()] = if cause == Cause::Host { self.register } else { 0 };
        Ok(())
    }

    fn pad(&mut self, from: Ppn, pages: u32, chain: &mut Chain) -> Result<(), N::Error> {
        self.inner.pad(from, pages, chain)
    }

    fn set_mode(&mut self, unit: Unit, mode: Mode) {
        self.inner.set_mode(unit, mode);
    }

    fn copy(&mut self, moves: impl Moves, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        self.inner.copy(moves.clone(), cause, chain)?;
        for Move { from, to, .. } in moves {
            self.stamps[to.index()] = self.stamps[from.index()];
        }
        Ok(())
    }

    fn load_payload(&mut self, bytes: &[u8]) {
        self.inner.load_payload(bytes);
    }

    fn erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        self.inner.erase(unit, cause, chain)
    }

    fn report(&self, counters: &mut Counters) {
        self.inner.report(counters);
    }

    fn reset_counters(&mut self) {
        self.inner.reset_counters();
    }

    fn read_failed(&self) -> bool {
        self.inner.read_failed()
    }

    fn is_read_only(&self) -> bool {
        self.inner.is_read_only()
    }
}

impl<N: Tagged> Tagged for Stamped<N> {
    fn tag(&self, ppn: Ppn) -> Option<Tag> {
        self.inner.tag(ppn)
    }

    fn programmed(&self, unit: Unit) -> u32 {
        self.inner.programmed(unit)
    }

    fn mode(&self, unit: Unit) -> Mode {
        self.inner.mode(unit)
    }

    fn payload(&self, ppn: Ppn) -> Option<Vec<u8>> {
        self.inner.payload(ppn)
    }
}

/// Keeps the versions of torn pages. [`Checked`](super::Checked), where it lies below this medium,
/// ensures that nothing reads them.
impl<N: Tear> Tear for Stamped<N> {
    fn tear_program(&mut self, to: Ppn) {
        self.inner.tear_program(to);
    }

    fn lose_memory(&mut self) {
        self.inner.lose_memory();
    }

    fn tear_erase(&mut self, unit: Unit, survives: fn(u32) -> bool) {
        self.inner.tear_erase(unit, survives);
    }
}

/// The naive model of a drive: the version that the host last wrote to each page.
#[derive(Clone, Debug)]
pub struct Shadow {
    latest: Vec<Option<u64>>,
    versions: u64,
}

impl Shadow {
    /// Creates a drive without written pages.
    pub fn new(logical_pages: u32) -> Self {
        Self { latest: vec![None; logical_pages as usize], versions: 0 }
    }
}

impl<N: Nand> HostData<Stamped<N>> for Shadow {
    fn accept(&mut self, lpn: Lpn) {
        self.versions += 1;
        self.latest[lpn.index()] = Some(self.versions);
    }

    fn load(&mut self, lpn: Lpn, nand: &mut Stamped<N>) {
        let latest = self.latest[lpn.index()];
        nand.register = latest.expect("only what the host has written is programmed");
    }

    fn unload(&mut self, lpn: Lpn, found: bool, nand: &Stamped<N>) {
        if found && nand.read_failed() {
            return;
        }
        let read = found.then_some(nand.register);
        assert_eq!(read, self.latest[lpn.index()], "{lpn:?} does not read as last written");
    }

    fn forget(&mut self, lpn: Lpn) {
        self.latest[lpn.index()] = None;
    }
}
