//! A host over TCP. It checks each PDU from the controller: sections, digests, alignment, order.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::{Build, Done, ENABLED, NQN, connect, le16, le32, le64, set_property};

/// How a host initializes a connection, and sends data.
#[derive(Clone, Copy)]
pub struct Manner {
    pub header_digest: bool,
    pub data_digest: bool,
    /// Alignment of data, 0-based in 4 bytes.
    pub alignment: u8,
    /// Outstanding R2Ts, 0-based.
    pub outstanding: u32,
    /// Most bytes of an H2CData.
    pub piece: usize,
}

/// As Linux does it.
pub const LINUX: Manner = Manner {
    header_digest: false,
    data_digest: false,
    alignment: 0,
    outstanding: 0,
    piece: 256 << 10,
};

/// With all that is possible.
pub const FANCY: Manner = Manner {
    header_digest: true,
    data_digest: true,
    alignment: 15,
    outstanding: 2,
    piece: 5000 * 4,
};

/// A PDU from the controller: header without digest, and data.
#[derive(Clone, Debug)]
pub struct Pdu {
    pub header: Vec<u8>,
    pub data: Vec<u8>,
}

impl Pdu {
    pub fn kind(&self) -> u8 {
        self.header[0]
    }
}

/// A connection of a host.
pub struct Initiator {
    pub stream: TcpStream,
    pub manner: Manner,
    /// Most bytes of an H2CData that the controller takes.
    pub data_max: u32,
    next_id: u16,
    /// Data for the controller, by command.
    outgoing: BTreeMap<u16, Vec<u8>>,
    /// Data from the controller, by command.
    incoming: BTreeMap<u16, Vec<u8>>,
    /// Completed commands: result, head and status.
    completed: BTreeMap<u16, Done>,
    /// R2Ts so far.
    pub requests: Vec<(u32, u32)>,
    pub last_head: u16,
}

/// The request to initialize a connection.
pub fn initialize(manner: &Manner) -> Vec<u8> {
    let mut bytes = vec![0; 128];
    (bytes[2], bytes[4], bytes[10]) = (128, 128, manner.alignment);
    bytes[11] = u8::from(manner.header_digest) | u8::from(manner.data_digest) << 1;
    bytes[12..16].copy_from_slice(&manner.outstanding.to_le_bytes());
    bytes
}

