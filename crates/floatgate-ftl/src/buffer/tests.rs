//! Hand-computed cases of the buffer policies.

use std::vec;
use std::vec::Vec;

use super::*;
use crate::parameters::names;

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

/// Policies that take pins.
const PINNED: [&str; 4] = ["ncq_lru", "fab", "bplru", "clc"];

/// Returns a config in which each of them has these pins.
fn pins(pin: Pin, capacity_pages: u32) -> BufferConfig {
    BufferConfig {
        ncq_lru: NcqLruConfig { pin },
        fab: FabConfig { pin },
        bplru: BplruConfig { padding: true, compensation: true, pin },
        clc: ClcConfig { alpha: 0.1, pin },
        ..BufferConfig::new(50, 4, capacity_pages)
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
fn a_block_leaves_as_a_whole_and_in_order() {
    let mut case = Case::new("lru", 6);
    case.fill(&[6, 4, 21]);
    assert_eq!(case.write(8, 3), (0, vec![]));
    assert!(case.buffer.read(Lpn::new(4)) && !case.buffer.read(Lpn::new(5)));
    assert_eq!(case.write(10, 1), (1, vec![]), "what is there takes no space");
    assert_eq!(case.write(48, 2), (0, vec![vec![21], vec![4, 6]]));
    assert_eq!(case.write(8, 4), (3, vec![]));
    assert_eq!(case.write(0, 1), (0, vec![vec![48, 49]]));
    case.buffer.drain(&mut case.flush);
    let groups: Vec<_> = case.flush.groups().map(|group| (group.block, group.pad)).collect();
    assert_eq!(groups, [(0..4, false), (8..12, false)]);
    assert_eq!(case.left(), [vec![0], vec![8, 9, 10, 11]]);
    assert_eq!(case.buffer.pages(), 0);
}

#[test]
fn the_block_that_is_written_to_stays() {
    for name in names(BUFFERS) {
        let mut case = Case::new(name, 4);
        assert_eq!(case.write(0, 1), (0, vec![]));
        assert_eq!(case.write(48, 1), (0, vec![]));
        let (_, flushed) = case.write(1, 3.min(case.buffer.block_pages()));
        assert!(name == "page_lru" || flushed == [[48]], "{name}: {flushed:?}");
    }
}

#[test]
fn trimmed_pages_do_not_leave() {
    for name in names(BUFFERS).filter(|&name| name != "page_lru") {
        let mut case = Case::new(name, 8);
        case.fill(&[0, 1, 2, 4]);
        for (page, expected) in [(1, true), (1, false), (9, false), (4, true)] {
            assert_eq!(case.buffer.trim(Lpn::new(page)), expected, "{name}");
            case.buffer.check();
        }
        assert!(!case.buffer.holds(Lpn::new(1)) && case.buffer.holds(Lpn::new(2)));
        case.buffer.drain(&mut case.flush);
        assert_eq!(case.left(), [[0, 2]], "{name}");
    }
}

#[test]
fn single_pages_leave_by_last_use() {
    let mut case = Case::new("page_lru", 4);
    case.fill(&[7, 6, 5, 4]);
    assert!(case.buffer.read(Lpn::new(7)));
    assert_eq!(case.write(9, 1), (0, vec![vec![6]]));
    assert_eq!(case.write(5, 1), (1, vec![]));
    assert_eq!(case.order(), [4, 7, 9, 5]);
}

#[test]
fn pinned_blocks_stay() {
    // Blocks of one page: in each policy they leave by last use.
    for name in PINNED {
        let mut case = Case::with(name, pins(Pin::Counted, 4));
        case.fill(&[0, 4, 8, 12]);
        // Two commands on blocks 0 and 1, and one on block 6, which is not buffered yet.
        queue(&mut case, 0, 8);
        queue(&mut case, 0, 8);
        queue(&mut case, 24, 1);
        assert_eq!(case.write(24, 1), (0, vec![vec![8]]), "{name}");
        assert_eq!(case.write(28, 1), (0, vec![vec![12]]), "{name}");
        assert_eq!(case.write(32, 1), (0, vec![vec![28]]), "block 6 was pinned when it came");
        served(&mut case, 0);
        assert_eq!(case.write(36, 1), (0, vec![vec![32]]), "a command still wants block 0");
        served(&mut case, 24);
        assert_eq!(case.write(40, 1), (0, vec![vec![24]]), "{name}");
        served(&mut case, 4);
        served(&mut case, 0);
        assert_eq!(case.order(), [0, 9, 10, 1], "block 0 was chosen before; block 1 is pinned");
    }
}

#[test]
fn if_all_are_pinned_the_first_choice_leaves() {
    for name in PINNED {
        let mut case = Case::with(name, pins(Pin::Counted, 4));
        queue(&mut case, 0, 20);
        case.fill(&[4, 0, 12, 8]);
        // A command that is larger than the buffer must still complete.
        assert_eq!(case.write(16, 1), (0, vec![vec![4]]), "{name}");
        assert_eq!(case.write(20, 1), (0, vec![vec![0]]), "{name}");
        assert_eq!(case.write(24, 1), (0, vec![vec![20]]), "pinned by nobody");
    }
}

#[test]
fn pins_on_arrival_cover_buffered_blocks() {
    for name in PINNED {
        let mut case = Case::with(name, pins(Pin::OnArrivalOnly, 4));
        case.fill(&[0, 4, 8]);
        queue(&mut case, 12, 1); // This write brings block 3 in.
        queue(&mut case, 12, 1); // Queued while block 3 is not buffered: it pins nothing.
        queue(&mut case, 0, 1);
        case.fill(&[12]);
        served(&mut case, 12);
        queue(&mut case, 12, 1); // Block 3 is buffered: pinned until this command is served.
        served(&mut case, 12);
        assert_eq!(case.write(16, 1), (0, vec![vec![4]]), "{name}");
        assert_eq!(case.write(20, 1), (0, vec![vec![8]]), "{name}");
        assert_eq!(case.write(24, 1), (0, vec![vec![16]]), "{name}");
        served(&mut case, 12);
        assert_eq!(case.order(), [3, 5, 6, 0], "{name}");
    }
}

#[test]
fn a_postponed_victim_leaves_before_a_fuller_block() {
    let mut case = Case::with("fab", pins(Pin::Counted, 8));
    case.fill(&[0, 1, 4, 5, 6, 8, 12, 13]);
    queue(&mut case, 4, 1);
    assert_eq!(case.write(16, 1), (0, vec![vec![0, 1]]), "block 1 has more pages, but a pin");
    assert_eq!(case.write(14, 2), (0, vec![vec![8]]));
    assert!(case.buffer.trim(Lpn::new(5)), "which is no use of a postponed victim");
    served(&mut case, 4);
    assert_eq!(case.write(20, 2), (0, vec![vec![4, 6]]), "block 3 has more pages");
    assert_eq!(case.order(), [3, 5, 4]);
}

#[test]
fn a_use_ends_the_postponement() {
    // A command wants block 0. While it waits, block 1 leaves in its place.
    let left = |name, used: fn(&mut Case)| {
        let mut case = Case::with(name, pins(Pin::Counted, 4));
        case.fill(&[0, 4, 8, 12]);
        queue(&mut case, 0, 1);
        assert_eq!(case.write(16, 1), (0, vec![vec![4]]), "{name}");
        used(&mut case);
        served(&mut case, 0);
        case.order()
    };
    for name in PINNED {
        assert_eq!(left(name, |_| ()), [0, 2, 3, 4], "{name}");
        assert_eq!(left(name, |case| _ = case.write(0, 1)), [2, 3, 4, 0], "{name}");
        // A read is no use in BPLRU.
        let expected = if name == "bplru" { [0, 2, 3, 4] } else { [2, 3, 4, 0] };
        assert_eq!(left(name, |case| _ = case.buffer.read(Lpn::new(0))), expected, "{name}");
    }
}

#[test]
fn a_move_is_a_use() {
    for name in PINNED {
        let mut case = Case::with(name, pins(Pin::MoveOnly, 4));
        case.fill(&[0, 4, 8, 12]);
        queue(&mut case, 0, 6);
        assert_eq!(case.order(), [2, 3, 0, 1], "{name}");
    }
    // BPLRU moves even a block in order, and the move does not break the order of its pages.
    let mut case = Case::with("bplru", pins(Pin::MoveOnly, 8));
    assert_eq!(case.write(0, 4), (0, vec![]));
    assert_eq!(case.write(4, 2), (0, vec![]));
    queue(&mut case, 0, 8);
    assert_eq!(case.write(6, 2), (0, vec![]));
    assert_eq!(case.order(), [1, 0]);
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

#[test]
fn fab_gives_up_the_fullest() {
    let mut case = Case::new("fab", 8);
    case.fill(&[0, 1, 4, 5, 8, 9, 10, 12]);
    assert_eq!(case.write(13, 1), (0, vec![vec![8, 9, 10]]));
    // Blocks 0, 1 and 3 have two pages each. The read uses block 0, so block 1 is the oldest.
    assert!(case.buffer.read(Lpn::new(0)));
    assert_eq!(case.write(16, 2), (0, vec![]));
    assert_eq!(case.write(20, 1), (0, vec![vec![4, 5]]));
    assert_eq!(case.write(14, 1), (0, vec![]));
    assert_eq!(case.order(), [3, 0, 4, 5]);
}

#[test]
fn bplru_lets_sequential_blocks_leave_and_pads_them() {
    let mut case = Case::new("bplru", 8);
    case.fill(&[0, 4, 5, 6, 8]);
    assert!(case.buffer.read(Lpn::new(0)), "which is no use of the block");
    case.fill(&[7]);
    assert_eq!(case.buffer.write(Lpn::new(12), 3, &mut case.flush), 0, "block 1 is in order");
    let group = case.flush.groups().next().expect("no room");
    assert_eq!((group.block.clone(), group.pad), (4..8, true));
    assert!(group.whole().eq((4..8).map(|page| (Lpn::new(page), true))));
    case.flush.clear();
    assert_eq!(case.buffer.write(Lpn::new(17), 4 - 1, &mut case.flush), 0);
    assert!(case.flush.is_empty());
    assert_eq!(case.buffer.write(Lpn::new(3), 1, &mut case.flush), 0);
    let group = case.flush.groups().next().expect("no room");
    let expected = [(8, true), (9, false), (10, false), (11, false)];
    assert!(group.whole().eq(expected.map(|(page, buffered)| (Lpn::new(page), buffered))));
    assert_eq!(case.left(), [[8]]);
    // In order from the first page; from the first page again; with a gap; and the short block.
    assert_eq!(case.write(12, 1).0, 1);
    assert_eq!(case.write(13, 2).0, 2);
    assert_eq!(case.write(18, 2).0, 2);
    assert_eq!(case.write(48, 2), (0, vec![vec![0, 3]]));
    assert_eq!(case.write(15, 1), (0, vec![vec![48, 49]]));
    assert_eq!(case.order(), [3, 4]);
}

#[test]
fn bplru_without_its_options_is_lru_of_writes() {
    let bplru = BplruConfig { padding: false, compensation: false, pin: Pin::None };
    let mut case = Case::with("bplru", BufferConfig { bplru, ..BufferConfig::new(50, 4, 8) });
    case.fill(&[0]);
    assert_eq!(case.write(4, 4), (0, vec![]));
    case.fill(&[8]);
    assert_eq!(case.write(12, 3), (0, vec![vec![0]]));
    assert_eq!(case.order(), [1, 2, 3]);
}

#[test]
fn clc_protects_recent_blocks() {
    let clc = ClcConfig { alpha: 0.5, pin: Pin::None };
    let config = BufferConfig { clc, ..BufferConfig::new(50, 4, 8) };
    let mut case = Case::with("clc", config);
    case.fill(&[0, 4, 5, 8, 12, 13, 14, 16]);
    // Five blocks, so 3 and 4 are protected. Of the other blocks, block 1 has the most pages.
    assert_eq!(case.write(20, 1), (0, vec![vec![4, 5]]));
    // Blocks 4 and 5 are protected now. A hit returns block 3 to the protected blocks, so block 4
    // must leave them.
    assert_eq!(case.write(12, 1), (1, vec![]));
    // Blocks 0, 2 and 4 have one page each. They leave in the order in which they stopped being
    // protected.
    assert_eq!(case.write(24, 2), (0, vec![vec![0]]));
    assert_eq!(case.write(28, 1), (0, vec![vec![8]]));
    // Blocks 6 and 7 are protected. With three blocks left, only block 7 is.
    assert_eq!(case.order(), [3, 4, 6, 5, 7]);
}

#[test]
fn the_bound_knows_the_future() {
    let mut case = Case::new("belady", 8);
    let blocks = [0, 1, 2, 0, 3, 1, 2, 0];
    let mut telling = crate::future::NextUseBuilder::new(13);
    blocks.iter().for_each(|&block| telling.push(Lpn::new(block)).unwrap());
    case.buffer.set_future(telling.finish());
    let mut hits = vec![];
    for block in blocks {
        hits.push(case.write(4 * block, 4).0 > 0);
        served(&mut case, 4 * block);
    }
    // Block 1 leaves for 2, 0 for 3, and 3 for 1. Of blocks 1 and 2, the one without another use
    // leaves.
    assert_eq!(hits, [false, false, false, true, false, false, true, false]);
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
