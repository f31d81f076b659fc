//! A connection: its initialization, its queue, and its end.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::spec::tcp::{ADMIN_CAPSULE_BYTES, DIGEST_BYTES, HEADER_BYTES, connection as initialize};
use crate::subsystem::{Controller, IO_CAPSULE_BYTES, Link, QUEUE_ENTRIES, Reply, Subsystem};

use super::commands::Job;
use super::inflow::{Inflows, Limits};
use super::input::Input;
use super::output::Output;
use super::pace::Pace;
use super::pdu::{
    self, DataFrame, Digests, Fatal, HostData, Initialize, Kind, Layout, ReadyToTransfer, Rules,
};
use super::server::Options;
use super::stream::Stream;
use super::workers::Workers;

/// Time for a host to initialize a connection and to connect its queue.
const CONNECT_WAIT: Duration = Duration::from_secs(10);

/// Time for a host to close the connection after a termination request.
const TERMINATION_WAIT: Duration = Duration::from_secs(1);

/// Bytes that are read while the host closes the connection.
const TERMINATION_BYTES: usize = 1 << 20;

/// Maximum bytes of data in an H2CData, and in an R2T.
const DATA_MAX: u32 = 256 << 10;

/// Maximum bytes in memory of a connection's data by R2T.
const MEMORY_MAX: usize = 4 << 20;

/// Reason for the end of a connection.
pub(super) enum End {
    /// The host has closed it, or asks for its end.
    Gone,
    /// A fatal error in a PDU with this header.
    Fatal(Fatal, Vec<u8>),
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

/// The queue of a connection.
pub(super) struct Queue {
    pub controller: Arc<Controller>,
    pub id: u16,
    pub entries: u16,
    pub is_uncontrolled: bool,
}

/// An initialized connection.
pub(super) struct Connection {
    pub subsystem: Arc<Subsystem>,
    stream: Arc<dyn Stream>,
    /// Address at which the host reached the subsystem.
    pub at: SocketAddr,
    pub output: Output,
    pub digests: Digests,
    pub frame: DataFrame,
    pub queue: OnceLock<Queue>,
    /// Commands received.
    pub received: AtomicU32,
    /// Commands received and not completed.
    pub outstanding: AtomicU32,
    inflows: Mutex<Inflows>,
    pub workers: Arc<Workers<Job>>,
    /// Pace of the commands, if the receiving thread may execute them.
    pub pace: Option<Pace>,
}

impl Link for Connection {
    fn complete(&self, id: u16, reply: Reply) {
        self.output.send(&self.response(id, reply));
    }

    fn end(&self) {
        self.stream.close();
    }
}

/// Serves a connection until its end. `at` is the address at which the host reached the subsystem,
/// and `options` are those of the server.
pub fn serve(
    stream: &Arc<dyn Stream>,
    at: SocketAddr,
    subsystem: &Arc<Subsystem>,
    options: &Options,
) {
    let mut input = Input::new(Arc::clone(stream));
    let end = match begin(&mut input, stream, at, subsystem, options) {
        Ok(connection) => {
            let end = connection.receive(&mut input).err().unwrap_or(End::Gone);
            if matches!(end, End::Gone) {
                stream.close();
            }
            connection.close();
            end
        }
        Err(end) => end,
    };
    if let End::Fatal(fatal, header) = end {
        terminate(stream, &mut input, fatal, &header);
    }
    stream.close();
}

/// Initializes a connection (TCP Transport 1.0, 3.1).
fn begin(
    input: &mut Input,
    stream: &Arc<dyn Stream>,
    at: SocketAddr,
    subsystem: &Arc<Subsystem>,
    options: &Options,
) -> Result<Arc<Connection>, End> {
    stream.limit_reads(Some(CONNECT_WAIT))?;
    let rules =
        Rules { is_initialized: false, digests: Digests::default(), capsule_max: 0, data_max: 0 };
    let pdu = Pdu::read(input, &rules, || {})?;
    let request = Initialize::parse(pdu.header()).map_err(|fatal| pdu.fatal(fatal))?;
    stream.write_all(&request.response(DATA_MAX))?;
    let Initialize { alignment, digests, outstanding } = request;
    let limits = Limits { outstanding, request: DATA_MAX, memory: MEMORY_MAX };
    Ok(Arc::new(Connection {
        subsystem: Arc::clone(subsystem),
        stream: Arc::clone(stream),
        at,
        output: Output::new(Arc::clone(stream)),
        digests,
        frame: DataFrame::new(digests, alignment),
        queue: OnceLock::new(),
        received: AtomicU32::new(0),
        outstanding: AtomicU32::new(0),
        inflows: Mutex::new(Inflows::new(limits)),
        workers: Workers::new(options.workers),
        pace: options.in_place.then(Pace::default),
    }))
}

/// Sends a termination request, and waits a moment for the host to close the connection, because
/// closing it first could destroy the request on its way.
fn terminate(stream: &Arc<dyn Stream>, input: &mut Input, fatal: Fatal, header: &[u8]) {
    let is_sent = stream.write_all(&pdu::termination(fatal, header)).is_ok();
    stream.end_sending();
    if is_sent && stream.limit_reads(Some(TERMINATION_WAIT)).is_ok() {
        let _ = input.skip(TERMINATION_BYTES, || {});
    }
}

/// A PDU whose header has arrived.
struct Pdu {
    layout: Layout,
    bytes: [u8; initialize::BYTES],
}

impl Pdu {
    /// Reads a header. Calls `before` before it may wait.
    fn read(input: &mut Input, rules: &Rules, before: impl Fn()) -> Result<Self, End> {
        let mut common = [0; HEADER_BYTES];
        input.read(&mut common, &before)?;
        let layout = pdu::layout(&common, rules);
        let layout = layout.map_err(|fatal| End::Fatal(fatal, common.to_vec()))?;
        let mut pdu = Self { layout, bytes: [0; initialize::BYTES] };
        pdu.bytes[..HEADER_BYTES].copy_from_slice(&common);
        input.read(&mut pdu.bytes[HEADER_BYTES..layout.header], &before)?;
        if layout.has_header_digest {
            let mut digest = [0; DIGEST_BYTES];
            input.read(&mut digest, &before)?;
            let checked = pdu::check_header(pdu.header(), digest);
            checked.map_err(|fatal| pdu.fatal(fatal))?;
        }
        Ok(pdu)
    }

