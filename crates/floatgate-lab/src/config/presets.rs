//! Devices that are known by name.

use std::sync::LazyLock;

use super::ConfigError;
use crate::suggest::nearest;

/// A device that is known by name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it is, in one line.
    pub doc: String,
    /// Where its numbers are from.
    pub source: String,
    /// The config, with the source of each number beside it.
    pub toml: &'static str,
}

/// The table of presets: each is a file of this name.
macro_rules! table {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../../devices/", $name, ".toml")))),*]
    };
}

const FILES: &[(&str, &str)] = table! {
    "classic" "dftl09" "agrawal08" "flashsim" "mqsim18" "small-nvme" "tlc-enterprise"
    "tlc-client" "qlc-capacity" "tlllp17" "asa14" "eti16" "ncq13" "shrd17"
};

static PRESETS: LazyLock<Vec<Preset>> =
    LazyLock::new(|| FILES.iter().map(|&(name, toml)| preset(name, toml)).collect());

/// All presets.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

/// The preset of this name.
pub(super) fn find(name: &str) -> Result<&'static Preset, ConfigError> {
    presets().iter().find(|preset| preset.name == name).ok_or_else(|| {
        let names: Vec<&str> = presets().iter().map(|preset| preset.name).collect();
        let hint = nearest(name, names.iter().copied())
            .map_or(String::new(), |nearest| format!("did you mean `{nearest}`? "));
        ConfigError::new(format!("unknown preset `{name}`; {hint}known: {}", names.join(", ")))
    })
}

fn preset(name: &'static str, toml: &'static str) -> Preset {
    let table =
        toml.parse::<toml::Table>().expect("a preset is part of the program; tests load it");
    let about = |key: &str| match table.get("about").and_then(|about| about.get(key)) {
        Some(toml::Value::String(text)) => text.clone(),
        _ => panic!("preset {name} has no about.{key}"),
    };
    Preset { name, doc: about("summary"), source: about("source"), toml }
}
