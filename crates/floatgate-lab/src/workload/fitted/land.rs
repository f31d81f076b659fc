//! Allocation of the address space to hot extents, and to cold data that was written recently.

use std::collections::VecDeque;

use floatgate_ftl::rng::Rng;

use super::Run;

/// Random positions that are tried for a run before a shorter run is tried.
const TRIES: u32 = 256;

/// The address space: a bit per page that is set while the page is taken, and the times at which
/// taken pages become free.
#[derive(Clone)]
pub(super) struct Land {
    taken: Vec<u64>,
    pages: u64,
    /// Taken runs, each with the time in page writes at which it becomes free; the earliest first.
    releases: VecDeque<(u64, Run)>,
}

impl Land {
    pub fn new(pages: u64) -> Self {
        let words = usize::try_from(pages.div_ceil(64)).expect("pages are fewer than 2^32");
        Self { taken: vec![0; words], pages, releases: VecDeque::new() }
    }

    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Returns whether the run is inside the address space and all its pages are free.
    pub fn is_free(&self, run: Run) -> bool {
        let end = run.start + run.pages;
        end <= self.pages && (run.start..end).all(|page| self.taken[word(page)] & bit(page) == 0)
    }

    pub fn take(&mut self, run: Run) {
        assert!(self.is_free(run), "{run:?} is taken twice");
        (run.start..run.start + run.pages).for_each(|page| self.taken[word(page)] |= bit(page));
    }

    /// Sets the time at which a taken run becomes free. Times must not decrease from call to call.
    pub fn free_at(&mut self, time: u64, run: Run) {
        assert!(self.releases.back().is_none_or(|last| last.0 <= time));
        self.releases.push_back((time, run));
    }

    /// Takes a run if it is free at `now`. Returns whether it was.
    pub fn take_free(&mut self, run: Run, now: u64) -> bool {
        self.release(now);
        let free = self.is_free(run);
        if free {
            self.take(run);
        }
        free
    }

    /// Takes a free run of `pages` pages at a random position, or a shorter run if no such run is
    /// found.
    pub fn take_any(&mut self, pages: u64, now: u64, rng: &mut Rng) -> Run {
        self.release(now);
        let mut pages = pages.min(self.pages);
        loop {
            for _ in 0..TRIES {
                let run = Run { start: rng.below(self.pages - pages + 1), pages };
                if self.is_free(run) {
                    self.take(run);
                    return run;
                }
            }
            pages = pages.div_ceil(2);
        }
    }

    /// Frees the runs that are due at `now`.
    fn release(&mut self, now: u64) {
        while let Some(&(time, run)) = self.releases.front()
            && time <= now
        {
            self.releases.pop_front();
            (run.start..run.start + run.pages)
                .for_each(|page| self.taken[word(page)] &= !bit(page));
        }
    }
}

fn word(page: u64) -> usize {
    (page / 64) as usize
}

fn bit(page: u64) -> u64 {
    1 << (page % 64)
}
