//! Power failures while clients work: flushed data must be there, and other pages have old or new
//! data.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use floatgate_ftl::rng::Rng;
use floatgate_lab::drive::live::{Timekeeping, create, open};
use floatgate_lab::image;
use floatgate_lab::serve::{Backend, Client, ImageLocation, ServeError};
use serde_json::json;

use super::{LATER, NOW, SHRD, SMALL, Sets, Stand, config, read};

const PAGES: u64 = 512;
const PAGE: usize = 4096;

/// The contents that a client may find in each of its pages.
type Possible = BTreeMap<u64, Vec<u8>>;

/// Writes until the power fails, starting with the contents in `known`. Returns the possible
/// contents after the failure. A request that ends close to the power failure may have completed
/// before or after it.
fn write_until(
    client: &Client,
    is_pulled: &AtomicBool,
    number: u64,
    mut known: Possible,
    seed: u64,
) -> Possible {
    let mut rng = Rng::new(seed);
    while !is_pulled.load(Ordering::SeqCst) {
        if rng.below(20) == 0 {
            let flushed = client.flush();
            if flushed.is_ok() && !is_pulled.load(Ordering::SeqCst) {
                known.values_mut().for_each(|fills| drop(fills.drain(..fills.len() - 1)));
            }
            continue;
        }
        let page = number + 3 * rng.below(PAGES / 3);
        let fill = rng.below(256) as u8;
        known.entry(page).or_insert_with(|| vec![0]).push(fill);
        // A later read shows whether the write took place.
        let _ = client.write(page * PAGE as u64, &[fill; PAGE], LATER);
    }
    known
}

/// Returns the contents found, which must be possible ones.
fn found(client: &Client, possible: Possible) -> Possible {
    let look = |(page, fills): (u64, Vec<u8>)| {
        let bytes = read(client, page * PAGE as u64, PAGE);
        assert!(bytes.iter().all(|&byte| byte == bytes[0]), "page {page} is whole");
        assert!(fills.contains(&bytes[0]), "page {page} is {}, not of {fills:?}", bytes[0]);
        (page, vec![bytes[0]])
    };
    possible.into_iter().map(look).collect()
}

fn pulled(sets: Sets<'_>, time: Timekeeping, cuts: u64) {
    let config = config(None, &[SMALL, sets].concat());
    let stand = Stand::new(&config, PAGES * PAGE as u64, time);
    let mut known = [const { Possible::new() }; 3];
    for cut in 1..=cuts {
        let (client, is_pulled) = (&stand.client(), AtomicBool::new(false));
        let possible = thread::scope(|scope| {
            let clients = [0, 1, 2].map(|number| {
                let (known, is_pulled) = (known[number as usize].clone(), &is_pulled);
                let seed = 10 * cut + number;
                scope.spawn(move || write_until(client, is_pulled, number, known, seed))
            });
            thread::sleep(Duration::from_millis(5 + 3 * (cut % 8)));
            is_pulled.store(true, Ordering::SeqCst);
            let power = stand.ask(&json!({"do": "plug"})).unwrap();
            assert_eq!(power["cuts"], cut);
            clients.map(|client| client.join().unwrap())
        });
        stand.ask(&json!({"do": "check"})).unwrap();
        known = possible.map(|possible| found(&stand.client(), possible));
    }
    // On a busy machine a single cut may come before the clients' first write.
    let written: usize = known.iter().map(BTreeMap::len).sum();
    assert!(written > 0);
}

#[test]
fn flushed_data_survives_the_plug() {
    let buffer = [("buffer.scheme", "lru"), ("buffer.capacity", "256KiB")];
    for sets in [&[][..], &[("mapping.scheme", "dftl")], &[("ftl.scheme", "fast")], &buffer, SHRD] {
        pulled(sets, Timekeeping::None, 12);
    }
}

#[test]
fn flushed_data_survives_the_plug_of_a_drive_with_a_clock() {
    let fast = [("flash.program", "20us"), ("flash.read", "5us"), ("flash.erase", "100us")];
    pulled(&fast, Timekeeping::Simulated, 8);
    pulled(&[&fast, SHRD].concat(), Timekeeping::Simulated, 8);
}

