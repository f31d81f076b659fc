//! Lists the owner of each page.

use std::path::Path;

use floatgate_ftl::addr::{Owner, Ppn, Unit};
use floatgate_ftl::geometry::Mode;
use floatgate_ftl::nand::Tagged;
use serde_json::{Value, json};

use super::owners::Owners;
use super::{OpenError, View};
use crate::config::ConfigError;
use crate::stored::{Content, PageState};

/// Pages to list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selection {
    /// All pages that are not erased.
    All,
    /// All pages of a unit, erased ones too.
    Unit(u32),
    /// All pages written for a logical page, old versions too.
    Lpn(u32),
}

/// Lists pages, with a row for each. Calls `tell` with the rows of one unit at a time, and ends
/// early if `tell` returns false.
///
/// # Errors
/// A file that is in use, is no image or cannot be read, or a unit or page beyond the drive.
pub fn dump(
    path: &Path,
    selection: Selection,
    mut tell: impl FnMut(&[Value]) -> bool,
) -> Result<(), OpenError> {
    let view = View::open(path)?;
    let (units, lpns) = (view.plan.medium.units(), view.plan.user_pages());
    let beyond = |what: &str, number: u32, count: u32| {
        let text = format!("{what} {number}: expected at most {}", count.saturating_sub(1));
        Err(OpenError::Config(ConfigError::new(text)))
    };
    let range = match selection {
        Selection::Unit(unit) if unit >= units => return beyond("unit", unit, units),
        Selection::Lpn(lpn) if lpn >= lpns => return beyond("logical page", lpn, lpns),
        Selection::Unit(unit) => unit..unit + 1,
        Selection::All => 0..units,
        // Units of the journal hold no logical pages.
        Selection::Lpn(_) => 0..view.plan.geometry.units(),
    };
    let owners = Owners::read(&view);
    for unit in range.map(Unit) {
        let rows = rows(&view, &owners, unit, selection);
        view.sound(path)?;
        if !rows.is_empty() && !tell(&rows) {
            break;
        }
    }
    Ok(())
}

fn rows(view: &View, owners: &Owners, unit: Unit, selection: Selection) -> Vec<Value> {
    let mut states = view.stored.inspect(unit, false).unwrap_or_default();
    if matches!(selection, Selection::Unit(_)) {
        states.resize(view.plan.medium.pages_per_unit() as usize, PageState::Erased);
    }
    let states = (0..).zip(states).filter(|(_, state)| is_selected(state, selection));
    states.map(|(page, state)| row(view, owners, (unit, page), state)).collect()
}

fn is_selected(state: &PageState, selection: Selection) -> bool {
    match (selection, state) {
        (Selection::Unit(_), _) => true,
        (Selection::All, state) => *state != PageState::Erased,
        (Selection::Lpn(lpn), PageState::Programmed(record)) => {
            let named = |owner: Owner| matches!(owner, Owner::Data(named) if named.get() == lpn);
            named(record.tag.owner) || record.tag.original.map(Owner::Data).is_some_and(named)
        }
        (Selection::Lpn(_), _) => false,
    }
}

fn row(view: &View, owners: &Owners, (unit, page): (Unit, u32), state: PageState) -> Value {
    let ppn: Ppn = view.plan.medium.page(unit, page);
    let place = |state: &str| json!({ "unit": unit.0, "page": page, "state": state });
    let PageState::Programmed(record) = state else {
        return place(match state {
            PageState::Erased => "erased",
            PageState::Torn => "torn",
            PageState::Padding => "padding",
            _ => "damaged",
        });
    };
    let is_live = owners.is_live(view, ppn, record.tag);
    let (kind, number) = match record.tag.owner {
        Owner::Data(lpn) => ("data", lpn.get()),
        Owner::Translation(tpn) if Owners::is_journal(view, unit) => ("journal", tpn.get()),
        Owner::Translation(tpn) => ("map", tpn.get()),
    };
    let mut row = place(if is_live { "live" } else { "stale" });
    row["owner"] = kind.into();
    row["number"] = number.into();
    row["original"] = record.tag.original.map(|lpn| lpn.get()).into();
    row["sequence"] = record.tag.sequence.into();
    row["serial"] = record.tag.serial.into();
    row["content"] = content(record.content).into();
    row["bytes"] = record.bytes.into();
    if record.mode == Mode::Slc {
        row["mode"] = "slc".into();
    }
    row
}

/// Returns a word for the content of a page.
fn content(content: Content) -> &'static str {
    match content {
        Content::Zeros => "zeros",
        Content::Page => "page",
        Content::Note => "note",
        Content::Lost => "lost",
    }
}

impl View {
    /// Returns whether any page of a unit was programmed.
    pub(super) fn is_used(&self, unit: Unit) -> bool {
        self.stored.programmed(unit) > 0
    }
}
