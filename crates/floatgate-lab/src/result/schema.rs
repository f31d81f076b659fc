//! The JSON Schema of a result.

use serde_json::Value;

use super::RunResult;
use crate::config::settings;

/// Returns the JSON Schema (draft 2020-12) of a run's result. It includes every field, with a
/// description that states its meaning and unit. `required` lists the fields in their order.
pub fn schema() -> Value {
    settings().for_serialize().into_generator().into_root_schema_for::<RunResult>().to_value()
}
