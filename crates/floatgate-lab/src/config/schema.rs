//! The JSON Schema of a config, and the check of a table against it.
//!
//! The ranges of keys are only in the schema, and the ranges of policy parameters are next to the
//! policies. Ranges of sizes and durations, which JSON Schema cannot express for text, are in
//! `x-minimum` and `x-maximum`.

use std::slice;
use std::sync::LazyLock;

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::{Map, Value};

use super::{Config, ConfigError, Moment, is_external, parameters};
use crate::suggest::nearest;
use crate::units::{Rate, Size, Time};

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let settings = settings().with(|s| s.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Config>().to_value();
    for (name, section) in parameters::schemas() {
        schema["properties"][name] = section;
    }
    schema
});

/// Returns the settings that generate schemas from types: draft 2020-12, each description on one
/// line.
pub(crate) fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with_transform(RecursiveTransform(join_lines))
}

/// Joins the lines of a description: a doc comment has several, a description has one.
fn join_lines(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace('\n', " ");
    }
}

/// Returns the JSON Schema (draft 2020-12) of a config.
pub fn schema() -> Value {
    SCHEMA.clone()
}

/// Returns the keys of a section with their schemas, if the section exists.
pub(super) fn section(name: &str) -> Option<&'static Map<String, Value>> {
    SCHEMA["properties"][name]["properties"].as_object()
}

/// Returns the schema of a key that is in no section.
fn top_level(name: &str) -> Option<&'static Value> {
    SCHEMA["properties"].get(name).filter(|leaf| leaf.get("properties").is_none())
}

/// Checks every key, type and range of a table, but no relations between keys.
pub(super) fn check(table: &toml::Table) -> Result<(), ConfigError> {
    for (name, value) in table {
        if let Some(leaf) = top_level(name) {
            match accepts(leaf, value) {
                true => continue,
                false => return Err(wrong(name, value, &expected(leaf))),
            }
        }
        let Some(keys) = section(name) else {
            let key = value.as_table().and_then(|values| values.keys().next());
            return Err(match key {
                Some(key) => unknown(&format!("{name}.{key}")),
                None => unknown(name),
            });
        };
        let Some(values) = value.as_table() else {
            return Err(wrong(name, value, "a table"));
        };
        for (key, value) in values {
            let dotted = format!("{name}.{key}");
            let Some(leaf) = keys.get(key) else { return Err(unknown(&dotted)) };
            if !accepts(leaf, value) {
                return Err(wrong(&dotted, value, &expected(leaf)));
            }
        }
    }
    Ok(())
}

/// Describes the allowed values of a key in words.
pub(super) fn expected(leaf: &Value) -> String {
    let names = names(leaf);
    if !names.is_empty() {
        let one_of = if names.len() > 1 { "one of " } else { "" };
        let policies = if takes_external(leaf) { ", or python:NAME" } else { "" };
        return format!("{one_of}{}{policies}", names.join(", "));
    }
    let example = match leaf["format"].as_str() {
        Some("sizes") => "64MiB",
        _ => leaf["default"].as_str().unwrap_or("10ms"),
    };
    let bounds = || format!("from {} to {}", text(&leaf["x-minimum"]), text(&leaf["x-maximum"]));
    match leaf["format"].as_str() {
        Some("size") => return format!("a size {}, such as \"{example}\"", bounds()),
        Some("duration") => return format!("a duration {}, such as \"{example}\"", bounds()),
        Some("durations") => {
            let most = &leaf["maxItems"];
            let one = format!("a duration {}, such as \"{example}\"", bounds());
            return format!("{one}, or a list of 1 to {most}");
        }
        Some("sizes") => {
            let most = &leaf["maxItems"];
            let one = format!("a size {}, such as \"{example}\"", bounds());
            return format!("{one}, or a list of 1 to {most}");
        }
        Some("moment") => return "\"worst\", or a duration such as \"1.25s\"".to_owned(),
        Some("rate") => return "a rate such as \"40MB/s\", or \"none\"".to_owned(),
        _ => {}
    }
    match leaf["type"].as_str() {
        Some("boolean") => "true or false".to_owned(),
        Some("string") => "text".to_owned(),
        Some("integer") => format!("an integer from {} to {}", leaf["minimum"], leaf["maximum"]),
        _ => {
            let low = match leaf.get("exclusiveMinimum") {
                Some(low) => format!("above {low}"),
                None => format!("of at least {}", leaf["minimum"]),
            };
            let high = match leaf.get("exclusiveMaximum") {
                Some(high) => format!("below {high}"),
                None => format!("at most {}", leaf["maximum"]),
            };
            format!("a number {low} and {high}")
        }
    }
}

