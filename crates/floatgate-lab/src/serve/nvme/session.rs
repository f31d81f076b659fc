//! An NVMe controller as a client of a served drive.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use floatgate_nvme::drive::{DriveError, Session, WriteOptions};

use crate::drive::live::LiveError;
use crate::serve::backend::{Backend, ChangeOptions, ServeError};
use crate::serve::client::Client;
use crate::serve::served::Served;

/// Number of commands that covered a page in part, since the server started.
#[derive(Debug, Default)]
pub(super) struct Unaligned(AtomicU64);

impl Unaligned {
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

pub(super) struct Controller {
    client: Client,
    unaligned: Arc<Unaligned>,
}

impl Controller {
    pub fn new(served: &Arc<Served>, unaligned: Arc<Unaligned>) -> Self {
        let client = served.client();
        client.connect();
        Self { client, unaligned }
    }

    fn note_range(&self, offset: u64, length: usize) {
        let page = u64::from(self.client.page_bytes());
        if !(offset | length as u64).is_multiple_of(page) {
            self.unaligned.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        self.client.disconnect();
    }
}

fn options(options: WriteOptions) -> ChangeOptions {
    ChangeOptions { stream: options.handle, durable: options.durable }
}

/// Returns the error for the controller; `damaged` if a page could not be read.
fn refused(error: ServeError, damaged: DriveError) -> DriveError {
    match error {
        ServeError::PowerOff | ServeError::Lost(_) => DriveError::PowerOff,
        ServeError::ReadOnly => DriveError::ReadOnly,
        ServeError::Drive(LiveError::Damaged | LiveError::DamagedAt { .. }) => damaged,
        ServeError::Drive(_) => DriveError::Failed,
    }
}

fn unchanged(error: ServeError) -> DriveError {
    refused(error, DriveError::Unwritten)
}

/// Returns the error of a write. Only a write can exceed the capacity of a drive.
fn unwritten(error: ServeError) -> DriveError {
    match error {
        ServeError::Drive(LiveError::Stopped { kind: ErrorKind::StorageFull, .. }) => {
            DriveError::Full
        }
        error => unchanged(error),
    }
}

impl Session for Controller {
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), DriveError> {
        self.note_range(offset, into.len());
        let read = self.client.read(offset, into);
        read.map_err(|error| refused(error, DriveError::Unreadable))
    }

    fn write(&self, offset: u64, bytes: &[u8], of: WriteOptions) -> Result<(), DriveError> {
        self.note_range(offset, bytes.len());
        self.client.write(offset, bytes, options(of)).map_err(unwritten)
    }

    fn zero(
        &self,
        offset: u64,
        length: u64,
        may_deallocate: bool,
        of: WriteOptions,
    ) -> Result<(), DriveError> {
        self.client.zero(offset, length, may_deallocate, options(of)).map_err(unwritten)
    }

    fn deallocate(&self, offset: u64, length: u64) -> Result<(), DriveError> {
        self.client.trim(offset, length, ChangeOptions::default()).map_err(unchanged)
    }

    fn flush(&self) -> Result<(), DriveError> {
        self.client.flush().map_err(unchanged)
    }

    fn next_unit(&self, handle: u16) -> Result<u64, DriveError> {
        let pages = self.client.next_unit(handle as u8).map_err(unchanged)?;
        Ok(pages * u64::from(self.client.page_bytes()))
    }

    /// The drive has no zones.
    fn reset_zone(&self, _: u64) -> Result<(), DriveError> {
        Err(DriveError::Failed)
    }

    /// The drive has no zones.
    fn finish_zone(&self, _: u64) -> Result<(), DriveError> {
        Err(DriveError::Failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_write_exceeds_the_capacity() {
        let (kind, error) = (ErrorKind::StorageFull, String::new());
        let full = || ServeError::Drive(LiveError::Stopped { kind, error: error.clone() });
        assert_eq!(unwritten(full()), DriveError::Full);
        assert_eq!(unchanged(full()), DriveError::Failed);
        assert_eq!(refused(full(), DriveError::Unreadable), DriveError::Failed);
    }
}
