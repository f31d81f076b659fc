//! Config tables of placement and cleaning.

use floatgate_ftl::page_ftl::{Destination, Scope};
use floatgate_ftl::parameters::Choice;
use floatgate_ftl::placement::{self, HandleStreams, Isolation, MovedPages, PlacementConfig};
use floatgate_ftl::victim::Tie;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policies::names;
use super::{Chosen, Config, ConfigError, expect};
use crate::units::{Size, Sizes, Time};

/// Data placement: which pages share erase units.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Placement {
    /// How written pages are sorted into streams.
    #[schemars(schema_with = "names::placement")]
    pub scheme: String,
    /// Streams of a policy in Python, 1 to 200. The run that uses the policy sets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u8", range(min = 1, max = 200))]
    pub streams: Option<u8>,
    /// The stream for pages that cleaning moves.
    pub gc_destination: Chosen<Destination>,
    /// For "host": placement handles, 1 to 128. A write names one by its `stream`.
    #[schemars(range(min = 1, max = 128))]
    pub handles: u32,
    /// For "host": whether cleaning keeps pages of different handles separate, too.
    pub isolation: Chosen<Isolation>,
    /// For "host" with persistently isolated handles: which erase unit takes the pages that
    /// cleaning moves.
    pub moved_pages: Chosen<MovedPages>,
    /// Reclaim unit: data of the erase units that a stream fills one after the other and that are
    /// cleaned together, a multiple of the erase unit. For "host" also a list with a size for each
    /// handle; the shared moved pages of initially isolated handles then have the first size. Not
    /// set: an erase unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Sizes")]
    #[schemars(extend("x-minimum" = "512B", "x-maximum" = "1PiB", "maxItems" = 128))]
    pub reclaim_unit: Option<Sizes>,
}

impl Default for Placement {
    fn default() -> Self {
        Self {
            scheme: "single".into(),
            streams: None,
            gc_destination: Chosen(Destination::Scheme),
            handles: 8,
            isolation: Chosen(Isolation::Initially),
            moved_pages: Chosen(MovedPages::WithWrites),
            reclaim_unit: None,
        }
    }
}

/// How space is reclaimed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cleaning {
    /// The victim policy: which erase unit is cleaned next.
    #[schemars(schema_with = "names::victim")]
    pub victim: String,
    /// For "greedy": the preferred stream if units of several streams have the fewest valid pages.
    pub tie: Chosen<Tie>,
    /// The erase units among which the victim is chosen.
    pub scope: Chosen<Scope>,
    /// Low-water mark of free erase units, 1 to 1000000: after a write opens an erase unit, the
    /// drive cleans until `low_water` - 1 units are free. Not set: 3, or the drive's minimum if it
    /// is larger. The minimum is about one more than the number of units open at a time. With
    /// cleaning ahead of need it is about one more than twice that number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 1_000_000))]
    pub low_water: Option<u32>,
    /// Free erase units at which cleaning ahead of need stops, 1 to 1000000. Not set: twice
    /// `low_water`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 1_000_000))]
    pub high_water: Option<u32>,
    /// Share of the erase units in service that are free, above 0 and below 1: while fewer are, a
    /// write that needs an erase unit waits for cleaning. Unlike units of `low_water`, these units
    /// are taken from the spare space, not added to it. Not together with `low_water`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub foreground_below: Option<f64>,
    /// Share of the erase units in service that are free, above 0 and below 1: while fewer are, the
    /// drive cleans ahead of need. Unlike units of `high_water`, these units are taken from the
    /// spare space, not added to it. Not together with `high_water`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub background_below: Option<f64>,
    /// Lazy cleaning: cleaning ahead of need takes a victim only if at most this share of its pages
    /// is valid, 0 to 1. Not set: it takes every victim with an invalid page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = 0.0, max = 1.0))]
    pub lazy: Option<f64>,
    /// With reclaim units of several erase units: whether a victim's erase unit without an invalid
    /// page joins the reclaim unit that its pages would be copied to, without copies. It does so if
    /// all its pages would go there and that reclaim unit has room for an erase unit.
    pub relabel: bool,
    /// How cleaning and host writes take turns.
    pub pacing: Pacing,
    /// For "proportional": copies that the drive may owe, in map units, 1 to 100000000. A copy is
    /// owed from the admission of the host write that needs its space until it is programmed. A
    /// write that would make the drive owe more waits, and later writes wait behind it. The reserve
    /// for cleaning includes as many pages. Not set: two rows for each die; the row of a drive that
    /// programs page by page is a page on each plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 100_000_000))]
    pub debt: Option<u32>,
    /// Incremental cleaning: pages copied per page that the host writes, while fewer than
    /// `high_water` units are free, 1 to 65536. Not set: no incremental cleaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 65_536))]
    pub copies_per_write: Option<u32>,
    /// Idle-time cleaning: units are cleaned after the host has been idle for this time, while
    /// fewer than `high_water` units are free. Not set: no idle-time cleaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Time", extend("x-minimum" = "0ns", "x-maximum" = "1000s"))]
    pub idle_after: Option<Time>,
    /// The wear-leveling policy.
    pub wear_leveling: WearLeveling,
    /// For "static": the least worn unit is moved if another unit has over this many more erases, 1
    /// to 1000000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub wear_gap: u32,
}

