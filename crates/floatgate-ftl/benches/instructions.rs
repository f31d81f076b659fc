//! Instructions per page that the host writes, along seven paths: what `tools/instructions.py`
//! counts by callgrind and holds against `benches/instructions.json`.
//!
//! `instructions NAME` builds the drive, fills it and writes half of it over; then [`measured`]
//! writes random pages, and it prints how many, and how many flash programs that took. Without a
//! name it prints the names.

mod rig;

use rig::{BATCH, Kind, Load};

/// Logical pages, of which a sixteenth is written while it is counted.
const PAGES: u32 = 64 << 10;
const WRITES: usize = PAGES as usize / 16 / BATCH * BATCH;

/// What is counted: nothing else in the program has this name.
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
