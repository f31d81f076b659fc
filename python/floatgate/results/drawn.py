"""Drawings of results: the figures, tables and pages of the package `report`.

`report` imports the results. The results reach `report` only through this module, which imports
`report` when a drawing is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt

    from floatgate.report.figure import Figure
    from floatgate.results.tables import Table


class Plots:
    """Figures of a report page as Altair charts, each under its name: `plot.write_amplification`.

    `dir` lists the available charts. A figure without data has no chart.
    """

    def __init__(self, figures: Sequence[Figure]) -> None:
        self._figures = {
            figure.key.replace("-", "_"): figure for figure in figures if figure.drawings
        }

    def __dir__(self) -> list[str]:
        return [*self._figures]

    def __repr__(self) -> str:
        return f"<plots: {', '.join(self._figures) or 'none'}>"

    def __getattr__(self, name: str) -> alt.ConcatChart:
        if name.startswith("_") or name not in self._figures:
            names = ", ".join(self._figures) or "none"
            raise AttributeError(f"plot: {name} given; expected one of {names}")
        from floatgate.report.pictures import figure_chart

        return figure_chart(self._figures[name])


class Shown:
    """Base of results that a notebook shows as a table with plots, and a terminal as one line."""

    def _headline(self) -> str:
        """Returns the subject of the result, and its main number."""
        raise NotImplementedError

    @property
    def plot(self) -> Plots:
        """Figures of its report page, as Altair charts."""
        return plots_of(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._headline()}>"

    def _repr_html_(self) -> str:
        from floatgate.report.shown import table_of

        doubts = [*getattr(self, "warnings", ())]
        return table_html(table_of(self), self._headline()) + warnings_html(doubts)


def plots_of(result: object) -> Plots:
    """Returns the figures of the report page of a result, a comparison or an analysis."""
    from floatgate.report.shown import figures_of

    return Plots(figures_of(result))


def write_report(
    results: Sequence[Any],
    path: str | Path,
    *,
    baseline: Mapping[str, Any] | None = None,
    title: str | None = None,
) -> Path:
    """Writes the report of results to `path`: see `Comparison.report`."""
    from floatgate.report import write_report as write

    return write(results, Path(path), baseline=baseline, title=title)


def means_html(results: Sequence[Any]) -> str:
    """Returns the means over the seeds as HTML for a notebook."""
    from floatgate.report.intervals import means_table
    from floatgate.report.runs import combined_runs

    means = means_table(combined_runs(results))
    return table_html(means, means.title)


def table_html(table: Table, caption: str) -> str:
    """Returns a report's table as HTML for a notebook."""
    head = "".join(f"<th>{escape(title)}</th>" for title in table.columns)
    rows = []
    for row in table.rows:
        cells = (
            f"<td>{escape(cell.text)}</td>"
            if at in table.text_columns
            else f'<td style="text-align:right">{escape(cell.text)}</td>'
            for at, cell in enumerate(row)
        )
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def warnings_html(warnings: Sequence[str]) -> str:
    return "".join(f"<p><b>warning:</b> {escape(text)}</p>" for text in warnings)
