//! The parameters of victim policies, from a config.

use floatgate_ftl::victim::{Age as FtlAge, Redraw as FtlRedraw, Tie as FtlTie, VictimConfig};

use crate::config::{Age, Config, Redraw, Tie};

/// The parameters of every victim policy, as the config has them.
pub fn victim_config(config: &Config, units: u32, streams: u8, seed: u64) -> VictimConfig {
    VictimConfig {
        units,
        streams,
        tie: match config.cleaning.tie {
            Tie::Cold => FtlTie::Cold,
            Tie::Hot => FtlTie::Hot,
            Tie::Oldest => FtlTie::Oldest,
        },
        window: ((config.windowed.window * f64::from(units)).round() as u32).max(1),
        choices: config.d_choices.d,
        redraw: match config.random.redraw {
            Redraw::None => FtlRedraw::None,
            Redraw::Full => FtlRedraw::Full,
            Redraw::Average => FtlRedraw::Average,
        },
        lfs_age: age(config.lfs_cost_benefit.age),
        cat_age: age(config.cat.age),
        seed,
    }
}

fn age(age: Age) -> FtlAge {
    match age {
        Age::Opened => FtlAge::Opened,
        Age::Sealed => FtlAge::Sealed,
        Age::Modified => FtlAge::Modified,
    }
}
