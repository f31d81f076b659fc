//! The parameters of placements, from a config.

use floatgate_ftl::geometry::Geometry;
use floatgate_ftl::placement::{
    AsaClock as FtlAsaClock, AsaConfig, AutostreamConfig, DacConfig, DecayUnit as FtlDecayUnit,
    DirectConfig, EtiConfig, Hashes as FtlHashes, History as FtlHistory, Insert as FtlInsert,
    LengthConfig, LruListsConfig, MbfConfig, MergeValue as FtlMergeValue, MhfConfig, OracleConfig,
    PerfectConfig, PlacementConfig, SampleSource, SepbitConfig, WdacConfig,
};

use crate::config::{
    self, AsaClock, AsaSource, Config, DecayUnit, Hashes, History, Insert, MergeValue,
};

/// The parameters of every placement, as the config has them.
pub fn placement_config(config: &Config, geometry: Geometry) -> PlacementConfig {
    PlacementConfig {
        eti: eti(&config.eti),
        mbf: mbf(&config.mbf),
        mhf: mhf(&config.mhf),
        direct: DirectConfig {
            hot_threshold: config.direct.hot_threshold,
            decay_period: config.direct.decay_period,
            saturating: config.direct.saturating,
        },
        length: LengthConfig { threshold_pages: config.length.threshold_pages },
        lru_lists: LruListsConfig {
            hot: config.lru_lists.hot,
            candidates: config.lru_lists.candidates,
        },
        wdac: WdacConfig {
            window: config.wdac.window,
            hot_threshold_permille: permille(config.wdac.hot_threshold),
        },
        asa: asa(config),
        dac: DacConfig {
            regions: config.dac.regions,
            young: config.dac.young.map(u64::from),
            old: config.dac.old.map(u64::from),
        },
        sepbit: sepbit(&config.sepbit),
        autostream: AutostreamConfig {
            queues: config.autostream.queues,
            chunk_pages: (config.autostream.chunk.0 / config.flash.page.0).max(1) as u32,
            base: config.autostream.base,
            forget: config.autostream.forget,
        },
        perfect: PerfectConfig {
            hot_pages: config.perfect.hot_pages,
            hot_millionths: (config.perfect.hot_share * 1e6).round() as u32,
        },
        oracle: OracleConfig { streams: config.oracle.streams, factor: config.oracle.factor },
        ..PlacementConfig::new(geometry)
    }
}

fn sepbit(config: &config::Sepbit) -> SepbitConfig {
    SepbitConfig {
        history: match config.history {
            History::Fifo => FtlHistory::Fifo,
            History::Exact => FtlHistory::Exact,
        },
        units: config.units,
    }
}

fn permille(threshold: f64) -> u32 {
    (threshold * 1000.0).round() as u32
}

fn hashes(hashes: Hashes) -> FtlHashes {
    match hashes {
        Hashes::Crc32 => FtlHashes::Crc32,
        Hashes::Crc32Halves => FtlHashes::Crc32Halves,
        Hashes::Crc16 => FtlHashes::Crc16,
    }
}

fn eti(config: &config::Eti) -> EtiConfig {
    EtiConfig {
        extents: config.extents,
        alpha_percent: config.alpha_percent,
        beta: config.beta,
        hot_threshold: config.hot_threshold,
        counter_max: config.counter_max,
        decay_period: config.decay_period,
        decay_unit: match config.decay_unit {
            DecayUnit::Commands => FtlDecayUnit::Commands,
            DecayUnit::Pages => FtlDecayUnit::Pages,
        },
        merge_value: match config.merge_value {
            MergeValue::Mean => FtlMergeValue::Mean,
            MergeValue::Max => FtlMergeValue::Max,
            MergeValue::Min => FtlMergeValue::Min,
            MergeValue::Zero => FtlMergeValue::Zero,
        },
        partial_split: config.partial_split,
    }
}

fn mbf(config: &config::Mbf) -> MbfConfig {
    MbfConfig {
        filters: config.filters,
        bits: config.bits,
        hashes: hashes(config.hashes),
        insert: match config.insert {
            Insert::RoundRobin => FtlInsert::RoundRobin,
            Insert::NewestFirst => FtlInsert::NewestFirst,
        },
        clear_every: config.clear_every,
        hot_threshold_permille: permille(config.hot_threshold),
    }
}

fn mhf(config: &config::Mhf) -> MhfConfig {
    MhfConfig {
        counters: config.counters,
        hot_threshold: config.hot_threshold,
        decay_period: config.decay_period,
        hashes: hashes(config.hashes),
        conservative: config.conservative,
    }
}

