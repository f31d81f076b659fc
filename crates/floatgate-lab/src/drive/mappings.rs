//! Mappings by their names, and what each is told.

use floatgate_ftl::mapping::{
    AnyMapping, Asa, AsaConfig, Belady, Cdftl, CdftlConfig, Dftl, DftlConfig,
    FetchMode as FtlFetchMode, Ideal, MapConfig, Mapping, NoCache, NodeVictim as FtlNodeVictim,
    PageCache, PageCacheConfig, Replacement as FtlReplacement, Sftl, SftlConfig, Tlllp,
    TlllpConfig, Tpftl, TpftlConfig,
};
use floatgate_ftl::mappings;

use super::{Make, Plan};
use crate::config::{self, Config, ConfigError, FetchMode, ForCleaning, NodeVictim, Replacement};

macro_rules! rows {
    ($($name:literal $Type:ident, $doc:literal, $source:literal;)*) => {
        /// Whether a mapping has its map on flash.
        pub(super) fn map_on_flash(scheme: &str) -> bool {
            match scheme {
                $($name => <$Type as Mapping>::ON_FLASH,)*
                _ => false,
            }
        }

        /// Whether a mapping wants to be told what the host will access.
        pub fn needs_future(scheme: &str) -> bool {
            match scheme {
                $($name => <$Type as Mapping>::NEEDS_FUTURE,)*
                _ => false,
            }
        }

        /// Makes it with the mapping that the config names, for each an engine of its own.
        pub(super) fn with_mapping<T: Make>(
            maker: T,
            config: &Config,
            plan: &Plan,
        ) -> Result<T::Made, ConfigError> {
            let map = map_config(config, plan);
            match config.mapping.scheme.as_str() {
                $($name => maker.page_mapped(<$Type>::new(&map)),)*
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
    match AnyMapping::new(&config.mapping.scheme, &map_config(config, plan)) {
        Some(AnyMapping::OnFlash(mapping)) => maker.page_mapped(mapping),
        Some(AnyMapping::InMemory(mapping)) => maker.page_mapped(mapping),
        None => Err(unknown(config)),
    }
}

fn unknown(config: &Config) -> ConfigError {
    ConfigError::new(format!("mapping.scheme = \"{}\" is not known", config.mapping.scheme))
}

fn map_config(config: &Config, plan: &Plan) -> MapConfig {
    let permille = |share: f64| (share * 1000.0).round() as u32;
    let protected_permille = permille(config.dftl.protected_share);
    MapConfig {
        geometry: plan.geometry,
        cache_bytes: config.mapping.cache.0,
        dftl: DftlConfig {
            replacement: match config.dftl.replacement {
                Replacement::Slru => FtlReplacement::Slru { protected_permille },
                Replacement::FlashSim => FtlReplacement::FlashSim { protected_permille },
                Replacement::Lru => FtlReplacement::Lru,
            },
            evict_batch: config.dftl.evict_batch,
            unmapped_shortcut: config.dftl.gtd_unmapped_shortcut,
            entry_bytes: config.dftl.entry_bytes,
        },
        page_cache: PageCacheConfig {
            together: config.map_page_pages(),
            load_for_cleaning: config.page_cache.cleaning == ForCleaning::LruEnd,
        },
        sftl: SftlConfig {
            buffer_permille: permille(config.sftl.buffer_share),
            sparse_permille: permille(config.sftl.sparse_share),
        },
        cdftl: CdftlConfig {
            entries_permille: permille(config.cdftl.entries_share),
            entry_bytes: config.cdftl.entry_bytes,
        },
        tlllp: tlllp(&config.tlllp),
        tpftl: tpftl(&config.tpftl),
        asa: AsaConfig {
            entry_bytes: config.asa.entry_bytes,
            flash_entry_bytes: config.asa.flash_entry_bytes,
        },
    }
}

fn tlllp(config: &config::Tlllp) -> TlllpConfig {
    TlllpConfig {
        fetch_mode: match config.fetch_mode {
            FetchMode::Run => FtlFetchMode::Run,
            FetchMode::Prev => FtlFetchMode::Prev,
        },
        rule2_first: config.rule2_first,
        victim: match config.victim {
            NodeVictim::Min => FtlNodeVictim::Min,
            NodeVictim::Max => FtlNodeVictim::Max,
        },
        evict_until_fit: config.evict_until_fit,
        bytes_per_entry: config.bytes_per_entry,
        bytes_per_node: config.bytes_per_node,
    }
}

fn tpftl(config: &config::Tpftl) -> TpftlConfig {
    TpftlConfig {
        request_prefetch: config.request_prefetch,
        selective_prefetch: config.selective_prefetch,
        selective_threshold: config.selective_threshold,
        clean_first: config.clean_first,
        batch_update: config.batch_update,
        bytes_per_entry: config.bytes_per_entry,
        bytes_per_node: config.bytes_per_node,
    }
}
