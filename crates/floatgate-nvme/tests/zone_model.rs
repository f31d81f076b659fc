//! Zones against a model: random commands of a host, power cuts and times in which the drive is
//! read-only. Six zones of eight blocks, of which six can be written; 3 active, 2 open.

#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::direct::Direct;
use common::*;
use floatgate_nvme::drive::{Shape, ZoneShape};
use proptest::prelude::*;

const ZONES: usize = 6;
const SIZE: u64 = 8;
const CAPACITY: usize = 6;
const BLOCK: usize = 4096;

const SHAPE: Shape = Shape {
    bytes: ZONES as u64 * SIZE * BLOCK as u64,
    zones: Some(ZoneShape {
        bytes: SIZE * BLOCK as u64,
        capacity: (CAPACITY * BLOCK) as u64,
        open_max: Some(2),
        active_max: Some(3),
    }),
    ..PLAIN
};

const OUT_OF_RANGE: u16 = 0x80;
const BOUNDARY: u16 = 0x1b8;
const IS_FULL: u16 = 0x1b9;
const READ_ONLY: u16 = 0x1ba;
const INVALID_WRITE: u16 = 0x1bc;
const TOO_MANY_ACTIVE: u16 = 0x1bd;
const TOO_MANY_OPEN: u16 = 0x1be;
const TRANSITION: u16 = 0x1bf;

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Empty = 1,
    Implicit,
    Explicit,
    Closed,
    Full = 0xe,
}

use State::{Closed, Empty, Explicit, Full, Implicit};

/// A zone of the model: a byte for each written block.
#[derive(Clone, Debug)]
struct Zone {
    state: State,
    blocks: Vec<u8>,
}

struct Model {
    zones: Vec<Zone>,
    durable: Vec<Zone>,
    is_read_only: bool,
}

/// A step of the host, or of the drive.
#[derive(Clone, Debug)]
enum Step {
    /// Write or Write Zeroes at a distance from the write pointer.
    Write {
        zone: usize,
        from_pointer: i64,
        blocks: usize,
        byte: u8,
        durable: bool,
    },
    Append {
        zone: usize,
        blocks: usize,
        byte: u8,
    },
    Send {
        zone: Option<usize>,
        action: u32,
    },
    Flush,
    Cut,
    ReadOnly(bool),
}

fn step() -> impl Strategy<Value = Step> {
    let zone = 0..ZONES;
    let from_pointer = prop_oneof![8 => Just(0_i64), 1 => -2_i64..3];
    let write = (zone.clone(), from_pointer, 1..=4_usize, 0..9_u8, any::<bool>());
    let write = write.prop_map(|(zone, from_pointer, blocks, byte, durable)| Step::Write {
        zone,
        from_pointer,
        blocks,
        byte,
        durable,
    });
    let append = (zone.clone(), 1..=4_usize, 1..9_u8);
    let append = append.prop_map(|(zone, blocks, byte)| Step::Append { zone, blocks, byte });
    let send = (prop_oneof![5 => zone.prop_map(Some), 1 => Just(None)], 1..6_u32);
    let send = send.prop_map(|(zone, action)| Step::Send { zone, action });
    prop_oneof![
        6 => write,
        6 => append,
        6 => send,
        1 => Just(Step::Flush),
        1 => Just(Step::Cut),
        1 => prop_oneof![1 => Just(true), 3 => Just(false)].prop_map(Step::ReadOnly),
    ]
}

impl Model {
    fn new() -> Self {
        let zones = vec![Zone { state: Empty, blocks: vec![] }; ZONES];
        Self { durable: zones.clone(), zones, is_read_only: false }
    }

    fn count(&self, states: &[State]) -> usize {
        self.zones.iter().filter(|zone| states.contains(&zone.state)).count()
    }

