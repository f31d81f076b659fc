//! Reports and commands over the control socket.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use floatgate_lab::drive::live::{LiveError, Timekeeping, create};
use floatgate_lab::serve::{Backend, ImageLocation, ServeError};
use serde_json::{Value, json};

use super::{LATER, SMALL, Stand, ask, config, read};

const BYTES: u64 = 1 << 20;

fn stand() -> Stand {
    Stand::new(&config(None, SMALL), BYTES, Timekeeping::None)
}

#[test]
fn the_socket_is_its_owners_alone() {
    let stand = stand();
    let mode = fs::metadata(stand.socket()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let path = stand.socket();
    drop(stand);
    assert!(!path.exists());
}

#[test]
fn an_invalid_request_is_reported() {
    let stand = stand();
    for (line, expected) in [
        ("hello", "no JSON document"),
        ("{}", "do = null: expected one of \"status\", "),
        ("[\"status\"]", "do = null: expected one of"),
        ("{\"do\": \"fly\"}", "do = \"fly\": expected one of \"status\", "),
        ("{\"do\": \"faults\", \"nope\": 1}", "nope: faults has no such key; expected read_error"),
        ("{\"do\": \"plug\", \"to\": \"x\"}", "to: plug takes no key but do"),
        ("{\"do\": \"faults\", \"read_error_share\": 2}", "read_error_share = 2: expected"),
        ("{\"do\": \"faults\", \"read_only\": 1}", "read_only = 1: expected true or false"),
        ("{\"do\": \"snapshot\", \"to\": \"here\"}", "to = \"here\": expected an absolute path"),
        ("{\"do\": \"lanes\", \"window_ms\": 0}", "window_ms = 0: expected more than 0"),
        ("{\"do\": \"lanes\", \"window_ms\": 5}", "has no clock"),
    ] {
        let error = ask(&stand.socket(), line).unwrap_err();
        assert!(error.contains(expected), "{line}: {error}");
    }
    // The sender gets the answer even if the request is larger than a socket's buffer.
    for bytes in [65_537, 70_000, 4 << 20] {
        let long = "x".repeat(bytes);
        assert!(ask(&stand.socket(), &long).unwrap_err().contains("at most 65536 bytes"));
    }
    assert_eq!(stand.status()["bytes"], BYTES, "the drive still answers");
}

/// A client may end its last request by closing the connection, like `printf | socat`.
#[test]
fn a_request_needs_no_line_feed_at_the_end() {
    let stand = stand();
    for (sent, expected) in
        [("{\"do\": \"check\"}", "{\"ok\":{}}"), ("{\"do\"", "no JSON document")]
    {
        let mut stream = UnixStream::connect(stand.socket()).unwrap();
        stream.write_all(sent.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains(expected), "{sent}: {answer}");
    }
}

/// New connections close the oldest idle ones. Every request still gets an answer.
#[test]
fn connections_are_bounded_and_new_ones_are_served() {
    let stand = stand();
    let idle: Vec<_> = (0..300).map(|_| UnixStream::connect(stand.socket()).unwrap()).collect();
    let status = stand.status();
    assert_eq!(status["bytes"], BYTES);
    let is_open = |mut stream: &UnixStream| {
        stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        stream.read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    };
    let open = idle.iter().filter(|stream| is_open(stream)).count();
    assert!((1..=64).contains(&open), "{open} of {} are open", idle.len());
    assert!(is_open(idle.last().unwrap()), "the one that was idle for longest ends first");
}

#[test]
fn the_numbers_match_the_requests() {
    let stand = stand();
    let client = &stand.client();
    (0..32).for_each(|page| client.write(page * 4096, &[1; 4096], LATER).unwrap());
    (0..4).for_each(|page| drop(read(client, page * 4096, 8192)));
    client.trim(0, 8192, LATER).unwrap();
    client.flush().unwrap();
    let status = stand.status();
    let asked = &status["server"]["requests"];
    assert_eq!(*asked, json!({"read": 4, "write": 32, "trim": 1, "zero": 0, "flush": 1}));
    let smart = &status["smart"];
    let written = status["result"]["flash"]["programs"].as_object().unwrap().values();
    let programs: u64 = written.map(|programs| programs.as_u64().unwrap()).sum();
    assert_eq!(smart["host_bytes_written"], 32 * 4096);
    assert_eq!(smart["host_bytes_read"], 8 * 4096);
    assert_eq!(smart["media_bytes_written"], programs * 4096);
    assert_eq!(smart["write_amplification"], programs as f64 / 32.0);
    assert!(
        smart["lifetime_media_bytes_written"].as_u64() >= smart["media_bytes_written"].as_u64()
    );
    assert_eq!(smart["critical_warnings"], json!([]));
    let blocks = stand.ask(&json!({"do": "blocks"})).unwrap();
    let sum = |name: &str| -> u64 {
        blocks[name].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum()
    };
    assert_eq!((sum("valid"), sum("written")), (30, 32));
    assert_eq!(blocks["valid"].as_array().unwrap().len() as u64, blocks["units"].as_u64().unwrap());
    let free = blocks["stream"].as_array().unwrap().iter().filter(|&stream| *stream == -1).count();
    assert_eq!(status["free_units"], free);
    stand.ask(&json!({"do": "reset"})).unwrap();
    let status = stand.status();
    assert_eq!(status["result"]["workload"]["write_pages"], 0);
    assert_eq!(status["server"]["requests"]["write"], 0);
    assert_eq!(read(client, 8192, 4096), [1; 4096]);
    assert_eq!(stand.status()["result"]["workload"]["read_pages"], 1);
}

#[test]
fn faults_are_switched_on_and_off() {
    let stand = stand();
    let client = &stand.client();
    client.write(0, &[1; 4096], LATER).unwrap();
    let set = |faults: Value| stand.ask(&faults).unwrap();
    let all = json!({"do": "faults", "read_error_share": 1.0});
    assert_eq!(set(all), json!({"read_error_share": 1.0, "read_only": false}));
    assert_eq!(client.read(0, &mut [0; 4096]), Err(ServeError::Drive(LiveError::Damaged)));
    assert_eq!(client.write(1, &[1], LATER), Err(ServeError::Drive(LiveError::Damaged)));
    assert!(stand.status()["warnings"].to_string().contains("100 % of the pages"));
    let none = set(json!({"do": "faults", "read_error_share": -0.0, "read_only": true}));
    assert_eq!(none.to_string(), "{\"read_error_share\":0.0,\"read_only\":true}");
    assert_eq!(read(client, 0, 4096), [1; 4096]);
    assert_eq!(client.write(0, &[2; 4096], LATER), Err(ServeError::ReadOnly));
    assert_eq!(client.trim(0, 4096, LATER), Err(ServeError::ReadOnly));
    assert_eq!(client.zero(0, 4096, true, LATER), Err(ServeError::ReadOnly));
    assert!(stand.status()["smart"]["critical_warnings"].to_string().contains("read-only"));
    set(json!({"do": "faults", "read_only": false}));
    client.write(0, &[2; 4096], LATER).unwrap();
    assert_eq!(read(client, 0, 4096), [2; 4096]);
    assert_eq!(stand.status()["server"]["errors"], 5);
}

/// A drive is shut down once, with any number of remaining clients.
#[test]
fn a_drive_that_was_stopped_is_off() {
    let stand = stand();
    let stop = json!({"do": "stop"});
    stand.client().write(0, &[1; 4096], LATER).unwrap();
    assert_eq!(stand.ask(&stop).unwrap()["result"]["workload"]["writes"], 1);
    assert_eq!(stand.client().read(0, &mut [0; 4096]), Err(ServeError::PowerOff));
    assert!(stand.ask(&stop).is_err());
    assert_eq!(stand.served.shut_down(), Err(ServeError::PowerOff));
}

/// A drive warns when its flash is worn.
#[test]
fn a_worn_drive_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flash.img");
    let sets = [SMALL, &[("flash.endurance", "3")]].concat();
    create(&path, &config(None, &sets), BYTES, 3).unwrap();
    let stand = Stand::serve(ImageLocation::File(path.clone()), Timekeeping::None, vec![]);
    for _ in 0..8 {
        stand.client().zero(0, BYTES, false, LATER).unwrap();
    }
    let smart = stand.ask(&json!({"do": "smart"})).unwrap();
    let mean = smart["erases_mean"].as_f64().unwrap();
    assert!(mean > 3.0);
    assert_eq!(smart["percentage_used"], mean / 3.0 * 100.0);
    assert!(smart["critical_warnings"].to_string().contains("worn"), "{smart}");
    stand.served.shut_down().unwrap();
    drop(stand);
    let stand = Stand::serve(ImageLocation::File(path), Timekeeping::None, vec![]);
    let again = stand.ask(&json!({"do": "smart"})).unwrap();
    let units = stand.ask(&json!({"do": "blocks"})).unwrap()["units"].as_f64().unwrap();
    let erased = stand.status()["power"]["mount"]["erased"].as_f64().unwrap();
    let expected = mean + erased / units;
    let kept = again["erases_mean"].as_f64().unwrap();
    assert!((kept - expected).abs() < 1e-9, "an image keeps its wear: {kept}, not {expected}");
    assert_eq!(again["host_bytes_written"], smart["host_bytes_written"]);
    let ever = |smart: &Value| smart["lifetime_media_bytes_written"].as_u64().unwrap();
    assert!(ever(&again) >= ever(&smart));
}

