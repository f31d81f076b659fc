//! Progress and cancellation of a run, and reasons why there is no result.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::config::ConfigError;
use crate::workload::Broken;

/// Handle to watch and stop a run from another thread.
#[derive(Debug, Default)]
pub struct Control {
    cancelled: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
    /// Locked while a phase begins and while progress is read, so that the counts belong to the
    /// phase.
    phase: Mutex<&'static str>,
}

impl Control {
    /// Asks the run to end.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns the phase ("foretell", "fill", "run", "curve" or "hotness"), the requests done, and
    /// their total, or 0 if it is unknown.
    pub fn progress(&self) -> (&'static str, u64, u64) {
        let phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        (*phase, self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    pub(crate) fn begin(&self, phase: &'static str, total: u64) {
        let mut current = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        *current = phase;
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    pub(crate) fn advance(&self, requests: usize) -> Result<(), RunError> {
        self.done.fetch_add(requests as u64, Ordering::Relaxed);
        if self.cancelled.load(Ordering::Relaxed) { Err(RunError::Cancelled) } else { Ok(()) }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Cancelled => write!(f, "it was asked to end"),
            Self::Unreadable(why) => write!(f, "{why}"),
        }
    }
}

/// Reason why there is no result.
#[derive(Debug)]
pub enum RunError {
    /// The config or the workload is wrong.
    Config(ConfigError),
    /// The run was cancelled.
    Cancelled,
    /// The workload cannot be read to its end.
    Unreadable(String),
}

impl From<Broken> for RunError {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Unreadable(why) => Self::Unreadable(why),
            Broken::Stopped => Self::Cancelled,
        }
    }
}

impl From<ConfigError> for RunError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// A reader at the start of a phase sees the new phase or the previous one, with matching
    /// counts.
    #[test]
    fn the_counts_are_those_of_the_phase() {
        let (control, is_over) = (Control::default(), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    control.begin("fill", 1);
                    control.advance(1).unwrap();
                    control.begin("run", 2);
                    control.advance(2).unwrap();
                }
            });
            let seen: Vec<_> = (0..100_000).map(|_| control.progress()).collect();
            is_over.store(true, Ordering::Relaxed);
            for (phase, done, total) in seen {
                let all =
                    ["", "fill", "run"].iter().position(|&name| name == phase).unwrap() as u64;
                assert!(total == all && (done == 0 || done == all), "{phase}: {done} of {total}");
            }
        });
    }
}
