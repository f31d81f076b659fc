//! Parameters of a process that serves a drive: of the plugin, on nbdkit's command line, and of the
//! NVMe target.

use std::fs;
use std::path::{PathBuf, absolute};
use std::time::Duration;

use super::setup::{ImageLocation, Setup};
use crate::config::Config;
use crate::drive::live::Timekeeping;

/// The parameters as text, for nbdkit's `--help`.
pub const PARAMETERS_HELP: &str = "\
image=<FILE>            The image of the drive, made by `floatgate image create`; or:
memory=<BYTES>          a new drive in memory,
config=<FILE>           of this config (JSON, resolved),
seed=<N>                and this seed (default 1);
aged=yes                written over as `[start]` of the config says before its first client, and
                        kept in the new file that image= names, if that is given, too.
quiet=yes               Does not report the progress of that.
name=<TEXT>             What the drive is called in results.
timing=none|simulated   Whether replies are held as long as the drive would take (default none).
transport=<NS>          Nanoseconds that a request and its reply take on their way: replies that
                        are held are held for so much less (default 0).
control=<SOCKET>        A socket to make, for `floatgate ctl`.
record=<FILE>           A file to make, with all that is asked for.
also=<NAME>=<FILE>      A drive (JSON, resolved) that is asked for the same; may be repeated.
parent=<PID>            Shuts the drive down and ends when this process is no longer the parent.";

/// Parameters so far.
#[derive(Debug, Default)]
pub struct Parameters {
    image: Option<PathBuf>,
    memory: Option<u64>,
    config: Option<PathBuf>,
    seed: Option<u64>,
    aged: bool,
    /// Whether progress reports during the fill are suppressed.
    pub is_quiet: bool,
    name: Option<String>,
    time: Timekeeping,
    transport: Duration,
    /// Path of the control socket.
    pub control: Option<PathBuf>,
    record: Option<PathBuf>,
    also: Vec<(String, PathBuf)>,
    /// Parent process: the plugin ends when it exits.
    pub parent: Option<u32>,
}

impl Parameters {
    /// Sets a parameter.
    ///
    /// # Errors
    /// An unknown parameter, or an invalid value: the given text, and the expected one.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        // nbdkit may change its directory before the paths are used.
        let path = || absolute(value).map_err(|error| format!("{key}={value}: {error}"));
        let number = || value.parse().map_err(|_| format!("{key}={value}: expected a number"));
        match key {
            "image" => self.image = Some(path()?),
            "memory" => self.memory = Some(number()?),
            "config" => self.config = Some(path()?),
            "seed" => self.seed = Some(number()?),
            "aged" => self.aged = yes(key, value)?,
            "quiet" => self.is_quiet = yes(key, value)?,
            "name" => self.name = Some(value.to_owned()),
            "control" => self.control = Some(path()?),
            "record" => self.record = Some(path()?),
            "transport" => self.transport = Duration::from_nanos(number()?),
            "parent" => {
                let number = value.parse().map_err(|_| format!("{key}={value}: expected a PID"));
                self.parent = Some(number?);
            }
            "timing" => {
                self.time = match value {
                    "none" => Timekeeping::None,
                    "simulated" => Timekeeping::Simulated,
                    _ => return Err(format!("timing={value}: expected none or simulated")),
                }
            }
            "also" => {
                let (name, file) = value
                    .split_once('=')
                    .ok_or_else(|| format!("also={value}: expected also=<NAME>=<FILE>"))?;
                let file = absolute(file).map_err(|error| format!("also={value}: {error}"))?;
                self.also.push((name.to_owned(), file));
            }
            _ => return Err(format!("{key}={value}: no such parameter\n{PARAMETERS_HELP}")),
        }
        Ok(())
    }

    /// Checks that the parameters name exactly one drive.
    ///
    /// # Errors
    /// They name no drive, or two.
    pub fn check(&self) -> Result<(), String> {
        match (&self.image, self.memory, &self.config, self.aged) {
            (Some(_), None, None, false) | (None, Some(_), Some(_), _) => Ok(()),
            (Some(_), Some(_), Some(_), true) => Ok(()),
            _ => Err(format!(
                "expected image=<FILE>, or memory=<BYTES> and config=<FILE>\n{PARAMETERS_HELP}"
            )),
        }
    }

    /// Returns the drive to serve and its settings.
    ///
    /// # Errors
    /// A config that cannot be read.
    pub fn setup(self) -> Result<Setup, String> {
        let seed = self.seed.unwrap_or(1);
        let location = match (self.image, self.memory, self.config) {
            (image, Some(bytes), Some(config)) => {
                let config = Box::new(read(&config)?);
                match self.aged {
                    true => ImageLocation::Aged { image, config, bytes, seed },
                    false => ImageLocation::Memory { config, bytes, seed },
                }
            }
            (image, ..) => ImageLocation::File(image.unwrap_or_default()),
        };
        let also = self.also.into_iter().map(|(name, file)| Ok((name, read(&file)?)));
        Ok(Setup {
            location,
            name: self.name.unwrap_or_else(|| "live".to_owned()),
            time: self.time,
            transport: self.transport,
            record: self.record,
            also: also.collect::<Result<_, String>>()?,
        })
    }
}

fn yes(key: &str, value: &str) -> Result<bool, String> {
    if value == "yes" { Ok(true) } else { Err(format!("{key}={value}: expected yes")) }
}

fn read(file: &PathBuf) -> Result<Config, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))
}
