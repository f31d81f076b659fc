//! Small writes that wait for the drive, to be begun together: SHRD packs them.

use std::sync::{Arc, Mutex};

use super::pacing::Waiter;
use super::{Stream, lock};

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