    /// Opens a zone, and returns the status.
    fn open(&mut self, zone: usize, to: State) -> u16 {
        let state = self.zones[zone].state;
        if state == Empty && self.count(&[Implicit, Explicit, Closed]) == 3 {
            return TOO_MANY_ACTIVE;
        }
        if matches!(state, Empty | Closed) && self.count(&[Implicit, Explicit]) == 2 {
            let Some(victim) = self.zones.iter_mut().find(|zone| zone.state == Implicit) else {
                return TOO_MANY_OPEN;
            };
            victim.state = Closed;
        }
        self.zones[zone].state = to;
        0
    }

    /// Writes to a zone, and returns the status.
    fn write(&mut self, zone: usize, at: usize, bytes: &[u8]) -> u16 {
        if zone as u64 * SIZE + (at + bytes.len()) as u64 > ZONES as u64 * SIZE {
            return OUT_OF_RANGE;
        }
        let status = self.write_to_zone(zone, at, bytes);
        if self.is_read_only { READ_ONLY } else { status }
    }

    fn write_to_zone(&mut self, zone: usize, at: usize, bytes: &[u8]) -> u16 {
        let Zone { state, blocks } = &self.zones[zone];
        if *state == Full {
            return IS_FULL;
        }
        if at + bytes.len() > CAPACITY {
            return BOUNDARY;
        }
        if at != blocks.len() {
            return INVALID_WRITE;
        }
        let to = if *state == Explicit { Explicit } else { Implicit };
        let status = self.open(zone, to);
        if status > 0 {
            return status;
        }
        if self.is_read_only {
            return READ_ONLY;
        }
        let one = &mut self.zones[zone];
        one.blocks.extend(bytes);
        if one.blocks.len() == CAPACITY {
            one.state = Full;
        }
        0
    }

    fn send(&mut self, zone: usize, action: u32) -> u16 {
        let state = self.zones[zone].state;
        match (action, state) {
            _ if self.is_read_only => return TRANSITION,
            (1, Empty | Full) | (3, Full) | (5, _) => return TRANSITION,
            (1, _) => self.zones[zone].state = Closed,
            (2, _) => self.zones[zone].state = Full,
            (3, _) => return self.open(zone, Explicit),
            _ => self.zones[zone] = Zone { state: Empty, blocks: vec![] },
        }
        0
    }

    fn send_to_all(&mut self, action: u32) -> u16 {
        let is_for = |state: State| match action {
            1 => matches!(state, Implicit | Explicit),
            2 => matches!(state, Implicit | Explicit | Closed),
            3 => state == Closed,
            4 => state != Empty,
            _ => false,
        };
        let chosen: Vec<_> = (0..ZONES).filter(|zone| is_for(self.zones[*zone].state)).collect();
        if self.is_read_only {
            return 0;
        }
        if action == 3 && self.count(&[Explicit]) + chosen.len() > 2 {
            return TOO_MANY_OPEN;
        }
        chosen.into_iter().for_each(|zone| assert_eq!(self.send(zone, action), 0));
        0
    }

    fn flush(&mut self) {
        self.durable.clone_from(&self.zones);
    }

    fn cut(&mut self) {
        let found = |zone: &Zone| {
            let is_active = matches!(zone.state, Implicit | Explicit | Closed);
            let state = match zone.blocks.len() {
                0 if is_active => Empty,
                _ if is_active => Closed,
                _ => zone.state,
            };
            Zone { state, blocks: zone.blocks.clone() }
        };
        self.zones = self.durable.iter().map(found).collect();
    }

    /// Returns state and written blocks of the zones, as a report has them.
    fn report(&self) -> Vec<(u8, u64)> {
        let of = |zone: &Zone| {
            let state = if self.is_read_only { 0xd } else { zone.state as u8 };
            let written = if zone.state == Full { CAPACITY } else { zone.blocks.len() };
            (state, written as u64)
        };
        self.zones.iter().map(of).collect()
    }

    /// Returns the bytes that the blocks of the namespace begin with.
    fn data(&self) -> Vec<u8> {
        let of = |zone: &Zone| {
            let mut bytes = zone.blocks.clone();
            bytes.resize(SIZE as usize, 0);
            bytes
        };
        self.zones.iter().flat_map(of).collect()
    }
}

