"""Typed result of a simulation. `result_types` documents each field and its unit.

A number is None if it does not exist: the write amplification of a run that wrote nothing, or the
hit ratio of a cache that the drive does not have.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from floatgate.files.reading import parse_json
from floatgate.result_types import *  # noqa: F403
from floatgate.result_types import ResultFields

from .drawn import Plots, plots_of, write_report
from .notebook import result_html
from .typed import builder, require

if TYPE_CHECKING:
    import polars as pl

TIMELINE = (
    *("host_pages", "host_bytes", "seconds", "write_amplification", "page_write_amplification"),
    *("hit_ratio", "write_mb_s"),
    *("mean_us", "p50_us", "p99_us", "p999_us", "max_us"),
    *("gc_programs", "map_programs", "merge_programs", "fold_programs"),
)
"""Columns of a timeline."""

_fields = builder(ResultFields, "result")
"""Builds the fields from a document. It is made at the import, which can go on while the engine
runs.
"""


@dataclass(frozen=True, repr=False)
class Result(ResultFields):
    """Result of one simulation: its inputs and its measurements."""

    _text: str = field(compare=False)
    """The document as JSON text. Callers get copies, so they cannot change it."""

    @classmethod
    def from_json(cls, text: str) -> Result:
        """Returns the result from JSON text; NaN and infinity become None.

        Raises ValueError with the location if the text is not JSON, or if a field is missing or has
        another type: the file is damaged, or another version wrote it.
        """
        document = _parse(text)
        fields = _fields(document)
        require(TIMELINE, document.get("timeline"), "result.timeline")
        return cls(**vars(fields), _text=text)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Result:
        """Returns the result from its document, as `to_dict` gives it.

        Raises ValueError as `from_json`.
        """
        return cls.from_json(json.dumps(document, ensure_ascii=False))

    def setting(self, key: str) -> Any:
        """Returns the value of a config key such as "cleaning.victim"; None if it is not set."""
        value: Any = self.config
        for step in key.split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
        return value

    @property
    def timed(self) -> bool:
        """Whether time was simulated. With `timing = "none"`, the result has no meaningful time."""
        return bool(self.setting("timing") != "none")

    @property
    def timeline(self) -> pl.DataFrame:
        """One row per window of the run, at `host_pages` written and `seconds` simulated.

        Per window: `host_bytes` written by its end, `write_amplification`,
        `page_write_amplification`, `hit_ratio`, `write_mb_s`; `mean_us`, `p50_us`, `p99_us`,
        `p999_us` and `max_us` of its reads and writes; pages programmed by cause (`gc_programs`,
        `map_programs`, `merge_programs`, `fold_programs`). A value is null if a window has no data
        for it.
        """
        import polars as pl

        return pl.DataFrame(self.to_dict()["timeline"], strict=False)

    @property
    def latencies(self) -> pl.DataFrame:
        """The whole distribution of latencies, with `latency.distribution = "full"`.

        One row per distinct time: of the requests of `operation` ("read", "write", or "all" for
        both), `requests` spent `ns` nanoseconds on `cause`. The cause is "response" for the whole
        latency, or an entry of `latency.blame_us`. Times that differ by up to 0.1 % share one row,
        with the longest time. Requests that spent no time on a cause have a row with 0. The
        `requests` of an operation and a cause therefore sum to all its requests.

        Raises ValueError if the run kept a summary only.
        """
        import polars as pl

        if not self.distributions:
            raise ValueError('the run kept a summary; latency.distribution = "full" keeps all')
        schema = {
            "operation": pl.String,
            "cause": pl.String,
            "ns": pl.UInt64,
            "requests": pl.UInt64,
        }
        return pl.concat(
            pl.DataFrame(
                {
                    "operation": one.operation,
                    "cause": one.cause,
                    "ns": (0, *one.ns),
                    "requests": (one.none, *one.counts),
                },
                schema=schema,
            )
            for one in self.distributions
        ).filter(pl.col("requests") > 0)

    def to_dict(self) -> dict[str, Any]:
        """Returns the whole document, including the timeline."""
        return _parse(self._text)

    def to_json(self) -> str:
        """Returns the whole document as JSON text, with numbers as the engine gave them."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    @property
    def plot(self) -> Plots:
        """Figures of the report as Altair charts, e.g. `result.plot.write_amplification`."""
        return plots_of(self)

    def report(self, path: str | Path, *, title: str | None = None) -> Path:
        """Writes the report, a page that needs no network, to `path`. Raises OSError."""
        return write_report([self], path, title=title)

    def _repr_html_(self) -> str:
        return result_html(self)

    def __repr__(self) -> str:
        return (
            f"<Result of {self.workload.name}: write amplification {self.write_amplification}, "
            f"p99 {self.latency.p99} us>"
        )


def _parse(text: str) -> dict[str, Any]:
    try:
        document: dict[str, Any] = from_json(text, allow_inf_nan=False)
    except ValueError:
        # NaN, infinity or invalid JSON: this parser accepts the first two, and reports errors in
        # the third. It takes twice as long.
        document = parse_json(text, parse_constant=lambda _: None)
    return document
