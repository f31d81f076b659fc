//! Compares every buffer with its description, implemented with scans only. Every step of long
//! random sequences must have the same hits and the same flushes, in the same order. And no page is
//! lost: at every step each written page is flushed or buffered.

mod model;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::buffer::{
    BUFFERS, BplruConfig, Buffer, BufferConfig, ClcConfig, FabConfig, Flush, NcqLruConfig, Pin,
    parts,
};
use floatgate_ftl::future::NextUseBuilder;
use floatgate_ftl::parameters::names;
use floatgate_ftl::rng::Rng;
use model::{Command, Naive};

/// Returns commands of a few pages: half of them in a quarter of the drive, and some in sequence.
fn commands(seed: u64, count: usize, pages: u32, longest: u32) -> Vec<Command> {
    let (mut rng, mut next) = (Rng::new(seed), 0);
    let mut command = || {
        let span = if rng.below(2) == 0 { pages / 4 } else { pages };
        let first = if rng.below(4) == 0 { next % pages } else { rng.below(span.into()) as u32 };
        let n = (1 + rng.below(longest.into()) as u32).min(pages - first);
        next = first + n;
        match rng.below(40) {
            0..24 => Command::Write(first, n),
            24..36 => Command::Read(first, n),
            36..39 => Command::Trim(first, n),
            _ if rng.below(10) == 0 => Command::Drain,
            _ => Command::Read(first, n),
        }
    };
    (0..count).map(|_| command()).collect()
}

/// Written pages, and which of them have left the buffer.
#[derive(Default)]
struct Ledger {
    /// By page: whether its newest version is only in the buffer.
    written: BTreeMap<u32, bool>,
}

impl Ledger {
    fn write(&mut self, page: u32) {
        self.written.insert(page, true);
    }

    /// Records a flushed page. The page must have been dirty.
    fn flushed(&mut self, page: u32) {
        assert_eq!(self.written.insert(page, false), Some(true), "page {page} was not dirty");
    }

    fn check(&self, buffer: &Buffer) {
        let dirty = self.written.iter().filter(|(_, dirty)| **dirty).map(|(page, _)| *page);
        let mut count = 0;
        for page in dirty {
            assert!(buffer.holds(Lpn::new(page)), "page {page} is nowhere");
            count += 1;
        }
        assert_eq!(count, buffer.pages(), "flushed + buffered = distinct dirty pages");
        assert!(count <= buffer.capacity_pages());
    }
}

/// A buffer, its model, and the values on which both must agree.
struct Pair {
    ours: Buffer,
    naive: Naive,
    ledger: Ledger,
    flush: Flush,
    hits: u64,
    groups: u64,
}

impl Pair {
    fn left(&mut self, expected: Vec<Vec<u32>>) {
        let pads = self.naive.name == "bplru" && self.naive.config.bplru.padding;
        for group in self.flush.groups() {
            assert!(group.pages.is_sorted() && !group.pages.is_empty());
            assert!(group.pages.iter().all(|lpn| group.block.contains(&lpn.get())));
            assert_eq!(group.pad, pads);
            let held = group.whole().filter(|(_, held)| *held).map(|(lpn, _)| lpn);
            assert!(held.eq(group.pages.iter().copied()));
            group.pages.iter().for_each(|lpn| self.ledger.flushed(lpn.get()));
            self.groups += 1;
        }
        let pages = |group: floatgate_ftl::buffer::Group<'_>| -> Vec<u32> {
            group.pages.iter().map(|lpn| lpn.get()).collect()
        };
        let left: Vec<Vec<u32>> = self.flush.groups().map(pages).collect();
        assert_eq!(left, expected, "{}: {:?}", self.naive.name, self.naive.config);
        self.flush.clear();
    }

    fn part(&mut self, at: Lpn, n: u32, writes: bool) {
        let pages = at.get()..at.get() + n;
        if writes {
            let hits = self.ours.write(at, n, &mut self.flush);
            let (expected, left) = self.naive.write(at.get(), n);
            assert_eq!(hits, expected);
            self.hits += u64::from(hits);
            self.left(left);
            pages.for_each(|page| self.ledger.write(page));
        } else {
            for page in pages {
                let hit = self.ours.read(Lpn::new(page));
                assert_eq!(hit, self.naive.read(page), "page {page}");
                assert_eq!(hit, self.ledger.written.get(&page) == Some(&true));
                self.hits += u64::from(hit);
            }
        }
        self.ours.served(at);
        self.naive.served(at.get());
    }

    fn serve(&mut self, command: Command) {
        let unit = self.ours.block_pages();
        match command {
            Command::Write(first, n) => {
                parts(Lpn::new(first), n, unit).for_each(|(at, n)| self.part(at, n, true));
            }
            Command::Read(first, n) => {
                parts(Lpn::new(first), n, unit).for_each(|(at, n)| self.part(at, n, false));
            }
            Command::Trim(first, n) => {
                for page in first..first + n {
                    let dropped = self.ours.trim(Lpn::new(page));
                    assert_eq!(dropped, self.naive.trim(page));
                    let was = self.ledger.written.remove(&page);
                    assert_eq!(dropped, was == Some(true));
                }
            }
            Command::Drain => {
                self.ours.drain(&mut self.flush);
                let expected = self.naive.drain();
                self.left(expected);
                assert_eq!(self.ours.pages(), 0);
            }
        }
        self.ledger.check(&self.ours);
        self.ours.check();
    }

    fn queue(&mut self, command: Command) {
        if let Command::Write(first, n) | Command::Read(first, n) = command {
            self.ours.queued(Lpn::new(first), n);
            self.naive.queued(first, n);
        }
    }
}

