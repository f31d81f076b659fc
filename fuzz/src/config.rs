//! Configs from any text, and from any settings. The result must be an error message, or a config
//! that can be printed, read again and, if it is small, run.

use std::sync::LazyLock;

use floatgate_lab::config::{Config, presets, schema};
use floatgate_lab::drive::Plan;
use floatgate_lab::result::Facts;
use floatgate_lab::run::{Control, Options, run as simulate};
use floatgate_lab::workload::generator;

use crate::bytes::Bytes;

/// Every key with possible values: names, bounds, and the default.
static KEYS: LazyLock<Vec<(String, Vec<String>)>> = LazyLock::new(keys);

/// Values that often reveal errors.
const VALUES: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "7",
    "64",
    "255",
    "256",
    "1000",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-1",
    "-0.0",
    "0.0",
    "0.5",
    "0.999999",
    "1.0",
    "1e-9",
    "1e308",
    "nan",
    "inf",
    "true",
    "false",
    "none",
    "",
    "512B",
    "1KiB",
    "4KiB",
    "1MiB",
    "1TiB",
    "15EiB",
    "0B",
    "3B",
    "1ns",
    "1us",
    "10ms",
    "1h",
    "300y",
    "1B/s",
    "[]",
    "{}",
    "\"",
    "é",
];

fn keys() -> Vec<(String, Vec<String>)> {
    let schema = schema();
    let sections = schema["properties"].as_object().cloned().unwrap_or_default();
    let mut keys = vec![];
    for (section, of) in sections {
        for (key, leaf) in of["properties"].as_object().cloned().unwrap_or_default() {
            let bounds = ["minimum", "maximum", "x-minimum", "x-maximum", "default"];
            let names = leaf["enum"].as_array().cloned().unwrap_or_default();
            let values = bounds.iter().map(|bound| leaf[bound].clone()).chain(names);
            let values = values.filter(|value| !value.is_null());
            let text =
                |value: serde_json::Value| value.as_str().map_or(value.to_string(), str::to_owned);
            keys.push((format!("{section}.{key}"), values.map(text).collect()));
        }
    }
    keys
}

fn value(bytes: &mut Bytes<'_>, own: &[String]) -> String {
    match bytes.byte() % 4 {
        0 | 1 => bytes.pick(own).cloned().unwrap_or_default(),
        2 => bytes.pick(VALUES).map_or(String::new(), |&value| value.to_owned()),
        _ => bytes.short().to_string(),
    }
}

fn settings(bytes: &mut Bytes<'_>) -> Vec<(String, String)> {
    let mut settings = vec![];
    while !bytes.is_empty() {
        let at = usize::from(bytes.short()) % KEYS.len();
        let (key, own) = &KEYS[at];
        settings.push((key.clone(), value(bytes, own)));
    }
    settings
}

/// Loads a config from the bytes.
pub fn run(input: &[u8]) {
    let bytes = &mut Bytes(input);
    let presets = presets();
    let loaded = match bytes.byte() {
        0 => Config::load(None, Some(&String::from_utf8_lossy(bytes.0)), &[]),
        n if n < 128 => Config::load(None, None, &settings(bytes)),
        n => {
            let preset = &presets[usize::from(n) % presets.len()];
            Config::load(Some(preset.name), None, &settings(bytes))
        }
    };
    let config = match loaded {
        Ok(config) => config,
        Err(error) => {
            let text = error.to_string();
            assert!(!text.is_empty() && !text.contains('\n'), "an error of one line: {text:?}");
            return;
        }
    };
    // An accepted config must be accepted again, and must be equal after printing and reading.
    config.check().unwrap_or_else(|error| panic!("{error}"));
    let text = toml::to_string(&config).unwrap_or_else(|error| panic!("{error}"));
    let again =
        Config::load(None, Some(&text), &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(config, again);
    play(&config);
}

/// Runs a few requests on the drive, if it is small.
fn play(config: &Config) {
    let text = "uniform:span=40KiB,size=1KiB,aligned=false,reads=0.2,trim=0.1,requests=200";
    let Ok(mut workload) = generator(text, 1) else { return };
    let Ok(plan) = Plan::new(config, workload.span_bytes()) else { return };
    let is_small = plan.flash.physical_pages() <= 1 << 14
        && config.mapping.cache.0 <= 1 << 20
        && config.buffer.capacity.0 <= 1 << 20
        && plan.logical_bytes() <= 1 << 24
        && config.start.play.is_none();
    if !is_small {
        return;
    }
    let options =
        Options { span_bytes: workload.span_bytes(), seed: 1, verify: true, start_cache: None };
    let facts = Facts::default();
    // The run may fail or succeed, but must not panic.
    let _ = simulate(config, workload.as_mut(), facts, options, &Control::default());
}
