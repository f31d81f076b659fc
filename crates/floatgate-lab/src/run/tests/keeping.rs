//! Which start states a cache accepts, and which it rejects.

use std::fs;
use std::path::{Path, PathBuf};

use floatgate_ftl::mapping::MAPPINGS;
use floatgate_ftl::parameters::names;
use floatgate_ftl::placement::PLACEMENTS;
use floatgate_ftl::victim::VICTIMS;
use serde_json::Value;
use tempfile::{TempDir, tempdir};

use super::standing::{SPAN, config};
use super::*;

const RANDOM: (&str, &str) = ("start.fill", "random");

/// Returns the result of a run, without values that differ between runs, and its note on the start
/// state.
fn result(config: &Config, seed: u64, cache: Option<(&Path, &str)>) -> (Value, Option<String>) {
    let start_cache = cache.map(|(directory, build)| StartCache { directory, build });
    let options = Options { span_bytes: SPAN, seed, verify: false, start_cache };
    let mut workload =
        generator("zipf:span=256KiB,requests=500,reads=0.3,aligned=false", 1).unwrap();
    let control = Control::default();
    let mut result = run(config, &mut *workload, Facts::default(), options, &control).unwrap();
    let at = result
        .notes
        .iter()
        .position(|note| [TAKEN, NOT_KEPT].iter().any(|text| note.starts_with(text)));
    let note = at.map(|at| result.notes.remove(at));
    let mut document = serde_json::to_value(&result).unwrap();
    document.as_object_mut().unwrap().remove("engine");
    (document, note)
}

const TAKEN: &str = "the start state is that of an earlier run";
const NOT_KEPT: &str = "the start state was not kept: ";

fn is_taken(note: &Option<String>) -> bool {
    note.as_ref().is_some_and(|note| note.starts_with(TAKEN))
}

/// The files of a cache.
fn files(cache: &TempDir) -> Vec<PathBuf> {
    let mut found: Vec<_> =
        fs::read_dir(cache.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

/// Makes a config, a cache with its start state, and the result of a run without the cache.
fn kept(sets: &[(&str, &str)]) -> (Config, TempDir, Value) {
    let config = config(None, &[sets, &[RANDOM]].concat());
    let cache = tempdir().unwrap();
    let without = result(&config, 1, None);
    assert_eq!(result(&config, 1, Some((cache.path(), "b"))), without, "{sets:?}");
    (config, cache, without.0)
}

#[test]
fn every_policy_of_a_page_mapped_drive_is_kept() {
    let rows = [
        ("mapping.scheme", names(MAPPINGS).collect::<Vec<_>>()),
        ("placement.scheme", names(PLACEMENTS).collect()),
        ("cleaning.victim", names(VICTIMS).collect()),
    ];
    let others = [("slc.dynamic", "32KiB"), ("ftl.journal", "true"), ("flash.program_pages", "3")]
        .map(|(key, value)| (key, vec![value]));
    for (key, values) in rows.into_iter().chain(others) {
        for value in values {
            let (config, cache, without) = kept(&[(key, value)]);
            let (with, note) = result(&config, 1, Some((cache.path(), "b")));
            assert!(is_taken(&note), "{key} = {value}: {note:?}");
            assert!(with == without, "{key} = {value}");
        }
    }
}

#[test]
fn a_start_state_that_is_not_kept_gets_a_note() {
    let shrd = [
        ("controller.power_protected", "true"),
        ("shrd.contiguous", "16"),
        ("host.log", "96KiB"),
        ("host.scheme", "shrd"),
    ];
    let sets: [&[_]; _] = [
        &shrd,
        &[("buffer.scheme", "lru")],
        &[("faults.read", "1e-3")],
        &[("placement.scheme", "asa"), ("asa.clock", "time")],
    ];
    let of = |sets: &&[_]| config(None, &[*sets, &[RANDOM]].concat());
    for config in sets.iter().map(of).chain([config(Some("ncq13"), &[RANDOM])]) {
        let cache = tempdir().unwrap();
        for _ in 0..2 {
            let (with, note) = result(&config, 1, Some((cache.path(), "b")));
            assert!(note.unwrap().starts_with(NOT_KEPT), "{config:?}");
            assert!(with == result(&config, 1, None).0, "{config:?}");
        }
        assert!(files(&cache).is_empty(), "{config:?}");
    }
}

#[test]
fn a_state_is_taken_for_the_drive_the_seed_and_the_build_that_it_is_of() {
    let (config, cache, _) = kept(&[]);
    let path = cache.path();
    let (other_seed, other_build) =
        (result(&config, 2, Some((path, "b"))), result(&config, 1, Some((path, "c"))));
    assert!(!is_taken(&other_seed.1) && !is_taken(&other_build.1));
    assert_eq!(files(&cache).len(), 3);
    for set in
        [("capacity.spare_factor", "0.3"), ("start.overwrites", "1.5"), ("cleaning.tie", "hot")]
    {
        let config = super::standing::config(None, &[set, RANDOM]);
        let (with, note) = result(&config, 1, Some((path, "b")));
        assert!(!is_taken(&note), "{set:?}");
        assert_eq!(with, result(&config, 1, None).0, "{set:?}");
    }
}

#[test]
fn times_do_not_change_the_start_state() {
    let (_, cache, _) = kept(&[]);
    for set in [("flash.read", "5us"), ("flash.bus", "1GB/s"), ("queue.depth", "3")] {
        let config = config(None, &[set, RANDOM]);
        let (with, note) = result(&config, 1, Some((cache.path(), "b")));
        assert!(is_taken(&note), "{set:?}");
        assert_eq!(with, result(&config, 1, None).0, "{set:?}");
    }
}

/// A start state that is torn or changed anywhere counts as absent. The next run saves it again.
#[test]
fn a_damaged_state_is_reached_anew() {
    let (config, cache, without) = kept(&[]);
    let [path] = &files(&cache)[..] else { panic!("one file") };
    let whole = fs::read(path).unwrap();
    let places = (0..64).map(|part| part * whole.len() / 64).chain([whole.len() - 1]);
    for at in places {
        let mut changed = whole.clone();
        changed[at] ^= 0x10;
        for damaged in [&changed[..], &whole[..at]] {
            fs::write(path, damaged).unwrap();
            let (with, note) = result(&config, 1, Some((cache.path(), "b")));
            assert!(!is_taken(&note) && with == without, "{at}: {note:?}");
            assert!(fs::read(path).unwrap() == whole, "{at}");
        }
    }
    assert_eq!(files(&cache).len(), 1, "the cache has no other file");
}

#[test]
fn a_cache_that_cannot_be_written_only_gets_a_note() {
    let (config, cache, without) = kept(&[]);
    let file = files(&cache).remove(0);
    let (with, note) = result(&config, 1, Some((&file.join("beneath"), "b")));
    assert!(note.unwrap().starts_with(NOT_KEPT));
    assert_eq!(with, without);
}
