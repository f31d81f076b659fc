//! Connections to the control socket: at most [`CONNECTIONS_MAX`], so that they never use up the
//! files and threads of the process.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::panics::lock;

pub(super) const CONNECTIONS_MAX: usize = 64;

/// Time limit for a client to receive an answer.
const ANSWER_WAIT: Duration = Duration::from_secs(30);

/// A connection, and whether the server is working on one of its requests.
#[derive(Debug)]
pub(super) struct Connection {
    pub stream: UnixStream,
    is_working: AtomicBool,
}

/// The open connections; the longest idle one comes first.
#[derive(Debug, Default)]
pub(super) struct Connections(Mutex<Vec<Arc<Connection>>>);

impl Connections {
    /// Admits a connection. If [`CONNECTIONS_MAX`] connections are open, it closes the one that has
    /// been idle for longest.
    ///
    /// # Errors
    /// All other connections wait for an answer, or the socket accepts no time limit.
    pub fn admit(&self, stream: UnixStream) -> io::Result<Arc<Connection>> {
        stream.set_write_timeout(Some(ANSWER_WAIT))?;
        let mut open = lock(&self.0);
        if open.len() >= CONNECTIONS_MAX {
            let is_idle = |one: &Arc<Connection>| !one.is_working.load(Ordering::Relaxed);
            let idle = open.iter().position(is_idle).ok_or(io::ErrorKind::WouldBlock)?;
            // The connection's thread then reads the end of the stream. The client may already have
            // closed it.
            let _ = open.remove(idle).stream.shutdown(Shutdown::Both);
        }
        let new = Arc::new(Connection { stream, is_working: AtomicBool::new(false) });
        open.push(Arc::clone(&new));
        Ok(new)
    }

    /// Does the work for a request of this connection. The connection stays open meanwhile.
    pub fn working<T>(&self, connection: &Arc<Connection>, work: impl FnOnce() -> T) -> T {
        connection.is_working.store(true, Ordering::Relaxed);
        let done = work();
        connection.is_working.store(false, Ordering::Relaxed);
        let mut open = lock(&self.0);
        if let Some(at) = open.iter().position(|one| Arc::ptr_eq(one, connection)) {
            open[at..].rotate_left(1);
        }
        done
    }

    /// Removes a connection that has ended.
    pub fn leave(&self, connection: &Arc<Connection>) {
        lock(&self.0).retain(|one| !Arc::ptr_eq(one, connection));
    }
}