fn asa(config: &Config) -> AsaConfig {
    AsaConfig {
        clock: match config.asa.clock {
            AsaClock::Writes => FtlAsaClock::Writes,
            AsaClock::Time => FtlAsaClock::Time,
        },
        update_period: config.asa.update_period.into(),
        samples: config.asa.samples,
        source: match config.asa.sample_source {
            AsaSource::Cht => SampleSource::Cached,
            AsaSource::RandomLpn => SampleSource::Written,
        },
        log1p: config.asa.log1p,
        relabel_on_gc: config.asa.relabel_on_gc,
        ages_in_memory: config.mapping.scheme != "asa",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::shape;
    use floatgate_ftl::placement::{Eti, Placement, PlacementConfig};

    /// No key has its default.
    const CHANGED: &str = r#"
        [eti]
        extents = 7
        alpha_percent = 80
        beta = 3
        hot_threshold = 5
        counter_max = 9
        decay_period = 11
        decay_unit = "pages"
        merge_value = "min"
        partial_split = true
        [mbf]
        filters = 8
        bits = 100
        hashes = "crc32_halves"
        insert = "newest_first"
        clear_every = 12
        hot_threshold = 3.25
        [mhf]
        counters = 13
        hot_threshold = 6
        decay_period = 14
        hashes = "crc16"
        conservative = true
        [direct]
        hot_threshold = 15
        decay_period = 16
        saturating = false
        [length]
        threshold_pages = 17
        [lru_lists]
        hot = 18
        candidates = 19
        [wdac]
        window = 20
        hot_threshold = 2
        [asa]
        clock = "time"
        update_period = 21
        samples = 22
        sample_source = "random_lpn"
        log1p = true
        relabel_on_gc = true
        [dac]
        regions = 23
        young = 24
        old = 25
        [sepbit]
        history = "exact"
        units = 26
        [autostream]
        queues = 27
        chunk = "64KiB"
        base = 28
        forget = true
        [perfect]
        hot_share = 0.29
        hot_pages = 30
        [oracle]
        streams = 31
        factor = 32
    "#;

    fn load(text: &str) -> PlacementConfig {
        let config = Config::load(None, Some(text), &[]).unwrap();
        placement_config(&config, Geometry::new(shape(&config)).unwrap())
    }

    #[test]
    fn the_defaults_are_those_of_the_policies() {
        let (ours, theirs) = (load(""), PlacementConfig::new(load("").geometry));
        assert_eq!((ours.eti, ours.mbf, ours.mhf), (theirs.eti, theirs.mbf, theirs.mhf));
        assert_eq!((ours.direct, ours.length), (theirs.direct, theirs.length));
        assert_eq!((ours.lru_lists, ours.wdac), (theirs.lru_lists, theirs.wdac));
        assert_eq!((ours.asa, ours.dac, ours.sepbit), (theirs.asa, theirs.dac, theirs.sepbit));
        assert_eq!((ours.perfect, ours.oracle), (theirs.perfect, theirs.oracle));
        assert_eq!(ours.autostream, theirs.autostream);
        assert_eq!(Eti::new(&ours).memory_bytes(), 9232);
    }

    #[test]
    fn every_key_arrives() {
        let given = load(CHANGED);
        let eti = EtiConfig {
            extents: 7,
            alpha_percent: 80,
            beta: 3,
            hot_threshold: 5,
            counter_max: 9,
            decay_period: 11,
            decay_unit: FtlDecayUnit::Pages,
            merge_value: FtlMergeValue::Min,
            partial_split: true,
        };
        assert_eq!(given.eti, eti);
        let (insert, hashes) = (FtlInsert::NewestFirst, FtlHashes::Crc32Halves);
        let (clear_every, hot_threshold_permille) = (12, 3250);
        let mbf = MbfConfig {
            filters: 8,
            bits: 100,
            hashes,
            insert,
            clear_every,
            hot_threshold_permille,
        };
        assert_eq!(given.mbf, mbf);
        let (hashes, conservative) = (FtlHashes::Crc16, true);
        let (counters, hot_threshold, decay_period) = (13, 6, 14);
        let mhf = MhfConfig { counters, hot_threshold, decay_period, hashes, conservative };
        assert_eq!(given.mhf, mhf);
        let (hot_threshold, decay_period, saturating) = (15, 16, false);
        assert_eq!(given.direct, DirectConfig { hot_threshold, decay_period, saturating });
        assert_eq!(given.length, LengthConfig { threshold_pages: 17 });
        assert_eq!(given.lru_lists, LruListsConfig { hot: 18, candidates: 19 });
        assert_eq!(given.wdac, WdacConfig { window: 20, hot_threshold_permille: 2000 });
    }

    #[test]
    fn every_key_of_those_that_know_lifetimes_arrives() {
        let given = load(CHANGED);
        let asa = AsaConfig {
            clock: FtlAsaClock::Time,
            update_period: 21,
            samples: 22,
            source: SampleSource::Written,
            log1p: true,
            relabel_on_gc: true,
            ages_in_memory: true,
        };
        assert_eq!(given.asa, asa);
        assert!(!load("mapping.scheme = \"asa\"").asa.ages_in_memory);
        assert_eq!(given.dac, DacConfig { regions: 23, young: Some(24), old: Some(25) });
        assert_eq!(given.sepbit, SepbitConfig { history: FtlHistory::Exact, units: 26 });
        let autostream = AutostreamConfig { queues: 27, chunk_pages: 16, base: 28, forget: true };
        assert_eq!(given.autostream, autostream);
        let perfect = PerfectConfig { hot_pages: Some(30), hot_millionths: 290_000 };
        assert_eq!(given.perfect, perfect);
        assert_eq!(given.oracle, OracleConfig { streams: 31, factor: 32 });
    }
}
