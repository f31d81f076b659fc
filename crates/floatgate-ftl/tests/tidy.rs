//! Project rules as tests: size limits for all Rust and Python, plain comments and names for all
//! Rust, layers and banned words for `src`.

#![allow(clippy::unwrap_used)] // In a test, a panic reports the failure.

#[path = "tidy/functions.rs"]
mod functions;
#[path = "tidy/traits.rs"]
mod traits;
#[path = "tidy/words.rs"]
mod words;

use std::fs;
use std::path::{Path, PathBuf};

use floatgate_ftl::buffer::BUFFERS;
use floatgate_ftl::log_block::LOG_BLOCKS;
use floatgate_ftl::mapping::MAPPINGS;
use floatgate_ftl::parameters::{Parameter, Row, names};
use floatgate_ftl::placement::PLACEMENTS;
use floatgate_ftl::victim::VICTIMS;

const COLUMNS_MAX: usize = 100;
const FUNCTION_LINES_MAX: usize = 60;
/// A test may be a table of cases, which is data.
const TEST_LINES_MAX: usize = 110;
const FILE_LINES_MAX: usize = 450;

/// Folders without project files.
const SKIPPED: &[&str] = &["target", "node_modules", "__pycache__", "out"];

/// Module that all others may import: each component declares its own mutable state.
const SAVED: &str = "saved";

/// Modules that each module of `src` may import. A policy knows addresses and its inputs, never the
/// medium, an engine, or the device.
const LAYERS: &[(&str, &[&str])] = &[
    (SAVED, &[]),
    ("addr", &[]),
    // Time for modules that do not know durations.
    ("clock", &[]),
    // All layers fill these in.
    ("counters", &["clock"]),
    ("rng", &[]),
    ("lru", &["prefetch", "rng"]),
    ("intmap", &["prefetch", "rng"]),
    ("prefetch", &[]),
    ("parameters", &[]),
    ("queue", &["parameters", "request"]),
    // It knows no drive, because it must also work in front of a live one.
    ("host", &["addr", "counters", "intmap", "request", "parameters"]),
    ("geometry", &["addr"]),
    ("nand", &["addr", "clock", "counters", "geometry", "parameters", "prefetch", "rng"]),
    ("request", &["nand"]),
    ("unit_table", &["addr", "geometry", "lru", "prefetch"]),
    ("future", &["addr"]),
    // Interface of every policy.
    ("policy", &["counters", "future"]),
    (
        "mapping",
        &["addr", "counters", "geometry", "intmap", "lru", "future", "rng", "parameters", "policy"],
    ),
    (
        "placement",
        &["addr", "counters", "geometry", "intmap", "lru", "future", "rng", "parameters", "policy"],
    ),
    ("victim", &["addr", "geometry", "unit_table", "prefetch", "rng", "parameters", "policy"]),
    ("log_block", &["addr", "geometry", "lru", "rng", "parameters", "policy"]),
    // Interface between a drive and its engines; the engines are above it.
    ("ftl", &["addr", "unit_table", "counters", "future", "journal", "mapping", "nand", "store"]),
    // Common base of the engines.
    ("store", &["addr", "unit_table", "geometry", "journal", "nand", "prefetch"]),
    (
        "log_ftl",
        &[
            "addr",
            "geometry",
            "nand",
            "unit_table",
            "counters",
            "ftl",
            "journal",
            "log_block",
            "recovery",
            "store",
        ],
    ),
    ("journal", &["addr", "unit_table", "geometry", "nand"]),
    ("recovery", &["addr", "geometry", "journal", "nand"]),
    ("buffer", &["addr", "future", "lru", "prefetch", "parameters", "policy"]),
    (
        "page_ftl",
        &[
            "addr",
            "geometry",
            "nand",
            "unit_table",
            "counters",
            "ftl",
            "journal",
            "recovery",
            "store",
            "prefetch",
            "rng",
            "future",
            "mapping",
            "parameters",
            "placement",
            "victim",
        ],
    ),
    (
        "device",
        &[
            "addr",
            "unit_table",
            "buffer",
            "counters",
            "geometry",
            "ftl",
            "future",
            "host",
            "mapping",
            "nand",
            "parameters",
            "queue",
            "request",
        ],
    ),
];

