//! Checks the rules of an image, page by page and as a drive.
//!
//! The check repairs nothing and writes nothing. Traces of a loss of power are no problem: pages
//! that were being programmed, and old versions.

use std::path::Path;

use floatgate_ftl::addr::{Lpn, Owner, Ppn, Tag, Unit};
use floatgate_ftl::nand::Tagged;
use floatgate_ftl::recovery::scan;
use serde::Serialize;

use super::owners::Owners;
use super::{OpenError, View};
use crate::stored::{Content, PageRecord, PageState};

/// Maximum number of problems to list; all are counted.
const KEPT: usize = 1000;

/// A page that breaks a rule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// Its unit; none if the problem belongs to no single page.
    pub unit: Option<u32>,
    /// Its page in the unit.
    pub page: Option<u32>,
    /// The problem.
    pub what: String,
}

/// Numbers of pages by state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct FoundPages {
    /// Valid pages of host data.
    pub data: u64,
    /// The newest pages of the map on flash.
    pub map: u64,
    /// Pages of the last checkpoint, and of the trims after it.
    pub journal: u64,
    /// Programmed pages that are no longer valid.
    pub stale: u64,
    /// Pages that were being programmed when the power failed.
    pub torn: u64,
    /// Erased pages before a programmed page of their unit.
    pub skipped: u64,
    /// Pages programmed without data, to fill a row of pages that are programmed at once.
    pub padding: u64,
    /// Trimmed logical pages that still have an old version on flash.
    pub trimmed: u64,
}

/// Result of a check.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Report {
    /// Path of the image.
    pub path: String,
    /// Erase units, including the units of the journal.
    pub units: u32,
    /// Numbers of pages by state.
    pub pages: FoundPages,
    /// The serial number of the last checkpoint.
    pub checkpoint_serial: Option<u64>,
    /// Number of problems.
    pub problem_count: u64,
    /// The first problems.
    pub problems: Vec<Finding>,
}

impl Report {
    fn add_problem(&mut self, place: Option<(Unit, u32)>, what: String) {
        self.problem_count += 1;
        if self.problems.len() < KEPT {
            let (unit, page) = (place.map(|place| place.0.0), place.map(|place| place.1));
            self.problems.push(Finding { unit, page, what });
        }
    }
}

/// Checks an image: every record and its data, the order in each unit, and the drive that recovery
/// finds, with the journal and without.
///
/// # Errors
/// A file that is in use, is no image, or cannot be read.
pub fn check(path: &Path) -> Result<Report, OpenError> {
    let view = View::open(path)?;
    let owners = Owners::read(&view);
    let report = Report {
        path: path.display().to_string(),
        units: view.plan.medium.units(),
        pages: FoundPages::default(),
        checkpoint_serial: owners.checkpoint.as_ref().map(|checkpoint| checkpoint.stamp.serial),
        problem_count: 0,
        problems: vec![],
    };
    let mut check = Check { view: &view, owners: &owners, report, serials: vec![] };
    for unit in view.units().filter(|&unit| view.is_used(unit)) {
        check.unit(unit);
        view.sound(path)?;
    }
    check.front();
    check.serials_differ();
    check.table();
    check.agrees_with_full_scan();
    if owners.checkpoint.is_none() {
        check.report.add_problem(None, "no checkpoint can be read".into());
    }
    let report = check.report;
    view.sound(path)?;
    Ok(report)
}

struct Check<'a> {
    view: &'a View,
    owners: &'a Owners,
    report: Report,
    /// Serial numbers of all pages; each must be unique.
    serials: Vec<u64>,
}

