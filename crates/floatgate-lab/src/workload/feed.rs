//! One reading of a workload for several runs, which get every request from the same memory.
//!
//! The feed keeps a window of the workload. Whichever run comes first to the end of the window
//! reads on, and a run that is a whole window ahead of the last waits for it: what is in memory
//! is bounded, however long the workload is. A run that is alone has a thread that reads ahead.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use floatgate_ftl::request::Request;

use super::{Broken, Summary, Workload};

/// Requests that are read at once; short enough for the processor's second cache.
const CHUNK: usize = 1 << 13;

/// Chunks from the run that is last to the one that is first: 8 MiB of requests.
const WINDOW: usize = 32;

type Requests = Box<dyn Workload + Send>;

/// A mutex whose owner has panicked guards nothing that could be half done here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets so many runs work at a time, of any number.
#[derive(Debug)]
pub struct Turns {
    free: Mutex<usize>,
    freed: Condvar,
}

impl Turns {
    /// For `count` runs at a time.
    pub fn new(count: usize) -> Self {
        Self { free: Mutex::new(count), freed: Condvar::new() }
    }

    /// Waits for a turn and has it while `work` runs.
    pub fn with<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Gives the turn back, also where the work panics.
        struct Turn<'a>(&'a Turns);
        impl Drop for Turn<'_> {
            fn drop(&mut self) {
                self.0.end();
            }
        }
        self.begin();
        let _turn = Turn(self);
        work()
    }

    fn begin(&self) {
        let mut free = lock(&self.free);
        while *free == 0 {
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
    }

    fn end(&self) {
        *lock(&self.free) += 1;
        self.freed.notify_one();
    }
}

/// One reading of a workload.
pub struct Feed {
    /// The workload as it was, for runs that look ahead.
    origin: Mutex<Requests>,
    /// What is still to be read. Held by who reads.
    rest: Mutex<Requests>,
    window: Mutex<Window>,
    /// Something was read, or passed, or has ended.
    changed: Condvar,
    turns: Option<Arc<Turns>>,
}

/// What was read and not passed by all.
struct Window {
    chunks: VecDeque<Arc<Vec<Request>>>,
    /// The number of the first chunk.
    first: u64,
    /// The chunk that each seat is at; none for one that was left.
    seats: Vec<Option<u64>>,
    is_read: bool,
    end: Option<Result<(), Broken>>,
}

impl Window {
    fn has_room(&self) -> bool {
        !self.is_read && self.end.is_none() && self.chunks.len() < WINDOW
    }

    fn get(&self, number: u64) -> Option<&Arc<Vec<Request>>> {
        self.chunks.get((number - self.first) as usize)
    }

    /// Forgets what nobody will ask for.
    fn forget(&mut self) {
        let last = self.seats.iter().flatten().min();
        while last.is_some_and(|last| *last > self.first) && self.chunks.pop_front().is_some() {
            self.first += 1;
        }
    }
}

impl Feed {
    /// A feed of the requests of `workload` for `runs` runs, and their seats. Each must be used or
    /// dropped: the others wait for it. While one waits, it gives up its turn among `turns`.
    pub fn new(
        workload: Requests,
        runs: usize,
        turns: Option<Arc<Turns>>,
    ) -> (Arc<Self>, Vec<Seat>) {
        let window = Window {
            chunks: VecDeque::new(),
            first: 0,
            seats: vec![Some(0); runs],
            is_read: false,
            end: None,
        };
        let feed = Arc::new(Self {
            origin: Mutex::new(workload.fork()),
            rest: Mutex::new(workload),
            window: Mutex::new(window),
            changed: Condvar::new(),
            turns,
        });
        let seat = |number| Seat {
            feed: Arc::clone(&feed),
            number,
            next: 0,
            chunk: Arc::default(),
            row: 0,
            given: 0,
        };
        let seats = (0..runs).map(seat).collect();
        (feed, seats)
    }

    /// What `work` makes of a workload, of which another thread reads ahead meanwhile.
    pub fn ahead<T>(workload: Requests, work: impl FnOnce(&mut dyn Workload) -> T) -> T {
        let (feed, seats) = Self::new(workload, 1, None);
        std::thread::scope(|scope| {
            scope.spawn(|| feed.read_ahead());
            let [mut seat] = <[Seat; 1]>::try_from(seats).unwrap_or_else(|_| unreachable!("one"));
            work(&mut seat)
        })
    }