/// Without a flush, data that only the write-back buffer holds is lost. With a flush it is kept.
#[test]
fn a_plug_that_is_pulled_empties_the_write_buffer() {
    let sets = [("buffer.scheme", "lru"), ("buffer.capacity", "1MiB")];
    for flushes in [false, true] {
        let stand = Stand::new(&config(None, &[SMALL, &sets].concat()), 1 << 20, Timekeeping::None);
        stand.client().write(0, &[7; PAGE], LATER).unwrap();
        if flushes {
            stand.client().flush().unwrap();
        }
        assert_eq!(read(&stand.client(), 0, PAGE), [7; PAGE]);
        stand.ask(&json!({"do": "plug"})).unwrap();
        assert_eq!(read(&stand.client(), 0, PAGE), [if flushes { 7 } else { 0 }; PAGE]);
    }
}

/// A flush covers every write acknowledged before it, to any client. Clients from before the power
/// failure must therefore connect again.
#[test]
fn clients_from_before_the_plug_must_come_again() {
    let sets = [("buffer.scheme", "lru"), ("buffer.capacity", "1MiB")];
    let stand = Stand::new(&config(None, &[SMALL, &sets].concat()), 1 << 20, Timekeeping::None);
    let old = stand.client();
    old.write(0, &[1; PAGE], NOW).unwrap();
    old.write(0, &[2; PAGE], LATER).unwrap();
    stand.ask(&json!({"do": "plug"})).unwrap();
    let off = ServeError::PowerOff;
    assert_eq!(old.flush(), Err(off.clone()));
    assert_eq!(old.read(0, &mut [0; PAGE]), Err(off.clone()));
    assert_eq!(old.extents(0, 4096), Err(off.clone()));
    for how in [LATER, NOW] {
        assert_eq!(old.write(0, &[3; PAGE], how), Err(off.clone()));
        assert_eq!(old.trim(0, 4096, how), Err(off.clone()));
        assert_eq!(old.zero(0, 4096, true, how), Err(off.clone()));
        assert_eq!(old.zero(0, 4096, false, how), Err(off.clone()));
    }
    let new = stand.client();
    let mut page = [0; PAGE];
    new.read(0, &mut page).unwrap();
    assert_eq!(page, [1; PAGE]);
    new.write(0, &[4; PAGE], NOW).unwrap();
    stand.ask(&json!({"do": "plug"})).unwrap();
    assert_eq!(new.flush(), Err(off));
    assert_eq!(read(&stand.client(), 0, PAGE), [4; PAGE]);
}

/// If the drive cannot be recovered, the error names the image, and the drive then stays without
/// power.
#[test]
fn an_error_names_the_destroyed_image() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flash.img");
    create(&path, &config(None, SMALL), PAGES * PAGE as u64, 3).unwrap();
    let stand = Stand::serve(ImageLocation::File(path.clone()), Timekeeping::None, vec![]);
    File::options().write(true).open(&path).unwrap().write_all_at(&[0; PAGE], 0).unwrap();
    let error = stand.ask(&json!({"do": "plug"})).unwrap_err();
    assert!(error.contains(path.to_str().unwrap()), "{error}");
    let Err(ServeError::Lost(why)) = stand.client().flush() else { panic!("the drive is lost") };
    assert!(why.contains(path.to_str().unwrap()), "every request gives the reason: {why}");
}

/// A copy of a working drive is an image of the state after a power failure at that moment.
#[test]
fn a_snapshot_is_an_image() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flash.img");
    create(&path, &config(None, SMALL), PAGES * PAGE as u64, 3).unwrap();
    let stand = Stand::serve(ImageLocation::File(path.clone()), Timekeeping::None, vec![]);
    (0..PAGES).for_each(|page| {
        stand.client().write(page * PAGE as u64, &[page as u8 | 1; PAGE], LATER).unwrap();
    });
    let copy = folder.path().join("copy.img");
    let reply = stand.ask(&json!({"do": "snapshot", "to": copy})).unwrap();
    assert_eq!(reply["bytes"], copy.metadata().unwrap().len());
    let again = stand.ask(&json!({"do": "snapshot", "to": copy})).unwrap_err();
    assert!(again.contains("exists"), "{again}");
    stand.client().zero(0, PAGES * PAGE as u64, true, LATER).unwrap();
    stand.served.shut_down().unwrap();
    assert_eq!(stand.client().flush(), Err(ServeError::PowerOff), "it was shut down");
    for path in [&path, &copy] {
        assert_eq!(image::check(path).unwrap().problems, []);
    }
    let mut drive = open(&copy).unwrap();
    let mut page = [0; PAGE];
    for number in 0..PAGES {
        drive.read(number * PAGE as u64, &mut page).unwrap();
        assert_eq!(page, [number as u8 | 1; PAGE]);
    }
    let mut drive = open(&path).unwrap();
    drive.read(0, &mut page).unwrap();
    assert_eq!(page, [0; PAGE]);
}
