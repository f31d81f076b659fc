//! The counts of a live drive equal the counts of its simulation from the recording.

use std::thread;

use floatgate_ftl::rng::Rng;
use floatgate_lab::config::{Config, Timing};
use floatgate_lab::drive::live::Timekeeping;
use floatgate_lab::result::Facts;
use floatgate_lab::run::{Control, Options, run};
use floatgate_lab::serve::{Backend, Client, ImageLocation};
use floatgate_lab::workload::Recorded;
use serde_json::{Value, json};

use super::{LATER, NOW, SHRD, SMALL, Sets, Stand, config};

const BYTES: u64 = 8 << 20;

/// Sends a sample of all kinds of client requests, mostly small and to the first part of the drive.
pub(super) fn play(client: &Client, requests: u64, seed: u64) {
    let mut rng = Rng::new(seed);
    for _ in 0..requests {
        let length = if rng.below(4) == 0 { 1 + rng.below(100_000) } else { 4096 };
        let span = if rng.below(4) == 0 { BYTES } else { BYTES / 8 };
        let offset = rng.below(span.max(length + 1) - length);
        let offset = if length == 4096 { offset / 4096 * 4096 } else { offset };
        let bytes: Vec<u8> = (0..length).map(|at| (at * seed) as u8 | 1).collect();
        match rng.below(20) {
            0..11 => client.write(offset, &bytes, LATER).unwrap(),
            11 => client.write(offset, &bytes, NOW).unwrap(),
            12 => client.trim(offset, length, LATER).unwrap(),
            13 => client.zero(offset, length, rng.below(2) == 0, LATER).unwrap(),
            14 => client.flush().unwrap(),
            _ => client.read(offset, &mut vec![0; length as usize]).unwrap(),
        }
    }
}

/// Returns the result of playing the recording on the same drive.
pub(super) fn simulated(config: &Config, stand: &Stand, time: Timekeeping) -> Value {
    let mut config = config.clone();
    config.ftl.journal = true;
    if time == Timekeeping::None {
        config.timing = Timing::None;
    }
    let mut workload = Recorded::new("live", 1, 1.0).unwrap();
    workload.push(&stand.recorded()).unwrap();
    let options = Options { span_bytes: BYTES, seed: 3, verify: false, start_cache: None };
    let result = run(&config, &mut workload, Facts::default(), options, &Control::default());
    serde_json::to_value(result.unwrap_or_else(|error| panic!("{error}"))).unwrap()
}

/// Checks that live drive and simulation have the same counts, and with a clock the same times.
pub(super) fn assert_agree(live: &Value, simulated: &Value, time: Timekeeping) {
    let counted = [
        "write_amplification",
        "data_write_amplification",
        "drive",
        "space",
        "flash",
        "mapping",
        "merges",
        "buffer",
        "slc",
        "placement",
        "host",
        "cleaning",
        "wear",
    ];
    let timed = ["latency", "throughput", "dies", "channels"];
    let timed = if time == Timekeeping::None { &[][..] } else { &timed };
    for key in counted.iter().chain(timed) {
        assert_eq!(live[key], simulated[key], "{key}");
    }
    for key in ["requests", "read_pages", "write_pages", "trim_pages"] {
        assert_eq!(live["workload"][key], simulated["workload"][key], "{key}");
    }
}

fn both_worlds(preset: Option<&str>, sets: Sets<'_>, time: Timekeeping, clients: u64) {
    let config = config(preset, &[sets, &[("start.fill", "none")]].concat());
    let stand = Stand::new(&config, BYTES, time);
    let requests = if time == Timekeeping::None { 3000 } else { 400 };
    thread::scope(|scope| {
        for seed in 1..=clients {
            let client = stand.client();
            scope.spawn(move || play(&client, requests / clients, seed));
        }
    });
    let status = stand.status();
    let live = status["result"].clone();
    let (held, is_timed) = (&status["server"]["holding"], time == Timekeeping::Simulated);
    assert_eq!(
        (live["throughput"]["device_seconds"].is_null(), held.is_null()),
        (!is_timed, !is_timed)
    );
    stand.served.shut_down().unwrap();
    let simulated = simulated(&config, &stand, time);
    assert!(live["flash"]["programs"]["host"].as_u64().unwrap() > 100);
    assert_agree(&live, &simulated, time);
}

#[test]
fn counts_agree_on_every_map() {
    for mapping in ["ideal", "none", "dftl", "page_cache", "cdftl", "sftl", "tlllp", "tpftl"] {
        let sets = [SMALL, &[("mapping.scheme", mapping)]].concat();
        both_worlds(None, &sets, Timekeeping::None, 1);
    }
}

#[test]
fn counts_agree_with_several_clients() {
    both_worlds(None, SMALL, Timekeeping::None, 4);
    for scheme in ["bast", "fast"] {
        both_worlds(None, &[SMALL, &[("ftl.scheme", scheme)]].concat(), Timekeeping::None, 3);
    }
    let buffer = [("buffer.scheme", "bplru"), ("buffer.capacity", "256KiB")];
    both_worlds(None, &[SMALL, &buffer].concat(), Timekeeping::None, 3);
    both_worlds(None, &[SMALL, SHRD].concat(), Timekeeping::None, 4);
}

