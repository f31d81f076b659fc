//! Which thread executes a command. The thread that receives commands does so while they are short,
//! because it takes several microseconds to pass one to another thread.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A command that takes longer is long.
const LONG: Duration = Duration::from_micros(50);

/// Points of a long command; a short one takes one point off. A busy machine makes a few commands
/// long, and a drive that waits makes all of them long.
const POINTS: u32 = 8;

/// Points from which on other threads execute commands.
const POINTS_MOST: u32 = 4 * POINTS;

/// Number of commands that other threads then execute.
const OTHERS: u32 = 256;

/// Pace of the commands of a connection. Only its receiving thread uses it.
#[derive(Debug, Default)]
pub struct Pace {
    points: AtomicU32,
    /// Number of commands left for other threads.
    others: AtomicU32,
}

impl Pace {
    /// Executes a command in this thread, or returns it if commands were long lately.
    pub fn execute<J>(&self, job: J, work: impl FnOnce(J)) -> Option<J> {
        let others = self.others.load(Ordering::Relaxed);
        if others > 0 {
            self.others.store(others - 1, Ordering::Relaxed);
            return Some(job);
        }
        let begin = Instant::now();
        work(job);
        let points = self.points.load(Ordering::Relaxed);
        let points = match begin.elapsed() > LONG {
            true => points + POINTS,
            false => points.saturating_sub(1),
        };
        if points >= POINTS_MOST {
            self.others.store(OTHERS, Ordering::Relaxed);
        }
        // One more long command is then enough.
        self.points.store(points.min(POINTS_MOST - POINTS), Ordering::Relaxed);
        None
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    fn is_executed(pace: &Pace, takes: Duration) -> bool {
        pace.execute(takes, sleep).is_none()
    }

    #[test]
    fn a_drive_that_waits_gets_other_threads() {
        let pace = Pace::default();
        for long in [POINTS_MOST / POINTS, 1, 1] {
            assert!((0..long).all(|_| is_executed(&pace, LONG)));
            assert!((0..OTHERS).all(|_| !is_executed(&pace, LONG)));
        }
    }

    #[test]
    fn a_long_command_among_short_ones_changes_nothing() {
        let pace = Pace::default();
        for _ in 0..100 {
            assert_eq!(pace.execute(LONG, sleep), None);
            // No sleep takes no time, so that a slow machine seldom makes such a command long.
            assert!((0..2 * POINTS).all(|_| pace.execute((), |()| {}).is_none()));
        }
    }
}
