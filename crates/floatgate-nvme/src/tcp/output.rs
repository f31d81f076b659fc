//! The sending side of a connection. Several threads send PDUs; one of them at a time writes, and
//! takes along the PDUs of the others.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::stream::Stream;

/// Number of pending bytes from which on PDUs are written without waiting for more.
const BATCH_BYTES: usize = 64 << 10;

/// Maximum number of pending bytes; with more, senders wait.
const PENDING_MAX: usize = 4 << 20;

/// The sending side of a connection.
pub struct Output {
    stream: Arc<dyn Stream>,
    state: Mutex<State>,
    written: Condvar,
}

#[derive(Default)]
struct State {
    pending: Vec<u8>,
    is_writing: bool,
    has_failed: bool,
}

impl Output {
    pub fn new(stream: Arc<dyn Stream>) -> Self {
        Self { stream, state: Mutex::default(), written: Condvar::new() }
    }

    /// Adds bytes that are sent at the next flush.
    pub fn push(&self, bytes: &[u8]) {
        let state = self.append(bytes);
        if state.pending.len() >= BATCH_BYTES {
            self.write(state);
        }
    }

    /// Sends bytes, and all pending ones.
    pub fn send(&self, bytes: &[u8]) {
        self.write(self.append(bytes));
    }

    /// Sends all pending bytes.
    pub fn flush(&self) {
        self.write(self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append(&self, bytes: &[u8]) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        while state.is_writing && state.pending.len() > PENDING_MAX {
            state = self.written.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if !state.has_failed {
            state.pending.extend_from_slice(bytes);
        }
        state
    }

    /// Writes until nothing is pending, unless another thread is writing. A failure ends the
    /// connection.
    fn write<'a>(&'a self, mut state: MutexGuard<'a, State>) {
        if state.is_writing {
            return;
        }
        state.is_writing = true;
        let mut bytes = vec![];
        while !state.pending.is_empty() {
            std::mem::swap(&mut state.pending, &mut bytes);
            drop(state);
            let result = self.stream.write_all(&bytes);
            bytes.clear();
            state = self.lock();
            if result.is_err() {
                state.has_failed = true;
                state.pending.clear();
                self.stream.close();
            }
            self.written.notify_all();
        }
        if state.pending.capacity() < bytes.capacity() {
            state.pending = bytes;
        }
        state.is_writing = false;
        self.written.notify_all();
    }
}
