//! Live drives that are aged before their first client.
//!
//! The drive is filled like a simulated drive, with the same recipe and the same random numbers. A
//! simulation from this start that plays a recording of the clients thus gives the counts of the
//! live drive. The pages hold zeros: clients read the same data as from a new drive.
//!
//! The drive is aged in memory and then written to its file. The file gets its name only when it is
//! complete.

use std::fmt;
use std::path::Path;

use super::{Control, RunError, reach};
use crate::config::{Config, ConfigError, Fill};
use crate::drive::live::{OpenError, Opened, Timekeeping, to_be_aged};
use crate::result::StartResult;
use crate::stored::{ImageError, Problem};

/// Reason why there is no aged drive.
#[derive(Debug)]
#[non_exhaustive]
pub enum AgedError {
    /// The drive cannot be made, or its image cannot be written.
    Open(OpenError),
    /// The ageing did not finish.
    Run(RunError),
}

impl fmt::Display for AgedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => error.fmt(f),
            Self::Run(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AgedError {}

impl From<OpenError> for AgedError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl From<ImageError> for AgedError {
    fn from(error: ImageError) -> Self {
        Self::Open(error.into())
    }
}

impl From<RunError> for AgedError {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

/// Drive to make and age.
#[derive(Clone, Debug)]
pub struct New<'a> {
    /// Config of the drive; `[start]` defines how it is aged.
    pub config: &'a Config,
    /// Bytes that the host can address.
    pub bytes: u64,
    /// Seed of the random choices of policies, and of the written addresses.
    pub seed: u64,
}

/// Makes a drive, in memory or in a new file, and brings it to the start state of its config.
///
/// # Errors
/// A config that makes no live drive or does not fill it, a file that exists or cannot be written,
/// or a cancelled run. An error leaves no new file.
pub fn aged(
    new: &New<'_>,
    image: Option<&Path>,
    time: Timekeeping,
    control: &Control,
) -> Result<(Opened, StartResult), AgedError> {
    if new.config.start.fill == Fill::None && new.config.start.play.is_none() {
        let text =
            "start.fill = \"none\": expected \"random\" or \"steady\" for a drive to be aged";
        return Err(RunError::from(ConfigError::new(text)).into());
    }
    if let Some(path) = image.filter(|path| path.exists()) {
        return Err(Problem::Exists.at(path).into());
    }
    let mut opened = to_be_aged(new.config, new.bytes, new.seed, time)?;
    let Opened { drive, description, plan } = &mut opened;
    let start = reach(&description.config, plan, drive.device_mut(), new.seed, control)?;
    if time == Timekeeping::None {
        drive.device_mut().freeze();
    }
    if let Some(path) = image {
        drive.medium_mut().save_to(path)?;
    }
    Ok((opened, start))
}

/// Makes an image of an aged drive that is shut down.
///
/// # Errors
/// As [`aged`].
pub fn create_aged(new: &New<'_>, path: &Path, control: &Control) -> Result<(), AgedError> {
    let (mut opened, _) = aged(new, Some(path), Timekeeping::None, control)?;
    let shut_down = opened.drive.shut_down();
    Ok(shut_down.map_err(|error| {
        let (path, error) = (path.to_path_buf(), error.to_string());
        OpenError::Fault { path, error }
    })?)
}
