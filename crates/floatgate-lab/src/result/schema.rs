//! The JSON Schema of a result.

use serde_json::Value;

use super::RunResult;
use crate::config::settings;

/// The JSON Schema (draft 2020-12) of the document of a run: every field is there, and its
/// description says what it is and in which unit. `required` has the fields in their order.
pub fn schema() -> Value {
    settings().for_serialize().into_generator().into_root_schema_for::<RunResult>().to_value()
}
