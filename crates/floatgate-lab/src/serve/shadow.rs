//! A shadow drive: it receives the requests that clients send to the live drive, and shows what
//! another config would do.
//!
//! The shadow is simulated as in `floatgate run`, from its own start state on, in its own thread,
//! and may fall behind. If it falls too far behind, it stops and reports that. A panic in the
//! shadow ends only its thread: from then on the shadow reports the failure and no result.

use std::collections::VecDeque;
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use floatgate_ftl::device::Device;
use floatgate_ftl::request::Request;

use super::panics::{lock, words};
use crate::config::Config;
use crate::drive::{Plan, build};
use crate::result::{Facts, RunResult, StartResult, Subject};
use crate::run::{Control, Measured, RunError, metrics, reach};
use crate::warnings::{DriveKind, notes, warnings};

/// Maximum number of requests by which a shadow may be behind.
const BEHIND_MAX: u64 = 1 << 20;

/// Requests that the shadow takes from the channel at once.
const BATCH: usize = 1024;

/// A drive that runs next to the live one.
pub(super) struct Shadow {
    /// None after the shadow has stopped.
    sender: Option<Sender<Message>>,
    seen: Seen,
}

enum Message {
    Asked(Request),
    Reset,
}

/// View of a shadow for other threads.
#[derive(Clone)]
pub(super) struct Seen {
    pub name: String,
    behind: Arc<AtomicU64>,
    has_stopped: bool,
    played: Arc<Mutex<Played>>,
    failure: Arc<OnceLock<String>>,
}

/// The drive, and its measurements.
struct Played {
    name: String,
    config: Config,
    plan: Plan,
    seed: u64,
    device: Box<dyn Device>,
    start: StartResult,
    measured: Measured,
}

impl Shadow {
    /// Builds a drive of `bytes` bytes, brings it to its start state, and starts its thread.
    ///
    /// # Errors
    /// A config that makes no such drive.
    pub fn start(
        name: String,
        config: Config,
        (bytes, seed): (u64, u64),
        control: &Control,
    ) -> Result<Self, RunError> {
        config.check()?;
        let plan = Plan::new(&config, bytes)?;
        let mut device = build(&config, &plan, seed, false)?;
        let start = reach(&config, &plan, device.as_mut(), seed, control)?;
        let measured = Measured::new(metrics(&config, &plan));
        let played = Played { name: name.clone(), config, plan, seed, device, start, measured };
        let played = Arc::new(Mutex::new(played));
        let (behind, failure) = (Arc::default(), Arc::default());
        let seen = Seen { name, behind, has_stopped: false, played, failure };
        let (sender, messages) = channel();
        let shared = seen.clone();
        thread::spawn(move || play(&messages, &shared));
        Ok(Self { sender: Some(sender), seen })
    }

    /// Passes on a request of a client.
    pub fn ask(&mut self, request: &Request) {
        if self.seen.behind() >= BEHIND_MAX {
            (self.sender, self.seen.has_stopped) = (None, true);
        }
        self.send(Message::Asked(*request));
    }

    /// Resets the shadow's counters at the same point as the live drive's.
    pub fn reset(&mut self) {
        self.send(Message::Reset);
    }

