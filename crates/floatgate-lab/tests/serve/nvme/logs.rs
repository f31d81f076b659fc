//! All logs of a drive agree with each other and with the engine's counters, to the byte.

use floatgate_ftl::rng::Rng;
use serde_json::{Value, json};

use super::host::initiator::Initiator;
use super::host::{group_log, le16, le32, le64, log_page};
use super::{BUFFER, PAGE, Sets, Target, drive, flush, read, write};

/// Bytes of a data unit of the SMART log, and of a unit of the endurance group log.
const UNIT: u64 = 512_000;
const BILLION: u64 = 1_000_000_000;

/// Numbers of the logs. Where several logs have a number, they agree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Logs {
    pub critical: u8,
    pub host_written: u64,
    pub media_written: u64,
    pub media_read: u64,
    pub erased: u64,
    /// Data units of the host, and its commands: read, then written.
    units: (u64, u64),
    commands: (u64, u64),
    billions: (u64, u64),
    pub power_cycles: u64,
    unsafe_shutdowns: u64,
    media_errors: u64,
}

impl Logs {
    /// Reads SMART (02h), endurance group (09h), FDP statistics (22h), OCP SMART (C0h), and traffic
    /// (F0h).
    pub fn new(admin: &mut Initiator) -> Self {
        let smart = admin.run(log_page(0x02, 512), &[]).ok();
        let group = admin.run(group_log(0x09, 512, 0), &[]).ok();
        let fdp = admin.run(group_log(0x22, 64, 0), &[]).ok();
        let ocp = admin.run(log_page(0xc0, 512), &[]).ok();
        let logs = Self {
            critical: smart[0],
            host_written: le64(&fdp, 0),
            media_written: le64(&fdp, 16),
            erased: le64(&fdp, 32),
            media_read: le64(&ocp, 16),
            units: (le64(&smart, 32), le64(&smart, 48)),
            commands: (le64(&smart, 64), le64(&smart, 80)),
            billions: (le64(&group, 48), le64(&group, 64)),
            power_cycles: le64(&smart, 112),
            unsafe_shutdowns: le64(&smart, 144),
            media_errors: le64(&smart, 160),
        };
        assert_eq!(le64(&ocp, 0), logs.media_written);
        assert_eq!(le64(&group, 80), logs.media_written.div_ceil(BILLION));
        assert_eq!((le64(&group, 96), le64(&group, 112)), logs.commands);
        assert_eq!(le64(&group, 128), logs.media_errors);
        assert_eq!(le32(&ocp, 88).max(le32(&ocp, 92)), le32(&ocp, 88), "most worn, least worn");
        let causes = Causes::new(admin);
        let sums = [causes.sum(0), causes.sum(1), causes.sum(2)];
        assert_eq!(sums, [logs.media_read, logs.media_written, logs.erased]);
        logs
    }

    /// Asserts that `ctl smart` reports the same.
    pub fn agree_with(&self, smart: &Value) {
        let number = |name: &str| smart[name].as_u64().unwrap();
        let written = number("host_bytes_written");
        assert_eq!(self.host_written, written);
        assert_eq!(self.media_written, number("media_bytes_written"));
        assert_eq!(self.media_read, number("media_bytes_read"));
        assert_eq!(self.erased, number("media_bytes_erased"));
        let read = number("host_bytes_read");
        assert_eq!(self.units, (read.div_ceil(UNIT), written.div_ceil(UNIT)));
        assert_eq!(self.billions, (read.div_ceil(BILLION), written.div_ceil(BILLION)));
        assert_eq!(self.commands, (number("host_reads"), number("host_writes")));
        assert_eq!(self.power_cycles, number("power_cycles"));
        assert_eq!(self.unsafe_shutdowns, number("unsafe_shutdowns"));
        assert_eq!(self.media_errors, number("media_errors"));
    }
}

/// The log of traffic by cause and by handle.
struct Causes {
    /// Name; bytes read, programmed, erased.
    causes: Vec<(String, [u64; 3])>,
    /// Bytes of hosts, bytes programmed.
    handles: Vec<[u64; 2]>,
}

impl Causes {
    fn new(admin: &mut Initiator) -> Self {
        let log = admin.run(log_page(0xf0, 4096), &[]).ok();
        let (causes, handles) = (le64(&log, 0) as usize, le64(&log, 8) as usize);
        let cause = |at: usize| {
            let name = String::from_utf8_lossy(&log[at..at + 16]).trim_end().to_owned();
            (name, [le64(&log, at + 16), le64(&log, at + 24), le64(&log, at + 32)])
        };
        let handles_at = 16 + 40 * causes;
        let handle = |at: usize| [le64(&log, at), le64(&log, at + 8)];
        Self {
            causes: (0..causes).map(|number| cause(16 + 40 * number)).collect(),
            handles: (0..handles).map(|number| handle(handles_at + 16 * number)).collect(),
        }
    }

