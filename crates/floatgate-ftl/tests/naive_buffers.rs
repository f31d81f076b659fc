//! Every buffer against its description, written down with scans only: the same hits and the same
//! flushes, in the same order, for every step of long random sequences. And nothing is lost: what
//! was flushed and what is buffered are the pages that were written, at every step.

#![allow(clippy::unwrap_used)] // In a test a panic is the report.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::buffer::{
    BUFFERS, BplruConfig, Buffer, BufferConfig, ClcConfig, Flush, NcqLruConfig, Pin, parts,
};
use floatgate_ftl::future::NextUseBuilder;
use floatgate_ftl::parameters::names;
use floatgate_ftl::rng::Rng;

/// A buffered block.
#[derive(Clone, Default)]
struct Block {
    number: u32,
    pages: BTreeSet<u32>,
    /// When it came to its place in the order; negative at the end from which blocks leave.
    rank: i64,
    /// `bplru`: pages written in order from the first on.
    in_order: u32,
    /// `clc`: whether it is spared.
    spared: bool,
}

/// A queued command's wish for a block, and whether it pins it.
struct Wish {
    block: u32,
    pins: bool,
}

/// The policies (docs/algorithms.md, 7).
struct Naive {
    name: &'static str,
    config: BufferConfig,
    per_block: u32,
    blocks: Vec<Block>,
    wishes: Vec<Wish>,
    now: i64,
    /// `belady`: the blocks of all parts, and how many have been served.
    parts: Vec<u32>,
    served: usize,
}

impl Naive {
    fn new(name: &'static str, config: BufferConfig, parts: Vec<u32>) -> Self {
        let per_block = if name == "page_lru" { 1 } else { config.block_pages };
        let (blocks, wishes) = (vec![], vec![]);
        Self { name, config, per_block, blocks, wishes, now: 0, parts, served: 0 }
    }

    fn find(&mut self, number: u32) -> Option<&mut Block> {
        self.blocks.iter_mut().find(|block| block.number == number)
    }

    fn tick(&mut self) -> i64 {
        self.now += 1;
        self.now
    }

    fn touch(&mut self, number: u32) {
        let rank = self.tick();
        if let Some(block) = self.find(number) {
            block.rank = rank;
        }
    }

    fn is_pinned(&self, number: u32) -> bool {
        self.wishes.iter().any(|wish| {
            wish.block == number && (wish.pins || self.config.ncq_lru.pin == Pin::Counted)
        })
    }

    fn next_use(&self, number: u32) -> i64 {
        let next = self.parts[self.served..].iter().position(|&part| part == number);
        next.map_or(1 << 40, |next| next as i64)
    }

    /// `clc`: the oldest of those beyond the share are spared no longer. One may be out.
    fn rebalance(&mut self, without: Option<u32>) {
        let here = |block: &&mut Block| Some(block.number) != without;
        loop {
            let len = self.blocks.iter_mut().filter(here).count();
            let limit = len * (self.config.clc.alpha * 1000.0) as usize / 1000;
            let rank = self.tick();
            let spared = self.blocks.iter_mut().filter(here).filter(|block| block.spared);
            if self.name != "clc" || spared.count() <= limit {
                return;
            }
            let spared = self.blocks.iter_mut().filter(here).filter(|block| block.spared);
            let oldest = spared.min_by_key(|block| block.rank).unwrap();
            (oldest.spared, oldest.rank) = (false, rank);
        }
    }

    /// The next to leave, but not the block `current`.
    fn victim(&mut self, current: u32) -> usize {
        self.rebalance(Some(current));
        let others = self.blocks.iter().enumerate().filter(|(_, block)| block.number != current);
        let least = others.min_by_key(|(_, block)| {
            let largest_first = u32::MAX - block.pages.len() as u32;
            match self.name {
                "ncq_lru" => (u32::from(self.is_pinned(block.number)), 0, block.rank),
                "fab" => (0, largest_first, block.rank),
                "clc" if block.spared => (1, 0, block.rank),
                "clc" => (0, largest_first, block.rank),
                "belady" => (0, 0, -self.next_use(block.number) * 1000 - i64::from(block.number)),
                _ => (0, 0, block.rank),
            }
        });
        least.unwrap().0
    }

    /// A block leaves; its queued commands find nothing.
    fn remove(&mut self, at: usize) -> Block {
        let block = self.blocks.remove(at);
        for wish in self.wishes.iter_mut().filter(|wish| wish.block == block.number) {
            wish.pins = false;
        }
        block
    }

