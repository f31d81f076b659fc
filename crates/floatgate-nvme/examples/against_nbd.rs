//! Random writes to a drive served over NVMe/TCP, and to drives served over NBD at a Unix socket or
//! a TCP port, in turn: four connections, 32 writes of 4 KiB at a time on each. All clients send a
//! write with its data at once, and read only the status of a reply.
//!
//! ```text
//! floatgate serve --nvme --port 4420 --size 1GiB &
//! floatgate serve --socket nbd.sock --size 1GiB &
//! floatgate serve --port 10809 --size 1GiB &
//! cargo run --release -p floatgate-nvme --example against_nbd -- \
//!     127.0.0.1:4420 nqn.2026-10.org.floatgate:drive-4420 nbd.sock 127.0.0.1:10809
//! ```

#![allow(clippy::unwrap_used)] // Without servers there is nothing to measure.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const CONNECTIONS: u16 = 4;
const DEPTH: usize = 32;
const ROUNDS: usize = 5;
const SECONDS: u64 = 3;
const PAGE: usize = 4096;
/// Pages of 1 GiB.
const PAGES: u64 = 1 << 18;

/// A connection that takes writes.
trait Host: Send {
    /// Sends a write of a page.
    fn submit(&mut self, page: u64);

    /// Waits for a reply.
    fn wait(&mut self);
}

/// An I/O queue of a controller.
struct Nvme {
    stream: TcpStream,
    /// A capsule of a write command with its data.
    capsule: Vec<u8>,
    next_id: u16,
}

impl Nvme {
    /// Connects a queue, and returns the identifier of its controller, too.
    fn connect(address: &str, subsystem: &str, queue: u16, controller: u16) -> (Self, u16) {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut request = [0; 128];
        (request[2], request[4]) = (128, 128);
        stream.write_all(&request).unwrap();
        stream.read_exact(&mut request).unwrap();
        let mut data = [0; 1024];
        data[..16].fill(7);
        data[16..18].copy_from_slice(&controller.to_le_bytes());
        data[256..256 + subsystem.len()].copy_from_slice(subsystem.as_bytes());
        let host = b"nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555";
        data[512..512 + host.len()].copy_from_slice(host);
        let mut connect = capsule(0x7f, &data);
        connect[8 + 4] = 1;
        connect[8 + 42..8 + 44].copy_from_slice(&queue.to_le_bytes());
        connect[8 + 44] = if queue == 0 { 31 } else { 127 };
        let mut write = capsule(0x01, &[7; PAGE]);
        write[8 + 4] = 1;
        let mut host = Self { stream, capsule: write, next_id: 0 };
        let id = host.run(&connect);
        (host, id)
    }

    /// Enables the controller of an admin queue.
    fn enable(&mut self) {
        let mut set = capsule(0x7f, &[]);
        set[8 + 44] = 0x14;
        set[8 + 48..8 + 52].copy_from_slice(&(4_u32 << 20 | 6 << 16 | 6 << 4 | 1).to_le_bytes());
        self.run(&set);
    }

    fn run(&mut self, capsule: &[u8]) -> u16 {
        self.stream.write_all(capsule).unwrap();
        let mut response = [0; 24];
        self.stream.read_exact(&mut response).unwrap();
        assert_eq!((response[0], response[22] & 0xfe, response[23]), (5, 0, 0), "it failed");
        u16::from_le_bytes([response[8], response[9]])
    }
}

/// Returns the PDU of a command with data in its capsule.
fn capsule(opcode: u8, data: &[u8]) -> Vec<u8> {
    let mut pdu = vec![0; 72];
    let length = 72 + data.len() as u32;
    (pdu[0], pdu[2], pdu[3]) = (4, 72, if data.is_empty() { 0 } else { 72 });
    pdu[4..8].copy_from_slice(&length.to_le_bytes());
    (pdu[8], pdu[9]) = (opcode, 0x40);
    pdu[8 + 32..8 + 36].copy_from_slice(&(data.len() as u32).to_le_bytes());
    pdu[8 + 39] = if data.is_empty() { 0x5a } else { 0x01 };
    pdu.extend(data);
    pdu
}

impl Host for Nvme {
    fn submit(&mut self, page: u64) {
        self.next_id = (self.next_id + 1) % 1024;
        self.capsule[10..12].copy_from_slice(&self.next_id.to_le_bytes());
        self.capsule[8 + 40..8 + 48].copy_from_slice(&page.to_le_bytes());
        self.stream.write_all(&self.capsule).unwrap();
    }

