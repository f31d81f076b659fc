//! Records the requests of clients, so that they can be replayed.
//!
//! The file has a header of 16 bytes (`FLOATREC`, version 1, bytes of a page), and a record of 32
//! bytes for each request: its time in nanoseconds, offset, length (8 bytes each), operation (0
//! read, 1 write, 2 trim, 3 flush) and stream (4 bytes each); little-endian. A truncated file is
//! valid up to its last complete record.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use floatgate_ftl::request::Request;

#[derive(Debug)]
pub(super) struct Recorder {
    pub path: PathBuf,
    pub requests: u64,
    /// Error that ended the recording.
    pub failure: Option<String>,
    /// Recorded time at the last reset of the drive's clock, and below the last recorded time.
    base_ns: u64,
    last_ns: u64,
    file: BufWriter<File>,
}

impl Recorder {
    /// Begins a recording; the file must not exist.
    pub fn create(path: PathBuf, page_bytes: u32) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let mut file = BufWriter::new(file);
        file.write_all(b"FLOATREC")?;
        file.write_all(&1_u32.to_le_bytes())?;
        file.write_all(&page_bytes.to_le_bytes())?;
        file.flush()?;
        Ok(Self { path, requests: 0, failure: None, base_ns: 0, last_ns: 0, file })
    }

    /// Adds a request, unless an earlier write has failed.
    pub fn add(&mut self, request: &Request) {
        let Request { at_ns, op, offset, length, stream } = *request;
        let at_ns = self.base_ns + at_ns;
        self.last_ns = at_ns;
        let mut record = [0; 32];
        let (times, codes) = record.split_at_mut(24);
        for (bytes, number) in times.chunks_exact_mut(8).zip([at_ns, offset, length]) {
            bytes.copy_from_slice(&number.to_le_bytes());
        }
        for (bytes, code) in codes.chunks_exact_mut(4).zip([op as u32, stream.into()]) {
            bytes.copy_from_slice(&code.to_le_bytes());
        }
        self.attempt(|file| file.write_all(&record));
        self.requests += u64::from(self.failure.is_none());
    }

    /// Continues the recorded times after a reset of the drive's clock.
    pub fn continue_after_reset(&mut self) {
        self.base_ns = self.last_ns;
    }

    /// Passes all added requests to the operating system.
    pub fn flush(&mut self) {
        self.attempt(BufWriter::flush);
    }

    fn attempt(&mut self, work: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) {
        if self.failure.is_none() {
            self.failure = work(&mut self.file).err().map(|error| error.to_string());
        }
    }
}