    fn header(&self) -> &[u8] {
        &self.bytes[..self.layout.header]
    }

    fn fatal(&self, fatal: Fatal) -> End {
        End::Fatal(fatal, self.header().to_vec())
    }

    /// Reads the data. Returns whether they have the digest that follows them.
    fn read_data(
        &self,
        input: &mut Input,
        into: &mut [u8],
        before: impl Fn(),
    ) -> Result<bool, End> {
        input.skip(self.layout.padding, &before)?;
        input.read(into, &before)?;
        if !self.layout.has_data_digest {
            return Ok(true);
        }
        let mut digest = [0; DIGEST_BYTES];
        input.read(&mut digest, &before)?;
        Ok(pdu::is_intact(into, digest))
    }
}

impl Connection {
    pub(super) fn inflows(&self) -> MutexGuard<'_, Inflows> {
        self.inflows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rules(&self) -> Rules {
        let is_io = self.queue.get().is_some_and(|queue| queue.id > 0);
        let capsule_max = if is_io { IO_CAPSULE_BYTES } else { ADMIN_CAPSULE_BYTES };
        Rules { is_initialized: true, digests: self.digests, capsule_max, data_max: DATA_MAX }
    }

    /// Returns the maximum number of outstanding commands.
    pub(super) fn entries(&self) -> u16 {
        self.queue.get().map_or(QUEUE_ENTRIES, |queue| queue.entries)
    }

    /// Receives PDUs until the connection ends. Sends pending replies before it waits for the host.
    fn receive(self: &Arc<Self>, input: &mut Input) -> Result<(), End> {
        let before = || self.output.flush();
        let mut rules = self.rules();
        loop {
            let pdu = Pdu::read(input, &rules, before)?;
            match pdu.layout.kind {
                Kind::Command => {
                    let mut data = vec![0; pdu.layout.data];
                    let is_intact = pdu.read_data(input, &mut data, before)?;
                    let command = pdu::command(pdu.header());
                    let was_connected = self.queue.get().is_some();
                    let begun = self.capsule(command, data, is_intact);
                    begun.map_err(|fatal| pdu.fatal(fatal))?;
                    if !was_connected && self.queue.get().is_some() {
                        rules = self.rules();
                        self.stream.limit_reads(None)?;
                    }
                }
                Kind::Data => self.host_data(&pdu, input)?,
                Kind::Initialize | Kind::Termination => return Err(End::Gone),
            }
        }
    }

    /// Receives data of a command.
    fn host_data(self: &Arc<Self>, pdu: &Pdu, input: &mut Input) -> Result<(), End> {
        let length = pdu.layout.data;
        let fatal = |fatal| pdu.fatal(fatal);
        let parsed = HostData::parse(pdu.header(), length).map_err(fatal)?;
        let mut inflow = self.inflows().take(&parsed).map_err(fatal)?;
        let room = inflow.room(&parsed, length).map_err(fatal)?;
        let is_intact = pdu.read_data(input, room, || self.output.flush())?;
        let mut requests = vec![];
        let arrived = (length, is_intact);
        let received = self.inflows().put(parsed.tag, inflow, arrived, &mut requests);
        self.request(&requests);
        if let Some(received) = received {
            self.received(received);
        }
        Ok(())
    }

    /// Adds R2Ts to the output.
    pub(super) fn request(&self, requests: &[ReadyToTransfer]) {
        for request in requests {
            self.output.push(&request.pdu(self.digests));
        }
    }

    /// Ends the queue, and waits for its commands.
    fn close(&self) {
        if let Some(queue) = self.queue.get() {
            queue.controller.detach(queue.id);
        }
        self.workers.close();
        // Replies of finished commands precede a termination request.
        self.output.flush();
        self.outstanding.store(0, Ordering::Relaxed);
    }
}
