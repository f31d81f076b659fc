//! The JSON Schema of a result.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::Value;

use super::RunResult;

/// The JSON Schema (draft 2020-12) of the document of a run: every field is there, and its
/// description says what it is and in which unit. `required` has the fields in their order.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with_transform(RecursiveTransform(join_lines));
    settings.into_generator().into_root_schema_for::<RunResult>().to_value()
}

/// A doc comment is broken into lines for the source; a description is one line.
fn join_lines(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace('\n', " ");
    }
}