#[test]
fn counts_and_times_agree_with_a_clock() {
    both_worlds(None, &[SMALL, &[("mapping.scheme", "dftl")]].concat(), Timekeeping::Simulated, 1);
    both_worlds(None, SMALL, Timekeeping::Simulated, 8);
    both_worlds(None, &[SMALL, SHRD].concat(), Timekeeping::Simulated, 4);
    let buffer = [("buffer.scheme", "lru"), ("buffer.capacity", "256KiB")];
    both_worlds(None, &[SMALL, &buffer].concat(), Timekeeping::Simulated, 4);
    both_worlds(Some("small-nvme"), &[], Timekeeping::Simulated, 8);
}

/// Clients write until they are refused. The final report must cover exactly the accepted requests.
#[test]
fn counts_agree_of_a_drive_that_is_stopped_under_load() {
    let config = config(None, &[SMALL, &[("start.fill", "none")]].concat());
    for time in [Timekeeping::None, Timekeeping::Simulated] {
        let stand = Stand::new(&config, BYTES, time);
        let last = thread::scope(|scope| {
            for number in 0..4_u64 {
                let client = stand.client();
                scope.spawn(move || {
                    let mut rng = Rng::new(number);
                    while client.write(rng.below(2048) * 4096, &[7; 4096], LATER).is_ok() {}
                });
            }
            while stand.status()["result"]["workload"]["requests"].as_u64() < Some(300) {}
            stand.ask(&json!({"do": "stop"})).unwrap()
        });
        let simulated = simulated(&config, &stand, time);
        assert_eq!(last["result"]["workload"]["requests"], last["record"]["requests"]);
        assert_agree(&last["result"], &simulated, time);
    }
}

#[test]
fn a_shadow_of_the_same_config_counts_the_same() {
    let own = config(
        None,
        &[SMALL, &[("ftl.journal", "true"), ("timing", "none"), ("start.fill", "none")]].concat(),
    );
    let other = config(None, &[SMALL, &[("mapping.scheme", "dftl")]].concat());
    let also = vec![("same".to_owned(), own.clone()), ("other".to_owned(), other)];
    let location = ImageLocation::Memory { config: Box::new(own), bytes: BYTES, seed: 3 };
    let stand = Stand::serve(location, Timekeeping::None, also);
    play(&stand.client(), 2000, 9);
    let status = with_shadows(&stand);
    assert_eq!([0, 1].map(|at| status["also"][at]["name"].clone()), ["same", "other"]);
    assert_agree(&status["also"][0]["result"], &status["result"], Timekeeping::None);
    let other = &status["also"][1]["result"];
    assert_eq!(other["workload"]["write_pages"], status["result"]["workload"]["write_pages"]);
    assert!(other["flash"]["programs"]["map"].as_u64().unwrap() > 0);
    assert_eq!([0, 1].map(|at| fill(&status, at)), ["none", "sequential"]);
}

/// The counters of shadows cover the same time as the counters of the live drive.
#[test]
fn shadows_begin_anew_with_the_drive() {
    let sets = [("ftl.journal", "true"), ("start.fill", "none")];
    for time in [Timekeeping::None, Timekeeping::Simulated] {
        let timing = [("timing", if time == Timekeeping::None { "none" } else { "scheduled" })];
        let own = config(None, &[SMALL, &sets, &timing].concat());
        let location =
            ImageLocation::Memory { config: Box::new(own.clone()), bytes: BYTES, seed: 3 };
        let stand = Stand::serve(location, time, vec![("same".to_owned(), own)]);
        let also = |status: &Value| status["also"][0]["result"].clone();
        for begins in ["reset", "plug"] {
            play(&stand.client(), 700, 9);
            stand.ask(&json!({"do": begins})).unwrap();
            let status = with_shadows(&stand);
            assert_eq!(also(&status)["workload"]["requests"], 0);
            assert_eq!(also(&status)["flash"]["programs"]["host"], 0);
            play(&stand.client(), 700, 10);
            let status = with_shadows(&stand);
            let (also, live) = (also(&status), &status["result"]);
            match (time, begins) {
                (Timekeeping::None, "reset") => assert_agree(&also, live, time),
                (Timekeeping::None, _) => assert_eq!(also["workload"], live["workload"]),
                // Some requests complete only when later ones arrive.
                _ => assert!(also["workload"]["requests"].as_u64() > Some(600)),
            }
        }
    }
}

/// Returns the status when the shadows have served all requests.
pub(super) fn with_shadows(stand: &Stand) -> Value {
    loop {
        let status = stand.status();
        let also = status["also"].as_array().unwrap();
        if also.iter().all(|shadow| shadow["behind"] == 0) {
            return status;
        }
    }
}

fn fill(status: &Value, at: usize) -> Value {
    status["also"][at]["result"]["start"]["fill"].clone()
}
