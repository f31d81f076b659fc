use super::*;
use crate::placement::tests::{config, write};
use crate::rng::Rng;
use alloc::vec;
use alloc::vec::Vec;

const CHUNK: Bytes = Bytes(4 * 4096);

/// Chunks of four pages.
fn autostream(pages: u32, change: impl Fn(&mut AutostreamConfig)) -> Autostream {
    let mut config = config(pages);
    config.autostream.chunk = CHUNK;
    change(&mut config.autostream);
    Autostream::new(&config)
}

/// Returns the stream of a command of one page.
fn command(autostream: &mut Autostream, lpn: u32) -> u8 {
    autostream.command(Lpn::new(lpn), 1);
    autostream.check();
    autostream.stream(write(lpn))
}

fn queue_of(autostream: &Autostream, chunk: usize) -> (u8, u64) {
    (autostream.chunks[chunk].queue, autostream.chunks[chunk].count)
}

#[test]
fn the_queue_is_the_logarithm_of_the_count() {
    let mut drive = autostream(64, |config| config.queues = 4);
    let streams: Vec<u8> = (0..20).map(|n| command(&mut drive, n % 4)).collect();
    // The stream is chosen before the command is counted.
    let counts = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19u32];
    let expected = counts.map(|count| count.max(1).ilog2().min(3) as u8);
    assert_eq!(streams, expected);
    let mut drive = autostream(64, |config| config.base = 10);
    let streams: Vec<u8> = (0..1001).map(|n| command(&mut drive, n % 4)).collect();
    assert_eq!([9, 10, 99, 100, 999, 1000].map(|n| streams[n]), [0, 1, 1, 2, 2, 3]);
}

#[test]
fn a_command_counts_once_for_each_chunk_that_it_touches() {
    let mut drive = autostream(64, |_| ());
    drive.command(Lpn::new(2), 7);
    drive.command(Lpn::new(63), 1);
    drive.command(Lpn::new(63), 1);
    let counts: Vec<u64> = drive.chunks.iter().map(|chunk| chunk.count).collect();
    assert_eq!(counts[..4], [1, 1, 1, 0]);
    assert_eq!((counts[15], drive.accesses), (1, 4));
    drive.check();
}

#[test]
fn anything_keeps_chunks_in_queues() {
    let mut rng = Rng::new(17);
    for (queues, forget) in [(1, false), (2, true), (8, false), (8, true)] {
        let mut drive =
            autostream(1000, |config| (config.queues, config.forget) = (queues, forget));
        for _ in 0..5000 {
            let first = (rng.below(30) * rng.below(30)) as u32;
            let pages = 1 + rng.below(20) as u32;
            drive.command(Lpn::new(first), pages);
            drive.check();
            for lpn in first..first + pages {
                assert!(drive.stream(write(lpn)) < queues);
            }
        }
    }
    assert_eq!(autostream(1001, |_| ()).memory_bytes(), 251 * 20);
}

/// A chunk as in the paper's text. Its position follows from the time at which it joined its queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct NaiveChunk {
    queue: u8,
    count: u64,
    accessed: u64,
    expires: u64,
    came: u64,
}

struct NaiveAutostream {
    config: AutostreamConfig,
    chunks: Vec<NaiveChunk>,
    hottest: usize,
    lifetime: u64,
    accesses: u64,
    moves: u64,
}

impl NaiveAutostream {
    fn place(&mut self, at: usize, queue: u8) {
        self.moves += 1;
        let (came, expires) = (self.moves, self.accesses + self.lifetime);
        self.chunks[at] = NaiveChunk { queue, came, expires, ..self.chunks[at] };
    }

    fn of_queue(&self, queue: u8) -> impl Iterator<Item = usize> + '_ {
        let chunks = self.chunks.iter().enumerate();
        chunks.filter(move |(_, c)| c.count > 0 && c.queue == queue).map(|(at, _)| at)
    }

    fn access(&mut self, at: usize) {
        self.accesses += 1;
        self.chunks[at].count += 1;
        if at == self.hottest || self.chunks[at].count > self.chunks[self.hottest].count {
            self.hottest = at;
            self.lifetime = self.accesses - self.chunks[at].accessed;
        }
        self.chunks[at].accessed = self.accesses;
        let (mut queue, mut least) = (0, u64::from(self.config.base));
        while least <= self.chunks[at].count && queue + 1 < self.config.queues {
            (queue, least) = (queue + 1, least * u64::from(self.config.base));
        }
        self.place(at, queue);
        for queue in (1..self.config.queues).rev() {
            self.sink(queue);
        }
    }

    fn sink(&mut self, queue: u8) {
        let Some(at) = self.of_queue(queue).min_by_key(|&at| self.chunks[at].came) else { return };
        if self.chunks[at].expires >= self.accesses {
            return;
        }
        if at == self.hottest {
            let rest = |queue| self.of_queue(queue).filter(|&other| other != at);
            let latest = |queue| rest(queue).max_by_key(|&at| self.chunks[at].came);
            self.hottest = (0..self.config.queues).rev().find_map(latest).unwrap_or(at);
        }
        if self.config.forget {
            self.chunks[at].count = (1..queue).fold(1, |n, _| n * u64::from(self.config.base));
        }
        self.place(at, queue - 1);
    }
}

#[test]
fn every_chunk_is_where_the_text_says() {
    let mut rng = Rng::new(2017);
    for (queues, base, forget) in [(1, 2, false), (3, 2, true), (8, 2, false), (4, 3, true)] {
        let config = AutostreamConfig { queues, chunk: CHUNK, base, forget };
        let mut drive = autostream(80, |ours| *ours = config);
        let chunks = vec![NaiveChunk::default(); 20];
        let (hottest, lifetime, accesses, moves) = (0, 0, 0, 0);
        let mut naive = NaiveAutostream { config, chunks, hottest, lifetime, accesses, moves };
        let mut before = None;
        for step in 0..4000 {
            // A few chunks are hot for a while. Often two of them alternate, and so are equally
            // hot.
            let chunk = (step / 200 % 20 + rng.below(2) * rng.below(5)) % 20;
            let (first, pages) = (4 * chunk as u32, 1 + rng.below(7) as u32);
            let pages = pages.min(80 - first);
            drive.command(Lpn::new(first), pages);
            // A command is counted when the next one comes.
            if let Some((first, pages)) = before.replace((first, pages)) {
                (first / 4..=(first + pages - 1) / 4).for_each(|at| naive.access(at as usize));
            }
            for (at, chunk) in naive.chunks.iter().enumerate() {
                assert_eq!(queue_of(&drive, at), (chunk.queue, chunk.count), "{at} {step}");
            }
            assert_eq!((drive.hottest as usize, drive.lifetime), (naive.hottest, naive.lifetime));
        }
        assert!(queues == 1 || naive.chunks.iter().any(|chunk| chunk.queue > 0));
    }
}
