//! Shared by the unit tests of the placements: drives, and writes.

use super::*;
use crate::geometry::Shape;

/// A config for a drive of `pages` pages.
pub(super) fn config(pages: u32) -> PlacementConfig {
    let geometry = Geometry::new(Shape {
        page_bytes: 4096,
        pages_per_block: 64,
        units: pages.div_ceil(64) + 8,
        logical_pages: pages,
        ..Shape::SMALL
    });
    PlacementConfig::new(geometry.expect("the shape is a drive"))
}

/// A host write of a single page.
pub(super) fn write(lpn: u32) -> HostWrite {
    HostWrite { lpn: Lpn::new(lpn), request_pages: 1, clock: 0, now_ns: 0 }
}

/// A page that cleaning moves out of a stream.
pub(super) fn relocation(lpn: u32, stream: u8) -> Relocation {
    Relocation { lpn: Lpn::new(lpn), stream, clock: 0, now_ns: 0 }
}
