//! The limit set by memory: a bare translation layer next to the whole engine, in one process.
//!
//! `cargo bench --bench limit [-- "greedy, 4 Mi"]` writes uniform random pages to drives of 256 Ki
//! and 4 Mi pages of 4 KiB, with 7 % over-provisioning and units of 256 pages. The bare layer
//! ([`bare`]) consists only of arrays and prefetching, and cleans the same units as the engine. The
//! two take turns. The benchmark prints medians in million flash programs per second, and as a
//! share of the bare layer with the same victim policy. If the engine has a clock, the bare layer
//! with a bare event loop ([`events`]) shows the limit of an event-driven clock.
//! `FLOATGATE_BENCH_LARGE=1` adds 64 Mi and 512 Mi pages (some 10 GiB of memory, a quarter of an
//! hour).

#[path = "limit/bare.rs"]
mod bare;
#[path = "limit/events.rs"]
mod events;
mod rig;

use bare::{Bare, Choice};
use events::Events;
use rig::{Drive, Kind, LOW_WATER, Load};

const TURNS: usize = 5;
/// Pages written in a turn.
const WRITES: usize = 1 << 20;

impl Drive for Bare {
    fn write(&mut self, pages: &[u32]) {
        self.write_all(pages);
    }

    fn programs(&self) -> u64 {
        self.programs
    }
}

/// The bare layer with an event loop for its operations.
struct BareTimed {
    bare: Bare,
    events: Events,
}

impl Drive for BareTimed {
    fn write(&mut self, pages: &[u32]) {
        let before = self.bare.programs;
        self.bare.write_all(pages);
        let (written, programs) = (pages.len() as u64, self.bare.programs - before);
        self.events.play(2 * written + 4 * (programs - written));
    }

    fn programs(&self) -> u64 {
        self.bare.programs
    }
}

/// Results of a drive over its turns.
struct Turns {
    load: Load,
    /// Million flash programs per second.
    rates: Vec<f64>,
    /// Flash programs per page written, in the last turn.
    amplification: f64,
}

impl Turns {
    fn new(drive: impl Drive + 'static, pages: u32) -> Self {
        Self { load: Load::new(drive, pages), rates: vec![], amplification: 0.0 }
    }

    fn take(&mut self) {
        let before = self.load.drive.programs();
        let seconds = self.load.random(WRITES);
        let programs = (self.load.drive.programs() - before) as f64;
        self.rates.push(programs / seconds / 1e6);
        self.amplification = programs / WRITES as f64;
    }

    fn rate(&self) -> f64 {
        let mut rates = self.rates.clone();
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    }
}

/// Returns the victim policy of the engine.
fn choice(kind: &Kind) -> Choice {
    if kind.victim == "greedy" { Choice::Greedy } else { Choice::CostBenefit }
}

/// Compares each engine drive whose name contains `filter` with the bare layer, in turns.
fn compare(size: &str, pages: u32, filter: &str) {
    for kind in Kind::ALL {
        let name = format!("{}, {size}", kind.name);
        if !name.contains(filter) {
            continue;
        }
        let bare = || Bare::new(&kind.geometry(pages), LOW_WATER, choice(&kind));
        let timed = || BareTimed { bare: bare(), events: Events::new() };
        let mut timed = kind.is_timed.then(|| Turns::new(timed(), pages));
        let mut bare = Turns::new(bare(), pages);
        let mut engine = Turns::new(kind.make(pages), pages);
        for _ in 0..TURNS {
            bare.take();
            timed.iter_mut().for_each(Turns::take);
            engine.take();
        }
        let (limit, rate) = (bare.rate(), engine.rate());
        let (bare_wa, wa) = (bare.amplification, engine.amplification);
        let timed = timed.map_or(String::new(), |timed| format!("{:.1}", timed.rate()));
        let share = rate / limit;
        println!("{name:32}{rate:10.1}{limit:10.1}{share:8.2}{timed:>10}{wa:8.2}{bare_wa:8.2}");
    }
}

fn main() {
    print!("{:32}{:>10}{:>10}{:>8}", "M programs/s", "engine", "bare", "share");
    println!("{:>10}{:>8}{:>8}", "events", "WA", "bare");
    let filter = std::env::args().skip(1).find(|text| !text.starts_with('-')).unwrap_or_default();
    compare("256 Ki", 256 << 10, &filter);
    compare("4 Mi", 4 << 20, &filter);
    if std::env::var("FLOATGATE_BENCH_LARGE").as_deref() == Ok("1") {
        compare("64 Mi", 64 << 20, &filter);
        compare("512 Mi", 512 << 20, &filter);
    } else {
        println!("64 Mi and 512 Mi pages are left out; FLOATGATE_BENCH_LARGE=1 measures them too");
    }
}
