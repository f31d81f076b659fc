//! Values of keys that are enums of the engine.

use std::borrow::Cow;

use floatgate_ftl::parameters::{Choice, Variant};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

/// Variant of an enum of the engine, written by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chosen<T>(pub T);

impl<T: Choice> Serialize for Chosen<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de, T: Choice> Deserialize<'de> for Chosen<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<str>::deserialize(deserializer)?;
        let unknown = || D::Error::custom(format!("unknown name `{name}`"));
        T::named(&name).map(Self).ok_or_else(unknown)
    }
}

impl<T: Choice> JsonSchema for Chosen<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        std::any::type_name::<T>().into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "oneOf": one_of(T::VARIANTS) })
    }
}

/// Returns the `oneOf` rows in the schema of a key with these variants.
pub(super) fn one_of(variants: &[Variant]) -> Vec<Value> {
    let row = |variant: &Variant| {
        let Variant { name, doc } = variant;
        json!({ "type": "string", "const": name, "description": doc })
    };
    variants.iter().map(row).collect()
}
