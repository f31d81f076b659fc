"""Several results side by side: as a table, averaged over seeds, in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .drawn import Plots, means_html, plots_of, write_report
from .intervals import summary_table
from .notebook import rows_html
from .result import Result
from .table import comparison_table, labels

if TYPE_CHECKING:
    import polars as pl


class Comparison(list[Result]):
    """Results of `compare_results`, in the order of the runs.

    A notebook shows their main metrics.
    """

    def __init__(self, results: Iterable[Result], keys: Sequence[str]) -> None:
        super().__init__(results)
        self.keys = list(keys)
        """Config keys that varied; "device" if presets varied."""

    def table(self) -> pl.DataFrame:
        """Returns a table with one row per run: see `comparison_table`."""
        return comparison_table(self, self.keys)

    def summary(self, baseline: Mapping[str, Any] | None = None) -> pl.DataFrame:
        """Returns means over the seeds, intervals and differences to `baseline`: see
        `summary_table`.
        """
        return summary_table(self, self.keys, baseline)

    @property
    def plot(self) -> Plots:
        """Figures of the report as Altair charts, e.g. `runs.plot.write_amplification`."""
        return plots_of(self)

    def report(
        self,
        path: str | Path,
        *,
        baseline: Mapping[str, Any] | None = None,
        title: str | None = None,
    ) -> Path:
        """Writes the report, a page that needs no network, to `path`.

        With several seeds, each combination is one row and one bar with its interval. Differences
        are to `baseline`, as in `summary`. Raises ConfigError if no run is the baseline, and
        OSError if the file cannot be written.
        """
        return write_report(self, path, baseline=baseline, title=title)

    def _repr_html_(self) -> str:
        rows = rows_html([*zip(labels(self, self.keys), self, strict=True)])
        if len({result.seed for result in self}) < 2:
            return rows
        return means_html(self) + rows
