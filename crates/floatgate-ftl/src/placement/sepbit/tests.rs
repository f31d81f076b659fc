use super::*;
use crate::placement::tests::config;
use crate::rng::Rng;

fn sepbit(pages: u32, history: History, units: u32) -> Sepbit {
    let mut config = config(pages);
    config.sepbit = SepbitConfig { history, units };
    Sepbit::new(&config)
}

/// Writes a page. Returns its class.
fn write(sepbit: &mut Sepbit, lpn: u32, clock: u64) -> u8 {
    let write = HostWrite { lpn: Lpn::new(lpn), request_pages: 1, clock, now_ns: 0 };
    let stream = sepbit.stream(write);
    sepbit.check();
    CLASSES - stream
}

/// Moves a page out of a unit of class `from`. Returns its new class.
fn clean(sepbit: &mut Sepbit, lpn: u32, from: u8, clock: u64) -> u8 {
    let stream = stream_of(from);
    CLASSES - sepbit.moved(Relocation { lpn: Lpn::new(lpn), stream, clock, now_ns: 0 })
}

fn reclaim(sepbit: &mut Sepbit, class: u8, age: u64) {
    sepbit.reclaimed(Reclaimed { stream: stream_of(class), age });
}

#[test]
fn at_first_every_known_life_is_short() {
    for history in [History::Fifo, History::Exact] {
        let mut sepbit = sepbit(64, history, 16);
        assert_eq!(write(&mut sepbit, 5, 0), 2, "nothing lived before it");
        assert_eq!(write(&mut sepbit, 6, 1), 2);
        assert_eq!(write(&mut sepbit, 5, 2), 1);
        assert_eq!(clean(&mut sepbit, 5, 1, 1000), 3);
        assert_eq!(clean(&mut sepbit, 6, 2, 1_000_000), 4, "below four times infinity");
    }
}

#[test]
fn the_lifespan_is_taken_over_batches_of_units() {
    let mut sepbit = sepbit(64, History::Exact, 4);
    for (class, age) in [(1, 10), (2, 99), (1, 20), (6, 99), (3, 99), (1, 30)] {
        reclaim(&mut sepbit, class, age);
    }
    assert_eq!(sepbit.lifespan, None);
    reclaim(&mut sepbit, 1, 42);
    assert_eq!(sepbit.lifespan, Some(25), "the mean of 10, 20, 30 and 42, rounded down");
    (0..3).for_each(|_| reclaim(&mut sepbit, 1, 100));
    assert_eq!(sepbit.lifespan, Some(25), "a batch is not a window");
    reclaim(&mut sepbit, 1, 100);
    assert_eq!(sepbit.lifespan, Some(100));
}

#[test]
fn classes_by_life_and_by_age() {
    for history in [History::Fifo, History::Exact] {
        let mut sepbit = sepbit(64, history, 1);
        (0..20).for_each(|lpn| _ = write(&mut sepbit, lpn, lpn.into()));
        reclaim(&mut sepbit, 1, 10);
        assert_eq!(write(&mut sepbit, 11, 20), 1, "nine is less than ten");
        assert_eq!(write(&mut sepbit, 11, 21), 1);
        assert_eq!(write(&mut sepbit, 12, 22), 2, "ten is not");
        for (age, class) in [(0, 4), (39, 4), (40, 5), (159, 5), (160, 6), (1 << 40, 6)] {
            for from in 1..=CLASSES {
                let expected = if from == SHORT { 3 } else { class };
                assert_eq!(clean(&mut sepbit, 15, from, 15 + age), expected, "{age} {from}");
            }
        }
        sepbit.forget(Lpn::new(11));
        sepbit.check();
        assert_eq!(write(&mut sepbit, 11, 23), 2, "a trimmed page has no life behind it");
    }
}

#[test]
fn the_queue_follows_the_lifespan() {
    let mut sepbit = sepbit(64, History::Fifo, 1);
    let mut clock = 0;
    let mut fill = |sepbit: &mut Sepbit, writes: u64, pages: u64| {
        for _ in 0..writes {
            write(sepbit, (clock % pages) as u32, clock);
            clock += 1;
        }
        (sepbit.queue.len(), sepbit.memory_bytes())
    };
    assert_eq!(fill(&mut sepbit, 1000, 40), (40, 320), "no longer than the pages written");
    reclaim(&mut sepbit, 1, 30);
    assert_eq!(fill(&mut sepbit, 4, 40), (36, 288), "shrinks by one a write");
    assert_eq!(fill(&mut sepbit, 100, 40), (30, 240));
    reclaim(&mut sepbit, 1, 35);
    assert_eq!(fill(&mut sepbit, 3, 40), (33, 264), "and grows by one");
    assert_eq!(fill(&mut sepbit, 100, 40), (35, 280));
    assert_eq!(fill(&mut sepbit, 100, 5), (35, 40), "distinct pages are what costs");
}

/// The queue as in the paper's text: a list of pages, searched.
#[test]
fn the_queue_is_one() {
    let mut rng = Rng::new(22);
    let mut sepbit = sepbit(100, History::Fifo, 1);
    let mut naive: Vec<(u32, u64)> = vec![];
    let mut clock = 0;
    for _ in 0..20_000 {
        // After a host layer with its own log the clock also counts other writes.
        clock += 1 + rng.below(2) * rng.below(3);
        if rng.below(500) == 0 {
            reclaim(&mut sepbit, 1, 1 + rng.below(200));
        }
        let lpn = rng.below(10) as u32 * rng.below(10) as u32;
        let last = naive.iter().rev().find(|entry| entry.0 == lpn);
        let limit = sepbit.lifespan.unwrap_or(u64::MAX);
        let short = last.is_some_and(|&(_, at)| clock - at < limit);
        assert_eq!(write(&mut sepbit, lpn, clock), if short { SHORT } else { 2 });
        naive.push((lpn, clock));
        let written = sepbit.pages;
        naive.drain(..usize::from(naive.len() as u64 > limit.min(written)));
        naive.drain(..usize::from(naive.len() as u64 > limit));
        assert_eq!(naive.len() as u64, sepbit.queue.len());
        let mut distinct: Vec<u32> = naive.iter().map(|entry| entry.0).collect();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(sepbit.memory_bytes(), 8 * distinct.len() as u64);
    }
}

#[test]
fn a_table_is_four_bytes_a_page() {
    assert_eq!(sepbit(64, History::Exact, 16).memory_bytes(), 256);
    assert_eq!(sepbit(64, History::Fifo, 16).memory_bytes(), 0);
}
