//! Admission: a request begins when the drive serves and has room for it.
//!
//! The lock is taken here, when the data of the request is already copied.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use floatgate_ftl::request::{Op, Request};

use super::backend::{ServeError, Stream};
use super::delivery::Waiter;
use super::leader::{Leader, Locked};
use super::panics::lock;
use super::state::{State, Write};
use crate::drive::live::{Opened, Outcome};

#[derive(Debug)]
pub(super) struct Admission {
    /// Bytes of a page if SHRD packs writes of whole pages. Such writes begin together if they
    /// arrive together.
    packs: Option<u32>,
    /// Whether no request may begin for now. Set and read under the lock of the leader, so that no
    /// request begins between the start of a pause and its end.
    is_paused: AtomicBool,
    /// Writes to be packed, in the order of their arrival.
    waiting: Mutex<Vec<Write>>,
}

impl Admission {
    pub fn new(packs: Option<u32>) -> Self {
        Self { packs, is_paused: AtomicBool::new(false), waiting: Mutex::default() }
    }

    /// Returns the number of requests that can begin before another one must complete.
    fn room(&self, state: &State) -> usize {
        let Ok(Opened { description, .. }) = state.opened() else {
            // The request itself then reports that there is no drive.
            return usize::MAX;
        };
        let queue = &description.config.queue;
        let depth = queue.depth as usize * queue.queues as usize;
        match (self.is_paused.load(Ordering::Relaxed), state.clock.is_simulated()) {
            (true, _) => 0,
            (false, false) => usize::MAX,
            (false, true) => depth.saturating_sub(state.delivery.in_progress()),
        }
    }

    /// Locks the drive as soon as it can take a request.
    fn with_room<'a>(&self, leader: &'a Leader) -> Locked<'a> {
        leader.locked().wait_until(|state| self.room(state) > 0)
    }

    /// Pauses the drive: locks it when no request is in progress. No request begins until
    /// [`Admission::resume`] ends the pause.
    pub fn pause<'a>(&self, leader: &'a Leader) -> Locked<'a> {
        let state = leader.locked();
        self.is_paused.store(true, Ordering::Relaxed);
        state.wait_until(|state| state.delivery.in_progress() == 0)
    }

    pub fn resume(&self, state: Locked<'_>) {
        self.is_paused.store(false, Ordering::Relaxed);
        state.release_changed();
    }

    /// Begins a request other than a write, and returns with the drive still locked.
    ///
    /// # Errors
    /// No power, a trim of a drive that is read-only, or an error of the drive.
    pub fn begin<'a>(
        &self,
        leader: &'a Leader,
        (op, offset, length, stream): (Op, u64, u64, Stream),
        waiter: &Arc<Waiter>,
    ) -> Result<(Locked<'a>, Outcome), ServeError> {
        let mut state = self.with_room(leader);
        state.has_power_since(waiter.entered)?;
        if op == Op::Trim && state.faults.read_only {
            return Err(ServeError::ReadOnly);
        }
        let at_ns = state.stamp(waiter.entered.at);
        let begun = state.begin(Request { at_ns, op, offset, length, stream }, waiter)?;
        Ok((state, begun))
    }

    /// Begins a write, alone or together with others. An error goes into the write's reply.
    pub fn write(&self, leader: &Leader, write: Write) {
        let (entered, waiter) = (write.waiter.entered, Arc::clone(&write.waiter));
        let bytes = write.offset | write.bytes.len() as u64;
        if self.packs.is_none_or(|page| bytes & (u64::from(page) - 1) != 0) {
            return begin_writes(self.with_room(leader), entered.at, vec![write]);
        }
        lock(&self.waiting).push(write);
        while !waiter.is_begun() {
            let state = self.with_room(leader);
            let mut waiting = lock(&self.waiting);
            let count = waiting.len().min(self.room(&state));
            let writes = waiting.drain(..count).collect();
            drop(waiting);
            begin_writes(state, entered.at, writes);
        }
    }
}

/// Begins writes together, as if they had arrived at `at`. Writes from before a power cut fail.
fn begin_writes(mut state: Locked<'_>, at: Instant, writes: Vec<Write>) {
    let is_late = |write: &Write| state.has_power_since(write.waiter.entered).is_err();
    let (late, writes): (Vec<_>, Vec<_>) = writes.into_iter().partition(is_late);
    late.iter().for_each(|write| write.waiter.fail(ServeError::PowerOff));
    if writes.is_empty() {
        return;
    }
    let waiters: Vec<_> = writes.iter().map(|write| write.waiter.clone()).collect();
    let begun = match state.faults.read_only {
        true => Err(ServeError::ReadOnly),
        false => state.begin_writes(at, writes),
    };
    match begun {
        Ok(begun) => waiters.iter().for_each(|waiter| waiter.begin(begun.is_damaged)),
        Err(error) => waiters.iter().for_each(|waiter| waiter.fail(error.clone())),
    }
    state.release_begun();
}

#[cfg(test)]
mod tests;