    fn wait(&mut self) {
        let mut response = [0; 24];
        self.stream.read_exact(&mut response).unwrap();
        assert_eq!((response[0], response[22] & 0xfe, response[23]), (5, 0, 0), "a write failed");
    }
}

/// An NBD client that negotiates simple replies.
struct Nbd {
    stream: Box<dyn Stream>,
    /// A request of a write with its data.
    request: Vec<u8>,
}

trait Stream: Read + Write + Send {}

impl<S: Read + Write + Send> Stream for S {}

impl Nbd {
    /// Connects to an address and port, or to the path of a socket.
    fn connect(server: &str) -> Self {
        let mut stream: Box<dyn Stream> = match server.parse::<SocketAddr>() {
            Ok(address) => {
                let stream = TcpStream::connect(address).unwrap();
                stream.set_nodelay(true).unwrap();
                Box::new(stream)
            }
            Err(_) => Box::new(UnixStream::connect(server).unwrap()),
        };
        stream.read_exact(&mut [0; 18]).unwrap();
        stream.write_all(&3_u32.to_be_bytes()).unwrap();
        // NBD_OPT_GO of the export without a name.
        let mut option = b"IHAVEOPT\0\0\0\x07\0\0\0\x06".to_vec();
        option.extend([0; 6]);
        stream.write_all(&option).unwrap();
        loop {
            let mut reply = [0; 20];
            stream.read_exact(&mut reply).unwrap();
            let number = |at: usize| u32::from_be_bytes(reply[at..at + 4].try_into().unwrap());
            stream.read_exact(&mut vec![0; number(16) as usize]).unwrap();
            if number(12) == 1 {
                break;
            }
        }
        let mut request = vec![7; 28 + PAGE];
        request[..8].copy_from_slice(&[0x25, 0x60, 0x95, 0x13, 0, 0, 0, 1]);
        request[24..28].copy_from_slice(&(PAGE as u32).to_be_bytes());
        Self { stream, request }
    }
}

impl Host for Nbd {
    fn submit(&mut self, page: u64) {
        self.request[16..24].copy_from_slice(&(page * PAGE as u64).to_be_bytes());
        self.stream.write_all(&self.request).unwrap();
    }

    fn wait(&mut self) {
        let mut reply = [0; 16];
        self.stream.read_exact(&mut reply).unwrap();
        assert_eq!(reply[4..8], [0; 4], "a write failed");
    }
}

/// Keeps a connection full until the time is over. Counts completed writes.
fn load(host: &mut dyn Host, seed: u64, done: &AtomicU64, until: Instant) {
    let mut state = seed;
    let mut page = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % PAGES
    };
    (0..DEPTH).for_each(|_| host.submit(page()));
    while Instant::now() < until {
        host.wait();
        done.fetch_add(1, Ordering::Relaxed);
        host.submit(page());
    }
    (0..DEPTH).for_each(|_| host.wait());
}

/// Returns writes a second.
fn measure(hosts: Vec<Box<dyn Host>>) -> u64 {
    let done = AtomicU64::new(0);
    let until = Instant::now() + Duration::from_secs(SECONDS);
    thread::scope(|scope| {
        for (seed, mut host) in (1..).zip(hosts) {
            let done = &done;
            scope.spawn(move || load(&mut *host, seed, done, until));
        }
    });
    done.load(Ordering::Relaxed) / SECONDS
}

fn over_nvme(address: &str, subsystem: &str) -> u64 {
    let (mut admin, id) = Nvme::connect(address, subsystem, 0, 0xffff);
    admin.enable();
    let connect = |queue| Box::new(Nvme::connect(address, subsystem, queue, id).0) as Box<dyn Host>;
    measure((1..=CONNECTIONS).map(connect).collect())
}

fn over_nbd(server: &str) -> u64 {
    measure((0..CONNECTIONS).map(|_| Box::new(Nbd::connect(server)) as Box<dyn Host>).collect())
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [address, subsystem, servers @ ..] = &words[..] else {
        eprintln!("ADDRESS SUBSYSTEM NBD... expected");
        return;
    };
    println!("writes a second over NVMe/TCP; over NBD, and the ratio:");
    for _ in 0..ROUNDS {
        let nvme = over_nvme(address, subsystem);
        let ratio = |server: &String| {
            let nbd = over_nbd(server);
            format!("; {nbd}, {:.2}", nvme as f64 / nbd as f64)
        };
        println!("{nvme}{}", servers.iter().map(ratio).collect::<String>());
    }
}
