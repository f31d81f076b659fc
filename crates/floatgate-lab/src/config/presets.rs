//! Presets: configs of devices, by name.

use std::sync::LazyLock;

use super::ConfigError;
use crate::suggest::nearest;

/// Config of a device, with a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Preset {
    /// Name of the preset.
    pub name: &'static str,
    /// Description of the device, in one line.
    pub doc: String,
    /// Source of its numbers.
    pub source: String,
    /// The config, with the source of each number in a comment.
    pub toml: &'static str,
}

/// Makes the table of presets. Each preset is the file in `devices/` with this name.
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

/// Returns all presets.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

/// Finds the preset with this name.
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
