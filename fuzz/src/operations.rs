//! Operations on a small drive of any kind, with power cuts: no durable data may be lost, and reads
//! must return the written data.

use floatgate_ftl::buffer::BUFFERS;
use floatgate_ftl::device::Acknowledge;
use floatgate_ftl::log_block::LOG_BLOCKS;
use floatgate_ftl::mapping::MAPPINGS;
use floatgate_ftl::parameters::Row;
use floatgate_ftl::placement::PLACEMENTS;
use floatgate_ftl::request::{Op, Request};
use floatgate_ftl::victim::VICTIMS;
use floatgate_lab::config::Config;
use floatgate_lab::crash::{self, Moments};
use floatgate_lab::result::Facts;
use floatgate_lab::run::{Control, Options, RunError, run as simulate};
use floatgate_lab::workload::{Recorded, Workload};

use crate::bytes::Bytes;

/// Bytes that the host may address: 60 pages of 512 bytes, the last one not complete.
const SPAN: u64 = 60 * 512 - 100;
/// More requests find nothing that this number does not.
const REQUESTS_MAX: usize = 400;
/// Number of repetitions of the workload: cleaning takes more writes than a fuzzer sends.
const REPEATS: [u64; 4] = [1, 2, 5, 12];

/// A drive, and how to run it.
struct Case {
    config: Config,
    requests: Vec<Request>,
    repeat: u64,
    /// Cuts the power at every n-th moment; 0 means never.
    every: u8,
    again: u8,
    seed: u64,
}

fn name(bytes: &mut Bytes<'_>, rows: &[Row]) -> String {
    bytes.pick(rows).map_or("", |row| row.name).to_owned()
}

fn drive(bytes: &mut Bytes<'_>) -> Config {
    let mut config = Config::default();
    config.flash.page.0 = 512;
    config.flash.channels = 1;
    config.flash.dies = 1;
    config.flash.planes = 1;
    config.flash.superblock = 1;
    config.flash.pages_per_block = [4, 8, 3, 16][usize::from(bytes.byte() % 4)];
    config.capacity.spare_factor = Some(0.1 + f64::from(bytes.byte() % 64) / 160.0);
    config.mapping.cache.0 = 512 + 64 * u64::from(bytes.byte());
    config.ftl.checkpoint_every = 16 + u32::from(bytes.byte());
    let kinds = bytes.byte();
    config.placement.scheme = name(bytes, PLACEMENTS);
    config.cleaning.victim = name(bytes, VICTIMS);
    config.mapping.scheme = name(bytes, MAPPINGS);
    if kinds & 3 == 1 {
        config.ftl.scheme = name(bytes, LOG_BLOCKS);
        config.mapping.scheme = Config::default().mapping.scheme;
        config.placement.scheme = Config::default().placement.scheme;
    }
    if kinds & 12 == 4 {
        config.buffer.scheme = name(bytes, BUFFERS);
        config.buffer.capacity.0 = 512 * (1 + u64::from(bytes.byte() % 32));
        if kinds & 16 > 0 {
            config.buffer.acknowledge.0 = Acknowledge::WriteThrough;
        }
    }
    if kinds & 3 == 2 {
        config.host.scheme = "shrd".into();
        config.host.log.0 = 512 * (8 + u64::from(bytes.byte() % 64));
        config.host.threshold.0 = 512 * u64::from(bytes.byte() % 8);
        let twrite = ("shrd.twrite_entries".to_owned(), (1 + bytes.byte() % 8).to_string());
        config.policies = Config::load(None, None, &[twrite]).expect("in its range").policies;
    }
    config.queue.depth = 1 + u32::from(bytes.byte() % 8);
    if kinds & 32 > 0 {
        config.cleaning.copies_per_write = Some(1 + u32::from(bytes.byte() % 4));
    }
    if kinds & 64 > 0 {
        let rate = |byte: u8| f64::from(byte) / 10_000.0;
        config.faults.program = rate(bytes.byte());
        config.faults.erase = rate(bytes.byte());
        config.faults.read = rate(bytes.byte());
        config.faults.corrupt = rate(bytes.byte());
        config.faults.spare_units = Some(bytes.byte().into());
    }
    config
}

fn requests(bytes: &mut Bytes<'_>) -> Vec<Request> {
    let mut requests = vec![];
    while !bytes.is_empty() && requests.len() < REQUESTS_MAX {
        let kind = bytes.byte();
        let op = match kind % 16 {
            0..9 => Op::Write,
            9..12 => Op::Read,
            12..15 => Op::Trim,
            _ => Op::Flush,
        };
        // Mostly in units of a page, sometimes not.
        let unit = if kind & 0x80 == 0 { 512 } else { 101 };
        let offset = unit * u64::from(bytes.byte()) % SPAN;
        let length = (unit * u64::from(1 + kind / 16 % 8)).min(SPAN - offset);
        let (offset, length) = if op == Op::Flush { (0, 0) } else { (offset, length) };
        requests.push(Request { at_ns: 0, op, offset, length, stream: 0 });
    }
    requests
}

fn case(input: &[u8]) -> Case {
    let bytes = &mut Bytes(input);
    let (every, again, seed) = (bytes.byte(), bytes.byte(), bytes.byte().into());
    let repeat = REPEATS[usize::from(bytes.byte() % 4)];
    let config = drive(bytes);
    Case { config, requests: requests(bytes), repeat, every, again, seed }
}

/// Runs the case that the bytes describe, in one of two ways.
pub fn run(input: &[u8]) {
    let Case { config, requests, repeat, every, again, seed } = case(input);
    let Ok(mut workload) = Recorded::new("fuzz", repeat, 1.0) else { return };
    if workload.push(&requests).is_err() {
        return;
    }
    let control = Control::default();
    let outcome = if every == 0 {
        let options = Options { span_bytes: SPAN, seed, verify: true, start_cache: None };
        let facts = Facts::default();
        simulate(&config, &mut workload, facts, options, &control).map(|_| ())
    } else {
        let options = crash::Options {
            span_bytes: SPAN,
            seed,
            // About a hundred moments; a request has about eight.
            moments: Moments::Every(u64::from(every) + workload.requests() / 16),
            // Cutting each recovery everywhere would take seconds.
            again: 8 + u64::from(again),
            again_most: u64::MAX,
            bug: None,
        };
        crash::explore(&config, &mut workload, options, &control)
            .map(|report| assert_eq!(report.lost, 0, "{:?}", report.first_loss))
    };
    // An impossible drive is refused.
    assert!(!matches!(outcome, Err(RunError::Cancelled)));
}
