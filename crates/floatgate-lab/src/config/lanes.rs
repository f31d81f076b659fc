//! Config table of the recording of dies and channels.

use std::borrow::Cow;
use std::fmt;

use floatgate_ftl::nand::{Around, Recording};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::{Config, ConfigError, Timing, expect};
use crate::units::{Time, UnitError};

/// Recording of all work of dies and channels in a window of the run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Lanes {
    /// Length of the window. Not set: nothing is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Time", extend("x-minimum" = "1ns", "x-maximum" = "1000s"))]
    pub window: Option<Time>,
    /// The position of the window: "worst" or a time from the start of the run. "worst" is the read
    /// or write with the longest latency: three quarters of the window lie before its completion,
    /// one quarter after.
    pub around: Moment,
    /// Maximum number of recorded spans, 100 to 10000000. A window with more spans is shortened.
    #[schemars(range(min = 100, max = 10_000_000))]
    pub spans: u32,
}

impl Default for Lanes {
    fn default() -> Self {
        Self { window: None, around: Moment::Worst, spans: 200_000 }
    }
}

/// Time in a run, written "worst" or as a duration from its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Moment {
    /// When the drive served the request with the longest latency.
    Worst,
    /// At this time from the start of the run.
    At(Time),
}

impl Moment {
    /// Parses "worst" or a duration such as "1.25s".
    ///
    /// # Errors
    /// The text is neither.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "worst" { Ok(Self::Worst) } else { Time::parse(text).map(Self::At) }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Worst => f.write_str("worst"),
            Self::At(time) => time.fmt(f),
        }
    }
}

impl TryFrom<String> for Moment {
    type Error = UnitError;

    fn try_from(text: String) -> Result<Self, UnitError> {
        Self::parse(&text)
    }
}

impl From<Moment> for String {
    fn from(moment: Moment) -> Self {
        moment.to_string()
    }
}

impl JsonSchema for Moment {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Moment".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let pattern = r"^\s*(worst|[0-9]+(\.[0-9]+)?\s*[num]?s)\s*$";
        json_schema!({ "type": "string", "format": "moment", "pattern": pattern })
    }
}

impl Config {
    /// Returns the recording that the config asks for, if any.
    pub(crate) fn recording(&self) -> Option<Recording> {
        let Lanes { window, around, spans } = &self.lanes;
        let around = match around {
            Moment::Worst => Around::Worst,
            Moment::At(time) => Around::Time(time.0),
        };
        let spans_max = *spans as usize;
        window.map(|window| Recording { window_ns: window.0, around, spans_max })
    }

    pub(super) fn check_lanes(&self) -> Result<(), ConfigError> {
        let Lanes { window, around, .. } = &self.lanes;
        if let Some(window) = window {
            let given = format!("\"{window}\"");
            let other = "none with timing = \"none\": no time passes".to_owned();
            return expect(self.timing != Timing::None, "lanes.window", &given, other);
        }
        let is_default = *around == Moment::Worst;
        let given = format!("\"{around}\"");
        let other = "lanes.window to be set as well".to_owned();
        expect(is_default, "lanes.around", &given, other)
    }
}
