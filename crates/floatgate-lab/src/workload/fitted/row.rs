//! Rows of Table 1, and all settings of a stand-in.

use super::super::keys::{KeyRow, Keys};
use super::PAGE;
use crate::config::ConfigError;

pub(super) const KEYS: &[KeyRow] = &[
    KeyRow {
        name: "row",
        default: "",
        doc: "The row of the table: proj_0, src1_2, src2_0, usr_0 or SW1. Without it, the five \
              keys that follow must be given; with it, they replace its numbers.",
    },
    KeyRow { name: "hot_pages", default: "row", doc: "Different hot pages in a GB of writes." },
    KeyRow { name: "cold_pages", default: "row", doc: "Different cold pages in a GB of writes." },
    KeyRow {
        name: "hot_writes",
        default: "row",
        doc: "Page writes to hot pages in a GB; 4.5 times hot_pages or more.",
    },
    KeyRow {
        name: "cold_writes",
        default: "row",
        doc: "Page writes to cold pages in a GB; 1 to 2.5 times cold_pages. With hot_writes, the \
              page writes that make a GB.",
    },
    KeyRow { name: "length", default: "row", doc: "Mean length of a write in pages of 4 KiB." },
    KeyRow {
        name: "hot_extents",
        default: "hot_pages / (2 length)",
        doc: "Runs of hot pages with cold ones between them. The paper prints none; its text says \
              a thousand or two, or less.",
    },
    KeyRow {
        name: "skew",
        default: "0",
        doc: "The exponent of Zipf's law by which hot extents are written, 0 to 10; 0: all equally \
              often. With any, each hot page has five writes in a GB, if the row has so many, and \
              the exponent is of what the row has beyond that.",
    },
    KeyRow {
        name: "cold_stream",
        default: "1",
        doc: "Cold requests that follow one another in address before the next goes elsewhere, on \
              average, unless they meet others before.",
    },
    KeyRow { name: "drift", default: "0", doc: "Share of the hot extents that move, per GB." },
    KeyRow {
        name: "span",
        default: "16 GB of cold writes",
        doc: "Bytes that requests go to. By default there are 16 times as many pages for cold \
              data as a GB writes, so that a cold page is written again after 16 GB on average; \
              at least 8 times.",
    },
];

/// Default mean length of hot extents, in mean lengths of a write.
const EXTENT_WRITES: f64 = 2.0;

/// Room for cold pages, as a multiple of the cold pages in a GB: by default, and the minimum.
const ROOM: u64 = 16;
const ROOM_MIN: u64 = 8;

/// Minimum mean number of writes to a hot page per GB. With a lower mean, too many hot pages would
/// get fewer than the four writes that make a page hot.
const HOT_AGAIN_MIN: f64 = 4.5;
/// Maximum mean number of writes to a cold page per GB. With a higher mean, too many cold pages
/// would get four.
const COLD_AGAIN_MAX: f64 = 2.5;

/// Maximum number of pages in a drive.
const PAGES_MAX: u64 = 1 << 32;

/// Row of Table 1: means per GB of writes, in pages of 4 KiB.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Row {
    pub hot_pages: u64,
    pub cold_pages: u64,
    pub hot_writes: u64,
    pub cold_writes: u64,
    pub length: f64,
}

const fn row(hot_pages: u64, cold_pages: u64, hot: u64, cold: u64, length: f64) -> Row {
    Row { hot_pages, cold_pages, hot_writes: hot, cold_writes: cold, length }
}

/// Table 1 of Shafaei, Desnoyers and Fitzpatrick, HotStorage 2016: four volumes of MSR Cambridge
/// (Narayanan et al., 2008), and a trace of an unnamed partner.
const ROWS: [(&str, Row); 5] = [
    ("proj_0", row(23_500, 39_800, 181_700, 62_100, 10.2)),
    ("src1_2", row(21_200, 41_700, 172_900, 67_800, 8.2)),
    ("src2_0", row(7_100, 29_300, 157_800, 55_000, 1.9)),
    ("usr_0", row(6_100, 36_000, 163_100, 63_800, 2.6)),
    ("SW1", row(2_100, 198_000, 9_600, 222_000, 21.6)),
];

impl Row {
    /// Returns the page writes of a GB.
    pub fn writes(&self) -> u64 {
        self.hot_writes + self.cold_writes
    }

    /// Returns the rounds over all hot pages in a GB.
    pub fn rounds(&self) -> f64 {
        self.hot_writes as f64 / self.hot_pages as f64
    }

    /// Returns the mean number of writes to a cold page in a GB.
    pub fn cold_again(&self) -> f64 {
        self.cold_writes as f64 / self.cold_pages as f64
    }

