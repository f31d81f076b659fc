use super::*;
use crate::rng::Rng;
use alloc::collections::BTreeMap;
use alloc::vec;

const PAGE: u64 = 4096;

fn request(op: Op, first: u32, pages: u64) -> Request {
    Request { at_ns: 0, op, offset: u64::from(first) * PAGE, length: pages * PAGE, stream: 0 }
}

fn write(first: u32, pages: u64) -> Request {
    request(Op::Write, first, pages)
}

/// Returns a host layer for 1024 user pages and a log of `slots` slots.
fn shrd(slots: u32, tune: impl Fn(&mut ShrdConfig)) -> Shrd {
    let mut config = ShrdConfig { contiguous: 4, ..ShrdConfig::new(12, 1024, slots) };
    tune(&mut config);
    Shrd::new(config)
}

/// Packs single pages into one twrite. Returns its first page and its entries.
fn twrite(host: &mut Shrd, pages: &[u32]) -> (u32, Vec<Option<u32>>) {
    assert!(host.begin(), "there is room");
    pages.iter().for_each(|&page| assert!(host.add(&write(page, 1)), "{page} fits"));
    let Twrite { first, entries } = host.twrite();
    (first.get(), entries.iter().map(|entry| entry.map(Lpn::get)).collect())
}

/// Remaps a window. Returns the pairs (page, log page), and whether the rest of the window is
/// dropped.
fn remap(host: &mut Shrd) -> (Vec<(u32, u32)>, bool) {
    let batch = host.remap().expect("there is something to remap");
    let pairs = batch.commands().flatten().map(|entry| (entry.to.get(), entry.from.get()));
    (pairs.collect(), batch.drop_rest)
}

fn read(host: &mut Shrd, first: u32, pages: u32) -> Vec<(u32, u32)> {
    let mut pieces = vec![];
    host.redirect(first..first + pages, &mut pieces);
    pieces.iter().map(|piece| (piece.from.get(), piece.pages)).collect()
}

#[test]
fn the_example_of_the_slides() {
    let mut host = shrd(64, |_| {});
    let (first, entries) = twrite(&mut host, &[32, 765, 128, 854]);
    assert_eq!((first, entries), (1024, [32, 765, 128, 854].map(Some).to_vec()));
    for (page, temporal) in [(32, 1024), (765, 1025), (128, 1026), (854, 1027)] {
        assert_eq!(host.lookup(Lpn::new(page)).map(Lpn::get), Some(temporal));
    }
    assert_eq!(read(&mut host, 128, 1), [(1026, 1)], "a read goes to the log");
    let sorted = vec![(32, 1024), (128, 1026), (765, 1025), (854, 1027)];
    assert_eq!(remap(&mut host), (sorted, false));
    assert_eq!(host.lookup(Lpn::new(128)), None, "no entry survives its remap");
    let ShrdCounts { commands, twrites, packed, remaps, .. } = host.counts();
    assert_eq!((commands, twrites, packed, remaps), (4, 1, 4, 1), "header, data, read, remap");
}

/// Ablation: the same entries in log order, still cut into commands.
#[test]
fn windows_may_be_remapped_as_they_were_written() {
    let tune = |config: &mut ShrdConfig| (config.sort_remaps, config.remap_entries) = (false, 3);
    let mut host = shrd(64, tune);
    twrite(&mut host, &[32, 765, 128, 854]);
    let batch = host.remap().expect("there is something to remap");
    let commands: Vec<Vec<u32>> = batch
        .commands()
        .map(|entries| entries.iter().map(|entry| entry.to.get()).collect())
        .collect();
    assert_eq!(commands, [vec![32, 765, 128], vec![854]]);
}

#[test]
fn small_requests() {
    let host = shrd(64, |config| config.exclude_below = 8 * PAGE);
    assert!(host.is_small(&write(8, 4)), "exactly at the threshold");
    let longer = Request { length: 4 * PAGE + 512, ..write(8, 4) };
    assert!(!host.is_small(&longer), "a sector beyond");
    assert!(!host.is_small(&write(7, 1)), "too near to the front");
    assert!(!host.is_small(&Request { length: 512, ..write(9, 1) }), "less than a page");
    assert!(!host.is_small(&Request { offset: 9 * PAGE + 512, ..write(9, 1) }), "not aligned");
    assert!(!host.is_small(&write(9, 0)));
    for op in [Op::Read, Op::Trim, Op::Flush] {
        assert!(!host.is_small(&request(op, 9, 1)));
    }
}

