//! Events and nothing else: the minimum cost of a clock that plays one event after the other.
//!
//! A page written by the host is transferred and programmed: two events. A copied page is read,
//! transferred twice and programmed: four events. Activities of equal length end in the order in
//! which they began, so the next event is the first of one of three queues. No event waits for a
//! die or a channel, and events are neither counted nor reported.

/// Pages in progress at a time.
const PAGES: usize = 32;
/// Durations of reads, transfers and programs, in nanoseconds.
const DURATIONS: [u64; 3] = [60_000, 7_500, 700_000];
/// Steps of a copy, in order.
const STEPS: [usize; 4] = [0, 1, 1, 2];
/// No event.
const NEVER: u64 = u64::MAX;

/// Ends of activities of equal length, in a ring with room for all pages. An event is its time and,
/// in the lowest two bits, the step of the copy that ends.
#[derive(Clone, Copy)]
struct Queue {
    ring: [u64; PAGES],
    first: usize,
    end: usize,
}

impl Queue {
    #[inline(always)]
    fn push(&mut self, event: u64) {
        self.ring[self.end] = event;
        self.end = (self.end + 1) % PAGES;
    }

    #[inline(always)]
    fn first(&self) -> u64 {
        self.ring[self.first]
    }

    #[inline(always)]
    fn pop(&mut self) {
        self.ring[self.first] = NEVER;
        self.first = (self.first + 1) % PAGES;
    }
}

/// Future events, by the activity that ends.
pub struct Events([Queue; 3]);

impl Events {
    pub fn new() -> Self {
        let mut queues = [Queue { ring: [NEVER; PAGES], first: 0, end: 0 }; 3];
        (0..PAGES as u64).for_each(|at| queues[0].push(at * 4));
        Self(queues)
    }

    /// Plays `count` events. Each event schedules another one.
    pub fn play(&mut self, count: u64) {
        (0..count).for_each(|_| self.play_one());
    }

    #[inline(always)]
    fn play_one(&mut self) {
        let [reads, transfers, programs] = self.0.each_ref().map(Queue::first);
        let (first, at) = if reads < transfers { (reads, 0) } else { (transfers, 1) };
        let (first, at) = if programs < first { (programs, 2) } else { (first, at) };
        self.0[at].pop();
        let step = (first as usize + 1) % STEPS.len();
        let next = (first & !3) + 4 * DURATIONS[STEPS[step]] + step as u64;
        self.0[STEPS[step]].push(next);
    }
}
