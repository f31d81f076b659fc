//! Shared by the unit tests of the mappings: drives, and accesses as text.

use super::*;
use crate::geometry::Shape;
use alloc::vec;

pub(super) const PAGES: u32 = 2048;

/// A drive of 2048 pages with `entries_per_page` map entries in a translation page.
pub(super) fn geometry(entries_per_page: u32) -> Geometry {
    let geometry = Geometry::new(Shape {
        page_bytes: entries_per_page * 4,
        pages_per_block: 64,
        units: 40,
        logical_pages: PAGES,
        ..Shape::SMALL
    });
    geometry.expect("the shape is a drive")
}

pub(super) fn fetch(tpn: u32) -> MapOp {
    MapOp::Fetch(Tpn::new(tpn))
}

pub(super) fn update(tpn: u32) -> MapOp {
    MapOp::Update(Tpn::new(tpn))
}

pub(super) fn rewrite(tpn: u32) -> MapOp {
    MapOp::Rewrite(Tpn::new(tpn))
}

/// Runs requests, written `r0+8` (8 pages from 0), `w5` or `t5`, within a budget. Returns the flash
/// work of each request. Asserts for every access: the budget, one map read per miss and none per
/// hit, and write-backs before the read.
pub(super) fn run(map: &mut impl Mapping, budget: u64, script: &str) -> Vec<Vec<MapOp>> {
    script.split_whitespace().map(|word| request(map, budget, word)).collect()
}

fn request(map: &mut impl Mapping, budget: u64, word: &str) -> Vec<MapOp> {
    let kind = match &word[..1] {
        "r" => AccessKind::Read,
        "w" => AccessKind::Write,
        _ => AccessKind::Trim,
    };
    let number = |text: &str| text.parse::<u32>().expect("a number");
    let (start, length) = word[1..].split_once('+').unwrap_or((&word[1..], "1"));
    let (start, length) = (number(start), number(length));
    let mut all = vec![];
    for page in 0..length {
        let (lpn, remaining, first) = (Lpn::new(start + page), length - page, page == 0);
        let mut io = vec![];
        let missed = map.residency(lpn) == Residency::Absent;
        map.access(Access { lpn, kind, remaining, first, mapped: true }, &mut io);
        map.check();
        assert!(map.memory_bytes() <= budget, "{} of {budget}", map.memory_bytes());
        let loads = io.iter().filter(|op| matches!(op, MapOp::Fetch(_))).count();
        assert_eq!(loads, usize::from(missed), "one map read per miss");
        assert!(!missed || matches!(io.last(), Some(MapOp::Fetch(_))), "write-backs come first");
        assert!(missed || io.is_empty(), "a hit is free");
        all.extend(io);
    }
    all
}

/// The cached entries.
pub(super) fn cached(map: &impl Mapping) -> Vec<u32> {
    (0..PAGES).filter(|&lpn| map.residency(Lpn::new(lpn)) != Residency::Absent).collect()
}

/// Pages that cleaning moved.
pub(super) fn moved(lpns: &[u32]) -> Vec<(Lpn, Ppn)> {
    lpns.iter().map(|&lpn| (Lpn::new(lpn), Ppn::new(lpn))).collect()
}

#[test]
fn accesses_of_one_kind_and_one_map_page_are_grouped() {
    assert!(fetch(2).goes_with(&fetch(3), 2) && update(2).goes_with(&update(3), 2));
    assert!(rewrite(5).goes_with(&rewrite(3), 3));
    assert!(!fetch(1).goes_with(&fetch(2), 2), "two map pages");
    assert!(!fetch(2).goes_with(&update(3), 2) && !update(2).goes_with(&rewrite(3), 2));
}

#[test]
fn a_clean_may_fill_as_many_units_with_the_map_as_its_pages_change() {
    // Units of a victim, translation pages, translation pages of a map page.
    for (shape, extra) in [
        ((1, 100, 1), 0),
        ((1, 100, 2), 1),
        ((1, 100, 4), 3),
        ((1, 17, 4), 2),
        ((1, 16, 4), 1),
        ((1, 8, 4), 0),
        ((1, 1, 4), 0),
        ((3, 100, 1), 2),
        ((3, 100, 4), 11),
        ((3, 17, 1), 2),
        ((3, 16, 1), 1),
    ] {
        assert_eq!(extra_map_units(8, shape.0, shape.1, shape.2), extra, "{shape:?}");
    }
    let geometry = geometry(16);
    let page_cache = PageCacheConfig { entries: Some(32), ..PageCacheConfig::default() };
    let config = MapConfig { page_cache, ..MapConfig::new(geometry, 0) };
    let extra = |demands: MapDemands| {
        let (pages, map_pages) = (geometry.pages_per_unit(), geometry.translation_pages());
        extra_map_units(pages, 1, map_pages, demands.pages_per_map_page)
    };
    // 64 pages of a unit change 128 translation pages, which is all of them.
    assert_eq!(extra(PageCache::demands(&config)), 1);
    assert_eq!(extra(NoCache::demands(&config)), 0);
}

#[test]
fn demands_and_mapping_agree_on_where_the_map_is() {
    let config = MapConfig::new(geometry(16), 1 << 16);
    for row in MAPPINGS {
        let mapping = Boxed::by_name(row.name, &config).unwrap();
        let demands = demands(row.name, &config).unwrap();
        assert_eq!(mapping.is_on_flash(), demands.on_flash, "{}", row.name);
    }
}

#[test]
fn the_smallest_cache_that_a_mapping_demands_is_enough_and_needed() {
    let geometry = geometry(16);
    let most = |name: &str, cache_bytes: u64| {
        let config = MapConfig::new(geometry, cache_bytes);
        let mut mapping = Boxed::by_name(name, &config).unwrap();
        let mut io = vec![];
        let memory = (0..PAGES).step_by(7).map(|lpn| {
            let lpn = Lpn::new(lpn);
            let kind = AccessKind::Write;
            mapping.access(Access { lpn, kind, remaining: 1, first: true, mapped: true }, &mut io);
            mapping.memory_bytes()
        });
        memory.max().unwrap()
    };
    for row in MAPPINGS {
        let demands = demands(row.name, &MapConfig::new(geometry, 0)).unwrap();
        if demands.on_flash {
            let least = demands.cache_bytes;
            assert!(most(row.name, least) <= least, "{} in {least}", row.name);
            // A page of S-FTL may be compressed: only the longest one needs the whole cache.
            let less = if row.name == "sftl" { 0 } else { least.saturating_sub(1) };
            assert_eq!(most(row.name, less) > less, least > 0, "{} in {less}", row.name);
            assert_eq!(demands.cache_for == "nothing", least == 0, "{} says for what", row.name);
        }
    }
}