    fn check(&self, keys: &Keys) -> Result<(), ConfigError> {
        let (rounds, again) = (self.rounds(), self.cold_again());
        if self.writes() > PAGES_MAX {
            let writes = self.writes();
            let text = format!("{writes} page writes in a GB: expected at most {PAGES_MAX}");
            return Err(keys.error(&text));
        }
        if rounds < HOT_AGAIN_MIN {
            return Err(keys.error(&format!(
                "hot_writes / hot_pages = {rounds:.3}: expected at least {HOT_AGAIN_MIN}, as 4 \
                 writes make a page hot"
            )));
        }
        if !(1.0..=COLD_AGAIN_MAX).contains(&again) {
            return Err(keys.error(&format!(
                "cold_writes / cold_pages = {again:.3}: expected 1 to {COLD_AGAIN_MAX}, as 4 \
                 writes make a page hot"
            )));
        }
        Ok(())
    }
}

/// All settings of a stand-in, read from the generator's text.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub row: Row,
    pub hot_extents: u64,
    /// Exponent of Zipf's law for the writes to hot extents.
    pub skew: f64,
    /// Mean number of cold requests that follow one another in address.
    pub cold_stream: f64,
    /// Share of the hot extents that move, per GB.
    pub drift: f64,
    /// Pages of the span.
    pub pages: u64,
    pub stands_for: Option<String>,
}

impl Shape {
    pub fn read(keys: &mut Keys) -> Result<Self, ConfigError> {
        let (row, stands_for) = read_row(keys)?;
        row.check(keys)?;
        let most = ((row.hot_pages as f64 / row.length) as u64).max(1);
        let natural = (row.hot_pages as f64 / (EXTENT_WRITES * row.length)).round() as u64;
        let hot_extents = keys.count("hot_extents")?.unwrap_or(natural.max(1));
        if !(1..=most).contains(&hot_extents) {
            return Err(keys.error(&format!(
                "hot_extents={hot_extents}: expected 1 to hot_pages / length ({most}), as a write \
                 lies in one extent"
            )));
        }
        keys.resolve("hot_extents", &hot_extents);
        let skew = keys.number("skew", 0.0, (0.0, 10.0))?;
        let cold_stream = keys.number("cold_stream", 1.0, (1.0, 65_536.0))?;
        let drift = keys.number("drift", 0.0, (0.0, 1.0))?;
        // Hot extents divide the cold room, and a write still needs a place between them.
        let with_hot = (row.length * (hot_extents + 1) as f64).ceil() as u64;
        let room = row.cold_pages.max(with_hot);
        let default = (row.hot_pages + ROOM * room) * PAGE;
        let pages = keys.size("span", Some(default))? / PAGE;
        let least = row.hot_pages + ROOM_MIN * room;
        if !(least..=PAGES_MAX).contains(&pages) {
            return Err(keys.error(&format!(
                "span has {pages} pages of 4 KiB: expected {least} to {PAGES_MAX}"
            )));
        }
        Ok(Self { row, hot_extents, skew, cold_stream, drift, pages, stands_for })
    }

    /// Returns the share of the page writes that go to hot pages.
    pub fn hot_share(&self) -> f64 {
        self.row.hot_writes as f64 / self.row.writes() as f64
    }

    /// Returns the number of pages that are not hot.
    pub fn cold_room(&self) -> u64 {
        self.pages - self.row.hot_pages
    }
}

/// Reads the numbers of a row, and the name of the trace that they imitate.
fn read_row(keys: &mut Keys) -> Result<(Row, Option<String>), ConfigError> {
    const OWN: [&str; 5] = ["hot_pages", "cold_pages", "hot_writes", "cold_writes", "length"];
    let own: Vec<&str> = OWN.into_iter().filter(|key| keys.has(key)).collect();
    let whole = own.len() == OWN.len();
    let named = if keys.has("row") { Some(keys.choice("row", &ROWS)?) } else { None };
    if named.is_none() && !whole {
        let own = OWN.join(", ");
        return Err(
            keys.error(&format!("row is missing; for example row=src2_0 (or all of {own})"))
        );
    }
    let stands_for = ROWS.iter().find(|row| Some(row.1) == named).map(|row| match own.len() {
        0 => row.0.to_owned(),
        _ => format!("{}, with its own {}", row.0, own.join(", ")),
    });
    let of = |get: fn(&Row) -> u64| named.as_ref().map(get);
    let row = Row {
        hot_pages: positive(keys, "hot_pages", of(|row| row.hot_pages))?,
        cold_pages: positive(keys, "cold_pages", of(|row| row.cold_pages))?,
        hot_writes: positive(keys, "hot_writes", of(|row| row.hot_writes))?,
        cold_writes: positive(keys, "cold_writes", of(|row| row.cold_writes))?,
        length: keys.number("length", named.map_or(1.0, |row| row.length), (1.0, 65_536.0))?,
    };
    Ok((row, stands_for))
}

fn positive(keys: &mut Keys, key: &'static str, default: Option<u64>) -> Result<u64, ConfigError> {
    let count = keys.count(key)?.or(default).unwrap_or(0);
    // Sums and products of two such numbers stay below 2^64.
    if !(1..=PAGES_MAX).contains(&count) {
        return Err(keys.error(&format!("{key}={count}: expected 1 to {PAGES_MAX}")));
    }
    keys.resolve(key, &count);
    Ok(count)
}