impl Default for Cleaning {
    fn default() -> Self {
        Self {
            victim: "greedy".into(),
            tie: Chosen(Tie::Cold),
            scope: Chosen(Scope::All),
            low_water: None,
            high_water: None,
            foreground_below: None,
            background_below: None,
            lazy: None,
            relabel: false,
            pacing: Pacing::None,
            debt: None,
            copies_per_write: None,
            idle_after: None,
            wear_leveling: WearLeveling::Dynamic,
            wear_gap: 100,
        }
    }
}

/// How cleaning and host writes take turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pacing {
    /// A write that needs an erase unit waits for whole victims, unless the drive cleans ahead of
    /// need. A write that finds no room in the controller's memory waits for one program, and later
    /// writes fill the rest of its room.
    None,
    /// With each host page the drive copies as many pages as the coming host pages need, and writes
    /// wait for room in the order in which they come.
    Proportional,
}

/// The wear-leveling policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WearLeveling {
    /// The least worn free unit is opened next.
    Dynamic,
    /// The unit that has been free longest is opened next.
    None,
    /// Like dynamic. In addition, the least worn unit is moved to a worn one when their gap is too
    /// wide.
    Static,
}

/// Condition of a threshold of cleaning ahead of need.
pub(crate) const AHEAD: &str = "cleaning.pacing = \"proportional\", cleaning.copies_per_write or \
                                cleaning.idle_after to be set as well";

impl Cleaning {
    /// Whether the drive cleans ahead of need.
    fn is_ahead(&self) -> bool {
        let is_paced = self.pacing == Pacing::Proportional || self.copies_per_write.is_some();
        is_paced || self.idle_after.is_some()
    }
}

impl Config {
    /// Returns the bytes of data in an erase unit.
    fn erase_unit_bytes(&self) -> u64 {
        self.unit_pages().saturating_mul(self.unit_bytes())
    }

    /// Returns the erase units in a reclaim unit, for each of `streams` streams of the placement.
    /// Empty if each erase unit is a reclaim unit.
    pub(crate) fn reclaim_units(&self, streams: u8, placements: &PlacementConfig) -> Vec<u32> {
        let Some(Sizes(sizes)) = &self.placement.reclaim_unit else { return Vec::new() };
        let unit = self.erase_unit_bytes().max(1);
        let units = |size: Size| u32::try_from(size.0 / unit).unwrap_or(u32::MAX);
        let handles = HandleStreams::new(placements);
        let of_stream = |stream| match sizes.len() {
            1 => sizes[0],
            _ => sizes[usize::from(handles.handle(stream).unwrap_or(0))],
        };
        (0..streams).map(|stream| units(of_stream(stream))).collect()
    }

    /// Returns the erase units in the largest reclaim unit.
    pub(crate) fn largest_reclaim_unit(&self) -> u32 {
        let sizes = self.placement.reclaim_unit.iter().flat_map(|sizes| &sizes.0);
        let largest = sizes.map(|size| size.0).max().unwrap_or(0);
        u32::try_from(largest / self.erase_unit_bytes().max(1)).unwrap_or(u32::MAX).max(1)
    }

    /// Checks that reclaim units consist of whole erase units, and that each handle has a size.
    fn check_reclaim_unit(&self) -> Result<(), ConfigError> {
        let Some(Sizes(sizes)) = &self.placement.reclaim_unit else { return Ok(()) };
        const KEY: &str = "placement.reclaim_unit";
        let unit = self.erase_unit_bytes().max(1);
        for size in sizes {
            let text = format!("a multiple of the {unit} bytes of an erase unit");
            expect(size.0.is_multiple_of(unit), KEY, &format!("\"{size}\""), text)?;
        }
        let Placement { scheme, handles, .. } = &self.placement;
        let count = sizes.len();
        let text = match scheme.as_str() {
            "host" => format!("one size, or one for each of the {handles} placement.handles"),
            _ => "one size, as only placement.scheme = \"host\" has handles".to_owned(),
        };
        let matches = scheme == "host" && count as u64 == u64::from(*handles);
        expect(count == 1 || matches, KEY, &format!("a list of {count}"), text)
    }

