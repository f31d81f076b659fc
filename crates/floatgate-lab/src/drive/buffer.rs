//! From a config to a write buffer.

use floatgate_ftl::buffer::{Buffer, BufferConfig};
use floatgate_ftl::device::WriteBuffer;
use floatgate_ftl::geometry::Geometry;

use super::ExternalPolicies;
use crate::config::{Config, ConfigError};

/// Builds the write buffer of a drive, if it has one.
///
/// # Errors
/// An unknown name of a buffer policy.
pub(super) fn build(
    config: &Config,
    geometry: &Geometry,
    policies: &mut dyn ExternalPolicies,
) -> Result<Option<WriteBuffer>, ConfigError> {
    let Some(buffer) = policy(config, geometry, policies)? else { return Ok(None) };
    Ok(Some(WriteBuffer::new(buffer, config.buffer.acknowledge.0, config.buffer.ram_page.0)))
}

/// Pages in a block of the write buffer.
pub fn block_pages(config: &Config, geometry: &Geometry) -> u32 {
    let page_bytes = 1 << geometry.log2_page_bytes();
    config.buffer.block_pages_for(page_bytes, geometry.pages_per_unit())
}

fn policy(
    config: &Config,
    geometry: &Geometry,
    policies: &mut dyn ExternalPolicies,
) -> Result<Option<Buffer>, ConfigError> {
    let section = &config.buffer;
    if !section.exists() {
        return Ok(None);
    }
    let capacity_pages = section.capacity_pages(1 << geometry.log2_page_bytes());
    let block_pages = block_pages(config, geometry);
    let values = |name: &str, key: &str| config.policies.value(name, key);
    let config =
        BufferConfig::new(geometry.logical_pages(), block_pages, capacity_pages).with(&values);
    if let Some(external) = policies.buffer(geometry, &config) {
        return Ok(Some(Buffer::external(external, &config)));
    }
    let buffer = Buffer::new(&section.scheme, &config);
    buffer.map(Some).ok_or_else(|| ConfigError::unknown_policy("buffer.scheme", &section.scheme))
}
