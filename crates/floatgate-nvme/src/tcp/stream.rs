//! A stream of bytes between a host and a controller.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// A stream of bytes. One thread reads, one at a time writes, and any thread may close it.
pub trait Stream: Send + Sync {
    /// Reads some bytes; 0 bytes mean the end.
    ///
    /// # Errors
    /// The connection has failed, or the time limit has passed.
    fn read(&self, into: &mut [u8]) -> io::Result<usize>;

    /// Writes all bytes.
    ///
    /// # Errors
    /// The connection has failed, or the host takes no bytes.
    fn write_all(&self, bytes: &[u8]) -> io::Result<()>;

    /// Sets the time limit of a read.
    ///
    /// # Errors
    /// The connection has failed.
    fn limit_reads(&self, limit: Option<Duration>) -> io::Result<()>;

    /// Reports the end of data to the host.
    fn end_sending(&self);

    /// Ends the connection at once: reads and writes fail.
    fn close(&self);
}

impl Stream for TcpStream {
    fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        let mut stream = self;
        Read::read(&mut stream, into)
    }

    fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        let mut stream = self;
        Write::write_all(&mut stream, bytes)
    }

    fn limit_reads(&self, limit: Option<Duration>) -> io::Result<()> {
        self.set_read_timeout(limit)
    }

    // The host may have closed the connection already.
    fn end_sending(&self) {
        let _ = self.shutdown(Shutdown::Write);
    }

    fn close(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}