    /// Checks the settings of placement and cleaning against each other.
    pub(super) fn check_reclaiming(&self) -> Result<(), ConfigError> {
        let Placement { isolation, moved_pages, .. } = &self.placement;
        let initially = "\"with_writes\" with placement.isolation = \"initially\", where the moved \
                         pages of all handles share erase units";
        expect(
            isolation.0 == Isolation::Persistently || moved_pages.0 == MovedPages::WithWrites,
            "placement.moved_pages",
            &format!("\"{}\"", moved_pages.0.name()),
            initially.to_owned(),
        )?;
        self.check_reclaim_unit()?;
        self.check_thresholds()?;
        self.check_pacing()?;
        self.check_relabel()
    }

    /// Checks that each threshold of cleaning is given once, and has an effect.
    fn check_thresholds(&self) -> Result<(), ConfigError> {
        let Cleaning { foreground_below, background_below, lazy, .. } = self.cleaning;
        let Cleaning { low_water, high_water, .. } = self.cleaning;
        for (key, share, other, units) in [
            ("cleaning.foreground_below", foreground_below, "cleaning.low_water", low_water),
            ("cleaning.background_below", background_below, "cleaning.high_water", high_water),
        ] {
            let text = format!("no value together with {other}");
            expect(share.is_none() || units.is_none(), key, &share.unwrap_or(0.0), text)?;
        }
        let is_ahead = self.cleaning.is_ahead();
        for (key, value) in
            [("cleaning.background_below", background_below), ("cleaning.lazy", lazy)]
        {
            expect(is_ahead || value.is_none(), key, &value.unwrap_or(0.0), AHEAD.to_owned())?;
        }
        Ok(())
    }

    /// Checks that the settings of paced cleaning have an effect, and that no other key sets a
    /// pace.
    fn check_pacing(&self) -> Result<(), ConfigError> {
        let Cleaning { pacing, debt, copies_per_write, wear_leveling, .. } = self.cleaning;
        if pacing == Pacing::None {
            let text = "cleaning.pacing = \"proportional\" to be set as well";
            expect(debt.is_none(), "cleaning.debt", &debt.unwrap_or(0), text.to_owned())?;
            let text =
                "false without cleaning.pacing = \"proportional\", which puts writes in line";
            return expect(!self.queue.head_of_line, "queue.head_of_line", &true, text.to_owned());
        }
        let text = "no value with cleaning.pacing = \"proportional\", which sets the pace";
        let copies = copies_per_write.unwrap_or(0);
        let key = "cleaning.copies_per_write";
        expect(copies_per_write.is_none(), key, &copies, text.to_owned())?;
        let text =
            "another with cleaning.pacing = \"proportional\": it moves whole erase units at once";
        let is_paced = wear_leveling != WearLeveling::Static;
        expect(is_paced, "cleaning.wear_leveling", &"\"static\"", text.to_owned())?;
        let text = "false, or controller.write_memory to be set as well: reads wait in line for it";
        let has_line = !self.queue.head_of_line || self.write_pages().is_some();
        expect(has_line, "queue.head_of_line", &true, text.to_owned())
    }

    /// Checks that erase units can be relabelled: all their moved pages must go to one stream.
    fn check_relabel(&self) -> Result<(), ConfigError> {
        if !self.cleaning.relabel {
            return Ok(());
        }
        let text = "false, or a larger placement.reclaim_unit: an erase unit joins others";
        let refuse = |is_right, text: String| expect(is_right, "cleaning.relabel", &true, text);
        refuse(self.largest_reclaim_unit() > 1, text.to_owned())?;
        let scheme = &self.placement.scheme;
        let placements = self.placement_config(self.provisional_geometry()?, false);
        let sorts = placement::demands(scheme, &placements).is_some_and(|one| one.sorts_moved);
        match self.placement.gc_destination.0 {
            Destination::Scheme => refuse(
                !sorts || scheme == "host",
                format!("false with placement.scheme = \"{scheme}\", which sorts moved pages"),
            ),
            Destination::Reclassify => {
                refuse(false, "false with placement.gc_destination = \"reclassify\"".to_owned())
            }
            Destination::Same | Destination::Cold => Ok(()),
        }
    }
}
