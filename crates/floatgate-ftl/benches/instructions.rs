//! Instructions per host page write, along seven paths. `tools/instructions.py` counts them with
//! callgrind and compares them with `benches/instructions.json`.
//!
//! `instructions NAME` builds the drive, fills it and overwrites half of it. Then [`measured`]
//! writes random pages, and the program prints their number and the number of flash programs.
//! Without a name it prints the names.

mod rig;

use rig::{BATCH, Kind, Load};

/// Logical pages; a sixteenth of them is written during the count.
const PAGES: u32 = 64 << 10;
const WRITES: usize = PAGES as usize / 16 / BATCH * BATCH;

/// The counted work: nothing else in the program has this name.
#[inline(never)]
fn measured(load: &mut Load) {
    load.random(WRITES);
}

fn main() {
    let name = std::env::args().skip(1).find(|text| !text.starts_with('-'));
    let Some(name) = name else {
        Kind::ALL.iter().for_each(|kind| println!("{}", kind.name));
        return;
    };
    let kind = Kind::ALL.iter().find(|kind| kind.name == name).expect("a name of the list");
    let mut load = Load::new(kind.make(PAGES), PAGES);
    let before = load.drive.programs();
    measured(&mut load);
    println!("{WRITES} {}", load.drive.programs() - before);
}
