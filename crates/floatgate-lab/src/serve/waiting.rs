//! Small writes that wait for the drive, to be begun together: what SHRD packs.

use std::sync::{Arc, Mutex};

use super::pacing::Waiter;
use super::{Stream, lock};

/// A write that waits, and who waits for it.
#[derive(Debug)]
pub(super) struct Write {
    pub offset: u64,
    pub bytes: Vec<u8>,
    pub stream: Stream,
    pub waiter: Arc<Waiter>,
}

/// The writes that wait.
#[derive(Debug, Default)]
pub(super) struct Writes(Mutex<Vec<Write>>);

impl Writes {
    pub fn push(&self, write: Write) {
        lock(&self.0).push(write);
    }

    /// At most so many of them, in the order in which they came.
    pub fn take(&self, most: usize) -> Vec<Write> {
        let mut waiting = lock(&self.0);
        let count = waiting.len().min(most);
        waiting.drain(..count).collect()
    }
}
