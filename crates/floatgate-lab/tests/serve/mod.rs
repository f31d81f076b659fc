//! Drives that serve several clients at once: their data, their status, and their losses after a
//! power failure. A simulation of a drive's recording must give the same counts.

#![cfg(target_os = "linux")]
mod aged;
mod clients;
mod control;
mod health;
mod life;
mod nvme;
mod power;
mod worlds;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use floatgate_ftl::request::{Op, Request};
use floatgate_lab::config::Config;
use floatgate_lab::drive::live::Timekeeping;
use floatgate_lab::serve::{
    Backend, ChangeOptions, Client, ImageLocation, Listener, Served, Setup, listen,
};
use serde_json::{Value, json};

/// Settings over a preset's.
type Sets<'a> = &'a [(&'a str, &'a str)];

fn config(preset: Option<&str>, sets: Sets<'_>) -> Config {
    let sets: Vec<_> = sets.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    Config::load(preset, None, &sets).unwrap_or_else(|error| panic!("{preset:?} {sets:?}: {error}"))
}

/// Blocks of 16 pages of 4 KiB.
const SMALL: Sets<'_> = &[
    ("flash.pages_per_block", "16"),
    ("flash.channels", "1"),
    ("capacity.spare_factor", "0.2"),
    ("mapping.cache", "8KiB"),
];

const SHRD: Sets<'_> = &[
    ("host.scheme", "shrd"),
    ("host.log", "1MiB"),
    ("shrd.contiguous", "16"),
    ("shrd.twrite", "64KiB"),
    ("shrd.exclude_below", "0B"),
    ("mapping.scheme", "dftl"),
];

/// Drive in memory or in a file, with its control socket and its recording.
struct Stand {
    folder: tempfile::TempDir,
    served: Arc<Served>,
    _listener: Listener,
}

impl Stand {
    fn new(config: &Config, bytes: u64, time: Timekeeping) -> Self {
        let config = Box::new(config.clone());
        Self::serve(ImageLocation::Memory { config, bytes, seed: 3 }, time, vec![])
    }

    fn serve(location: ImageLocation, time: Timekeeping, also: Vec<(String, Config)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let record = Some(folder.path().join("asked"));
        let (name, transport) = ("here".into(), Duration::ZERO);
        let setup = Setup { location, name, time, transport, record, also };
        let served = Served::new(setup).unwrap_or_else(|error| panic!("{error}"));
        let _listener = listen(&served, &folder.path().join("control")).unwrap();
        Self { folder, served, _listener }
    }

    /// Returns a new client.
    fn client(&self) -> Client {
        self.served.client()
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("control")
    }

    fn ask(&self, request: &Value) -> Result<Value, String> {
        ask(&self.socket(), &request.to_string())
    }

    fn status(&self) -> Value {
        self.ask(&json!({"do": "status"})).unwrap()
    }

    /// Returns the requests in the recording.
    fn recorded(&self) -> Vec<Request> {
        let bytes = std::fs::read(self.folder.path().join("asked")).unwrap();
        assert_eq!(bytes[..12], *b"FLOATREC\x01\0\0\0");
        let number = |from: &[u8]| u64::from_le_bytes(from.try_into().unwrap());
        let records = bytes[16..].chunks_exact(32).map(|record| Request {
            at_ns: number(&record[..8]),
            offset: number(&record[8..16]),
            length: number(&record[16..24]),
            op: Op::from_code(record[24]).unwrap(),
            stream: u16::from_le_bytes(record[28..30].try_into().unwrap()),
        });
        records.collect()
    }
}

/// Sends one line, and returns the answer.
fn ask(socket: &PathBuf, line: &str) -> Result<Value, String> {
    let mut stream = UnixStream::connect(socket).unwrap();
    writeln!(stream, "{line}").unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    match answer.get("ok") {
        Some(value) => Ok(value.clone()),
        None => Err(answer["error"].as_str().unwrap().to_owned()),
    }
}

const LATER: ChangeOptions = ChangeOptions { stream: 0, durable: false };
const NOW: ChangeOptions = ChangeOptions { stream: 0, durable: true };

fn read(client: &Client, offset: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![1; length];
    client.read(offset, &mut bytes).unwrap();
    bytes
}
