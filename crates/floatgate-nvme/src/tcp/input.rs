//! The receiving side of a connection, buffered.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use super::stream::Stream;

/// Bytes of the buffer; longer data are read into their place.
const BUFFER_BYTES: usize = 64 << 10;

/// The receiving side of a connection.
pub struct Input {
    stream: Arc<dyn Stream>,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Input {
    pub fn new(stream: Arc<dyn Stream>) -> Self {
        Self { stream, buffer: vec![0; BUFFER_BYTES].into(), start: 0, end: 0 }
    }

    /// Fills `into`. Calls `before` each time before it may wait for the host.
    ///
    /// # Errors
    /// The connection has ended, or its time limit has passed.
    pub fn read(&mut self, mut into: &mut [u8], before: impl Fn()) -> io::Result<()> {
        loop {
            let ready = (self.end - self.start).min(into.len());
            let (now, rest) = into.split_at_mut(ready);
            now.copy_from_slice(&self.buffer[self.start..self.start + ready]);
            self.start += ready;
            into = rest;
            if into.is_empty() {
                return Ok(());
            }
            before();
            if into.len() >= BUFFER_BYTES {
                let count = received(self.stream.read(into))?;
                into = &mut into[count..];
            } else {
                self.start = 0;
                self.end = 0;
                self.end = received(self.stream.read(&mut self.buffer))?;
            }
        }
    }

    /// Reads and forgets bytes.
    ///
    /// # Errors
    /// As [`Input::read`].
    pub fn skip(&mut self, bytes: usize, before: impl Fn()) -> io::Result<()> {
        let mut rest = [0; 256];
        for at in (0..bytes).step_by(rest.len()) {
            let length = (bytes - at).min(rest.len());
            self.read(&mut rest[..length], &before)?;
        }
        Ok(())
    }
}

/// Returns the count of received bytes; 0 bytes mean the end of the connection.
fn received(count: io::Result<usize>) -> io::Result<usize> {
    match count {
        Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(0),
        other => other,
    }
}