impl Check<'_> {
    /// Checks the sections in front of the records, and that all synced pages are present.
    fn front(&mut self) {
        let stored = &self.view.stored;
        for what in stored.damaged_records() {
            self.report.add_problem(None, (*what).to_string());
        }
        if let Some((present, expected)) = stored.missing() {
            let what = if present == expected {
                format!("some of {expected} synced pages were set back to older ones")
            } else {
                format!("{present} of {expected} synced pages have a sound record")
            };
            self.report.add_problem(None, what);
        }
    }

    fn unit(&mut self, unit: Unit) {
        let mut last: Option<Tag> = None;
        for (page, state) in (0..).zip(self.view.stored.inspect(unit, true).unwrap_or_default()) {
            match state {
                PageState::Erased => self.report.pages.skipped += 1,
                PageState::Torn => self.report.pages.torn += 1,
                PageState::Padding => self.report.pages.padding += 1,
                PageState::Damaged => {
                    self.report.add_problem(Some((unit, page)), "its record is damaged".into());
                }
                PageState::Programmed(record) => {
                    self.record((unit, page), &record, last);
                    last = Some(record.tag);
                }
            }
        }
    }

    fn record(&mut self, place: (Unit, u32), record: &PageRecord, last: Option<Tag>) {
        let tag = record.tag;
        let is_live = self.owners.is_live(self.view, self.page(place), tag);
        let is_journal = Owners::is_journal(self.view, place.0);
        let pages = &mut self.report.pages;
        *match (is_live, tag.owner) {
            (false, _) => &mut pages.stale,
            (true, _) if is_journal => &mut pages.journal,
            (true, Owner::Data(_)) => &mut pages.data,
            (true, Owner::Translation(_)) => &mut pages.map,
        } += 1;
        let life = if is_live { "" } else { ", and no longer valid" };
        let whose = format!("{}{life}", name(tag.owner, is_journal));
        let mut add =
            |what: String| self.report.add_problem(Some(place), format!("{whose}: {what}"));
        if !record.is_sound {
            add("its data is damaged".into());
        }
        if record.mode != self.view.stored.mode(place.0) {
            add(format!("it is in {:?} mode, and later pages of its unit are not", record.mode));
        }
        if record.content == Content::Lost && is_live {
            add("its data was already damaged when it was copied here".into());
        }
        if (record.content == Content::Note) != is_journal {
            add(format!("{:?} is not valid content of such a page", record.content));
        }
        let is_known = match tag.owner {
            Owner::Data(_) => !is_journal,
            Owner::Translation(tpn) if is_journal => {
                let unit = place.0.0 - self.view.plan.geometry.units();
                let per_unit = self.view.plan.medium.pages_per_unit();
                tpn.get() == unit % (self.view.journal.units() / 2) * per_unit + place.1
            }
            Owner::Translation(tpn) => tpn.get() < self.view.plan.geometry.translation_pages(),
        };
        if !is_known {
            add("the drive has no such page".into());
        }
        if let Some(last) = last {
            if last.serial >= tag.serial {
                add(format!("serial number {} comes after {}", tag.serial, last.serial));
            }
            if is_data(last.owner) != is_data(tag.owner) {
                add("pages of data and of the map share a unit".into());
            }
        }
        self.serials.push(tag.serial);
    }

    fn page(&self, (unit, page): (Unit, u32)) -> Ppn {
        self.view.plan.medium.page(unit, page)
    }

    fn add_problem_at(&mut self, ppn: Ppn, what: String) {
        let place = self.view.plan.medium.place(ppn);
        self.report.add_problem(Some(place), what);
    }

    fn serials_differ(&mut self) {
        let mut serials = std::mem::take(&mut self.serials);
        serials.sort_unstable();
        for pair in serials.windows(2).filter(|pair| pair[0] == pair[1]) {
            self.report.add_problem(None, format!("serial number {} is on two pages", pair[0]));
        }
    }

    /// Checks that each logical page is mapped to a page whose record names it, and that no two are
    /// mapped to the same page.
    fn table(&mut self) {
        let mut seen = vec![false; self.view.plan.geometry.physical_pages() as usize];
        let table = &self.owners.found.table;
        for (number, ppn) in table.iter().enumerate().filter_map(|(n, p)| Some((n, (*p)?))) {
            let lpn = Lpn::new(number as u32);
            if std::mem::replace(&mut seen[ppn.index()], true) {
                self.add_problem_at(
                    ppn,
                    format!("logical page {number} and another are mapped here"),
                );
            }
            let named = self.view.stored.tag(ppn).map(|tag| (tag.owner, tag.original));
            match named {
                Some((owner, original)) if owner == Owner::Data(lpn) || original == Some(lpn) => {}
                Some((owner, _)) => {
                    let whose = name(owner, false);
                    self.add_problem_at(ppn, format!("logical page {number} is mapped to {whose}"));
                }
                None => self.add_problem_at(
                    ppn,
                    format!("logical page {number} is mapped here, but the page cannot be read"),
                ),
            }
        }
    }

    /// Compares recovery with the journal against a full scan: the newest version of each logical
    /// page must be the mapped one, unless it was trimmed.
    fn agrees_with_full_scan(&mut self) {
        let Self { view, owners, .. } = *self;
        let Some(checkpoint) = &owners.checkpoint else { return };
        let full = scan(&view.stored, &view.plan.geometry, view.plan.log_pages, None);
        for (number, (&with, &without)) in owners.found.table.iter().zip(&full.table).enumerate() {
            if with == without {
                continue;
            }
            let sequence = |ppn: Option<Ppn>| Some(view.stored.tag(ppn?)?.sequence);
            let (Some(ppn), known) = (without, with) else {
                let what = "is in the checkpoint, and on no page";
                self.report.add_problem(None, format!("logical page {number} {what}"));
                continue;
            };
            if sequence(known) == sequence(without) {
                // Two copies of the same data: power failed while a victim was cleaned.
                continue;
            }
            let tag = view.stored.tag(ppn);
            let is_old = tag.is_some_and(|tag| tag.serial <= checkpoint.stamp.serial);
            let trimmed = checkpoint.trims.iter().any(|trim| {
                let covers = (u64::from(trim.first)..u64::from(trim.first) + u64::from(trim.pages))
                    .contains(&(number as u64));
                covers && tag.is_some_and(|tag| tag.sequence < trim.sequence)
            });
            if known.is_none() && (is_old || trimmed) {
                self.report.pages.trimmed += 1;
            } else {
                self.add_problem_at(
                    ppn,
                    format!("logical page {number} is newest here, and not found"),
                );
            }
        }
    }
}

fn is_data(owner: Owner) -> bool {
    matches!(owner, Owner::Data(_))
}

/// Describes a page in words.
fn name(owner: Owner, is_journal: bool) -> String {
    match owner {
        Owner::Data(lpn) => format!("logical page {}", lpn.get()),
        Owner::Translation(tpn) if is_journal => format!("page {} of the journal", tpn.get()),
        Owner::Translation(tpn) => format!("page {} of the map", tpn.get()),
    }
}
