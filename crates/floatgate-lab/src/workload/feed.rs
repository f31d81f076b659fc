//! One reading of a workload for several runs, which get every request from the same memory.
//!
//! The feed keeps a window of the workload. The run that first reaches the end of the window reads
//! the next chunk. A run that is a whole window ahead of the last run waits for it. Memory is thus
//! bounded for workloads of any length. For a single run, a separate thread reads ahead.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use floatgate_ftl::request::Request;

use super::{Broken, Summary, Workload};

/// Requests in a chunk; small enough for the processor's second-level cache.
const CHUNK: usize = 1 << 13;

/// Maximum number of chunks between the last run and the first: 8 MiB of requests.
const WINDOW: usize = 32;

type Requests = Box<dyn Workload + Send>;

/// Locks a mutex, even if a thread panicked while it held the lock: no guarded state is ever half
/// updated.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Limits how many runs work at the same time.
#[derive(Debug)]
pub struct RunSlots {
    free: Mutex<usize>,
    freed: Condvar,
}

impl RunSlots {
    /// Makes slots for `count` runs at a time.
    pub fn new(count: usize) -> Self {
        Self { free: Mutex::new(count), freed: Condvar::new() }
    }

    /// Waits for a slot, and keeps it while `work` runs.
    pub fn with<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Slot that is given back on drop, even if the work panics.
        struct SlotGuard<'a>(&'a RunSlots);
        impl Drop for SlotGuard<'_> {
            fn drop(&mut self) {
                self.0.end();
            }
        }
        self.begin();
        let _slot = SlotGuard(self);
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

/// Shared reading of a workload.
pub struct Feed {
    /// Copy of the workload from its start, for runs that look ahead.
    origin: Mutex<Requests>,
    /// Rest of the workload. The reading thread holds the lock.
    rest: Mutex<Requests>,
    window: Mutex<FeedWindow>,
    /// Signals that a chunk was read or passed, or that the reading ended.
    changed: Condvar,
    slots: Option<Arc<RunSlots>>,
}

/// Chunks that were read, and that at least one run still needs.
struct FeedWindow {
    chunks: VecDeque<Arc<Vec<Request>>>,
    /// Number of the first chunk.
    first: u64,
    /// Current chunk of each seat; None if the run has left.
    seats: Vec<Option<u64>>,
    is_read: bool,
    end: Option<Result<(), Broken>>,
}

impl FeedWindow {
    fn has_room(&self) -> bool {
        !self.is_read && self.end.is_none() && self.chunks.len() < WINDOW
    }

    fn get(&self, number: u64) -> Option<&Arc<Vec<Request>>> {
        self.chunks.get((number - self.first) as usize)
    }

    /// Drops chunks that no run needs.
    fn forget(&mut self) {
        let last = self.seats.iter().flatten().min();
        while last.is_some_and(|last| *last > self.first) && self.chunks.pop_front().is_some() {
            self.first += 1;
        }
    }
}

impl Feed {
    /// Makes a feed of the requests of `workload`, with a seat for each of `runs` runs. Each seat
    /// must be used or dropped, because other runs wait for it. A waiting run gives up its slot
    /// among `slots`.
    pub fn new(
        workload: Requests,
        runs: usize,
        slots: Option<Arc<RunSlots>>,
    ) -> (Arc<Self>, Vec<Seat>) {
        let window = FeedWindow {
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
            slots,
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

    /// Calls `work` with a workload, while another thread reads ahead.
    pub fn ahead<T>(workload: Requests, work: impl FnOnce(&mut dyn Workload) -> T) -> T {
        let (feed, seats) = Self::new(workload, 1, None);
        std::thread::scope(|scope| {
            scope.spawn(|| feed.read_ahead());
            let [mut seat] = <[Seat; 1]>::try_from(seats).unwrap_or_else(|_| unreachable!("one"));
            work(&mut seat)
        })
    }

    /// Ends all waiting. A run that asks for more requests gets [`Broken::Stopped`].
    pub fn stop(&self) {
        lock(&self.window).end = Some(Err(Broken::Stopped));
        self.changed.notify_all();
    }

    /// Reads as far ahead as the window allows, until everything is read or all runs have left.
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

    /// Reads a chunk, for which `window` has room.
    fn read(&self, mut window: MutexGuard<'_, FeedWindow>) {
        /// Guard that lets other runs read on drop, even if the reading panics.
        struct ReadingGuard<'a>(&'a Feed);
        impl Drop for ReadingGuard<'_> {
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
        let reading = ReadingGuard(self);
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

    /// Returns the chunk `number` for a seat that has passed all earlier chunks, or None at the
    /// end.
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

    /// Gives up the slot and waits until chunk `number` exists, or there is room to read, or the
    /// reading has ended.
    fn wait(&self, mut window: MutexGuard<'_, FeedWindow>, number: u64) {
        let slots = self.slots.as_deref();
        slots.inspect(|slots| slots.end());
        while window.get(number).is_none() && !window.has_room() && window.end.is_none() {
            window = self.changed.wait(window).unwrap_or_else(PoisonError::into_inner);
        }
        drop(window);
        slots.inspect(|slots| slots.begin());
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

/// Seat of one run at a feed: the workload, from its start.
pub struct Seat {
    feed: Arc<Feed>,
    number: usize,
    /// Number of the chunk after `chunk`.
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
