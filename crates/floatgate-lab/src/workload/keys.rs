//! Keys of a generator's text.

use std::collections::BTreeMap;

use super::GeneratorRow;
use crate::config::ConfigError;
use crate::suggest::hint;
use crate::units::{Size, Time, parse_count};

/// Key of a generator, for help texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyRow {
    /// Name, in front of the equals sign.
    pub name: &'static str,
    /// Default as text; empty if there is none.
    pub default: &'static str,
    /// Description in one sentence.
    pub doc: &'static str,
}

/// Keys and values, which a generator takes one by one.
pub(super) struct Keys {
    row: &'static GeneratorRow,
    given: BTreeMap<String, String>,
    /// All keys taken so far with their effective values: the canonical form of the text.
    resolved: BTreeMap<&'static str, String>,
}

impl Keys {
    /// Parses `key=value,...`.
    pub(super) fn parse(row: &'static GeneratorRow, text: &str) -> Result<Self, ConfigError> {
        let name = row.name;
        let mut given = BTreeMap::new();
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            let Some((key, value)) = part.split_once('=') else {
                let part = part.trim();
                return Err(ConfigError::new(format!("{name}: `{part}`: expected key=value")));
            };
            let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
            if row.keys().all(|known| known.name != key) {
                let mut known: Vec<&str> = row.keys().map(|key| key.name).collect();
                known.sort_unstable();
                let (hint, known) = (hint(&key, &known), known.join(", "));
                let unknown = format!("{name}: unknown key `{key}`; {hint}known: {known}");
                return Err(ConfigError::new(unknown));
            }
            if given.contains_key(&key) {
                return Err(ConfigError::new(format!("{name}: {key} is given twice")));
            }
            given.insert(key, value);
        }
        Ok(Self { row, given, resolved: BTreeMap::new() })
    }

    /// Returns an error about this generator.
    pub(super) fn error(&self, text: &str) -> ConfigError {
        ConfigError::new(format!("{}: {text}", self.row.name))
    }

    /// Takes a number of bytes, at least 1.
    pub(super) fn size(
        &mut self,
        key: &'static str,
        default: Option<u64>,
    ) -> Result<u64, ConfigError> {
        let size = self.take(key, default.map(Size), Size::parse)?;
        match size {
            Some(Size(0)) => Err(self.wrong(key, "expected at least 1 byte")),
            Some(Size(bytes)) => Ok(bytes),
            None => Err(self.error(&format!("{key} is missing; for example {key}=1GiB"))),
        }
    }

    /// Takes a duration in nanoseconds.
    pub(super) fn time(&mut self, key: &'static str, default: u64) -> Result<u64, ConfigError> {
        Ok(self.take(key, Some(Time(default)), Time::parse)?.map_or(default, |time| time.0))
    }

    /// Takes a count, if it is given.
    pub(super) fn count(&mut self, key: &'static str) -> Result<Option<u64>, ConfigError> {
        self.take(key, None, parse_count)
    }

    /// Takes a number from `low` to `high`.
    pub(super) fn number(
        &mut self,
        key: &'static str,
        default: f64,
        (low, high): (f64, f64),
    ) -> Result<f64, ConfigError> {
        let parse = |text: &str| text.parse().map_err(|_| "expected a number");
        let number = self.take(key, Some(default), parse)?.unwrap_or(default);
        if (low..=high).contains(&number) {
            return Ok(number);
        }
        Err(self.wrong(key, &format!("expected a number from {low} to {high}")))
    }

    /// Takes one of several names. The first is the default.
    pub(super) fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        choices: &[(&'static str, T)],
    ) -> Result<T, ConfigError> {
        let names: Vec<&str> = choices.iter().map(|choice| choice.0).collect();
        let parse = |text: &str| {
            let found = choices.iter().position(|choice| choice.0 == text);
            found.ok_or_else(|| {
                format!("{}expected one of {}", hint(text, &names), names.join(", "))
            })
        };
        let given = self.given.remove(key);
        let text = given.as_deref().unwrap_or(choices[0].0).to_owned();
        let found = parse(&text).map_err(|e| self.error(&format!("{key}={text}: {e}")))?;
        self.resolved.insert(key, text);
        Ok(choices[found].1)
    }

    /// Returns whether a key is given and not yet taken.
    pub(super) fn has(&self, key: &str) -> bool {
        self.given.contains_key(key)
    }

    /// Returns the text with every effective value, in a fixed order. All keys must have been
    /// taken.
    pub(super) fn finish(self) -> String {
        assert!(self.given.is_empty(), "a key in the table was not read: {:?}", self.given);
        let values: Vec<String> =
            self.resolved.iter().map(|(key, value)| format!("{key}={value}")).collect();
        format!("{}:{}", self.row.name, values.join(","))
    }

    /// Records the effective value of a key that was computed from other values.
    pub(super) fn resolve(&mut self, key: &'static str, value: &dyn ToString) {
        self.resolved.insert(key, value.to_string());
    }

    fn take<T: ToString, E: ToString>(
        &mut self,
        key: &'static str,
        default: Option<T>,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Option<T>, ConfigError> {
        assert!(self.row.keys().any(|row| row.name == key), "{key} is not in the table");
        let value = match self.given.remove(key) {
            Some(text) => Some(
                parse(&text)
                    .map_err(|error| self.error(&format!("{key}={text}: {}", error.to_string())))?,
            ),
            None => default,
        };
        if let Some(value) = &value {
            self.resolved.insert(key, value.to_string());
        }
        Ok(value)
    }

    /// Returns an error about the value of a key that has been taken.
    fn wrong(&self, key: &str, expected: &str) -> ConfigError {
        let value = self.resolved.get(key).map_or("", String::as_str);
        self.error(&format!("{key}={value}: {expected}"))
    }
}