#[test]
fn a_page_twice_in_one_twrite_is_in_the_later_slot() {
    let mut host = shrd(64, |_| {});
    twrite(&mut host, &[7, 8, 7]);
    assert_eq!(host.lookup(Lpn::new(7)).map(Lpn::get), Some(1026));
    let (pairs, drop_rest) = remap(&mut host);
    assert_eq!((pairs, drop_rest), (vec![(7, 1026), (8, 1025)], true), "slot 1024 is dropped");
}

/// Windows of 4 slots of 64. The first has 7, 8 and an old 7; afterwards the log is empty.
#[test]
fn slots_that_were_overwritten_are_dropped_with_their_window() {
    let mut host = shrd(64, |config| config.remap_size = 4);
    twrite(&mut host, &[7, 8, 7]);
    assert_eq!(remap(&mut host), (vec![(7, 1026), (8, 1025)], true));
    assert!(host.remap().is_none());
    let mut host = shrd(64, |config| (config.remap_size, config.lazy_stale) = (4, true));
    twrite(&mut host, &[7, 8, 7]);
    assert_eq!(remap(&mut host), (vec![(7, 1026), (8, 1025)], false));
}

#[test]
fn a_window_with_nothing_in_it_moves_on() {
    for lazy in [false, true] {
        let mut host = shrd(64, |config| (config.remap_size, config.lazy_stale) = (2, lazy));
        twrite(&mut host, &[1, 2]);
        twrite(&mut host, &[1, 2, 3]);
        if !lazy {
            assert_eq!(remap(&mut host), (vec![], true), "the drive still has the old pages");
            assert_eq!(host.counts().remaps, 1, "which takes a command without entries");
        }
        assert_eq!(remap(&mut host), (vec![(1, 1026), (2, 1027)], false));
        assert_eq!(remap(&mut host), (vec![(3, 1028)], false));
        assert!(host.remap().is_none());
        assert_eq!(host.fill(), (0, 0));
        host.check();
    }
}

#[test]
fn remaps_ascend_over_the_window_and_commands_are_cut() {
    let tune = |config: &mut ShrdConfig| (config.remap_size, config.remap_entries) = (16, 3);
    let mut host = shrd(64, tune);
    let mut rng = Rng::new(4);
    let pages: Vec<u32> = (0..16).map(|_| rng.below(1024) as u32).collect();
    twrite(&mut host, &pages);
    let batch = host.remap().expect("16 slots");
    let lengths: Vec<usize> = batch.commands().map(<[_]>::len).collect();
    assert!(lengths[..lengths.len() - 1].iter().all(|&length| length == 3));
    assert!(batch.entries.windows(2).all(|pair| pair[0].to < pair[1].to));
    assert_eq!(batch.window, 1024..1040);
}

#[test]
fn a_twrite_has_its_limits() {
    let mut host = shrd(64, |config| config.twrite_pages = 6);
    assert!(host.begin());
    assert!(host.add(&write(0, 4)));
    assert!(!host.add(&write(10, 4)), "a request is not split");
    assert!(host.add(&write(20, 2)));
    assert!(!host.add(&write(30, 1)));
    assert_eq!(host.twrite().entries.len(), 6);
}

#[test]
fn a_twrite_never_wraps_and_a_full_log_says_so() {
    let mut host = shrd(16, |config| config.remap_size = 4);
    twrite(&mut host, &[0, 1, 2, 3, 4, 5, 6, 7]);
    twrite(&mut host, &[10, 11, 12, 13, 14]);
    // 3 slots at the end are too few, and the front is in use.
    assert!(!host.begin(), "full");
    remap(&mut host);
    let (first, _) = twrite(&mut host, &[20, 21, 22]);
    assert_eq!(first, 1024, "from the front, over the 3 slots at the end");
    assert!(!host.begin(), "one slot stays free");
    assert_eq!(host.fill().0, 15);
    remap(&mut host);
    remap(&mut host);
    // Slot 12 and the three skipped slots, up to the end of the ring.
    assert_eq!(remap(&mut host), (vec![(14, 1036)], false));
    assert_eq!(remap(&mut host).0, [(20, 1024), (21, 1025), (22, 1026)]);
    host.check();
}

