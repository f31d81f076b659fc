//! Models of the policies as they are described, with lists and searches.

use super::*;

/// A buffered block.
#[derive(Clone, Default)]
pub struct Block {
    number: u32,
    pages: BTreeSet<u32>,
    /// Time at which the block came to its place in the order; negative at the end where blocks
    /// leave.
    rank: i64,
    /// `bplru`: pages written in order, counted from the first.
    in_order: u32,
    /// `clc`: whether the block is recent.
    recent: bool,
    /// Time at which a pin postponed the eviction of the block.
    postponed: Option<i64>,
}

/// A block that a queued command needs, and whether the command pins the block.
pub struct Wish {
    block: u32,
    pins: bool,
}

/// Models of all policies (docs/algorithms.md, 7).
pub struct Naive {
    pub name: &'static str,
    pub config: BufferConfig,
    per_block: u32,
    blocks: Vec<Block>,
    wishes: Vec<Wish>,
    now: i64,
    /// `belady`: the blocks of all parts, and the number of parts served.
    parts: Vec<u32>,
    served: usize,
}

impl Naive {
    pub fn new(name: &'static str, config: BufferConfig, parts: Vec<u32>) -> Self {
        let per_block = if name == "page_lru" { 1 } else { config.block_pages };
        let (blocks, wishes) = (vec![], vec![]);
        Self { name, config, per_block, blocks, wishes, now: 0, parts, served: 0 }
    }

    pub fn find(&mut self, number: u32) -> Option<&mut Block> {
        self.blocks.iter_mut().find(|block| block.number == number)
    }

    pub fn tick(&mut self) -> i64 {
        self.now += 1;
        self.now
    }

    /// Uses a block, if it is buffered, without a write.
    pub fn touch(&mut self, number: u32) {
        let rank = self.tick();
        if let Some(block) = self.find(number) {
            (block.rank, block.recent, block.postponed) = (rank, true, None);
            self.rebalance(None);
        }
    }

    pub fn pin(&self) -> Pin {
        match self.name {
            "ncq_lru" => self.config.ncq_lru.pin,
            "fab" => self.config.fab.pin,
            "bplru" => self.config.bplru.pin,
            "clc" => self.config.clc.pin,
            _ => Pin::None,
        }
    }

    pub fn is_pinned(&self, number: u32) -> bool {
        let wants = |wish: &Wish| match self.pin() {
            Pin::None | Pin::MoveOnly => false,
            Pin::Counted => wish.block == number,
            Pin::OnArrivalOnly => wish.block == number && wish.pins,
        };
        self.wishes.iter().any(wants)
    }

    pub fn next_use(&self, number: u32) -> i64 {
        let next = self.parts[self.served..].iter().position(|&part| part == number);
        next.map_or(1 << 40, |next| next as i64)
    }

    /// `clc`: stops sparing the oldest blocks beyond the share. Ignores the block `without` and
    /// postponed victims.
    pub fn rebalance(&mut self, without: Option<u32>) {
        let here = |block: &&mut Block| Some(block.number) != without && block.postponed.is_none();
        loop {
            let len = self.blocks.iter_mut().filter(here).count();
            let limit = len * (self.config.clc.alpha * 1000.0) as usize / 1000;
            let rank = self.tick();
            let recent = self.blocks.iter_mut().filter(here).filter(|block| block.recent);
            if self.name != "clc" || recent.count() <= limit {
                return;
            }
            let recent = self.blocks.iter_mut().filter(here).filter(|block| block.recent);
            let oldest = recent.min_by_key(|block| block.rank).unwrap();
            (oldest.recent, oldest.rank) = (false, rank);
        }
    }

    /// Returns the next block to leave, except the block `current`.
    pub fn victim(&mut self, current: u32) -> usize {
        if self.name == "ncq_lru" {
            let others = self.blocks.iter().enumerate().filter(|(_, b)| b.number != current);
            let order = |b: &Block| (self.is_pinned(b.number), b.rank);
            return others.min_by_key(|(_, block)| order(block)).unwrap().0;
        }
        let postponed = |naive: &Self, with_pinned: bool| {
            let blocks = naive.blocks.iter().enumerate();
            let here = blocks.filter(|(_, b)| b.number != current && b.postponed.is_some());
            let here = here.filter(|(_, b)| with_pinned || !naive.is_pinned(b.number));
            here.min_by_key(|(_, block)| block.postponed).map(|(at, _)| at)
        };
        if let Some(at) = postponed(self, false) {
            return at;
        }
        while let Some(at) = self.choice(current) {
            if !self.is_pinned(self.blocks[at].number) {
                return at;
            }
            self.blocks[at].postponed = Some(self.tick());
        }
        postponed(self, true).unwrap()
    }

    /// Returns the policy's own choice, except the block `current` and postponed victims.
    pub fn choice(&mut self, current: u32) -> Option<usize> {
        self.rebalance(Some(current));
        let others = self.blocks.iter().enumerate();
        let others = others.filter(|(_, b)| b.number != current && b.postponed.is_none());
        let least = others.min_by_key(|(_, block)| {
            let largest_first = u32::MAX - block.pages.len() as u32;
            match self.name {
                "fab" => (0, largest_first, block.rank),
                "clc" if block.recent => (1, 0, block.rank),
                "clc" => (0, largest_first, block.rank),
                "belady" => (0, 0, -self.next_use(block.number) * 1000 - i64::from(block.number)),
                _ => (0, 0, block.rank),
            }
        });
        least.map(|(at, _)| at)
    }

    /// Removes a block. Queued commands no longer pin it.
    pub fn remove(&mut self, at: usize) -> Block {
        let block = self.blocks.remove(at);
        for wish in self.wishes.iter_mut().filter(|wish| wish.block == block.number) {
            wish.pins = false;
        }
        block
    }

    pub fn write(&mut self, first: u32, pages: u32) -> (u32, Vec<Vec<u32>>) {
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
        (block.recent, block.postponed) = (true, None);
        block.in_order = match start {
            0 => pages,
            _ if start == block.in_order => start + pages,
            _ => 0,
        };
        block.rank = if compensates && block.in_order == whole { -rank } else { rank };
        self.rebalance(None);
        (hits, left)
    }

    pub fn read(&mut self, page: u32) -> bool {
        let number = page / self.per_block;
        if !self.find(number).is_some_and(|block| block.pages.contains(&page)) {
            return false;
        }
        if self.name != "bplru" {
            self.touch(number);
        }
        true
    }

    pub fn trim(&mut self, page: u32) -> bool {
        let (number, rank) = (page / self.per_block, self.tick());
        let by_size = |block: &Block| match self.name {
            "fab" => true,
            "clc" => !block.recent,
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

    pub fn queued(&mut self, first: u32, pages: u32) {
        for block in first / self.per_block..=(first + pages - 1) / self.per_block {
            if self.pin() == Pin::MoveOnly {
                self.touch(block);
            } else {
                let pins = self.find(block).is_some();
                self.wishes.push(Wish { block, pins });
            }
        }
    }

    pub fn served(&mut self, first: u32) {
        let block = first / self.per_block;
        if let Some(at) = self.wishes.iter().position(|wish| wish.block == block) {
            self.wishes.remove(at);
        }
        self.served += 1;
    }

    pub fn drain(&mut self) -> Vec<Vec<u32>> {
        self.blocks.sort_by_key(|block| block.number);
        let numbers = 0..self.blocks.len();
        numbers.map(|_| self.remove(0).pages.into_iter().collect()).collect()
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Command {
    Write(u32, u32),
    Read(u32, u32),
    Trim(u32, u32),
    Drain,
}
