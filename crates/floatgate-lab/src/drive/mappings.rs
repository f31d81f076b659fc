//! Chooses a mapping by its name, and passes its settings to it.

use floatgate_ftl::mapping::{self, AnyMapping};
use floatgate_ftl::mappings;

use super::{Make, Plan};
use crate::config::{Config, ConfigError};

macro_rules! rows {
    ($($name:ident $Type:ident($($Own:ident)?), $doc:literal, $source:literal;)*) => {
        /// Calls the maker with the mapping that the config names. Each mapping gets its own
        /// compiled engine.
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

/// Calls the maker with the mapping that the config names, as a trait object.
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
