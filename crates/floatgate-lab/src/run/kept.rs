//! Start states on disk: a drive that was filled once is there again in the time of reading it.
//!
//! ```text
//!   MAGIC | key: all that the state depends on | how it was reached, as JSON | frames | end
//!   a frame: length (4 bytes), CRC-32 (4 bytes), bytes; the end: a frame of nothing
//! ```
//!
//! The key is in the file as a whole, and not only its digest: a state is taken for no other drive,
//! seed or build of the engine. What is torn or damaged is not there. A file is written beside its
//! place and moved there when it is whole; nothing waits for the disk.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use floatgate_ftl::device::Device;
use floatgate_ftl::saved::{Carrier, Chunks, State};
use serde_json::json;

use super::start::{depends_on_time, reach};
use super::{Control, RunError};
use crate::config::{Config, Flash};
use crate::drive::Plan;
use crate::result::StartResult;

const MAGIC: &[u8; 16] = b"floatgate start\n";
/// No frame and no text is longer.
const LONGEST: u32 = 1 << 24;

/// Where start states are kept.
#[derive(Clone, Copy, Debug)]
pub struct StartCache<'a> {
    /// The directory. It is made if there is none.
    pub directory: &'a Path,
    /// Names the engine: another build may fill a drive in another way.
    pub build: &'a str,
}

/// The place of one start state.
struct Place {
    path: PathBuf,
    key: String,
}

impl StartCache<'_> {
    /// Brings a drive to its start state: that of an earlier run, if there is one; if not, it is
    /// kept for the next. And what is to be said of that.
    pub(super) fn reach(
        &self,
        config: &Config,
        plan: &Plan,
        device: &mut dyn Device,
        seed: u64,
        control: &Control,
    ) -> Result<(StartResult, Option<String>), RunError> {
        let place = self.place(config, plan, seed);
        let why_not = match device.state() {
            _ if depends_on_time(config)? => Some("it depends on the drive's clock".to_owned()),
            None => Some("a part of this drive cannot be saved".to_owned()),
            Some(state) => match place.load(state) {
                Ok(Some(started)) => return Ok((started, Some(place.taken()))),
                Ok(None) => None,
                Err(error) => return Err(RunError::Unreadable(error.to_string())),
            },
        };
        let started = reach(config, plan, device, seed, control)?;
        let why_not = why_not
            .or_else(|| place.keep(device.state()?, &started).err().map(|error| error.to_string()));
        let note = why_not.map(|why| format!("the start state was not kept: {why}"));
        Ok((started, note))
    }

    /// Where the state is that a config, a seed and a size of drive give.
    fn place(&self, config: &Config, plan: &Plan, seed: u64) -> Place {
        let key = json!({
            "build": self.build,
            "config": without_time(config),
            "plan": format!("{:?}", (&plan.medium, plan.log_pages, plan.units_in_service)),
            "seed": seed,
        });
        let key = key.to_string();
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        Place { path: self.directory.join(format!("{:016x}.start", hasher.finish())), key }
    }
}

/// The config without what says how long things take, and what is made of that: a start state
/// that may be kept does not depend on it.
fn without_time(config: &Config) -> Config {
    let Config { latency, link, lanes, queue, flash, .. } = Config::default();
    let given = config.clone();
    // Of several queues a command may be begun before one that came earlier.
    let queue = if given.queue.queues == 1 { queue } else { given.queue };
    let Flash { read, program, erase, bus, command, endurance, .. } = flash;
    let flash = Flash { read, program, erase, bus, command, endurance, ..given.flash };
    Config { latency, link, lanes, queue, flash, ..given }
}

impl Place {
    fn taken(&self) -> String {
        format!("the start state is that of an earlier run, from {}", self.path.display())
    }

    /// Puts a state that is there into a drive, which has the counters at zero before and after;
    /// how it was reached. None if there is none.
    ///
    /// # Errors
    /// The file changed while it was read.
    fn load(&self, state: &mut dyn State) -> io::Result<Option<StartResult>> {
        if self.open().and_then(|(frames, _)| frames.check()).is_none() {
            return Ok(None);
        }
        let changed = || io::Error::other(format!("{} has just changed", self.path.display()));
        let (mut frames, started) = self.open().ok_or_else(changed)?;
        let mut carrier = Carrier::loading(&mut frames);
        state.carry(&mut carrier);
        if carrier.finish() { Ok(Some(started)) } else { Err(changed()) }
    }

