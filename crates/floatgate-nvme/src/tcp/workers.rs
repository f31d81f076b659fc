//! Threads that execute the commands of a connection, so that a slow command does not keep others
//! waiting. Threads start when all others are busy, up to a limit, and end with the connection.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Threads of a connection, and jobs that wait for them.
pub struct Workers<J> {
    most: usize,
    state: Mutex<State<J>>,
    changed: Condvar,
}

struct State<J> {
    jobs: VecDeque<J>,
    threads: usize,
    idle: usize,
    is_closed: bool,
}

/// A thread of a connection. Its end is counted even if it panics.
struct Worker<J>(Arc<Workers<J>>);

impl<J> Drop for Worker<J> {
    fn drop(&mut self) {
        self.0.lock().threads -= 1;
        self.0.changed.notify_all();
    }
}

impl<J: Send + 'static> Workers<J> {
    /// Allows `most` threads; if it is 0, the caller executes all jobs.
    pub fn new(most: usize) -> Arc<Self> {
        let state = State { jobs: VecDeque::new(), threads: 0, idle: 0, is_closed: false };
        Arc::new(Self { most, state: Mutex::new(state), changed: Condvar::new() })
    }

    /// Passes a job to a thread, which calls `work` for it. Returns the job if no thread can take
    /// it.
    pub fn submit(self: &Arc<Self>, job: J, work: impl Fn(J) + Send + 'static) -> Option<J> {
        if self.most == 0 {
            return Some(job);
        }
        let mut state = self.lock();
        if state.idle <= state.jobs.len() && state.threads < self.most {
            state.threads += 1;
            let worker = Worker(Arc::clone(self));
            drop(state);
            let run = move || worker.0.run(&work);
            if thread::Builder::new().name("nvme-command".into()).spawn(run).is_err() {
                // The closure was dropped, and with it the worker.
                if self.lock().threads == 0 {
                    return Some(job);
                }
            }
            state = self.lock();
        }
        state.jobs.push_back(job);
        drop(state);
        self.changed.notify_one();
        None
    }

    fn run(&self, work: &impl Fn(J)) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                work(job);
                state = self.lock();
            } else if state.is_closed {
                return;
            } else {
                state.idle += 1;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            }
        }
    }

    /// Drops jobs that wait, and waits for the threads to end.
    pub fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.jobs.clear();
        self.changed.notify_all();
        while state.threads > 0 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<J> Workers<J> {
    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