/// Warnings depend on the state of the drive, and not on the fill in its config.
#[test]
fn a_new_drive_is_doubted_until_it_was_written_over() {
    let stand = stand();
    let said = |key: &str| stand.status()["result"][key].to_string();
    assert!(!said("warnings").contains("write amplification"), "nothing was written");
    stand.client().write(0, &[1; 4096], LATER).unwrap();
    stand.client().read(0, &mut [0; 8192]).unwrap();
    let new = said("warnings");
    for doubt in ["were programmed in all its life", "50.0 % of the pages read had never been"] {
        assert!(new.contains(doubt), "{doubt:?} is not in {new}");
    }
    for key in ["warnings", "notes"] {
        assert!(!said(key).contains("--repeat") && !said(key).contains("start."), "{}", said(key));
    }
    (0..4).for_each(|_| stand.client().zero(0, BYTES, false, LATER).unwrap());
    stand.ask(&json!({"do": "reset"})).unwrap();
    (0..64).for_each(|page| stand.client().write(page * 4096, &[2; 4096], LATER).unwrap());
    let aged = said("warnings");
    assert!(!aged.contains("write amplification"), "{aged}");
}

/// Returns the result of `ask`, during which the drive is written all the time.
fn while_written<T: Send>(stand: &Stand, ask: impl FnOnce() -> T + Send) -> T {
    let is_over = AtomicBool::new(false);
    let reply = thread::scope(|scope| {
        scope.spawn(|| {
            for page in (0..128).cycle().take_while(|_| !is_over.load(Ordering::Relaxed)) {
                stand.client().write(page * 4096, &[1; 4096], LATER).unwrap();
            }
        });
        let reply = scope.spawn(ask).join();
        // The writes must also stop after a panic.
        is_over.store(true, Ordering::Relaxed);
        reply
    });
    reply.unwrap()
}

