//! Arguments of policies, as Python sees them.

use floatgate_ftl::buffer::BufferConfig;
use floatgate_ftl::geometry::Geometry;
use floatgate_ftl::mapping::MapConfig;
use floatgate_ftl::placement as engine;
use pyo3::prelude::*;

/// Shape of the drive of a policy.
#[pyclass(frozen, get_all, module = "floatgate")]
pub(crate) struct DriveShape {
    logical_pages: u32,
    page_bytes: u32,
    pages_per_unit: u32,
    units: u32,
}

impl DriveShape {
    pub(super) fn new(geometry: &Geometry) -> Self {
        Self {
            logical_pages: geometry.logical_pages(),
            page_bytes: geometry.shape().page_bytes,
            pages_per_unit: geometry.pages_per_unit(),
            units: geometry.units(),
        }
    }
}

/// Drive of a mapping.
#[pyclass(frozen, get_all, module = "floatgate")]
pub(crate) struct MapShape {
    logical_pages: u32,
    page_bytes: u32,
    entries_per_page: u32,
    translation_pages: u32,
    cache_bytes: u64,
}

impl MapShape {
    pub(super) fn new(config: &MapConfig) -> Self {
        let geometry = &config.geometry;
        Self {
            logical_pages: geometry.logical_pages(),
            page_bytes: geometry.shape().page_bytes,
            entries_per_page: geometry.entries_per_page(),
            translation_pages: geometry.translation_pages(),
            cache_bytes: config.cache_bytes,
        }
    }
}

/// Drive of a buffer policy.
#[pyclass(frozen, get_all, module = "floatgate")]
pub(crate) struct BufferShape {
    logical_pages: u32,
    page_bytes: u32,
    block_pages: u32,
    capacity_pages: u32,
}

impl BufferShape {
    pub(super) fn new(geometry: &Geometry, config: &BufferConfig) -> Self {
        Self {
            logical_pages: config.logical_pages,
            page_bytes: geometry.shape().page_bytes,
            block_pages: config.block_pages,
            capacity_pages: config.capacity_pages,
        }
    }
}

/// Page that the host is about to write.
#[pyclass(frozen, get_all, module = "floatgate")]
pub(crate) struct HostWrite {
    lpn: u32,
    request_pages: u32,
    handle: u16,
    clock: u64,
    now_ns: u64,
}

impl HostWrite {
    pub(super) fn new(write: engine::HostWrite, handle: u16) -> Self {
        let engine::HostWrite { lpn, request_pages, clock, now_ns } = write;
        Self { lpn: lpn.get(), request_pages, handle, clock, now_ns }
    }
}

/// Unit that is about to be cleaned.
#[pyclass(frozen, get_all, module = "floatgate")]
pub(crate) struct Reclaimed {
    stream: u8,
    age: u64,
}

impl From<engine::Reclaimed> for Reclaimed {
    fn from(engine::Reclaimed { stream, age }: engine::Reclaimed) -> Self {
        Self { stream, age }
    }
}