    fn write(&mut self, first: u32, pages: u32) -> (u32, Vec<Vec<u32>>) {
        let number = first / self.per_block;
        let before = self.find(number).map_or(BTreeSet::new(), |block| block.pages.clone());
        let hits = (first..first + pages).filter(|page| before.contains(page)).count() as u32;
        let mut left = vec![];
        let buffered = |naive: &Self| naive.blocks.iter().map(|b| b.pages.len()).sum::<usize>();
        while buffered(self) as u32 + pages - hits > self.config.capacity_pages {
            let victim = self.victim(number);
            left.push(self.remove(victim).pages.into_iter().collect());
        }
        if before.is_empty() {
            self.blocks.push(Block { number, ..Block::default() });
        }
        let (rank, start) = (self.tick(), first - number * self.per_block);
        let whole = self.per_block.min(self.config.logical_pages - number * self.per_block);
        let compensates = self.name == "bplru" && self.config.bplru.compensation;
        let block = self.find(number).unwrap();
        block.pages.extend(first..first + pages);
        block.spared = true;
        block.in_order = match start {
            0 => pages,
            _ if start == block.in_order => start + pages,
            _ => 0,
        };
        block.rank = if compensates && block.in_order == whole { -rank } else { rank };
        self.rebalance(None);
        (hits, left)
    }

    fn read(&mut self, page: u32) -> bool {
        let number = page / self.per_block;
        if !self.find(number).is_some_and(|block| block.pages.contains(&page)) {
            return false;
        }
        if self.name != "bplru" {
            self.touch(number);
        }
        self.find(number).unwrap().spared = true;
        self.rebalance(None);
        true
    }

    fn trim(&mut self, page: u32) -> bool {
        let (number, rank) = (page / self.per_block, self.tick());
        let by_size = |block: &Block| match self.name {
            "fab" => true,
            "clc" => !block.spared,
            _ => false,
        };
        let Some(at) = self.blocks.iter().position(|block| block.pages.contains(&page)) else {
            return false;
        };
        assert_eq!(self.blocks[at].number, number);
        if by_size(&self.blocks[at]) {
            self.blocks[at].rank = rank;
        }
        self.blocks[at].in_order = 0;
        self.blocks[at].pages.remove(&page);
        if self.blocks[at].pages.is_empty() {
            self.remove(at);
        }
        true
    }

    fn queued(&mut self, first: u32, pages: u32) {
        for block in first / self.per_block..=(first + pages - 1) / self.per_block {
            if self.name == "ncq_lru" && self.config.ncq_lru.pin == Pin::MoveOnly {
                self.touch(block);
            } else {
                let pins = self.find(block).is_some();
                self.wishes.push(Wish { block, pins });
            }
        }
    }

    fn served(&mut self, first: u32) {
        let block = first / self.per_block;
        if let Some(at) = self.wishes.iter().position(|wish| wish.block == block) {
            self.wishes.remove(at);
        }
        self.served += 1;
    }

    fn drain(&mut self) -> Vec<Vec<u32>> {
        self.blocks.sort_by_key(|block| block.number);
        let numbers = 0..self.blocks.len();
        numbers.map(|_| self.remove(0).pages.into_iter().collect()).collect()
    }
}

#[derive(Clone, Copy, Debug)]
enum Command {
    Write(u32, u32),
    Read(u32, u32),
    Trim(u32, u32),
    Drain,
}

/// Commands of some pages, half of them in a quarter of the drive, and some in sequence.
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

/// What was written, and what has left.
#[derive(Default)]
struct Ledger {
    /// By page: versions that were written, dropped or overwritten in the buffer, and flushed.
    written: BTreeMap<u32, bool>,
}

impl Ledger {
    fn write(&mut self, page: u32) {
        self.written.insert(page, true);
    }

    /// A page that leaves was dirty, and is no more.
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

/// A buffer, its description, and what both must agree on.
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
        // The queue is full now and then, and now and then empty.
        while queue.len() >= depth || !queue.is_empty() && rng.below(16) == 0 {
            pair.serve(queue.pop_front().unwrap());
        }
    }
    queue.into_iter().for_each(|command| pair.serve(command));
    let fits = config.capacity_pages >= config.logical_pages;
    assert!(pair.groups > 0 || fits, "nothing left: {config:?}");
    assert!(count < 500 || pair.hits > 0, "nothing was found: {config:?}");
}

/// Every set of options that a policy has.
fn options(name: &str, config: BufferConfig) -> Vec<BufferConfig> {
    match name {
        "ncq_lru" => [Pin::Counted, Pin::OnArrivalOnly, Pin::MoveOnly]
            .map(|pin| BufferConfig { ncq_lru: NcqLruConfig { pin }, ..config })
            .to_vec(),
        "bplru" => [(true, true), (true, false), (false, true), (false, false)]
            .map(|(padding, compensation)| BplruConfig { padding, compensation })
            .map(|bplru| BufferConfig { bplru, ..config })
            .to_vec(),
        "clc" => [0.0, 0.1, 0.333, 0.5, 1.0]
            .map(|alpha| BufferConfig { clc: ClcConfig { alpha }, ..config })
            .to_vec(),
        _ => vec![config],
    }
}

#[test]
fn every_buffer_does_what_its_description_says() {
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

/// The blocks that leave while commands are served that were never queued.
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
    let alpha = |alpha| BufferConfig { clc: ClcConfig { alpha }, ..config };
    assert_eq!(unqueued("clc", &alpha(1.0)), lru);
    assert_eq!(unqueued("clc", &alpha(0.0)), unqueued("fab", &config));
    let pages = BufferConfig { block_pages: 1, ..config };
    assert_eq!(unqueued("page_lru", &config), unqueued("lru", &pages));
}
