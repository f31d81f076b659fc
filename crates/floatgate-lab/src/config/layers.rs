//! Merging of the config's layers: preset, file, single settings.

use toml::{Table, Value};

use super::{ConfigError, presets};

/// Merges the layers, each over the layers below. Checks no keys except those that the layers use.
pub(super) fn merge(
    preset: Option<&str>,
    file: Option<&str>,
    sets: &[(String, String)],
) -> Result<Table, ConfigError> {
    let mut table = said(preset, file)?;
    table.remove("class");
    put(&mut table, settings(sets)?)?;
    Ok(table)
}

/// Merges preset and file. The table includes `[class]`, published figures of drives of this class,
/// which is not part of a config.
pub(super) fn said(preset: Option<&str>, file: Option<&str>) -> Result<Table, ConfigError> {
    let mut file = parse(file.unwrap_or_default())?;
    let base = match file.remove("preset") {
        Some(Value::String(base)) => Some(base),
        Some(other) => {
            return Err(ConfigError::new(format!("preset = {other}: expected a preset's name")));
        }
        None => None,
    };
    if let (Some(base), Some(preset)) = (&base, preset)
        && base != preset
    {
        return Err(ConfigError::new(format!(
            "the file builds on the preset {base:?}, not on {preset:?}: name only one"
        )));
    }
    let mut table = match base.as_deref().or(preset) {
        Some(name) => parse(presets::find(name)?.toml)?,
        None => Table::new(),
    };
    // A preset, and a file made from a preset, describes itself in `about`.
    table.remove("about");
    file.remove("about");
    put(&mut table, file)?;
    Ok(table)
}

/// Returns the error for spare space that is given in both ways.
pub(super) fn both_capacities() -> ConfigError {
    ConfigError::new(
        "capacity.spare_factor and capacity.over_provisioning are both set: expected one of them",
    )
}

fn parse(text: &str) -> Result<Table, ConfigError> {
    text.parse::<Table>().map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        ConfigError::new(format!("line {line}: {}", error.message().replace('\n', " ")))
    })
}

/// Merges the single settings into one layer.
fn settings(sets: &[(String, String)]) -> Result<Table, ConfigError> {
    let mut layer = Table::new();
    for (key, text) in sets {
        let text = text.trim();
        let value = text.parse::<Value>().unwrap_or_else(|_| Value::String(text.to_owned()));
        let steps: Vec<&str> = key.trim().split('.').collect();
        let nested = steps.iter().rev().fold(value, |value, step| {
            Value::Table(Table::from_iter([((*step).to_owned(), value)]))
        });
        let Value::Table(nested) = nested else { unreachable!("split gives at least one step") };
        overlay(&mut layer, nested);
    }
    Ok(layer)
}

/// Puts a layer over a table. A layer may give spare space in only one of the two ways. Across
/// layers, the upper layer wins.
fn put(table: &mut Table, layer: Table) -> Result<(), ConfigError> {
    const WAYS: [&str; 2] = ["spare_factor", "over_provisioning"];
    if let Some(Value::Table(capacity)) = layer.get("capacity") {
        let given = WAYS.map(|way| capacity.contains_key(way));
        if given == [true, true] {
            return Err(both_capacities());
        }
        if given != [false, false]
            && let Some(Value::Table(below)) = table.get_mut("capacity")
        {
            for way in WAYS {
                below.remove(way);
            }
        }
    }
    overlay(table, layer);
    Ok(())
}

/// Merges tables recursively, and replaces all other values.
fn overlay(table: &mut Table, layer: Table) {
    for (key, value) in layer {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => overlay(below, above),
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn layer_notes_are_not_part_of_a_config() {
        let file = "[class]\nsource = \"x\"\nrandom_read_iops = [1, 2]\n[queue]\ndepth = 64\n";
        let config = Config::load(Some("classic"), Some(file), &[]).unwrap();
        assert_eq!(config.queue.depth, 64);
        let table = said(Some("classic"), Some(file)).unwrap();
        assert_eq!(table["class"]["random_read_iops"].as_array().map(Vec::len), Some(2));
        assert_eq!(table["queue"].as_table().map(toml::Table::len), Some(1), "without defaults");
        assert!(!table.contains_key("about"));
        let error =
            Config::load(None, None, &[("class.source".to_owned(), "x".to_owned())]).unwrap_err();
        assert!(error.to_string().starts_with("unknown key `class.source`"), "{error}");
    }
}
