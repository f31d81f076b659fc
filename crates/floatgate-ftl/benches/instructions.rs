//! Instructions per host page write, along nine paths. `tools/instructions.py` counts them with
//! callgrind and compares them with `benches/instructions.json`.
//!
//! `instructions NAME` builds the drive, fills it and overwrites half of it. Then [`measured`]
//! writes random pages, and the program prints their number and the number of flash programs.
//! Without a name it prints the names.

mod rig;
#[path = "instructions/today.rs"]
mod today;

use rig::{BATCH, Engine, Kind, Load};
use today::Today;

/// Logical pages; a sixteenth of them is written during the count.
const PAGES: u32 = 64 << 10;
const WRITES: usize = PAGES as usize / 16 / BATCH * BATCH;

/// The counted work: nothing else in the program has this name.
#[inline(never)]
fn measured(load: &mut Load) {
    load.random(WRITES);
}

/// Returns the names of all paths.
fn names() -> impl Iterator<Item = &'static str> {
    let of_today = Today::ALL.iter().map(|today| today.name);
    Kind::ALL.iter().map(|kind| kind.name).chain(of_today)
}

/// Makes the drive of a path.
fn make(name: &str) -> Engine {
    let kind = Kind::ALL.iter().find(|kind| kind.name == name);
    let today = || Today::ALL.iter().find(|today| today.name == name).expect("a name of the list");
    kind.map_or_else(|| today().make(PAGES), |kind| kind.make(PAGES))
}

fn main() {
    let name = std::env::args().skip(1).find(|text| !text.starts_with('-'));
    let Some(name) = name else {
        names().for_each(|name| println!("{name}"));
        return;
    };
    let mut load = Load::new(make(&name), PAGES);
    let before = load.drive.programs();
    measured(&mut load);
    println!("{WRITES} {}", load.drive.programs() - before);
}
