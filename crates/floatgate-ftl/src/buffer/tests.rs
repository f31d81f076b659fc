//! Hand-computed cases of the buffer policies.

use std::vec;
use std::vec::Vec;

use super::*;

/// A buffer of the given size on a drive of 50 pages, in blocks of 4; the last block has 2 pages.
struct Case {
    buffer: Buffer,
    flush: Flush,
}

impl Case {
    fn new(name: &str, capacity_pages: u32) -> Self {
        Self::with(name, BufferConfig::new(50, 4, capacity_pages))
    }

    fn with(name: &str, config: BufferConfig) -> Self {
        Self { buffer: Buffer::new(name, &config).expect(name), flush: Flush::default() }
    }

    /// Returns the pages that left, by group.
    fn left(&mut self) -> Vec<Vec<u32>> {
        let group = |group: Group| group.pages.iter().map(|lpn| lpn.get()).collect();
        let groups = self.flush.groups().map(group).collect();
        self.flush.clear();
        groups
    }

    /// Writes pages of one block. Returns the hits and the pages that left.
    fn write(&mut self, first: u32, pages: u32) -> (u32, Vec<Vec<u32>>) {
        let hits = self.buffer.write(Lpn::new(first), pages, &mut self.flush);
        self.buffer.check();
        (hits, self.left())
    }

    /// Writes single new pages and asserts that no page leaves.
    fn fill(&mut self, pages: &[u32]) {
        pages.iter().for_each(|&page| assert_eq!(self.write(page, 1), (0, vec![])));
    }

    /// Returns the numbers of the blocks in the order in which they leave when room is needed.
    fn order(mut self) -> Vec<u32> {
        let table = &self.buffer.blocks;
        let blocks: Vec<u32> = (0..table.len())
            .map(|_| table.block(self.buffer.order.victim().expect("as many as there are")))
            .collect();
        assert_eq!(self.buffer.order.victim(), None);
        blocks
    }
}

fn queue(case: &mut Case, first: u32, pages: u32) {
    case.buffer.queued(Lpn::new(first), pages);
}

fn served(case: &mut Case, first: u32) {
    case.buffer.served(Lpn::new(first));
    case.buffer.check();
}

#[test]
fn commands_are_cut_at_the_ends_of_blocks() {
    let cut = |first, pages, block_pages| -> Vec<(u32, u32)> {
        parts(Lpn::new(first), pages, block_pages).map(|(at, n)| (at.get(), n)).collect()
    };
    // The example of the paper's Figure 2, with its two swapped names corrected: blocks 1 to 3.
    assert_eq!(cut(100, 100, 64), [(100, 28), (128, 64), (192, 8)]);
    assert_eq!(cut(4, 4, 4), [(4, 4)]);
    assert_eq!(cut(3, 2, 4), [(3, 1), (4, 1)]);
    assert_eq!(cut(7, 3, 1), [(7, 1), (8, 1), (9, 1)]);
    assert_eq!(cut(7, 0, 4), []);
}

#[test]
fn figure_2_moves_blocks_1_to_3() {
    let config = BufferConfig {
        ncq_lru: NcqLruConfig { pin: Pin::MoveOnly },
        ..BufferConfig::new(512, 64, 64)
    };
    let mut case = Case::with("ncq_lru", config);
    case.fill(&[63, 64, 130, 192, 256]);
    queue(&mut case, 100, 100);
    assert_eq!(case.order(), [0, 4, 1, 2, 3]);
}

#[test]
fn lru_needs_room_for_all_commands_before() {
    // Section III of the paper. The buffer has room for four blocks. R is on block 0, which is
    // buffered when R is queued behind commands of one block each.
    let hits = |name, before: u32| {
        let mut case = Case::new(name, 16);
        assert_eq!(case.write(0, 4), (0, vec![]));
        (1..=before).for_each(|block| queue(&mut case, 4 * block, 4));
        queue(&mut case, 0, 4);
        for block in 1..=before {
            assert_eq!(case.write(4 * block, 4).0, 0);
            served(&mut case, 4 * block);
        }
        case.write(0, 4).0
    };
    assert_eq!([2, 3, 4, 5].map(|before| hits("lru", before)), [4, 4, 0, 0]);
    assert_eq!([2, 3, 4, 5].map(|before| hits("ncq_lru", before)), [4; 4]);
}

/// An access to a whole block.
#[derive(Clone, Copy)]
enum HostAccess {
    Write(u32),
    Read(u32),
}

/// Returns the maximum number of block hits over all eviction choices.
fn most_hits(buffered: &[u32], room: usize, accesses: &[HostAccess]) -> u32 {
    let Some((&access, rest)) = accesses.split_first() else { return 0 };
    let (HostAccess::Write(block) | HostAccess::Read(block)) = access;
    if buffered.contains(&block) {
        return 1 + most_hits(buffered, room, rest);
    }
    if matches!(access, HostAccess::Read(_)) {
        return most_hits(buffered, room, rest);
    }
    let without = |left: Option<u32>| {
        let mut after: Vec<u32> = buffered.iter().copied().filter(|&b| Some(b) != left).collect();
        after.push(block);
        most_hits(&after, room, rest)
    };
    if buffered.len() < room {
        return without(None);
    }
    buffered.iter().map(|&left| without(Some(left))).max().unwrap_or(0)
}

/// Returns the block hits of `belady`.
fn belady_hits(room: usize, accesses: &[HostAccess]) -> u32 {
    let mut case = Case::new("belady", 4 * room as u32);
    let mut telling = crate::future::NextUseBuilder::new(13);
    for HostAccess::Write(block) | HostAccess::Read(block) in accesses {
        telling.push(Lpn::new(*block)).unwrap();
    }
    case.buffer.set_future(telling.finish());
    let mut hits = 0;
    for &access in accesses {
        let (HostAccess::Write(block) | HostAccess::Read(block)) = access;
        hits += match access {
            HostAccess::Write(_) => case.write(4 * block, 4).0 / 4,
            HostAccess::Read(_) => u32::from(case.buffer.read(Lpn::new(4 * block))),
        };
        served(&mut case, 4 * block);
    }
    hits
}

#[test]
fn nothing_finds_more_whole_blocks_than_the_bound() {
    let mut rng = crate::rng::Rng::new(1);
    for room in [1, 2, 3] {
        for _ in 0..100 {
            let accesses: Vec<_> =
                (0..12).map(|_| HostAccess::Write(rng.below(5) as u32)).collect();
            assert_eq!(belady_hits(room, &accesses), most_hits(&[], room, &accesses));
        }
    }
}

#[test]
fn with_reads_it_is_no_bound() {
    use HostAccess::{Read, Write};
    // Block 0 is read first, but only once. A read miss inserts nothing.
    let accesses = [Write(0), Write(1), Write(2), Read(0), Read(1), Read(1)];
    assert_eq!(belady_hits(2, &accesses), 1);
    assert_eq!(most_hits(&[], 2, &accesses), 2);
}