    fn sum(&self, column: usize) -> u64 {
        self.causes.iter().map(|(_, bytes)| bytes[column]).sum()
    }

    fn of(&self, name: &str) -> [u64; 3] {
        self.causes.iter().find(|(cause, _)| cause == name).unwrap().1
    }
}

/// Writes over and over, so that the drive cleans: handle 3 at random, others in order.
fn work(target: &Target) {
    let (_admin, mut queue) = target.connect();
    let mut rng = Rng::new(3);
    for round in 0..3000_u64 {
        let handle = (round % 4) as u32;
        let at = match handle {
            3 => 384 + rng.below(120),
            _ => u64::from(handle) * 128 + round / 4 % 64 * 2,
        };
        write(&mut queue, at, &vec![round as u8; 2 * PAGE], handle).ok();
        if round % 10 == 0 {
            read(&mut queue, at, 1);
        }
    }
    flush(&mut queue);
}

#[test]
fn all_logs_agree_with_the_counters_of_the_engine() {
    let variants: [Sets<'_>; 4] = [
        &[],
        BUFFER,
        &[("mapping.scheme", "dftl"), ("placement.isolation", "persistently")],
        &[("placement.reclaim_unit", "128KiB")],
    ];
    for sets in variants {
        let target = drive(sets);
        work(&target);
        let (mut admin, _queue) = target.connect();
        let logs = Logs::new(&mut admin);
        logs.agree_with(&target.smart());
        let status = target.stand.status();
        let (flash, bytes) = (&status["result"]["flash"], PAGE as u64);
        let causes = Causes::new(&mut admin);
        let names = flash["programs"].as_object().unwrap().keys();
        for name in names {
            let count = |kind: &str| flash[kind][name].as_u64().unwrap();
            let unit = logs.erased / total(&flash["erases"]).max(1);
            let counted =
                [count("reads") * bytes, count("programs") * bytes, count("erases") * unit];
            assert_eq!(causes.of(name), counted, "{name} with {sets:?}");
        }
        assert_eq!(causes.of("earlier"), [0; 3]);
        assert_eq!(logs.media_written, total(&flash["programs"]) * bytes);
        assert_eq!(logs.erased % (16 * bytes), 0, "whole units");
        // The buffer absorbs most of the data that are written at random.
        let has_moved = sets == BUFFER || causes.of("gc")[1] > 0;
        assert!(has_moved, "the drive has cleaned with {sets:?}");
        let workload = &status["result"]["workload"];
        assert_eq!(json!(logs.host_written), workload["write_bytes"]);
        let owners = &status["result"]["placement"]["owners"];
        let of_owner = |handle: usize| owners[handle]["host_pages"].as_u64().unwrap() * bytes;
        for (handle, [host, media]) in causes.handles.iter().enumerate() {
            assert_eq!(*host, of_owner(handle), "handle {handle} with {sets:?}");
            assert!(media >= host);
        }
        let [host, media] = causes.handles[3];
        assert!(sets == BUFFER || media > host, "random data are moved with {sets:?}");
    }
}

fn total(counts: &Value) -> u64 {
    counts.as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum()
}

#[test]
fn logs_continue_over_resets_and_losses_of_power() {
    let target = drive(&[]);
    work(&target);
    let before = Logs::new(&mut target.connect().0);
    target.stand.ask(&json!({"do": "reset"})).unwrap();
    assert_eq!(Logs::new(&mut target.connect().0), before);
    work(&target);
    target.plug();
    let after = Logs::new(&mut target.connect().0);
    assert_eq!(after.host_written, 2 * before.host_written);
    assert!(after.media_written > before.media_written && after.erased > before.erased);
    assert_eq!((after.unsafe_shutdowns, after.power_cycles), (1, 2));
    after.agree_with(&target.smart());
}

#[test]
fn used_bytes_and_free_units_are_those_of_the_drive() {
    let target = drive(&[]);
    let (mut admin, mut queue) = target.connect();
    write(&mut queue, 0, &vec![1; 8 * PAGE], 1).ok();
    let namespace = admin.run(super::identify(0, 1), &[]).ok();
    assert_eq!(le64(&namespace, 16), 8, "blocks in use");
    let ocp = admin.run(log_page(0xc0, 512), &[]).ok();
    let status = target.stand.status();
    let free = status["free_units"].as_u64().unwrap() * 100;
    let blocks = target.stand.ask(&json!({"do": "blocks"})).unwrap();
    assert_eq!(u64::from(ocp[120]), free / blocks["units"].as_u64().unwrap());
    assert_eq!(le16(&ocp, 494), 3, "version of the log");
}