    /// Ends all waiting: who asks for more requests is told that the reading was stopped.
    pub fn stop(&self) {
        lock(&self.window).end = Some(Err(Broken::Stopped));
        self.changed.notify_all();
    }

    /// Reads as far ahead as the window allows, until all is read or every seat was left.
    pub fn read_ahead(&self) {
        let mut window = lock(&self.window);
        while window.end.is_none() && window.seats.iter().any(Option::is_some) {
            if window.has_room() {
                self.read(window);
                window = lock(&self.window);
            } else {
                window = self.changed.wait(window).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Reads a chunk; `window` has room for it.
    fn read(&self, mut window: MutexGuard<'_, Window>) {
        /// Lets others read, also where reading panics.
        struct Reading<'a>(&'a Feed);
        impl Drop for Reading<'_> {
            fn drop(&mut self) {
                let mut window = lock(&self.0.window);
                window.is_read = false;
                if std::thread::panicking() {
                    let why = "reading it has failed".to_owned();
                    window.end.get_or_insert(Err(Broken::Unreadable(why)));
                }
                self.0.changed.notify_all();
            }
        }
        window.is_read = true;
        drop(window);
        let reading = Reading(self);
        let mut chunk = Vec::with_capacity(CHUNK);
        let read = lock(&self.rest).next_batch(&mut chunk, CHUNK);
        let mut window = lock(&self.window);
        match read {
            Err(broken) => _ = window.end.get_or_insert(Err(broken)),
            Ok(()) if chunk.is_empty() => _ = window.end.get_or_insert(Ok(())),
            Ok(()) => window.chunks.push_back(Arc::new(chunk)),
        }
        drop(window);
        drop(reading);
    }

    /// The chunk `number`, for the seat that has passed all before; none at the end.
    fn chunk(&self, seat: usize, number: u64) -> Result<Option<Arc<Vec<Request>>>, Broken> {
        let mut window = lock(&self.window);
        window.seats[seat] = Some(number);
        window.forget();
        self.changed.notify_all();
        loop {
            if let Some(Err(broken)) = &window.end {
                return Err(broken.clone());
            }
            if let Some(chunk) = window.get(number) {
                return Ok(Some(Arc::clone(chunk)));
            }
            if window.end.is_some() {
                return Ok(None);
            }
            if window.has_room() {
                self.read(window);
            } else {
                self.wait(window, number);
            }
            window = lock(&self.window);
        }
    }

    /// Waits, without a turn, until there is the chunk `number`, room to read, or no more to read.
    fn wait(&self, mut window: MutexGuard<'_, Window>, number: u64) {
        let turns = self.turns.as_deref();
        turns.inspect(|turns| turns.end());
        while window.get(number).is_none() && !window.has_room() && window.end.is_none() {
            window = self.changed.wait(window).unwrap_or_else(PoisonError::into_inner);
        }
        drop(window);
        turns.inspect(|turns| turns.begin());
    }

    fn leave(&self, seat: usize) {
        let mut window = lock(&self.window);
        window.seats[seat] = None;
        window.forget();
        self.changed.notify_all();
    }

    fn origin(&self) -> Requests {
        lock(&self.origin).fork()
    }
}

/// The place of one run at a feed: the workload, from its start.
pub struct Seat {
    feed: Arc<Feed>,
    number: usize,
    /// The chunk behind `chunk`.
    next: u64,
    chunk: Arc<Vec<Request>>,
    row: usize,
    given: u64,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.feed.leave(self.number);
    }
}

impl Workload for Seat {
    fn next_batch(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), Broken> {
        let mut left = max;
        while left > 0 {
            if self.row == self.chunk.len() {
                let Some(chunk) = self.feed.chunk(self.number, self.next)? else { break };
                (self.chunk, self.row) = (chunk, 0);
                self.next += 1;
            }
            let end = self.chunk.len().min(self.row.saturating_add(left));
            out.extend_from_slice(&self.chunk[self.row..end]);
            self.given += (end - self.row) as u64;
            left -= end - self.row;
            self.row = end;
        }
        Ok(())
    }

    fn fork(&self) -> Box<dyn Workload + Send> {
        assert_eq!(self.given, 0, "a seat is forked before its first request");
        self.feed.origin()
    }

    fn summary(&self) -> Summary {
        lock(&self.feed.origin).summary()
    }
}