/// Layers of the lab: the components of a simulation, from the bottom up.
const LAB_LAYERS: &[(&str, &[&str])] = &[
    ("units", &[]),
    // Text of traces, which only the front reads.
    ("usual_lines", &[]),
    ("suggest", &[]),
    ("stored", &[]),
    ("config", &["units", "suggest"]),
    ("workload", &["config", "units", "suggest"]),
    ("drive", &["config", "stored"]),
    ("metrics", &[]),
    ("jobs", &["config", "metrics", "workload"]),
    ("result", &["config", "drive", "jobs", "metrics"]),
    ("warnings", &["config", "drive", "result"]),
    ("run", &["config", "warnings", "drive", "jobs", "metrics", "result", "stored", "workload"]),
    ("crash", &["config", "drive", "run", "workload"]),
    ("curve", &["config", "run", "workload"]),
    ("hotness", &["config", "run", "workload"]),
    ("pattern", &["config", "drive", "workload"]),
    ("image", &["config", "drive", "stored"]),
    ("serve", &["config", "drive", "metrics", "result", "run", "stored", "warnings"]),
];

/// Words that `src` must not contain, and their replacements.
const BANNED: &[(&str, &str)] = &[
    ("HashMap", "IntMap, or a BTreeMap: their order is the same in every run"),
    ("HashSet", "a BTreeSet: its order is the same in every run"),
    ("FIXME", "the repair"),
    ("TODO", "the work, or nothing"),
    ("todo!", "the work"),
    ("unimplemented!", "no row in the table: a name exists only if it runs"),
    ("std::time", "nand::Timed: this crate has no clock"),
    ("dbg!", "nothing"),
    ("println!", "a counter or a returned value"),
];

/// Returns the tables, and the module with each table's policies.
fn tables() -> [(&'static str, &'static [Row]); 5] {
    [
        ("buffer", BUFFERS),
        ("mapping", MAPPINGS),
        ("placement", PLACEMENTS),
        ("victim", VICTIMS),
        ("log_block", LOG_BLOCKS),
    ]
}

struct File {
    /// Path relative to the root of the repository.
    name: String,
    text: String,
}

impl File {
    fn is_rust(&self) -> bool {
        self.name.ends_with(".rs")
    }

    /// Yields lines with their numbers, up to the unit tests.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate().map(|(at, line)| (at + 1, line));
        lines.take_while(|(_, line)| line.trim() != "#[cfg(test)]").filter(|(_, line)| {
            let line = line.trim_start();
            !line.starts_with("//")
        })
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn walk(folder: &Path, endings: &[&str], files: &mut Vec<File>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
                walk(&path, endings, files);
            }
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            let text = fs::read_to_string(&path).unwrap();
            let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            files.push(File { name, text });
        }
    }
}

fn everything() -> Vec<File> {
    let mut files = vec![];
    walk(&root(), &[".rs", ".py"], &mut files);
    assert!(files.len() > 40, "the repository was not found");
    files
}

/// Returns the files of the engine's `src` by module path (`mapping/dftl`), without unit tests.
fn sources() -> Vec<(String, File)> {
    sources_of("floatgate-ftl")
}

/// Returns the files of a crate's `src`, in the same way.
fn sources_of(name: &str) -> Vec<(String, File)> {
    let mut files = vec![];
    walk(&root().join("crates").join(name).join("src"), &[".rs"], &mut files);
    let module = |file: &File| {
        let (_, path) = file.name.split_once("src/").unwrap();
        path.trim_end_matches(".rs").to_string()
    };
    let files = files.into_iter().map(|file| (module(&file), file));
    files
        .filter(|(module, _)| !module.split('/').any(|part| part == "tests") && module != "lib")
        .collect()
}

