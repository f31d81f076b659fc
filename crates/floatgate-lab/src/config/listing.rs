//! Listing of all policies with their parameters.

use floatgate_ftl::parameters::Row;
use serde_json::{Value, json};

use super::policies::AXES;
use super::schema;

/// Returns every policy, axis by axis: `name`, `doc`, `source` and `parameters`. The parameters are
/// the keys of the config table with the policy's name, each with `name`, `doc`, `default` and
/// `expected`. A table with the name of an axis belongs to the axis: the keys of the placement
/// `host` are among the keys of all placements.
pub fn policies() -> Value {
    let axes = AXES.iter().map(|axis| {
        let rows: Vec<Value> = axis.policies.iter().map(row).collect();
        (axis.name.to_owned(), Value::Array(rows))
    });
    Value::Object(axes.collect())
}

fn row(&Row { name, doc, source, .. }: &Row) -> Value {
    let own = schema::section(name).filter(|_| AXES.iter().all(|axis| axis.name != name));
    let parameters: Vec<Value> = own
        .into_iter()
        .flatten()
        .map(|(key, leaf)| {
            json!({
                "name": format!("{name}.{key}"),
                "doc": leaf["description"],
                "default": leaf["default"],
                "expected": schema::expected(leaf),
            })
        })
        .collect();
    json!({ "name": name, "doc": doc, "source": source, "parameters": parameters })
}