#[test]
fn lanes_show_the_activity_of_dies() {
    let sets = [SMALL, &[("flash.program", "1ms")]].concat();
    let stand = Stand::new(&config(None, &sets), BYTES, Timekeeping::Simulated);
    let has_begun = || stand.status()["server"]["requests"]["write"] != 0;
    let lanes = while_written(&stand, || {
        // The wait is bounded: if the writing fails, there is no first write.
        let waits = (0..10_000).take_while(|_| !has_begun());
        waits.for_each(|_| thread::sleep(Duration::from_millis(1)));
        stand.ask(&json!({"do": "lanes", "window_ms": 200})).unwrap()
    });
    let doing = lanes["lanes"]["spans"]["doing"].as_array().unwrap();
    assert!(doing.iter().any(|doing| doing == "program"), "{lanes}");
    stand.ask(&json!({"do": "check"})).unwrap();
}

/// Two clients that record lanes at the same time get separate windows. A window begins at its
/// request, or at the end of the other.
#[test]
fn concurrent_lane_recordings_get_separate_windows() {
    let sets = [SMALL, &[("flash.program", "1ms")]].concat();
    let stand = Stand::new(&config(None, &sets), BYTES, Timekeeping::Simulated);
    // A window does not begin while the drive is idle, even after a pause longer than the window.
    thread::sleep(Duration::from_millis(500));
    let found = while_written(&stand, || {
        thread::scope(|scope| {
            // Both windows are long. At least half of each must be recorded, even if the writing is
            // delayed.
            let asked = [400, 200].map(|ms| {
                let request = json!({"do": "lanes", "window_ms": ms});
                let stand = &stand;
                scope.spawn(move || (ms, stand.ask(&request).unwrap()))
            });
            asked.map(|asked| asked.join().unwrap())
        })
    });
    let mut windows = found.map(|(ms, reply)| {
        let at = |name: &str| reply["lanes"][name].as_u64().unwrap();
        let (from, to, asked) = (at("from_ns"), at("to_ns"), ms * 1_000_000);
        assert!(from >= 500_000_000, "{from}");
        assert!((asked / 2..=asked).contains(&(to - from)), "{ms} ms: {from} to {to}");
        (from, to)
    });
    windows.sort_unstable();
    assert!(windows[0].1 <= windows[1].0, "{windows:?}");
}

/// A reset of the counters restarts the drive's clock, but the recording covers the drive's whole
/// life.
#[test]
fn a_recording_continues_over_a_reset() {
    let stand = stand();
    for round in 0..3 {
        (0..20).for_each(|page| stand.client().write(page * 4096, &[1; 4096], LATER).unwrap());
        stand.ask(&json!({"do": if round == 1 { "plug" } else { "reset" }})).unwrap();
    }
    stand.served.shut_down().unwrap();
    let times: Vec<_> = stand.recorded().iter().map(|request| request.at_ns).collect();
    assert_eq!(times.len(), 60);
    assert!(times.is_sorted(), "{times:?}");
}
