//! The limit set by memory: a bare translation layer next to the whole engine, in one process.
//!
//! `cargo bench --bench limit [-- "greedy, 4 Mi"]` writes uniform random pages to drives of 256 Ki
//! and 4 Mi pages of 4 KiB, with 7 % over-provisioning and units of 256 pages. The bare layer
//! ([`bare`]) consists only of arrays and prefetching, and cleans the same units as the engine. The
//! two take turns. The benchmark prints medians in million flash programs per second, and the
//! engine's share of its limit. The limit is the bare layer with the same victim policy; for a
//! drive with a clock, the bare layer with a bare event loop ([`events`]). The last drives have the
//! options of two of the lab's drives ([`today`]), whose units are larger.
//! `FLOATGATE_BENCH_LARGE=1` adds 64 Mi and 512 Mi pages (some 10 GiB of memory, a quarter of an
//! hour).

#[path = "limit/bare.rs"]
mod bare;
#[path = "limit/events.rs"]
mod events;
mod rig;
#[path = "instructions/today.rs"]
mod today;

use bare::{Bare, Choice};
use events::Events;
use floatgate_ftl::geometry::Geometry;
use rig::{Drive, Engine, Kind, LOW_WATER, Load};
use today::Today;

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

/// A drive of the comparison.
struct Compared {
    geometry: Geometry,
    choice: Choice,
    is_timed: bool,
    engine: Engine,
}

impl Compared {
    fn of(kind: &Kind, pages: u32) -> Self {
        let (geometry, engine) = (kind.geometry(pages), kind.make(pages));
        Self { geometry, choice: choice(kind), is_timed: kind.is_timed, engine }
    }

    fn of_today(today: &Today, pages: u32) -> Self {
        let (geometry, engine) = (today.geometry(pages), today.make(pages));
        Self { geometry, choice: Choice::Greedy, is_timed: true, engine }
    }

    /// Compares the drive with its limit, in turns.
    fn compare(self, name: &str, pages: u32) {
        let bare = Bare::new(&self.geometry, LOW_WATER, self.choice);
        let mut limit = match self.is_timed {
            true => Turns::new(BareTimed { bare, events: Events::new() }, pages),
            false => Turns::new(bare, pages),
        };
        let mut engine = Turns::new(self.engine, pages);
        for _ in 0..TURNS {
            limit.take();
            engine.take();
        }
        let (most, rate) = (limit.rate(), engine.rate());
        let (limit_wa, wa) = (limit.amplification, engine.amplification);
        let share = rate / most;
        println!("{name:32}{rate:10.1}{most:10.1}{share:8.2}{wa:8.2}{limit_wa:8.2}");
    }
}

/// Compares each engine drive whose name contains `filter` with its limit.
fn compare(size: &str, pages: u32, filter: &str) {
    let full = |name: &str| format!("{name}, {size}");
    for kind in Kind::ALL.iter().filter(|kind| full(kind.name).contains(filter)) {
        Compared::of(kind, pages).compare(&full(kind.name), pages);
    }
    for today in Today::ALL.iter().filter(|today| full(today.name).contains(filter)) {
        Compared::of_today(today, pages).compare(&full(today.name), pages);
    }
}

fn main() {
    print!("{:32}{:>10}{:>10}{:>8}", "M programs/s", "engine", "limit", "share");
    println!("{:>8}{:>8}", "WA", "limit");
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