fn compare(name: &'static str, config: BufferConfig, depth: usize, seed: u64, count: usize) {
    let longest = config.block_pages * 5 / 2 + 3;
    let commands = commands(seed, count, config.logical_pages, longest);
    let mut ours = Buffer::new(name, &config).unwrap();
    let unit = ours.block_pages();
    let mut blocks = vec![];
    for command in &commands {
        if let Command::Write(first, n) | Command::Read(first, n) = *command {
            blocks.extend(parts(Lpn::new(first), n, unit).map(|(at, _)| at.get() / unit));
        }
    }
    if Buffer::needs_future(name) {
        let mut telling = NextUseBuilder::new(config.logical_pages.div_ceil(unit));
        blocks.iter().for_each(|&block| telling.push(Lpn::new(block)).unwrap());
        ours.set_future(telling.finish());
    }
    let naive = Naive::new(name, config, blocks);
    let (ledger, flush) = (Ledger::default(), Flush::default());
    let mut pair = Pair { ours, naive, ledger, flush, hits: 0, groups: 0 };
    let mut queue = VecDeque::new();
    let mut rng = Rng::new(seed ^ 0xABCD);
    for &command in &commands {
        pair.queue(command);
        queue.push_back(command);
        // The queue is sometimes full and sometimes empty.
        while queue.len() >= depth || !queue.is_empty() && rng.below(16) == 0 {
            pair.serve(queue.pop_front().unwrap());
        }
    }
    queue.into_iter().for_each(|command| pair.serve(command));
    let fits = config.capacity_pages >= config.logical_pages;
    assert!(pair.groups > 0 || fits, "nothing left: {config:?}");
    assert!(count < 500 || pair.hits > 0, "nothing was found: {config:?}");
}

const PINS: [Pin; 4] = [Pin::None, Pin::Counted, Pin::OnArrivalOnly, Pin::MoveOnly];

/// Returns every set of options of a policy.
fn options(name: &str, config: BufferConfig) -> Vec<BufferConfig> {
    let with_pin = |pin| match name {
        "ncq_lru" => vec![BufferConfig { ncq_lru: NcqLruConfig { pin }, ..config }],
        "fab" => vec![BufferConfig { fab: FabConfig { pin }, ..config }],
        "bplru" => [(true, true), (true, false), (false, true), (false, false)]
            .map(|(padding, compensation)| BplruConfig { padding, compensation, pin })
            .map(|bplru| BufferConfig { bplru, ..config })
            .to_vec(),
        "clc" => [0.0, 0.1, 0.333, 0.5, 1.0]
            .map(|alpha| BufferConfig { clc: ClcConfig { alpha, pin }, ..config })
            .to_vec(),
        _ if pin == Pin::None => vec![config],
        _ => vec![],
    };
    PINS.into_iter().flat_map(with_pin).collect()
}

#[test]
fn every_buffer_matches_its_description() {
    for name in names(BUFFERS) {
        // Blocks of more pages than a word has bits, and drives that end within a block.
        for (seed, (pages, per_block, capacity)) in
            [(203, 8, 40), (1000, 16, 100), (61, 1, 9), (390, 70, 170), (2000, 130, 700)]
                .into_iter()
                .enumerate()
        {
            for config in options(name, BufferConfig::new(pages, per_block, capacity)) {
                for depth in [1, 4, 33] {
                    compare(name, config, depth, seed as u64, 700);
                }
            }
        }
    }
}

#[test]
fn buffers_of_one_block_and_of_a_whole_drive_do_so_too() {
    for name in names(BUFFERS) {
        for (pages, per_block, capacity) in [(50, 8, 8), (50, 8, 9), (64, 64, 64), (90, 7, 1000)] {
            for config in options(name, BufferConfig::new(pages, per_block, capacity)) {
                for depth in [1, 9] {
                    compare(name, config, depth, 3, 400);
                }
            }
        }
    }
}

/// Returns the blocks that leave while commands are served that were never queued.
fn unqueued(name: &str, config: &BufferConfig) -> Vec<Vec<Lpn>> {
    let mut buffer = Buffer::new(name, config).unwrap();
    let (mut flush, mut left) = (Flush::default(), vec![]);
    for command in commands(5, 20_000, config.logical_pages, 40) {
        match command {
            Command::Write(first, n) => {
                for (at, n) in parts(Lpn::new(first), n, buffer.block_pages()) {
                    buffer.write(at, n, &mut flush);
                }
            }
            Command::Read(first, n) => {
                (first..first + n).for_each(|page| _ = buffer.read(Lpn::new(page)));
            }
            Command::Trim(first, n) => {
                (first..first + n).for_each(|page| _ = buffer.trim(Lpn::new(page)));
            }
            Command::Drain => buffer.drain(&mut flush),
        }
        left.extend(flush.groups().map(|group| group.pages.to_vec()));
        flush.clear();
    }
    left
}

#[test]
fn extremes_are_other_policies() {
    let config = BufferConfig::new(2000, 16, 300);
    let lru = unqueued("lru", &config);
    for config in options("ncq_lru", config) {
        assert_eq!(unqueued("ncq_lru", &config), lru, "an empty queue");
    }
    for pin in PINS {
        let pinned = BufferConfig { fab: FabConfig { pin }, ..config };
        assert_eq!(unqueued("fab", &pinned), unqueued("fab", &config), "an empty queue");
    }
    let alpha = |alpha| BufferConfig { clc: ClcConfig { alpha, pin: Pin::None }, ..config };
    assert_eq!(unqueued("clc", &alpha(1.0)), lru);
    assert_eq!(unqueued("clc", &alpha(0.0)), unqueued("fab", &config));
    let pages = BufferConfig { block_pages: 1, ..config };
    assert_eq!(unqueued("page_lru", &config), unqueued("lru", &pages));
}
