//! Parameters of policies in a config: a section for each policy that has parameters.
//!
//! Definitions, defaults and ranges are next to the policies ([`mod@floatgate_ftl::parameters`]).
//! This module has their text form and their part of the schema.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use floatgate_ftl::parameters::{Bounds, Bytes, Nanoseconds, Parameter, Range, Value};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value as Json, json};

use super::choice::one_of;
use super::policies::AXES;
use crate::units::{Size, Time};

/// Sections of all policies by name, with the policies and the parameters of each section.
static SECTIONS: LazyLock<BTreeMap<&'static str, Section>> = LazyLock::new(|| {
    let mut sections: BTreeMap<&str, Section> = BTreeMap::new();
    for axis in AXES {
        for row in axis.policies {
            let parameters = (row.parameters)();
            if !parameters.is_empty() {
                let section = sections.entry(row.name).or_default();
                section.of.push(format!("the {} `{}`", axis.noun, row.name));
                section.parameters.extend(parameters);
            }
        }
    }
    sections
});

#[derive(Default)]
struct Section {
    /// Policies that the section belongs to. Two policies of different axes may share a name.
    of: Vec<String>,
    parameters: Vec<Parameter>,
}

/// Values of the parameters of all policies, by section and key. Parameters without a value are
/// absent.
#[derive(Clone, PartialEq, Debug)]
pub struct Policies(BTreeMap<&'static str, BTreeMap<&'static str, Value>>);

impl Policies {
    /// The value of a parameter, if it is set.
    pub fn value(&self, section: &str, key: &str) -> Option<Value> {
        self.0.get(section)?.get(key).copied()
    }

    /// Replaces values by those in the tables.
    fn overlay(&mut self, tables: BTreeMap<String, toml::Table>) -> Result<(), String> {
        for (name, table) in tables {
            let unknown = || format!("unknown section `{name}`");
            let (name, section) = SECTIONS.get_key_value(name.as_str()).ok_or_else(unknown)?;
            for (key, value) in table {
                let parameter = section.parameters.iter().find(|parameter| parameter.name == key);
                let parameter = parameter.ok_or_else(|| format!("unknown key `{name}.{key}`"))?;
                let value = read(&parameter.range, &value)
                    .ok_or_else(|| format!("{name}.{key} = {value}: not a value of this key"))?;
                self.0.entry(name).or_default().insert(parameter.name, value);
            }
        }
        Ok(())
    }
}

impl Default for Policies {
    fn default() -> Self {
        let set = |parameter: &Parameter| Some((parameter.name, parameter.default?));
        let values = |section: &Section| section.parameters.iter().filter_map(set).collect();
        Self(SECTIONS.iter().map(|(&name, section)| (name, values(section))).collect())
    }
}

impl Serialize for Policies {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let section = |values: &BTreeMap<&'static str, Value>| -> BTreeMap<&'static str, Json> {
            values.iter().map(|(&key, &value)| (key, print(value))).collect()
        };
        serializer.collect_map(self.0.iter().map(|(name, values)| (name, section(values))))
    }
}

impl<'de> Deserialize<'de> for Policies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut policies = Self::default();
        policies.overlay(BTreeMap::deserialize(deserializer)?).map_err(D::Error::custom)?;
        Ok(policies)
    }
}

/// Reads a value in its config form. Returns None if it is out of range.
fn read(range: &Range, value: &toml::Value) -> Option<Value> {
    let value = match range {
        Range::Integer(_) => Value::Integer(u64::try_from(value.as_integer()?).ok()?),
        Range::Number(_) => {
            let whole = value.as_integer().map(|n| n as f64);
            Value::Number(whole.or_else(|| value.as_float())?)
        }
        Range::Flag => Value::Flag(value.as_bool()?),
        Range::Name(variants) => {
            let name = value.as_str()?;
            Value::Name(variants.iter().find(|variant| variant.name == name)?.name)
        }
        Range::Bytes(_) => Value::Bytes(Bytes(value.clone().try_into::<Size>().ok()?.0)),
        Range::Nanoseconds(_) => {
            Value::Nanoseconds(Nanoseconds(value.clone().try_into::<Time>().ok()?.0))
        }
    };
    range.holds(value).then_some(value)
}

/// Returns a value in its config form.
fn print(value: Value) -> Json {
    match value {
        Value::Integer(n) => json!(n),
        Value::Number(x) => json!(x),
        Value::Flag(flag) => json!(flag),
        Value::Name(name) => json!(name),
        Value::Bytes(size) => json!(Size(size.0)),
        Value::Nanoseconds(time) => json!(Time(time.0)),
    }
}

/// Returns the schemas of all sections, by name.
pub(super) fn schemas() -> impl Iterator<Item = (&'static str, Json)> {
    SECTIONS.iter().map(|(&name, section)| (name, schema_of(section)))
}

fn schema_of(section: &Section) -> Json {
    let leaf = |parameter: &Parameter| (parameter.name.to_owned(), leaf_of(parameter));
    let default =
        |parameter: &Parameter| Some((parameter.name.to_owned(), print(parameter.default?)));
    json!({
        "type": "object",
        "description": format!("Parameters of {}.", section.of.join(" and of ")),
        "additionalProperties": false,
        "default": Json::Object(section.parameters.iter().filter_map(default).collect()),
        "properties": Json::Object(section.parameters.iter().map(leaf).collect()),
    })
}

fn leaf_of(parameter: &Parameter) -> Json {
    let mut leaf = match parameter.range {
        Range::Integer(bounds) => {
            with_bounds(json!({ "type": "integer", "format": "uint32" }), bounds)
        }
        Range::Number(bounds) => {
            with_bounds(json!({ "type": "number", "format": "double" }), bounds)
        }
        Range::Flag => json!({ "type": "boolean" }),
        Range::Name(variants) => json!({ "oneOf": one_of(variants) }),
        Range::Bytes(bounds) => with_texts(schema::<Size>(), bounds, |n| json!(Size(n))),
        Range::Nanoseconds(bounds) => with_texts(schema::<Time>(), bounds, |n| json!(Time(n))),
    };
    leaf["description"] = json!(parameter.doc);
    if let Some(default) = parameter.default {
        leaf["default"] = print(default);
    }
    leaf
}

fn schema<T: schemars::JsonSchema>() -> Json {
    T::json_schema(&mut schemars::SchemaGenerator::default()).to_value()
}

fn with_bounds(mut leaf: Json, Bounds { low, high }: Bounds) -> Json {
    // Whole numbers are written without a fraction.
    let number = |x: f64| if x.fract() == 0.0 { json!(x as u64) } else { json!(x) };
    leaf[if low.1 { "minimum" } else { "exclusiveMinimum" }] = number(low.0);
    leaf[if high.1 { "maximum" } else { "exclusiveMaximum" }] = number(high.0);
    leaf
}

fn with_texts(mut leaf: Json, bounds: Bounds, text: impl Fn(u64) -> Json) -> Json {
    leaf["x-minimum"] = text(bounds.low.0 as u64);
    leaf["x-maximum"] = text(bounds.high.0 as u64);
    leaf
}
