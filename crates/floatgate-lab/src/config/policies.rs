//! Axes along which devices differ, and the policies on each axis.

use floatgate_ftl::buffer::{BUFFERS, NONE};
use floatgate_ftl::host::HOSTS;
use floatgate_ftl::log_block::LOG_BLOCKS;
use floatgate_ftl::parameters::Row;
use floatgate_ftl::{mapping::MAPPINGS, placement::PLACEMENTS, victim::VICTIMS};

const PAGE: Row = Row {
    name: "page",
    doc: "Page-mapped: any logical page in any physical page.",
    source: "Gupta, Kim and Urgaonkar, ASPLOS 2009",
    parameters: Vec::new,
};

/// Puts a row in front of the rows of a table.
macro_rules! with_first {
    ($first:ident, $TABLE:ident) => {
        &{
            let mut rows = [$first; $TABLE.len() + 1];
            rows.split_at_mut(1).1.copy_from_slice($TABLE);
            rows
        }
    };
}

/// The page-mapped layer, and all log-block schemes.
const FTLS: &[Row] = with_first!(PAGE, LOG_BLOCKS);

/// "none", and all buffer policies.
const CHOICES: &[Row] = with_first!(NONE, BUFFERS);

/// Prefix of the name of an external policy, which is in no table.
const EXTERNAL: &str = "python:";

/// Pattern of such a name: the prefix, then the policy's name in Python.
const EXTERNAL_PATTERN: &str = "^python:.+";

/// Axes that accept external policies.
const EXTERNAL_AXES: &[&str] = &["mapping", "placement", "victim", "buffer"];

/// Whether this name belongs to an external policy.
pub(crate) fn is_external(name: &str) -> bool {
    name.strip_prefix(EXTERNAL).is_some_and(|name| !name.is_empty())
}

/// One axis along which devices differ.
pub(super) struct Axis {
    pub name: &'static str,
    /// Word for a policy on this axis.
    pub noun: &'static str,
    pub policies: &'static [Row],
}

/// Makes the table of axes from rows of name, word for a policy, and table of policies.
macro_rules! axes {
    ($($axis:ident $noun:literal $TABLE:ident;)*) => {
        pub(super) const AXES: &[Axis] =
            &[$(Axis { name: stringify!($axis), noun: $noun, policies: $TABLE }),*];

        /// Schemas of the keys that name a policy, one per axis.
        pub(super) mod names {
            use schemars::{Schema, SchemaGenerator, json_schema};

            $(pub fn $axis(_: &mut SchemaGenerator) -> Schema {
                let names: Vec<&str> = super::$TABLE.iter().map(|row| row.name).collect();
                match super::EXTERNAL_AXES.contains(&stringify!($axis)) {
                    true => json_schema!({
                        "type": "string",
                        "anyOf": [{ "enum": names }, { "pattern": super::EXTERNAL_PATTERN }],
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