fn report(violations: &[String]) {
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

fn too_long(file: &File, most: usize) -> Option<String> {
    let lines = file.text.lines().count();
    (lines > most).then(|| format!("{}:1: {lines} lines, at most {most}", file.name))
}

#[test]
fn lines_fit_and_files_are_short() {
    let mut violations = vec![];
    for file in everything() {
        for (at, line) in file.text.lines().enumerate() {
            let columns = line.chars().count();
            // A table of expected figures is data; such a file also disables the Python linter's
            // limit.
            let is_data = file.name.contains("tests/") && file.text.contains("# noqa: E501");
            if columns > COLUMNS_MAX && !is_data {
                let place = format!("{}:{}", file.name, at + 1);
                violations.push(format!("{place}: {columns} columns, at most {COLUMNS_MAX}"));
            }
        }
        // The length of a generated file depends on its source.
        if !file.text.contains("generates them from the engine's schema") {
            violations.extend(too_long(&file, FILE_LINES_MAX));
        }
    }
    report(&violations);
}

fn first_word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// Returns the modules that a line names by `crate::`. Macros belong to `parameters`, except
/// `state`.
fn imports(line: &str) -> Vec<String> {
    let named = line.split("crate::").skip(1);
    let module = |text: &str| {
        let word = first_word(text);
        let is_macro = text[word.len()..].starts_with('!');
        let of_macro = if word == "state" { SAVED } else { "parameters" };
        if is_macro { of_macro.to_string() } else { word.to_string() }
    };
    named.map(module).filter(|name| name.chars().all(|c| !c.is_uppercase())).collect()
}

/// A table of layers.
type Layers = &'static [(&'static str, &'static [&'static str])];

/// Returns the imports of a crate's modules that their layer does not allow.
fn wrong_imports(sources: Vec<(String, File)>, layers: Layers) -> Vec<String> {
    let mut violations = vec![];
    for (module, file) in sources {
        let layer = layers
            .iter()
            .filter(|(layer, _)| module == *layer || module.starts_with(&format!("{layer}/")));
        let Some((layer, allowed)) = layer.max_by_key(|(layer, _)| layer.len()) else {
            violations.push(format!("{}:1: no layer is set for this module", file.name));
            continue;
        };
        let own = layer.split('/').next().unwrap();
        for (at, line) in file.code() {
            for import in imports(line) {
                if import != own && import != SAVED && !allowed.contains(&import.as_str()) {
                    let rule = format!("`{layer}` may import {allowed:?}, not `{import}`");
                    violations.push(format!("{}:{at}: {rule}", file.name));
                }
            }
        }
    }
    violations
}

#[test]
fn modules_import_lower_layers() {
    report(&wrong_imports(sources(), LAYERS));
    report(&wrong_imports(sources_of("floatgate-lab"), LAB_LAYERS));
}

#[test]
fn layers_have_no_circles() {
    for layers in [LAYERS, LAB_LAYERS] {
        let layers = layers.iter().filter(|(layer, _)| !layer.contains('/'));
        assert_no_circles(layers.map(|(layer, allowed)| (*layer, allowed.to_vec())).collect());
    }
}

/// The parts of the server depend on each other in one direction.
#[test]
fn modules_of_the_server_have_no_circles() {
    let sources = sources_of("floatgate-lab");
    let parts = sources.iter().filter_map(|(module, file)| {
        let siblings = file.code().flat_map(|(_, line)| line.split("super::").skip(1));
        Some((module.strip_prefix("serve/")?, siblings.map(first_word).collect::<Vec<_>>()))
    });
    let parts: Vec<_> = parts.collect();
    for import in parts.iter().flat_map(|(_, imports)| imports) {
        // An import through the module above would hide a circle.
        assert!(parts.iter().any(|(part, _)| part == import), "super::{import} is no part");
    }
    assert_no_circles(parts);
}

