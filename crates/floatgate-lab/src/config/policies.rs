//! The axes along which devices differ, and the policies on each.

use floatgate_ftl::buffer::{BUFFERS, NONE};
use floatgate_ftl::host::HOSTS;
use floatgate_ftl::log_block::LOG_BLOCKS;
use floatgate_ftl::parameters::Row;
use floatgate_ftl::{mapping::MAPPINGS, placement::PLACEMENTS, victim::VICTIMS};
use serde_json::{Value, json};

use super::schema;

const PAGE: Row = Row {
    name: "page",
    doc: "Page-mapped: any logical page in any physical page.",
    source: "Gupta, Kim and Urgaonkar, ASPLOS 2009",
    parameters: Vec::new,
};

/// A row before those of a table.
macro_rules! with_first {
    ($first:ident, $TABLE:ident) => {
        &{
            let mut rows = [$first; $TABLE.len() + 1];
            rows.split_at_mut(1).1.copy_from_slice($TABLE);
            rows
        }
    };
}

/// The page-mapped layer, and one for each scheme of log blocks.
const FTLS: &[Row] = with_first!(PAGE, LOG_BLOCKS);

/// No buffer, and each buffer.
const CHOICES: &[Row] = with_first!(NONE, BUFFERS);

/// What the name of a policy begins with that is in no table.
const GUEST: &str = "python:";

/// The same as a pattern: what follows is the name that the policy has in Python.
const GUEST_PATTERN: &str = "^python:.+";

/// The axes of which there can be policies that are in no table.
const GUESTS: &[&str] = &["mapping", "placement", "victim", "buffer"];

/// Whether this is the name of a policy that is in no table.
pub(crate) fn is_guest(name: &str) -> bool {
    name.strip_prefix(GUEST).is_some_and(|name| !name.is_empty())
}

/// One way in which devices differ.
pub(super) struct Axis {
    /// Its name.
    pub name: &'static str,
    /// What a policy of it is called.
    pub noun: &'static str,
    /// Its policies.
    pub policies: &'static [Row],
}

/// The table of axes: name, what a policy is called, and the table of the policies.
macro_rules! axes {
    ($($axis:ident $noun:literal $TABLE:ident;)*) => {
        pub(super) const AXES: &[Axis] =
            &[$(Axis { name: stringify!($axis), noun: $noun, policies: $TABLE }),*];

        /// The schemas of the keys that name a policy, one per axis.
        pub(super) mod names {
            use schemars::{Schema, SchemaGenerator, json_schema};

            $(pub fn $axis(_: &mut SchemaGenerator) -> Schema {
                let names: Vec<&str> = super::$TABLE.iter().map(|row| row.name).collect();
                match super::GUESTS.contains(&stringify!($axis)) {
                    true => json_schema!({
                        "type": "string",
                        "anyOf": [{ "enum": names }, { "pattern": super::GUEST_PATTERN }],
                    }),
                    false => json_schema!({ "type": "string", "enum": names }),
                }
            })*
        }
    };
}

axes! {
    mapping "mapping" MAPPINGS;
    placement "placement" PLACEMENTS;
    victim "victim policy" VICTIMS;
    buffer "buffer" CHOICES;
    host "host layer" HOSTS;
    ftl "translation layer" FTLS;
}

/// Axis by axis, every policy: `name`, `doc`, `source`, and `parameters`, the keys of the config
/// table that bears the policy's name, each with `name`, `doc`, `default` and what is `expected`. A
/// table that bears an axis's name is that of the axis: the placement `host` has its keys among
/// those of all placements.
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
