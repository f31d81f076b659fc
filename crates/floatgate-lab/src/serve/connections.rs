//! Connections to the control socket: at most [`CONNECTIONS_MAX`], so that they never take all
//! files and threads of the process.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::lock;

/// Connections that are open at a time.
pub(super) const CONNECTIONS_MAX: usize = 64;

/// Time that a client has to take in an answer.
const ANSWER_WAIT: Duration = Duration::from_secs(30);

/// A connection, and whether the drive works on a request of it.
#[derive(Debug)]
pub(super) struct Connection {
    pub stream: UnixStream,
    is_working: AtomicBool,
}

/// The open connections; the one that has been idle for longest comes first.
#[derive(Debug, Default)]
pub(super) struct Connections(Mutex<Vec<Arc<Connection>>>);

impl Connections {
    /// Takes in a connection. Where all places are taken, the one that has been idle for longest is
    /// closed.
    ///
    /// # Errors
    /// All other connections wait for an answer, or the socket takes no time limit.
    pub fn admit(&self, stream: UnixStream) -> io::Result<Arc<Connection>> {
        stream.set_write_timeout(Some(ANSWER_WAIT))?;
        let mut open = lock(&self.0);
        if open.len() >= CONNECTIONS_MAX {
            let is_idle = |one: &Arc<Connection>| !one.is_working.load(Ordering::Relaxed);
            let idle = open.iter().position(is_idle).ok_or(io::ErrorKind::WouldBlock)?;
            // Its thread then reads an end. The client may have closed it already.
            let _ = open.remove(idle).stream.shutdown(Shutdown::Both);
        }
        let new = Arc::new(Connection { stream, is_working: AtomicBool::new(false) });
        open.push(Arc::clone(&new));
        Ok(new)
    }

    /// Does what a request of this connection asks for, while which the connection stays open.
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

    /// Forgets a connection that has ended.
    pub fn leave(&self, connection: &Arc<Connection>) {
        lock(&self.0).retain(|one| !Arc::ptr_eq(one, connection));
    }
}
