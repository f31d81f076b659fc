//! Threads that wait for requests, and small writes that wait to be begun together: SHRD packs
//! them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, Thread};
use std::time::Instant;

use super::{ServeError, Stream, lock};
use crate::drive::live::LiveError;

/// Arrival of a request: its time, and the number of power cuts before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entered {
    pub at: Instant,
    pub cuts: u64,
}

/// A thread that waits for requests.
#[derive(Debug)]
pub(super) struct Waiter {
    pub thread: Thread,
    pub entered: Entered,
    pub is_begun: AtomicBool,
    left: AtomicUsize,
    pub end: Mutex<(u64, Option<ServeError>)>,
}

impl Waiter {
    /// Registers the calling thread as the waiter for `requests` requests.
    pub fn new(entered: Entered, requests: usize) -> Arc<Self> {
        Arc::new(Self {
            thread: thread::current(),
            entered,
            is_begun: AtomicBool::new(false),
            left: AtomicUsize::new(requests),
            end: Mutex::default(),
        })
    }

    /// Reports that one of the requests has completed.
    pub fn complete(&self, done_ns: u64) {
        let mut end = lock(&self.end);
        end.0 = end.0.max(done_ns);
        self.leave(1);
    }

    /// Reports that a page of one of the requests cannot be read.
    pub fn damage(&self) {
        lock(&self.end).1 = Some(LiveError::Damaged.into());
    }

    /// Fails all of the requests.
    pub fn fail(&self, error: ServeError) {
        lock(&self.end).1 = Some(error);
        self.is_begun.store(true, Ordering::Release);
        self.leave(self.left.load(Ordering::Acquire));
    }

    fn leave(&self, requests: usize) {
        if self.left.fetch_sub(requests, Ordering::AcqRel) == requests {
            self.thread.unpark();
        }
    }

    /// Returns whether all of the requests have ended.
    pub fn has_ended(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }
}

/// A waiting write, and the thread that waits for it.
#[derive(Debug)]
pub(super) struct Write {
    pub offset: u64,
    pub bytes: Vec<u8>,
    pub stream: Stream,
    pub waiter: Arc<Waiter>,
}

/// The waiting writes, in the order of their arrival.
#[derive(Debug, Default)]
pub(super) struct Writes(Mutex<Vec<Write>>);

impl Writes {
    pub fn push(&self, write: Write) {
        lock(&self.0).push(write);
    }

    /// Takes at most `most` writes, in the order of their arrival.
    pub fn take(&self, most: usize) -> Vec<Write> {
        let mut waiting = lock(&self.0);
        let count = waiting.len().min(most);
        waiting.drain(..count).collect()
    }
}