    /// The file if it begins as it should: of this build, for this drive and this seed; and how the
    /// state was reached.
    fn open(&self) -> Option<(Frames<BufReader<File>>, StartResult)> {
        let mut file = BufReader::new(File::open(&self.path).ok()?);
        let mut magic = [0; MAGIC.len()];
        file.read_exact(&mut magic).ok()?;
        let mut frames = Frames { file };
        let is_it = &magic == MAGIC && frames.text()? == self.key;
        let started = serde_json::from_str(&frames.text()?).ok()?;
        is_it.then_some((frames, started))
    }

    /// Keeps the state of a drive with the counters at zero.
    ///
    /// # Errors
    /// The file cannot be written; then there is none.
    fn keep(&self, state: &mut dyn State, started: &StartResult) -> io::Result<()> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let beside = self.path.with_extension(format!("{}-{number}", process::id()));
        let kept = self.write(&beside, state, started);
        let moved = kept.and_then(|()| fs::rename(&beside, &self.path));
        if moved.is_err() {
            // What is wrong with the file is told; that it may still be there follows from it.
            let _ = fs::remove_file(&beside);
        }
        moved
    }

    fn write(&self, to: &Path, state: &mut dyn State, started: &StartResult) -> io::Result<()> {
        self.path.parent().map_or(Ok(()), fs::create_dir_all)?;
        let mut file = BufWriter::new(File::create(to)?);
        file.write_all(MAGIC)?;
        let mut writer = Writer { file, result: Ok(()) };
        writer.frame(self.key.as_bytes());
        writer.frame(serde_json::to_string(started)?.as_bytes());
        let mut carrier = Carrier::saving(&mut writer);
        state.carry(&mut carrier);
        carrier.finish();
        writer.frame(&[]);
        writer.result?;
        writer.file.flush()
    }
}

/// Writes frames; what went wrong first.
struct Writer {
    file: BufWriter<File>,
    result: io::Result<()>,
}

impl Writer {
    fn frame(&mut self, bytes: &[u8]) {
        let Self { file, result } = self;
        let [length, checksum] = [bytes.len() as u32, crc32fast::hash(bytes)].map(u32::to_le_bytes);
        let mut write = |part: &[u8]| {
            if result.is_ok() {
                *result = file.write_all(part);
            }
        };
        write(&length);
        write(&checksum);
        write(bytes);
    }
}

impl Chunks for Writer {
    fn pass(&mut self, chunk: &mut Vec<u8>) {
        self.frame(chunk);
    }
}

/// Reads frames as long as they are whole.
struct Frames<R> {
    file: R,
}

impl<R: Read> Frames<R> {
    /// Whether the next frame is whole; it replaces `bytes`.
    fn next(&mut self, bytes: &mut Vec<u8>) -> Option<()> {
        let [length, checksum] = [self.number()?, self.number()?];
        bytes.clear();
        if length > LONGEST {
            return None;
        }
        bytes.resize(length as usize, 0);
        self.file.read_exact(bytes).ok()?;
        (crc32fast::hash(bytes) == checksum).then_some(())
    }

    fn number(&mut self) -> Option<u32> {
        let mut bytes = [0; 4];
        self.file.read_exact(&mut bytes).ok()?;
        Some(u32::from_le_bytes(bytes))
    }

    fn text(&mut self) -> Option<String> {
        let mut bytes = Vec::new();
        self.next(&mut bytes)?;
        String::from_utf8(bytes).ok()
    }

    /// Whether all frames up to the last one are whole.
    fn check(mut self) -> Option<()> {
        let mut bytes = Vec::new();
        loop {
            self.next(&mut bytes)?;
            if bytes.is_empty() {
                return Some(());
            }
        }
    }
}

impl<R: Read> Chunks for Frames<R> {
    fn pass(&mut self, chunk: &mut Vec<u8>) {
        if self.next(chunk).is_none() {
            chunk.clear();
        }
    }
}