/// Does a step on the drive and on the model, and returns the host afterwards.
fn run(step: Step, host: Direct, model: &mut Model) -> Direct {
    match step {
        Step::Write { zone, from_pointer, blocks, byte, durable } => {
            let at = model.zones[zone].blocks.len() as i64 + from_pointer;
            let at = at.clamp(0, SIZE as i64 - 1) as usize;
            let expected = model.write(zone, at, &vec![byte; blocks]);
            let opcode = if byte == 0 { 0x08 } else { 0x01 };
            let command = io(opcode, zone as u64 * SIZE + at as u64, blocks as u32);
            let forced = u32::from(durable) << 30 | (blocks as u32 - 1);
            let done = host.io_with(command.dword(12, forced), &vec![byte; blocks * BLOCK]);
            assert_eq!(done.status, expected);
            if durable && expected == 0 {
                model.flush();
            }
        }
        Step::Append { zone, blocks, byte } => {
            let at = model.zones[zone].blocks.len();
            let expected = match model.write(zone, at, &vec![byte; blocks]) {
                // The command names the start of the zone.
                OUT_OF_RANGE if model.is_read_only => READ_ONLY,
                OUT_OF_RANGE if model.zones[zone].state == Full => IS_FULL,
                OUT_OF_RANGE => BOUNDARY,
                status => status,
            };
            let command = io(0x7d, zone as u64 * SIZE, blocks as u32);
            let done = host.io_with(command, &vec![byte; blocks * BLOCK]);
            assert_eq!(done.status, expected);
            if expected == 0 {
                assert_eq!(done.result, zone as u64 * SIZE + at as u64);
            }
        }
        Step::Send { zone, action } => {
            let expected = match zone {
                Some(zone) => model.send(zone, action),
                None => model.send_to_all(action),
            };
            let all = u32::from(zone.is_none()) << 8;
            let command = Build::new(0x79).namespace(1).start(zone.unwrap_or(0) as u64 * SIZE);
            assert_eq!(host.io(command.dword(13, action | all)).status, expected);
            if expected == 0 && [2, 4].contains(&action) {
                model.flush();
            }
        }
        Step::Flush => {
            host.io(Build::new(0x00).namespace(1)).ok();
            model.flush();
        }
        Step::Cut => {
            host.drive.cut_power();
            host.subsystem.power_cut();
            model.cut();
            return Direct::with(Arc::clone(&host.drive), Arc::clone(&host.subsystem));
        }
        Step::ReadOnly(is_read_only) => {
            host.drive.set_read_only(is_read_only);
            model.is_read_only = is_read_only;
        }
    }
    host
}

fn report(host: &Direct) -> Vec<(u8, u64)> {
    let bytes = 64 + 64 * ZONES;
    let command = Build::new(0x7a).namespace(1).dword(12, bytes as u32 / 4 - 1);
    let data = host.io(command).ok();
    assert_eq!(le64(&data, 0), ZONES as u64);
    let zones = data[64..].chunks_exact(64);
    zones.map(|zone| (zone[1] >> 4, le64(zone, 24) - le64(zone, 16))).collect()
}

fn data(host: &Direct) -> Vec<u8> {
    let blocks = host.read(0, (ZONES as u64 * SIZE) as u32).ok();
    blocks.chunks_exact(BLOCK).map(|block| block[0]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn zones_behave_like_their_model(steps in prop::collection::vec(step(), 1..80)) {
        let mut host = Direct::new(SHAPE);
        let mut model = Model::new();
        for (number, step) in steps.into_iter().enumerate() {
            let text = format!("step {number}: {step:?}");
            host = run(step, host, &mut model);
            prop_assert_eq!(report(&host), model.report(), "{}", &text);
            prop_assert_eq!(data(&host), model.data(), "{}", &text);
        }
    }
}