fn accepts(leaf: &Value, value: &toml::Value) -> bool {
    let names = names(leaf);
    if !names.is_empty() {
        let is_known = |name| names.contains(&name) || takes_external(leaf) && is_external(name);
        return value.as_str().is_some_and(is_known);
    }
    match leaf["format"].as_str() {
        Some("size") => return is_size(leaf, value),
        Some("sizes") => return are_all(leaf, value, is_size),
        Some("duration") => return is_time(leaf, value),
        Some("durations") => return are_all(leaf, value, is_time),
        Some("moment") => return value.as_str().is_some_and(|text| Moment::parse(text).is_ok()),
        Some("rate") => return value.as_str().is_some_and(|text| Rate::parse(text).is_ok()),
        _ => {}
    }
    match (leaf["type"].as_str(), value) {
        (Some("boolean"), toml::Value::Boolean(_)) => true,
        (Some("string"), toml::Value::String(_)) => true,
        (Some("integer" | "number"), toml::Value::Integer(n)) => in_range(leaf, *n as f64),
        (Some("number"), toml::Value::Float(x)) => in_range(leaf, *x),
        _ => false,
    }
}

/// Whether the value, or each of the list's 1 to `maxItems` values, is accepted.
fn are_all(
    leaf: &Value,
    value: &toml::Value,
    accepts: impl Fn(&Value, &toml::Value) -> bool,
) -> bool {
    let most = leaf["maxItems"].as_u64().unwrap_or(1) as usize;
    let values = value.as_array().map_or(slice::from_ref(value), Vec::as_slice);
    (1..=most).contains(&values.len()) && values.iter().all(|value| accepts(leaf, value))
}

/// Whether the value is a size within the bounds.
fn is_size(leaf: &Value, value: &toml::Value) -> bool {
    let bare = value.as_integer().and_then(|n| u64::try_from(n).ok()).map(Size);
    let size = bare.or_else(|| Size::parse(value.as_str()?).ok());
    size.is_some_and(|size| within(leaf, size, |bound| Size::parse(bound).ok()))
}

/// Whether the value is a duration within the bounds.
fn is_time(leaf: &Value, value: &toml::Value) -> bool {
    let time = value.as_str().and_then(|text| Time::parse(text).ok());
    time.is_some_and(|time| within(leaf, time, |bound| Time::parse(bound).ok()))
}

fn within<T: PartialOrd>(leaf: &Value, value: T, parse: impl Fn(&str) -> Option<T>) -> bool {
    let bound = |key: &str| leaf[key].as_str().and_then(&parse);
    bound("x-minimum").is_none_or(|low| value >= low)
        && bound("x-maximum").is_none_or(|high| value <= high)
}

/// Whether the number is within the bounds. NaN is in no range: it fails every comparison.
fn in_range(leaf: &Value, x: f64) -> bool {
    let bound = |key: &str| leaf[key].as_f64();
    bound("minimum").is_none_or(|low| x >= low)
        && bound("maximum").is_none_or(|high| x <= high)
        && bound("exclusiveMinimum").is_none_or(|low| x > low)
        && bound("exclusiveMaximum").is_none_or(|high| x < high)
        && !x.is_nan()
}

/// Returns the names that a key accepts: from a table of policies, or the variants of an enum.
fn names(leaf: &Value) -> Vec<&str> {
    let table = if takes_external(leaf) { &leaf["anyOf"][0]["enum"] } else { &leaf["enum"] };
    let of_table = table.as_array().into_iter().flatten();
    let of_enum = leaf["oneOf"].as_array().into_iter().flatten().map(|row| &row["const"]);
    of_table.chain(of_enum).filter_map(Value::as_str).collect()
}

/// Whether a key accepts the names of external policies.
fn takes_external(leaf: &Value) -> bool {
    leaf["anyOf"][1]["pattern"].is_string()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn wrong(key: &str, value: &toml::Value, expected: &str) -> ConfigError {
    let value = match value {
        toml::Value::Table(_) => "{...}".to_owned(),
        value => value.to_string().replace('\n', " "),
    };
    ConfigError::new(format!("{key} = {value}: expected {expected}"))
}

fn unknown(key: &str) -> ConfigError {
    let sections = SCHEMA["properties"].as_object().into_iter().flatten();
    let known: Vec<String> = if key.contains('.') {
        let keys = |name| section(name).into_iter().flatten().map(|(key, _)| key);
        sections.flat_map(|(name, _)| keys(name).map(move |key| format!("{name}.{key}"))).collect()
    } else {
        sections.map(|(name, _)| name.clone()).collect()
    };
    let hint = match nearest(key, known.iter().map(String::as_str)) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "`floatgate schema` lists all".to_owned(),
    };
    ConfigError::new(format!("unknown key `{key}`; {hint}"))
}
