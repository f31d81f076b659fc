//! A server: its listener, its connections, and their threads.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::subsystem::Subsystem;

use super::connection::serve;
use super::stream::Stream;

/// Time for a host to take replies.
const WRITE_WAIT: Duration = Duration::from_secs(30);

/// Interval between two checks of the keep-alive times.
const WATCH_EVERY: Duration = Duration::from_millis(100);

/// Number of checks of the keep-alive times for each look at the drive.
const WATCHES: u32 = 10;

/// Pause after a connection could not be accepted: the system is out of files, for example.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// Options of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Maximum number of threads of a connection that execute I/O commands. If it is 0, the thread
    /// that receives commands executes them one after the other.
    pub workers: usize,
    /// Whether the thread that receives commands executes I/O commands itself while they are short:
    /// for a drive that answers at once.
    pub in_place: bool,
    /// Maximum number of connections; further ones are closed at once.
    pub connections_max: usize,
    /// Whether the server may listen at an address that other machines reach. There is no
    /// authentication: any host may read and write everything.
    pub allow_remote: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { workers: 4, in_place: false, connections_max: 512, allow_remote: false }
    }
}

/// A server. It ends when it is dropped.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    subsystem: Arc<Subsystem>,
    options: Options,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    connections: BTreeMap<u64, Arc<dyn Stream>>,
    accepted: u64,
    is_ending: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection in the list of its server. It leaves the list even if its thread panics.
struct Listed {
    number: u64,
    shared: Arc<Shared>,
    stream: Arc<dyn Stream>,
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.stream.close();
        self.shared.lock().connections.remove(&self.number);
        self.shared.changed.notify_all();
    }
}

impl Server {
    /// Serves a subsystem at an address; port 0 takes a free port.
    ///
    /// # Errors
    /// The address is in use, or other machines reach it and the options do not allow that.
    pub fn start(
        subsystem: Arc<Subsystem>,
        address: SocketAddr,
        options: Options,
    ) -> io::Result<Self> {
        if !address.ip().is_loopback() && !options.allow_remote {
            let text = format!(
                "{address} given; expected a loopback address, because any host that reaches the \
                 server may read and write the drive: there is no authentication"
            );
            return Err(io::Error::new(ErrorKind::InvalidInput, text));
        }
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let state = Mutex::default();
        let shared = Arc::new(Shared { subsystem, options, state, changed: Condvar::new() });
        let mut server = Self { address, shared: Arc::clone(&shared), threads: vec![] };
        let accepting = move || accept(&shared, &listener);
        server.threads.push(thread::Builder::new().name("nvme-accept".into()).spawn(accepting)?);
        let shared = Arc::clone(&server.shared);
        let watching = thread::Builder::new().name("nvme-watch".into());
        server.threads.push(watching.spawn(move || watch(&shared))?);
        Ok(server)
    }

    /// Returns the address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the number of connections.
    pub fn connections(&self) -> usize {
        self.shared.lock().connections.len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_ending = true;
        state.connections.values().for_each(|stream| stream.close());
        drop(state);
        self.shared.changed.notify_all();
        // The listener wakes up for a connection.
        let mut wake = self.address;
        match wake {
            SocketAddr::V4(_) if wake.ip().is_unspecified() => {
                wake.set_ip(Ipv4Addr::LOCALHOST.into())
            }
            SocketAddr::V6(_) if wake.ip().is_unspecified() => {
                wake.set_ip(Ipv6Addr::LOCALHOST.into())
            }
            _ => {}
        }
        let _ = TcpStream::connect_timeout(&wake, Duration::from_secs(1));
        for thread in self.threads.drain(..) {
            // A panic was printed already.
            let _ = thread.join();
        }
        let mut state = self.shared.lock();
        while !state.connections.is_empty() {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Accepts connections until the server ends.
fn accept(shared: &Arc<Shared>, listener: &TcpListener) {
    for stream in listener.incoming() {
        if shared.lock().is_ending {
            return;
        }
        match stream {
            Ok(stream) => begin(shared, stream),
            Err(_) => thread::sleep(ACCEPT_PAUSE),
        }
    }
}

/// Serves a connection in a thread. Without room for it, the connection is closed.
fn begin(shared: &Arc<Shared>, stream: TcpStream) {
    let Ok(at) = stream.local_addr() else { return };
    // Replies are small and must not wait for each other.
    let prepared = stream.set_nodelay(true).and(stream.set_write_timeout(Some(WRITE_WAIT)));
    let stream: Arc<dyn Stream> = Arc::new(stream);
    let mut state = shared.lock();
    let is_full = state.connections.len() >= shared.options.connections_max;
    if prepared.is_err() || is_full || state.is_ending {
        return;
    }
    state.accepted += 1;
    let number = state.accepted;
    state.connections.insert(number, Arc::clone(&stream));
    drop(state);
    let listed = Listed { number, shared: Arc::clone(shared), stream };
    let run = move || {
        let Listed { stream, shared, .. } = &listed;
        serve(stream, at, &shared.subsystem, &shared.options);
    };
    // If no thread can start, the closure and the listed connection are dropped.
    let _ = thread::Builder::new().name("nvme-connection".into()).spawn(run);
}

/// Watches controllers and the drive until the server ends.
fn watch(shared: &Arc<Shared>) {
    let mut state = shared.lock();
    for look in 0_u32.. {
        if state.is_ending {
            return;
        }
        drop(state);
        shared.subsystem.watch(Instant::now());
        if look % WATCHES == 0 {
            shared.subsystem.look();
        }
        state = shared.lock();
        let waited = shared.changed.wait_timeout(state, WATCH_EVERY);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}