#[test]
fn reads_are_split_where_the_log_begins_and_ends() {
    let mut host = shrd(64, |_| {});
    twrite(&mut host, &[12, 13, 20]);
    assert_eq!(read(&mut host, 10, 6), [(10, 2), (1024, 1), (1025, 1), (14, 2)]);
    assert_eq!(read(&mut host, 30, 5), [(30, 5)]);
    let mut host = shrd(64, |config| config.join_reads = true);
    twrite(&mut host, &[12, 13, 20, 14]);
    assert_eq!(read(&mut host, 12, 4), [(1024, 2), (1027, 1), (15, 1)]);
}

#[test]
fn parity_pads_the_log() {
    let mut host = shrd(64, |config| config.parity_align = true);
    let (_, entries) = twrite(&mut host, &[1, 3, 4]);
    assert_eq!(entries, [None, Some(1), None, Some(3), Some(4)]);
    assert_eq!(host.counts().padded, 2);
    assert_eq!(remap(&mut host).0, [(1, 1025), (3, 1027)]);
}

#[test]
fn larger_writes_and_trims_take_pages_out_of_the_log() {
    let mut host = shrd(64, |_| {});
    twrite(&mut host, &[1, 2, 300, 4]);
    let mut dropped = vec![];
    host.drop_pages(0..4, &mut dropped);
    host.drop_pages(200..1024, &mut dropped);
    let mut from: Vec<u32> = dropped.iter().map(|entry| entry.from.get()).collect();
    from.sort_unstable();
    assert_eq!(from, [1024, 1025, 1026]);
    assert_eq!(remap(&mut host), (vec![(4, 1027)], true));
}

#[test]
fn a_page_can_be_remapped_alone() {
    let mut host = shrd(64, |_| {});
    twrite(&mut host, &[1, 2]);
    let entry = host.remap_alone(Lpn::new(2));
    assert_eq!(entry, Some(Remapping { from: Lpn::new(1025), to: Lpn::new(2) }));
    assert_eq!(host.remap_alone(Lpn::new(2)), None);
    assert_eq!(remap(&mut host), (vec![(1, 1024)], false), "the drive has nothing left of it");
}

#[test]
fn memory_is_less_than_a_megabyte_for_64_mib_of_log() {
    let host = Shrd::new(ShrdConfig::new(12, 8 << 20, 16_384));
    assert!((300_000..1_000_000).contains(&host.memory_bytes()), "{}", host.memory_bytes());
}

/// For any sequence of operations the table must equal a plain map from pages to their latest log
/// pages.
#[test]
fn the_log_is_a_map() {
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let (slots, window) = (12 + rng.below(80) as u32, 1 + rng.below(9) as u32);
        let mut host = shrd(slots, |config| {
            (config.remap_size, config.lazy_stale) = (window, seed % 2 == 0);
            config.parity_align = seed % 5 == 0;
        });
        let mut model: BTreeMap<u32, u32> = BTreeMap::new();
        for _ in 0..300 {
            step(&mut host, &mut model, &mut rng);
            host.check();
            assert_eq!(host.fill().1, model.len());
            for page in 0..64 {
                let found = host.lookup(Lpn::new(page)).map(Lpn::get);
                assert_eq!(found, model.get(&page).copied(), "page {page}, seed {seed}");
            }
        }
    }
}

fn step(host: &mut Shrd, model: &mut BTreeMap<u32, u32>, rng: &mut Rng) {
    let page = rng.below(64) as u32;
    match rng.below(10) {
        0 => {
            host.drop_pages(page..page + 5, &mut vec![]);
            model.retain(|lpn, _| !(page..page + 5).contains(lpn));
        }
        1 => assert_eq!(host.remap_alone(Lpn::new(page)).is_some(), model.remove(&page).is_some()),
        2 | 3 => {
            if let Some(batch) = host.remap() {
                for entry in batch.entries {
                    assert_eq!(model.remove(&entry.to.get()), Some(entry.from.get()));
                    assert!(batch.window.contains(&entry.from.get()));
                }
                assert!(model.values().all(|from| !batch.window.contains(from)));
            }
        }
        _ if host.begin() => {
            let requests: Vec<Request> =
                (0..4).map(|_| write(rng.below(64) as u32, 1 + rng.below(2))).collect();
            requests.iter().take_while(|request| host.add(request)).for_each(drop);
            let Twrite { first, entries } = host.twrite();
            for (at, entry) in entries.iter().enumerate() {
                entry.map(|lpn| model.insert(lpn.get(), first.get() + at as u32));
            }
        }
        _ => assert!(host.fill().0 > 0, "only a log in use is full"),
    }
}
