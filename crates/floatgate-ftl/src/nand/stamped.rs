//! The medium that stores a version per page, so that a read can be compared with the last write.

use alloc::vec;
use alloc::vec::Vec;

use super::{Cause, Chain, HostData, Move, Moves, Nand, ReadSource, Tagged, Tear};
use crate::addr::{Lpn, Owner, Ppn, Tag};

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

#[deny(clippy::missing_trait_methods)]
impl<N: Nand> Nand for Stamped<N> {
    type Error = N::Error;
    type Clock = N::Clock;

    crate::forward_nand!(clock pad set_mode load_payload close_stripe erase report reset_counters);
    crate::forward_nand!(read_failed is_read_only alone);

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

    fn copy(&mut self, moves: impl Moves, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        self.inner.copy(moves.clone(), cause, chain)?;
        for Move { from, to, .. } in moves {
            self.stamps[to.index()] = self.stamps[from.index()];
        }
        Ok(())
    }
}

impl<N: Tagged> Tagged for Stamped<N> {
    crate::forward_nand!(tags);
}

/// Keeps the versions of torn pages. [`Checked`](super::Checked), where it lies below this medium,
/// ensures that nothing reads them.
impl<N: Tear> Tear for Stamped<N> {
    crate::forward_nand!(tear);
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
