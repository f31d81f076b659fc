//! Bytes that a host sends over NVMe/TCP: whatever they are, the controller answers with
//! well-formed PDUs, and the connection ends.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use floatgate_nvme::drive::{Isolation, Placement, Shape, ZoneShape};
use floatgate_nvme::memory::MemoryDrive;
use floatgate_nvme::spec::command::Command;
use floatgate_nvme::subsystem::{Controller, Link, Outcome, Reply, Settings, Subsystem};
use floatgate_nvme::tcp::{Options, Stream, serve};

use crate::bytes::Bytes;

/// Bytes of the drive: few, so that addresses are often within it.
const BYTES: u64 = 256 << 10;

const NQN: &str = "nqn.2026-10.org.example:fuzz";
const HOST_NQN: &str = "nqn.2026-10.org.example:host";

/// Returns the shape of a drive: plain, with handles, or with zones.
pub(crate) fn shape(kind: u8) -> Shape {
    let plain =
        Shape { bytes: BYTES, page_bytes: 4096, has_cache: true, placement: None, zones: None };
    let placement = Placement { handles: 3, unit_bytes: 32 << 10, isolation: Isolation::Initially };
    let zones =
        ZoneShape { bytes: 32 << 10, capacity: 24 << 10, open_max: Some(2), active_max: Some(3) };
    match kind % 3 {
        0 => plain,
        1 => Shape { placement: Some(placement), ..plain },
        _ => Shape { zones: Some(zones), ..plain },
    }
}

/// Returns a subsystem over a drive in memory.
pub(crate) fn subsystem(kind: u8) -> (Arc<MemoryDrive>, Arc<Subsystem>) {
    let drive = Arc::new(MemoryDrive::new(shape(kind)));
    let settings = Settings {
        nqn: NQN.into(),
        serial: "1".into(),
        model: "fuzz".into(),
        firmware: "1".into(),
        uuid: [1; 16],
        block_bytes: 4096,
        queues_max: 2,
    };
    let subsystem = Subsystem::new(settings, Arc::clone(&drive) as _);
    (drive, subsystem.unwrap_or_else(|error| panic!("{error}")))
}

/// A connection that ignores its controller.
pub(crate) struct Ignoring;

impl Link for Ignoring {
    fn complete(&self, _: u16, _: Reply) {}

    fn end(&self) {}
}

/// Returns a Connect command with its data in the capsule, and the data.
fn connect(queue: u8, controller: u16) -> ([u8; 64], Vec<u8>) {
    let mut command = [0; 64];
    (command[0], command[1], command[4], command[39]) = (0x7f, 0x40, 1, 1);
    command[32..36].copy_from_slice(&1024_u32.to_le_bytes());
    (command[42], command[44]) = (queue, 7);
    let mut data = vec![0; 1024];
    data[16..18].copy_from_slice(&controller.to_le_bytes());
    data[256..256 + NQN.len()].copy_from_slice(NQN.as_bytes());
    data[512..512 + HOST_NQN.len()].copy_from_slice(HOST_NQN.as_bytes());
    (command, data)
}

/// Connects and enables a controller with all command sets.
pub(crate) fn controller(subsystem: &Arc<Subsystem>, link: &Arc<Ignoring>) -> Arc<Controller> {
    let link: Weak<dyn Link> = Arc::downgrade(&(Arc::clone(link) as Arc<dyn Link>));
    let (command, data) = connect(0, 0xffff);
    let at = SocketAddr::from((Ipv4Addr::LOCALHOST, 4420));
    let connected = subsystem.connect(&Command(command), &data, at, link);
    let controller = connected.unwrap_or_else(|reply| panic!("{reply:?}")).controller;
    let mut enable = [0; 64];
    (enable[0], enable[1], enable[44]) = (0x7f, 0x40, 0x14);
    enable[48..52].copy_from_slice(&(4_u32 << 20 | 6 << 16 | 6 << 4 | 1).to_le_bytes());
    let outcome = controller.execute(0, &Command(enable), &mut []);
    assert!(matches!(outcome, Outcome::Done(reply) if reply.status.is_success()));
    controller
}

