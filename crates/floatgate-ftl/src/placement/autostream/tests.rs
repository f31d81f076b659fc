use super::*;
use crate::placement::tests::{config, moving, write};
use crate::rng::Rng;

/// Chunks of four pages.
fn autostream(pages: u32, change: impl Fn(&mut AutostreamConfig)) -> Autostream {
    let mut config = config(pages);
    config.autostream.chunk_pages = 4;
    change(&mut config.autostream);
    Autostream::new(&config)
}

/// The stream of a command of one page.
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
fn what_is_not_written_any_more_sinks() {
    for forget in [false, true] {
        let mut drive = autostream(64, |config| config.forget = forget);
        // Chunk 1 gets to queue 2, chunk 0 then is the hottest, every other access.
        (0..5).for_each(|_| _ = command(&mut drive, 4));
        (0..60).for_each(|n| _ = command(&mut drive, if n % 2 == 0 { 0 } else { 40 }));
        assert_eq!((drive.hottest, drive.lifetime), (0, 2));
        let count = if forget { 1 } else { 5 };
        assert_eq!(queue_of(&drive, 1), (0, count));
        assert_eq!(drive.classify(moving(4, 3)), 0);
        // One more access: back to where its count puts it.
        command(&mut drive, 4);
        command(&mut drive, 40);
        let expected = if forget { (1, 2) } else { (2, 6) };
        assert_eq!(queue_of(&drive, 1), expected);
    }
}

#[test]
fn a_new_hottest_follows_the_one_that_expired() {
    let mut drive = autostream(64, |_| ());
    (0..40).for_each(|_| _ = command(&mut drive, 0));
    assert_eq!((drive.hottest, drive.lifetime), (0, 1));
    (0..40).for_each(|n| _ = command(&mut drive, 20 + 4 * (n % 3)));
    assert_eq!(queue_of(&drive, 0).0, 0);
    assert!((5..8).contains(&drive.hottest), "{}", drive.hottest);
    assert_eq!(drive.lifetime, 3);
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
