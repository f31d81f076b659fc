//! Looking inside, and what a user does to the drive: a socket of the system, and a document per
//! line.
//!
//! A request is `{"do": NAME, ...}`, its answer `{"ok": VALUE}` or `{"error": TEXT}`. Only who may
//! open the socket can ask: it is made for its owner alone.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::document::power;
use super::{Served, document, words};

/// Bytes of a request at most.
const REQUEST_BYTES_MAX: u64 = 64 << 10;

/// Who sends a longer one is read on for so many bytes, and waited for so long: closed with bytes
/// unread, a socket fails the sender's write, and the answer is lost.
const REST_BYTES_MAX: u64 = 16 << 20;
const REST_WAIT: Duration = Duration::from_secs(1);

/// A socket that is listened on, until this is dropped.
#[derive(Debug)]
pub struct Listener {
    path: PathBuf,
}

impl Drop for Listener {
    fn drop(&mut self) {
        // It may be gone: nobody minds.
        let _ = fs::remove_file(&self.path);
    }
}

/// Listens on a socket that must not exist, and answers for a drive in threads of its own.
///
/// # Errors
/// A socket that cannot be made.
pub fn listen(served: &Arc<Served>, path: &Path) -> io::Result<Listener> {
    let socket = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    let served = Arc::downgrade(served);
    thread::spawn(move || {
        for stream in socket.incoming().flatten() {
            let served = served.clone();
            thread::spawn(move || {
                // Who does not listen gets no answer.
                let _ = serve(&stream, || served.upgrade());
            });
        }
    });
    Ok(Listener { path: path.to_path_buf() })
}

fn serve(stream: &UnixStream, served: impl Fn() -> Option<Arc<Served>>) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut reader).take(REQUEST_BYTES_MAX).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        let is_whole = line.ends_with(b"\n");
        let answer = match (served(), is_whole) {
            (None, _) => Err("the drive is gone".to_owned()),
            (_, false) => Err(format!("a request is a line of at most {REQUEST_BYTES_MAX} bytes")),
            (Some(served), true) => asked(&served, &line),
        };
        let answer = match answer {
            Ok(value) => json!({"ok": value}),
            Err(error) => json!({"error": error}),
        };
        writeln!(&mut &*stream, "{answer}")?;
        if !is_whole {
            return drain(&mut reader);
        }
    }
}

/// Reads what is left of a request that was refused.
fn drain(reader: &mut BufReader<&UnixStream>) -> io::Result<()> {
    reader.get_ref().shutdown(Shutdown::Write)?;
    reader.get_ref().set_read_timeout(Some(REST_WAIT))?;
    io::copy(&mut reader.take(REST_BYTES_MAX), &mut io::sink()).map(drop)
}

/// The answer to a request; a bug in the drive is told as an error.
fn asked(served: &Served, line: &[u8]) -> Result<Value, String> {
    let request: Value =
        serde_json::from_slice(line).map_err(|error| format!("no JSON document: {error}"))?;
    let answer = catch_unwind(AssertUnwindSafe(|| answer(served, &request)));
    answer.unwrap_or_else(|panic| Err(words(panic.as_ref())))
}

fn answer(served: &Served, request: &Value) -> Result<Value, String> {
    let told = |error: super::ServeError| error.to_string();
    match request["do"].as_str() {
        Some("status") => served.status().map_err(told),
        Some("smart") => served.smart().map_err(told),
        Some("blocks") => served.blocks().map_err(told),
        Some("plug") => served.pull_plug().map(|found| power(&found)),
        Some("faults") => set_faults(served, request),
        Some("snapshot") => snapshot(served, request),
        Some("lanes") => lanes(served, request),
        Some("reset") => {
            served.reset();
            Ok(json!({}))
        }
        Some("check") => {
            served.check().map_err(told)?;
            Ok(json!({}))
        }
        Some("stop") => served.stop().map_err(told),
        _ => Err(format!(
            "do = {}: expected \"status\", \"smart\", \"blocks\", \"plug\", \"faults\", \
             \"snapshot\", \"lanes\", \"reset\", \"check\" or \"stop\"",
            request["do"]
        )),
    }
}

fn set_faults(served: &Served, request: &Value) -> Result<Value, String> {
    let (share, read_only) = (&request["read_error_share"], &request["read_only"]);
    let expected =
        |what: &str, given: &Value, text: &str| format!("{what} = {given}: expected {text}");
    let share = match share {
        Value::Null => None,
        given => match given.as_f64() {
            Some(share) if (0.0..=1.0).contains(&share) => Some(share),
            _ => return Err(expected("read_error_share", given, "a share from 0 to 1")),
        },
    };
    let read_only = match read_only {
        Value::Null => None,
        Value::Bool(is) => Some(*is),
        given => return Err(expected("read_only", given, "true or false")),
    };
    let set = served.set_faults(share, read_only);
    Ok(document::faults(&set))
}

fn snapshot(served: &Served, request: &Value) -> Result<Value, String> {
    let Some(to) = request["to"].as_str().map(Path::new).filter(|to| to.is_absolute()) else {
        return Err(format!("to = {}: expected an absolute path", request["to"]));
    };
    let copied = served.snapshot(to);
    let bytes = copied.map_err(|error| format!("{} cannot be written: {error}", to.display()))?;
    Ok(json!({"path": to, "bytes": bytes}))
}

/// What the dies do for some milliseconds from now on.
fn lanes(served: &Served, request: &Value) -> Result<Value, String> {
    match request["window_ms"].as_f64() {
        Some(ms) if ms > 0.0 && ms <= 1000.0 => served.lanes(ms),
        _ => {
            let given = &request["window_ms"];
            Err(format!("window_ms = {given}: expected more than 0 and at most 1000"))
        }
    }
}
