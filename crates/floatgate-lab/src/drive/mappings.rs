//! Mappings by their names, and what each is told.

use floatgate_ftl::mapping::{self, AnyMapping};
use floatgate_ftl::mappings;

use super::{Make, Plan};
use crate::config::{Config, ConfigError};

macro_rules! rows {
    ($($name:ident $Type:ident($($Own:ident)?), $doc:literal, $source:literal;)*) => {
        /// Makes it with the mapping that the config names, for each an engine of its own.
        pub(super) fn with_mapping<T: Make>(
            maker: T,
            config: &Config,
            plan: &Plan,
        ) -> Result<T::Made, ConfigError> {
            let map = config.map_config(plan.geometry);
            match config.mapping.scheme.as_str() {
                $(stringify!($name) => maker.page_mapped(mapping::$Type::new(&map)),)*
                _ => Err(unknown(config)),
            }
        }
    };
}
mappings!(rows);

/// Makes it with the mapping that the config names, behind a pointer.
pub(super) fn with_boxed_mapping<T: Make>(
    maker: T,
    config: &Config,
    plan: &Plan,
) -> Result<T::Made, ConfigError> {
    match AnyMapping::new(&config.mapping.scheme, &config.map_config(plan.geometry)) {
        Some(AnyMapping::OnFlash(mapping)) => maker.page_mapped(mapping),
        Some(AnyMapping::InMemory(mapping)) => maker.page_mapped(mapping),
        None => Err(unknown(config)),
    }
}

fn unknown(config: &Config) -> ConfigError {
    ConfigError::unknown_policy("mapping.scheme", &config.mapping.scheme)
}