    fn send(&self, message: Message) {
        self.seen.behind.fetch_add(1, Ordering::Relaxed);
        // A missing receiver means that the shadow has failed.
        if self.sender.as_ref().is_none_or(|sender| sender.send(message).is_err()) {
            self.seen.behind.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Returns a view that can be read without blocking the live drive.
    pub fn seen(&self) -> Seen {
        self.seen.clone()
    }
}

impl Seen {
    /// Messages, requests and resets, that the shadow has not processed.
    pub fn behind(&self) -> u64 {
        self.behind.load(Ordering::Relaxed)
    }

    /// Reason of the shadow's failure, if it failed.
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Returns the result of the completed requests. None after a failure, because the counters of
    /// a drive that stopped in the middle of a request are unreliable.
    pub fn result(&self) -> Option<RunResult> {
        let played = lock(&self.played);
        if self.failure.get().is_some() {
            return None;
        }
        let mut result = played.result();
        if self.has_stopped {
            let text = format!("it fell {BEHIND_MAX} requests behind, and has stopped");
            result.warnings.push(text);
        }
        Some(result)
    }
}

impl Played {
    fn run(&mut self, requests: &[Request], count: usize) {
        if count > 0 {
            self.measured.run(self.device.as_mut(), requests, count);
        }
    }

    /// Completes the requests in progress, then resets.
    fn reset(&mut self) {
        self.measured.run(self.device.as_mut(), &[], 0);
        self.device.reset_counters();
        self.measured = Measured::new(metrics(&self.config, &self.plan));
    }

    fn result(&self) -> RunResult {
        let Self { name, config, plan, seed, device, start, measured } = self;
        let facts = Facts { device: name.clone(), name: "live".into(), ..Facts::default() };
        let subject = Subject { config, plan, device: device.as_ref(), facts, start: *start };
        let metrics = measured.metrics().so_far(device.counters());
        let mut result = RunResult::new(&subject, &metrics, *seed, 0.0);
        result.warnings = warnings(&result, DriveKind::Shadow);
        result.notes.extend(notes(&result));
        result
    }
}

/// Serves requests as they arrive, except the last few if the drive must see requests ahead. Before
/// a reset it serves all.
fn play(messages: &Receiver<Message>, seen: &Seen) {
    let mut waiting: VecDeque<Request> = VecDeque::new();
    while let Ok(first) = messages.recv() {
        let mut is_reset = false;
        for message in iter::once(first).chain(messages.try_iter().take(BATCH)) {
            match message {
                Message::Asked(request) => waiting.push_back(request),
                Message::Reset => is_reset = true,
            }
            if is_reset {
                break;
            }
        }
        let mut played = lock(&seen.played);
        let ahead = if is_reset { 0 } else { played.device.sees_ahead() };
        let count = waiting.len().saturating_sub(ahead);
        let done = catch_unwind(AssertUnwindSafe(|| {
            played.run(waiting.make_contiguous(), count);
            if is_reset {
                played.reset();
            }
        }));
        if let Err(panic) = done {
            seen.failure.get_or_init(|| words(panic.as_ref()));
            return;
        }
        waiting.drain(..count);
        seen.behind.fetch_sub(count as u64 + u64::from(is_reset), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use floatgate_ftl::request::Op;
    use serde_json::{Value, json};

    use super::*;
    use crate::drive::live::Timekeeping;
    use crate::serve::backend::Backend;
    use crate::serve::served::Served;
    use crate::serve::test_drive::{BYTES, PAGE, served_with};

    /// Builds a drive in memory with a shadow of the same config.
    fn served() -> Arc<Served> {
        served_with(&[("start.fill", "none")], Timekeeping::None, &["slow"])
    }

    fn read(served: &Arc<Served>, requests: usize) {
        for _ in 0..requests {
            served.client().read(0, &mut [0; PAGE]).unwrap();
        }
    }

    /// Makes the shadow appear to be behind by this many more requests.
    fn fall_behind(served: &Served, requests: u64) {
        let state = served.leader.locked();
        state.shadows[0].seen.behind.fetch_add(requests, Ordering::Relaxed);
    }

    /// Waits until the shadow is exactly this far behind. Returns its warnings, and the number of
    /// requests that it has served.
    fn report(served: &Served, behind: u64) -> (Vec<String>, Value) {
        loop {
            let shadow = &served.status().unwrap()["also"][0];
            if shadow["behind"] == behind {
                let result = &shadow["result"];
                let warnings = serde_json::from_value(result["warnings"].clone()).unwrap();
                return (warnings, result["workload"]["requests"].clone());
            }
            thread::yield_now();
        }
    }

    #[test]
    fn a_shadow_that_is_too_far_behind_stops_for_good_and_says_so() {
        let served = served();
        let stop = "it fell 1048576 requests behind, and has stopped".to_owned();
        read(&served, 3);
        let (warnings, requests) = report(&served, 0);
        assert_eq!((warnings.contains(&stop), requests), (false, json!(3)));

        fall_behind(&served, 1_048_575);
        read(&served, 1);
        let (warnings, requests) = report(&served, 1_048_575);
        assert_eq!((warnings.contains(&stop), requests), (false, json!(4)), "it may be so far");

        fall_behind(&served, 1);
        read(&served, 1);
        let (warnings, requests) = report(&served, 1_048_576);
        assert_eq!((warnings.contains(&stop), requests), (true, json!(4)));

        // If the shadow took requests again, its counters would include only some of them.
        served.leader.locked().shadows[0].seen.behind.store(0, Ordering::Relaxed);
        read(&served, 2);
        served.leader.locked().reset();
        let (warnings, requests) = report(&served, 0);
        assert_eq!((warnings.contains(&stop), requests), (true, json!(4)), "it has caught up");
    }

    /// The engine asserts that no request ends beyond the drive, and no client can send one: the
    /// test uses such a request as the bug.
    #[test]
    fn a_shadow_with_a_bug_has_failed_and_the_drive_has_not() {
        let served = served();
        read(&served, 2);
        let beyond = Request { at_ns: 0, op: Op::Read, offset: BYTES, length: 1 << 20, stream: 0 };
        served.leader.locked().shadows[0].ask(&beyond);
        let failed = loop {
            let failed = served.status().unwrap()["also"][0].clone();
            if !failed["failure"].is_null() {
                break failed;
            }
            thread::yield_now();
        };
        assert_eq!((&failed["name"], &failed["result"]), (&json!("slow"), &Value::Null));
        assert!(failed["failure"].as_str().unwrap().len() > 10, "{failed}");
        read(&served, 2);
        served.leader.locked().reset();
        let status = served.status().unwrap();
        assert_eq!(status["also"][0]["failure"], failed["failure"], "for good");
        assert_eq!(status["result"]["workload"]["requests"], 0);
        read(&served, 1);
        assert_eq!(served.status().unwrap()["result"]["workload"]["requests"], 1);
    }
}