impl Initiator {
    /// Connects, without a queue.
    pub fn open(address: SocketAddr, manner: Manner) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut host = Self {
            stream,
            manner,
            data_max: 0,
            next_id: 0,
            outgoing: BTreeMap::new(),
            incoming: BTreeMap::new(),
            completed: BTreeMap::new(),
            requests: vec![],
            last_head: 0,
        };
        host.send(&initialize(&manner));
        let mut response = [0; 128];
        host.stream.read_exact(&mut response).unwrap();
        assert_eq!((response[0], response[1], response[2], le32(&response, 4)), (1, 0, 128, 128));
        assert_eq!((le16(&response, 8), response[10]), (0, 0), "format and alignment");
        let digests = u8::from(manner.header_digest) | u8::from(manner.data_digest) << 1;
        assert_eq!(response[11], digests);
        host.data_max = le32(&response, 12);
        assert!(host.data_max >= 4096 && host.data_max.is_multiple_of(4));
        host
    }

    /// Connects a queue. Returns the identifier of its controller.
    pub fn connect(&mut self, queue: u16, controller: u16, subsystem: &str) -> Result<u16, Done> {
        let (command, data) = connect(queue, controller, subsystem);
        let done = self.run(command, &data);
        if done.status == 0 { Ok(done.result as u16) } else { Err(done) }
    }

    /// Connects and enables a controller. Returns its identifier, too.
    pub fn admin(address: SocketAddr, manner: Manner) -> (Self, u16) {
        let mut host = Self::open(address, manner);
        let id = host.connect(0, 0xffff, NQN).unwrap();
        host.run(set_property(0x14, ENABLED), &[]).ok();
        (host, id)
    }

    /// Connects an I/O queue.
    pub fn io(address: SocketAddr, manner: Manner, queue: u16, controller: u16) -> Self {
        let mut host = Self::open(address, manner);
        host.connect(queue, controller, NQN).unwrap();
        host
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Returns a PDU, with digests as they are due. `header` lacks only offset and length.
    pub fn pdu(&self, mut header: Vec<u8>, data: &[u8]) -> Vec<u8> {
        let Manner { header_digest, data_digest, .. } = self.manner;
        let has_data = !data.is_empty();
        let offset = header.len() + if header_digest { 4 } else { 0 };
        let length = offset + data.len() + if has_data && data_digest { 4 } else { 0 };
        header[1] |= u8::from(header_digest) | u8::from(has_data && data_digest) << 1;
        header[2] = header.len() as u8;
        header[3] = if has_data { offset as u8 } else { 0 };
        header[4..8].copy_from_slice(&(length as u32).to_le_bytes());
        let mut pdu = header;
        if header_digest {
            pdu.extend(crc32c(&pdu).to_le_bytes());
        }
        pdu.extend(data);
        if has_data && data_digest {
            pdu.extend(crc32c(data).to_le_bytes());
        }
        pdu
    }

    /// Returns the capsule of a command.
    pub fn capsule(&self, command: Build, data: &[u8]) -> Vec<u8> {
        let mut header = vec![4, 0, 0, 0, 0, 0, 0, 0];
        header.extend(command.0);
        self.pdu(header, data)
    }

    /// Returns an H2CData.
    pub fn data(&self, id: u16, tag: u16, offset: u32, data: &[u8], is_last: bool) -> Vec<u8> {
        let mut header = vec![6, u8::from(is_last) << 2, 0, 0, 0, 0, 0, 0];
        header.extend(id.to_le_bytes());
        header.extend(tag.to_le_bytes());
        header.extend(offset.to_le_bytes());
        header.extend((data.len() as u32).to_le_bytes());
        header.extend([0; 4]);
        self.pdu(header, data)
    }

    /// Sends a command: its data in the capsule if its pointer says so, else when they are
    /// requested. Returns its identifier.
    pub fn submit(&mut self, command: Build, data: &[u8]) -> u16 {
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        let in_capsule = if command.0[39] == 0x01 { data } else { &[] };
        if in_capsule.is_empty() && !data.is_empty() {
            self.outgoing.insert(id, data.to_vec());
        }
        let capsule = self.capsule(command.id(id), in_capsule);
        self.send(&capsule);
        id
    }

    /// Runs a command.
    pub fn run(&mut self, command: Build, data: &[u8]) -> Done {
        let id = self.submit(command, data);
        self.wait(id)
    }

    /// Waits for a command.
    pub fn wait(&mut self, id: u16) -> Done {
        loop {
            if let Some(done) = self.completed.remove(&id) {
                return done;
            }
            let pdu = self.receive().expect("the connection is open");
            self.handle(pdu);
        }
    }

    /// Receives a PDU, unless the connection ends.
    pub fn receive(&mut self) -> Option<Pdu> {
        let mut header = vec![0; 8];
        self.stream.read_exact(&mut header).ok()?;
        let (kind, flags, length) = (header[0], header[1], le32(&header, 4) as usize);
        header.resize(header[2].into(), 0);
        self.stream.read_exact(&mut header[8..]).ok()?;
        let mut rest = vec![0; length - header.len()];
        self.stream.read_exact(&mut rest).ok()?;
        let Manner { header_digest, data_digest, alignment, .. } = self.manner;
        let (header_digest, has_digests) = (header_digest && kind != 3, kind != 3);
        assert_eq!(flags & 1 == 1, header_digest, "flag of the header digest");
        if header_digest {
            assert_eq!(le32(&rest, 0), crc32c(&header));
        }
        let mut data = vec![];
        if kind == 7 {
            let offset = usize::from(header[3]);
            assert!(offset.is_multiple_of((usize::from(alignment) + 1) * 4));
            let end = length - if data_digest { 4 } else { 0 };
            data = rest[offset - header.len()..end - header.len()].to_vec();
            assert_eq!(flags >> 1 & 1 == 1, data_digest, "flag of the data digest");
            if data_digest {
                assert_eq!(le32(&rest, end - header.len()), crc32c(&data));
            }
            assert_eq!(le32(&header, 16) as usize, data.len());
        } else if has_digests {
            assert_eq!(rest.len(), if header_digest { 4 } else { 0 });
        } else {
            data = rest;
        }
        Some(Pdu { header, data })
    }

    /// Handles a PDU: collects data and completions, and sends requested data.
    pub fn handle(&mut self, pdu: Pdu) {
        let id = le16(&pdu.header, 8);
        match pdu.kind() {
            5 => {
                let id = le16(&pdu.header, 20);
                let data = self.incoming.remove(&id).unwrap_or_default();
                self.outgoing.remove(&id);
                self.last_head = le16(&pdu.header, 16);
                let (field, result) = (le16(&pdu.header, 22), le64(&pdu.header, 8));
                self.completed.insert(id, Done::new(field, result, data));
            }
            7 => {
                let data = self.incoming.entry(id).or_default();
                assert_eq!(le32(&pdu.header, 12) as usize, data.len(), "data in order");
                data.extend(&pdu.data);
                if pdu.header[1] & 8 > 0 {
                    assert!(pdu.header[1] & 4 > 0, "success comes last");
                    let data = self.incoming.remove(&id).unwrap();
                    self.completed.insert(id, Done::new(0, 0, data));
                }
            }
            9 => self.answer(&pdu),
            other => panic!("a PDU of kind {other}: {pdu:?}"),
        }
    }

    /// Sends the data that an R2T asks for, in pieces.
    fn answer(&mut self, pdu: &Pdu) {
        let (id, tag) = (le16(&pdu.header, 8), le16(&pdu.header, 10));
        let (offset, length) = (le32(&pdu.header, 12), le32(&pdu.header, 16));
        self.requests.push((offset, length));
        let data = self.outgoing[&id][offset as usize..(offset + length) as usize].to_vec();
        let piece = self.manner.piece.min(self.data_max as usize);
        let count = data.len().div_ceil(piece);
        for (number, part) in data.chunks(piece).enumerate() {
            let at = offset + (number * piece) as u32;
            let bytes = self.data(id, tag, at, part, number + 1 == count);
            self.send(&bytes);
        }
    }

    /// Receives PDUs until the connection ends. Returns status and information of the termination
    /// request, if there is one.
    pub fn termination(&mut self) -> Option<(u16, u32)> {
        let mut found = None;
        while let Some(pdu) = self.receive() {
            if pdu.kind() == 3 {
                assert!(found.is_none() && pdu.data.len() <= 128);
                found = Some((le16(&pdu.header, 8), le32(&pdu.header, 10)));
            }
        }
        found
    }
}

/// CRC32C, bit by bit: another implementation than the crate's.
pub fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg());
    let byte = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc));
    !bytes.iter().fold(!0, byte)
}
