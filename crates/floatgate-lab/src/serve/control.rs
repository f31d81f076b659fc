//! Control socket: users inspect the drive and act on it, with one JSON document per line.
//!
//! A request is `{"do": NAME, ...}`, its answer `{"ok": VALUE}` or `{"error": TEXT}`. The socket is
//! created for its owner alone, so no other user can send requests.

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

use super::backend::ServeError;
use super::connections::{Connection, Connections};
use super::document;
use super::panics::words;
use super::served::Served;

/// Names of the requests, and the keys that each accepts.
const REQUESTS: [(&str, &[&str]); 10] = [
    ("status", &[]),
    ("smart", &[]),
    ("blocks", &[]),
    ("plug", &[]),
    ("faults", &["read_error_share", "read_only"]),
    ("snapshot", &["to"]),
    ("lanes", &["window_ms"]),
    ("reset", &[]),
    ("check", &[]),
    ("stop", &[]),
];

/// Maximum size of a request in bytes.
const REQUEST_BYTES_MAX: u64 = 64 << 10;

/// Bytes, and below the time, for which the server keeps reading after it has refused a request
/// that is too long. A socket that is closed with unread bytes fails the sender's write, and the
/// sender loses the answer.
const REST_BYTES_MAX: u64 = 16 << 20;
const REST_WAIT: Duration = Duration::from_secs(1);

/// Time until the next attempt if no connection can be accepted because the process has run out of
/// files.
const ACCEPT_WAIT: Duration = Duration::from_millis(100);

/// A listening socket; dropping it removes the socket.
#[derive(Debug)]
pub struct Listener {
    path: PathBuf,
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Somebody may have removed the socket already, which is no problem.
        let _ = fs::remove_file(&self.path);
    }
}

/// Listens on a socket path that must not exist, and answers requests in separate threads.
///
/// # Errors
/// A socket that cannot be created.
pub fn listen(served: &Arc<Served>, path: &Path) -> io::Result<Listener> {
    let socket = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    let served = Arc::downgrade(served);
    thread::spawn(move || {
        let all = Arc::new(Connections::default());
        for stream in socket.incoming() {
            let served = served.clone();
            if stream.and_then(|stream| begin(&all, stream, move || served.upgrade())).is_err() {
                thread::sleep(ACCEPT_WAIT);
            }
        }
    });
    Ok(Listener { path: path.to_path_buf() })
}

/// Serves a connection in its own thread.
fn begin(
    all: &Arc<Connections>,
    stream: UnixStream,
    served: impl Fn() -> Option<Arc<Served>> + Send + 'static,
) -> io::Result<()> {
    let connection = all.admit(stream)?;
    let (others, here) = (Arc::clone(all), Arc::clone(&connection));
    let thread = thread::Builder::new().spawn(move || {
        // An error here means that the client does not read; it then gets no answer.
        let _ = serve(&here, &others, served);
        others.leave(&here);
    });
    thread.map(drop).inspect_err(|_| all.leave(&connection))
}

fn serve(
    connection: &Arc<Connection>,
    all: &Connections,
    served: impl Fn() -> Option<Arc<Served>>,
) -> io::Result<()> {
    let mut reader = BufReader::new(&connection.stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut reader).take(REQUEST_BYTES_MAX).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        // The last document may end with the connection instead of a newline.
        let is_whole = line.ends_with(b"\n") || (line.len() as u64) < REQUEST_BYTES_MAX;
        all.working(connection, || {
            let answer = match (served(), is_whole) {
                (None, _) => Err("the drive is gone".to_owned()),
                (_, false) => {
                    Err(format!("a request is a line of at most {REQUEST_BYTES_MAX} bytes"))
                }
                (Some(served), true) => asked(&served, &line),
            };
            let answer = match answer {
                Ok(value) => json!({"ok": value}),
                Err(error) => json!({"error": error}),
            };
            writeln!(&mut &connection.stream, "{answer}")
        })?;
        if !is_whole {
            return drain(&mut reader);
        }
    }
}

/// Reads the rest of a refused request.
fn drain(reader: &mut BufReader<&UnixStream>) -> io::Result<()> {
    reader.get_ref().shutdown(Shutdown::Write)?;
    reader.get_ref().set_read_timeout(Some(REST_WAIT))?;
    io::copy(&mut reader.take(REST_BYTES_MAX), &mut io::sink()).map(drop)
}

/// Answers a request; a panic in the drive becomes an error.
fn asked(served: &Served, line: &[u8]) -> Result<Value, String> {
    let request: Value =
        serde_json::from_slice(line).map_err(|error| format!("no JSON document: {error}"))?;
    let answer = catch_unwind(AssertUnwindSafe(|| answer(served, &request)));
    answer.unwrap_or_else(|panic| Err(words(panic.as_ref())))
}

fn answer(served: &Served, request: &Value) -> Result<Value, String> {
    let text = |error: ServeError| error.to_string();
    match name(request)? {
        "status" => served.status().map_err(text),
        "smart" => served.smart().map_err(text),
        "blocks" => served.blocks().map_err(text),
        "plug" => served.pull_plug().map(|found| document::power(&found)).map_err(text),
        "faults" => set_faults(served, request),
        "snapshot" => snapshot(served, request),
        "lanes" => lanes(served, request),
        "reset" => {
            served.reset();
            Ok(json!({}))
        }
        "check" => {
            served.check()?;
            Ok(json!({}))
        }
        _ => served.stop().map_err(text),
    }
}

/// Returns the name of a request, after a check of its name and all its keys.
fn name(request: &Value) -> Result<&'static str, String> {
    let Some((name, keys)) = REQUESTS.iter().find(|(name, _)| request["do"] == *name) else {
        let names = REQUESTS.map(|(name, _)| format!("\"{name}\"")).join(", ");
        return Err(format!("do = {}: expected one of {names}", request["do"]));
    };
    let mut given = request.as_object().into_iter().flat_map(|object| object.keys());
    match given.find(|key| *key != "do" && !keys.contains(&key.as_str())) {
        Some(key) if keys.is_empty() => Err(format!("{key}: {name} takes no key but do")),
        Some(key) => Err(format!("{key}: {name} has no such key; expected {}", keys.join(" or "))),
        None => Ok(name),
    }
}

fn set_faults(served: &Served, request: &Value) -> Result<Value, String> {
    let (share, read_only) = (&request["read_error_share"], &request["read_only"]);
    let expected =
        |what: &str, given: &Value, text: &str| format!("{what} = {given}: expected {text}");
    let share = match share {
        Value::Null => None,
        given => match given.as_f64() {
            // Adding 0 turns -0 into 0.
            Some(share) if (0.0..=1.0).contains(&share) => Some(share + 0.0),
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

/// Records the activity of the dies for some milliseconds from now on.
fn lanes(served: &Served, request: &Value) -> Result<Value, String> {
    match request["window_ms"].as_f64() {
        Some(ms) if ms > 0.0 && ms <= 1000.0 => served.lanes(ms),
        _ => {
            let given = &request["window_ms"];
            Err(format!("window_ms = {given}: expected more than 0 and at most 1000"))
        }
    }
}