/// A stream with all bytes of a host, which arrive in pieces.
struct Recorded {
    state: Mutex<State>,
    piece: usize,
}

#[derive(Default)]
struct State {
    input: Vec<u8>,
    at: usize,
    output: Vec<u8>,
    is_closed: bool,
}

impl Recorded {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream for Recorded {
    fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        let mut state = self.state();
        let left = if state.is_closed { 0 } else { state.input.len() - state.at };
        let count = left.min(into.len()).min(self.piece);
        into[..count].copy_from_slice(&state.input[state.at..state.at + count]);
        state.at += count;
        Ok(count)
    }

    fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        if state.is_closed {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        state.output.extend(bytes);
        Ok(())
    }

    fn limit_reads(&self, _: Option<Duration>) -> io::Result<()> {
        Ok(())
    }

    fn end_sending(&self) {}

    fn close(&self) {
        self.state().is_closed = true;
    }
}

/// Returns the request to initialize a connection.
fn initialize(digests: u8) -> Vec<u8> {
    let mut bytes = vec![0; 128];
    (bytes[2], bytes[4], bytes[11]) = (128, 128, digests);
    bytes
}

/// Returns a capsule without digests.
fn capsule(command: [u8; 64], data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![4, 0, 72, if data.is_empty() { 0 } else { 72 }];
    bytes.extend((72 + data.len() as u32).to_le_bytes());
    bytes.extend(command);
    bytes.extend(data);
    bytes
}

/// Checks that bytes are whole PDUs of a controller, and that none follows a termination request.
fn check(output: &[u8]) {
    let mut rest = output;
    while !rest.is_empty() {
        assert!(rest.len() >= 8, "a PDU is cut short");
        let header = match rest[0] {
            1 => 128,
            3 | 5 | 7 | 9 => 24,
            other => panic!("a PDU of kind {other}"),
        };
        let length = u32::from_le_bytes([rest[4], rest[5], rest[6], rest[7]]) as usize;
        assert!(usize::from(rest[2]) == header && length >= header, "{:?}", &rest[..8]);
        assert!(length <= rest.len(), "a PDU is cut short: {length} of {}", rest.len());
        assert!(rest[0] != 3 || length == rest.len() && length <= 152, "more after the end");
        rest = &rest[length..];
    }
}

/// Serves a connection whose host sends these bytes. The first byte chooses how far the connection
/// is when they begin, the drive, and how they arrive.
pub fn run(input: &[u8]) {
    let mut bytes = Bytes(input);
    let choice = bytes.byte();
    let (_drive, subsystem) = subsystem(choice >> 3);
    let link = Arc::new(Ignoring);
    let controller = controller(&subsystem, &link);
    let mut sent = match choice & 7 {
        0 => vec![],
        1 => initialize(bytes.byte()),
        2 | 3 => {
            let (command, data) = connect(0, 0xffff);
            let mut enable = [0; 64];
            (enable[0], enable[1], enable[44], enable[48]) = (0x7f, 0x40, 0x14, 1);
            [initialize(0), capsule(command, &data), capsule(enable, &[])].concat()
        }
        _ => {
            let (command, data) = connect(1, controller.id());
            [initialize(0), capsule(command, &data)].concat()
        }
    };
    sent.extend(bytes.0);
    let piece = if choice >> 7 == 0 { usize::MAX } else { 13 };
    let state = State { input: sent, ..State::default() };
    let recorded = Arc::new(Recorded { state: Mutex::new(state), piece });
    let stream: Arc<dyn Stream> = Arc::clone(&recorded) as _;
    let options = Options { workers: 0, ..Options::default() };
    serve(&stream, SocketAddr::from((Ipv4Addr::LOCALHOST, 4420)), &subsystem, &options);
    let state = recorded.state();
    assert!(state.is_closed);
    check(&state.output);
    drop(controller);
    assert_eq!(subsystem.controllers(), 0, "a controller remains");
}
