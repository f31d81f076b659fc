//! Start states on disk: a drive that was filled once is restored in the time of reading its file.
//!
//! ```text
//!   MAGIC | key: all inputs of the state | how it was reached, as JSON | frames | end
//!   a frame: length (4 bytes), CRC-32 (4 bytes), bytes; the end: an empty frame
//! ```
//!
//! The file has the whole key, not only its digest: a state is never used for another drive, seed
//! or build of the engine. A torn or damaged file counts as absent. A file is written under a
//! temporary name in its directory and renamed when it is complete, without waiting for the disk.

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
/// Maximum bytes of a frame or text.
const LONGEST: u32 = 1 << 24;

/// Reason why the state of a drive is not saved.
const UNSAVED: &str = "drives with a write buffer, log blocks, faults or stored contents \
                       (--verify), and some policies, cannot be saved";

/// Cache of start states.
#[derive(Clone, Copy, Debug)]
pub struct StartCache<'a> {
    /// The directory. It is created if it does not exist.
    pub directory: &'a Path,
    /// Name of the engine's build: another build may fill a drive differently.
    pub build: &'a str,
}

struct StartFile {
    path: PathBuf,
    key: String,
}

impl StartCache<'_> {
    /// Brings a drive to its start state. Loads the state of an earlier run, or else reaches the
    /// state and saves it for the next run. Also returns a note on the use of the cache.
    pub(super) fn reach(
        &self,
        config: &Config,
        plan: &Plan,
        device: &mut dyn Device,
        seed: u64,
        control: &Control,
    ) -> Result<(StartResult, Option<String>), RunError> {
        let file = self.file(config, plan, seed);
        let why_not = match device.state() {
            _ if depends_on_time(config)? => Some("it depends on the drive's clock".to_owned()),
            None => Some(UNSAVED.to_owned()),
            Some(state) => match file.load(state) {
                Ok(Some(started)) => return Ok((started, Some(file.use_note()))),
                Ok(None) => None,
                Err(error) => return Err(RunError::Unreadable(error.to_string())),
            },
        };
        let started = reach(config, plan, device, seed, control)?;
        let keep = |state| file.keep(state, &started).err();
        let why_not = why_not.or_else(|| {
            keep(device.state()?).map(|error| format!("{}: {error}", self.directory.display()))
        });
        let note = why_not.map(|why| format!("the start state was not kept: {why}"));
        Ok((started, note))
    }

    /// Returns the file for a config, a seed and a size of drive.
    fn file(&self, config: &Config, plan: &Plan, seed: u64) -> StartFile {
        let key = json!({
            "build": self.build,
            "config": without_time(config),
            "plan": format!("{:?}", (&plan.medium, plan.log_pages, plan.units_in_service)),
            "seed": seed,
        });
        let key = key.to_string();
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        StartFile { path: self.directory.join(format!("{:016x}.start", hasher.finish())), key }
    }
}

/// Returns the config without settings that only affect times and the results derived from them. A
/// start state that may be cached does not depend on these settings.
fn without_time(config: &Config) -> Config {
    let Config { latency, link, lanes, queue, flash, .. } = Config::default();
    let given = config.clone();
    // With several queues, a command may begin before an earlier one.
    let queue = if given.queue.queues == 1 { queue } else { given.queue };
    let Flash { read, program, erase, bus, command, endurance, .. } = flash;
    let flash = Flash { read, program, erase, bus, command, endurance, ..given.flash };
    Config { latency, link, lanes, queue, flash, ..given }
}

impl StartFile {
    fn use_note(&self) -> String {
        format!("the start state is that of an earlier run, from {}", self.path.display())
    }

    /// Loads the saved state into a drive, whose counters are zero before and after. Returns how
    /// the state was reached, or None if there is no saved state.
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

    /// Opens the file if its header matches this build, drive and seed. Also returns how the state
    /// was reached.
    fn open(&self) -> Option<(Frames<BufReader<File>>, StartResult)> {
        let mut file = BufReader::new(File::open(&self.path).ok()?);
        let mut magic = [0; MAGIC.len()];
        file.read_exact(&mut magic).ok()?;
        let mut frames = Frames { file };
        let is_it = &magic == MAGIC && frames.text()? == self.key;
        let started = serde_json::from_str(&frames.text()?).ok()?;
        is_it.then_some((frames, started))
    }

    /// Saves the state of a drive with its counters at zero.
    ///
    /// # Errors
    /// The file cannot be written. Then no file remains.
    fn keep(&self, state: &mut dyn State, started: &StartResult) -> io::Result<()> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let temporary = self.path.with_extension(format!("{}-{number}", process::id()));
        let kept = self.write(&temporary, state, started);
        let moved = kept.and_then(|()| fs::rename(&temporary, &self.path));
        if moved.is_err() {
            // The first error is reported. A failure to remove the file follows from it.
            let _ = fs::remove_file(&temporary);
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

/// Writer of frames. It keeps the first error.
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

/// Reader of frames. It stops at a frame that is not intact.
struct Frames<R> {
    file: R,
}

impl<R: Read> Frames<R> {
    /// Reads the next frame into `bytes`, if the frame is intact.
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

    /// Returns Some if all frames up to the last one are intact.
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
