//! Sizes of drives: the size that an error suggests works, and one unit less does not.

use floatgate_ftl::rng::Rng;
use floatgate_lab::config::Config;
use floatgate_lab::drive::Plan;
use floatgate_lab::result::Facts;
use floatgate_lab::run::{Control, Options, run};
use floatgate_lab::workload::generator;

type Sets = Vec<(String, String)>;

fn config(sets: &[(String, String)], blocks: u64) -> Config {
    let mut sets = sets.to_vec();
    sets.push(("flash.blocks".to_owned(), blocks.to_string()));
    Config::load(None, None, &sets).unwrap()
}

fn refusal(sets: &[(String, String)], blocks: u64, span: u64) -> Option<String> {
    Plan::new(&config(sets, blocks), span).err().map(|error| error.to_string())
}

/// Returns the number of blocks in an error.
fn named(error: &str) -> Option<u64> {
    let rest = error.split("expected flash.blocks = ").nth(1)?;
    rest.split(' ').next()?.parse().ok()
}

fn pairs(sets: &[(&str, &str)]) -> Sets {
    sets.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// Translation layers that need different numbers of units in addition to the logical pages.
const SCHEMES: [&[(&str, &str)]; 8] = [
    &[],
    &[("placement.scheme", "dac")],
    &[("mapping.scheme", "dftl"), ("mapping.cache", "64KiB")],
    &[("mapping.scheme", "page_cache"), ("mapping.cache", "64KiB"), ("mapping.entry_bytes", "16")],
    &[("ftl.scheme", "bast")],
    &[("ftl.scheme", "fast")],
    &[("cleaning.wear_leveling", "static"), ("ftl.journal", "true")],
    &[("mapping.scheme", "page_cache"), ("host.scheme", "shrd"), ("host.log", "1MiB")],
];

fn drawn(rng: &mut Rng) -> Sets {
    let scheme = SCHEMES[rng.below(SCHEMES.len() as u64) as usize];
    let mut sets = pairs(scheme);
    let spare = 10f64.powf(-0.1 - rng.below(250) as f64 / 100.0);
    sets.push(("capacity.spare_factor".to_owned(), spare.to_string()));
    // SHRD needs map pages that fit in one unit.
    let pages = [4, 16, 64, 200][rng.below(4) as usize].max(if scheme.len() == 3 { 64 } else { 1 });
    let superblock = [1, 2, 4][rng.below(3) as usize];
    for (key, value) in [("flash.pages_per_block", pages), ("flash.superblock", superblock)] {
        sets.push((key.to_owned(), value.to_string()));
    }
    sets.push(("flash.planes".to_owned(), "4".to_owned()));
    sets
}

#[test]
fn the_number_that_is_named_works_and_one_unit_less_does_not() {
    let mut rng = Rng::new(37);
    let (mut no_room, mut too_small, mut never) = (0, 0, 0);
    for _ in 0..4000 {
        let sets = drawn(&mut rng);
        let superblock = u64::from(Config::load(None, None, &sets).unwrap().flash.superblock);
        let span = rng.below(1 << 14) * 4096 + 1;
        let blocks = (1 + rng.below(60)) * superblock;
        let Some(error) = refusal(&sets, blocks, span) else { continue };
        let Some(least) = named(&error) else {
            assert!(error.contains("expected a larger spare factor"), "{error}");
            assert!(refusal(&sets, 40_000 * superblock, 1).is_some(), "{sets:?}: {error}");
            never += 1;
            continue;
        };
        no_room += u32::from(error.contains("no room to clean"));
        too_small += u32::from(error.contains("the workload spans"));
        assert!(least > blocks && least.is_multiple_of(superblock), "{error}");
        assert_eq!(refusal(&sets, least, span), None, "{sets:?}, span {span}: {error}");
        let less = least - superblock;
        assert!(
            less == 0 || refusal(&sets, less, span).is_some(),
            "{sets:?}, span {span}: {error}"
        );
    }
    assert!(no_room > 200 && too_small > 200 && never > 10, "{no_room} {too_small} {never}");
}

#[test]
fn a_drive_of_the_number_that_is_named_runs() {
    let play = |blocks: u64| {
        let sets = pairs(&[("capacity.spare_factor", "0.07"), ("timing", "none")]);
        let mut workload = generator("uniform:span=256KiB,writes=2k", 1).unwrap();
        let options =
            Options { span_bytes: workload.span_bytes(), seed: 1, verify: true, start_cache: None };
        let control = Control::default();
        run(&config(&sets, blocks), &mut *workload, Facts::default(), options, &control)
    };
    for blocks in 8..15 {
        let error = play(blocks).err().unwrap().to_string();
        assert_eq!(named(&error), Some(15), "{error}");
    }
    assert!(play(15).is_ok());
}
