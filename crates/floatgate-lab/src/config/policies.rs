//! The axes along which devices differ, and the policies on each.

use floatgate_ftl::buffer::CHOICES as BUFFERS;
use floatgate_ftl::host::HOSTS;
use floatgate_ftl::log_block::LOG_BLOCKS;
use floatgate_ftl::{mapping::MAPPINGS, placement::PLACEMENTS, victim::VICTIMS};
use serde_json::{Value, json};

use super::schema;

/// Name, doc line and source of a policy.
type Row = (&'static str, &'static str, &'static str);

const PAGE: Row = (
    "page",
    "Page-mapped: any logical page in any physical page.",
    "Gupta, Kim and Urgaonkar, ASPLOS 2009",
);

/// The page-mapped layer, and one for each scheme of log blocks.
const FTLS: &[Row] = &{
    let mut rows = [PAGE; LOG_BLOCKS.len() + 1];
    rows.split_at_mut(1).1.copy_from_slice(LOG_BLOCKS);
    rows
};

/// The table of axes: name, and the table of its policies.
macro_rules! axes {
    ($($axis:ident $TABLE:ident;)*) => {
        const AXES: &[(&str, &[Row])] = &[$((stringify!($axis), $TABLE)),*];

        /// The schemas of the keys that name a policy, one per axis.
        pub(super) mod names {
            use schemars::{Schema, SchemaGenerator, json_schema};

            $(pub fn $axis(_: &mut SchemaGenerator) -> Schema {
                let names: Vec<&str> = super::$TABLE.iter().map(|row| row.0).collect();
                json_schema!({ "type": "string", "enum": names })
            })*
        }
    };
}

axes! {
    mapping MAPPINGS;
    placement PLACEMENTS;
    victim VICTIMS;
    buffer BUFFERS;
    host HOSTS;
    ftl FTLS;
}

/// Axis by axis, every policy: `name`, `doc`, `source`, and `parameters`, the keys of the config
/// table that bears the policy's name, each with `name`, `doc`, `default` and what is `expected`.
pub fn policies() -> Value {
    let axes = AXES.iter().map(|(axis, table)| {
        let rows: Vec<Value> = table.iter().map(row).collect();
        ((*axis).to_owned(), Value::Array(rows))
    });
    Value::Object(axes.collect())
}

fn row(&(name, doc, source): &Row) -> Value {
    let parameters: Vec<Value> = schema::section(name)
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