/// Removes the modules that import none of the remaining modules, until no module remains.
fn assert_no_circles(mut left: Vec<(&str, Vec<&str>)>) {
    assert!(!left.is_empty(), "no module was found");
    while !left.is_empty() {
        let names: Vec<&str> = left.iter().map(|(name, _)| *name).collect();
        let before = left.len();
        left.retain(|(_, imports)| imports.iter().any(|import| names.contains(import)));
        assert!(left.len() < before, "a circle among {names:?}");
    }
}

/// Returns the types of a table's rows, read from the file with the table.
fn row_types(axis: &str, text: &str) -> Vec<(String, String)> {
    let tables = tables();
    let (_, rows) = tables.iter().find(|(name, _)| *name == axis).unwrap();
    let row = |line: &str| {
        let (name, rest) = line.trim().split_once(' ')?;
        let (kind, _) = rest.split_once('(')?;
        names(rows).any(|row| row == name).then(|| (name.to_string(), kind.to_string()))
    };
    text.lines().filter_map(row).collect()
}

#[test]
fn a_policy_knows_no_sibling() {
    let mut violations = vec![];
    let sources = sources();
    for (axis, rows) in tables() {
        let (_, table) = sources.iter().find(|(module, _)| module == axis).unwrap();
        let types = row_types(axis, &table.text);
        assert_eq!(types.len(), rows.len(), "the table of {axis} was not understood");
        let policies = sources.iter().filter(|(m, _)| m.starts_with(&format!("{axis}/")));
        for (_, file) in policies {
            let own = |kind: &str| {
                ["struct {}", "type {} ="]
                    .iter()
                    .any(|of| file.text.contains(&of.replace("{}", kind)))
            };
            let parent = |kind: &str| file.text.contains(&format!("belong to [`{kind}`]"));
            for (_, kind) in types.iter().filter(|(_, kind)| !own(kind) && !parent(kind)) {
                let word = |text: &str| {
                    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == kind)
                };
                for (at, _) in file.code().filter(|(_, line)| word(line)) {
                    violations
                        .push(format!("{}:{at}: a policy knows no sibling ({kind})", file.name));
                }
            }
        }
    }
    report(&violations);
}

#[test]
fn words_that_are_not_written() {
    let mut violations = vec![];
    for (module, file) in sources() {
        for (at, line) in file.text.lines().enumerate() {
            for (word, instead) in BANNED.iter().filter(|(word, _)| line.contains(word)) {
                violations.push(format!("{}:{}: not `{word}`, but {instead}", file.name, at + 1));
            }
        }
        for (at, line) in file.code().filter(|_| module != "prefetch") {
            if line.contains("unsafe ") || line.contains("allow(unsafe_code)") {
                violations.push(format!("{}:{at}: `unsafe` is in prefetch.rs only", file.name));
            }
        }
    }
    report(&violations);
}

#[test]
fn every_file_has_a_header() {
    let silent = sources().into_iter().filter(|(_, file)| !file.text.starts_with("//! "));
    let violations: Vec<_> =
        silent.map(|(_, file)| format!("{}:1: no `//!` header", file.name)).collect();
    report(&violations);
}

#[test]
fn every_default_is_in_its_range() {
    let mut found = 0;
    for (axis, rows) in tables() {
        for Row { name, parameters, .. } in rows {
            for Parameter { name: key, doc, range, default } in parameters() {
                let is_in = default.is_none_or(|default| range.holds(default));
                assert!(is_in, "{axis} {name}.{key}: {default:?} is not in {range:?}");
                assert!(doc.ends_with('.') && doc.len() > 10, "{axis} {name}.{key}: {doc:?}");
                found += 1;
            }
        }
    }
    assert!(found > 60, "only {found} parameters were found");
}

#[test]
fn every_row_has_a_doc_line_and_a_source() {
    for (axis, rows) in tables() {
        for (number, &Row { name, doc, source, .. }) in rows.iter().enumerate() {
            assert!(doc.ends_with('.') && doc.len() > 10, "{axis} {name}: a sentence, not {doc:?}");
            assert!(!source.trim().is_empty(), "{axis} {name}: where is it from?");
            assert!(rows[..number].iter().all(|row| row.name != name), "{axis} {name}: twice");
        }
    }
}
