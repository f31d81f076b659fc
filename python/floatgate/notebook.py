"""Results in a notebook: a small table, and the plots of their report page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt

    from .report.figure import Figure
    from .report.tables import Table
    from .result import Result


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
        from .report.pictures import figure_chart

        return figure_chart(self._figures[name])


class Shown:
    """Base of results that a notebook shows as a table with plots, and a terminal as one line."""

    def _headline(self) -> str:
        """Returns the subject of the result, and its main number."""
        raise NotImplementedError

    @property
    def plot(self) -> Plots:
        """Figures of its report page, as Altair charts."""
        from .report.shown import figures_of

        return Plots(figures_of(self))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._headline()}>"

    def _repr_html_(self) -> str:
        from .report.shown import table_of

        doubts = [*getattr(self, "warnings", ())]
        return table_html(table_of(self), self._headline()) + _warnings_html(doubts)


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


def _warnings_html(warnings: Sequence[str]) -> str:
    return "".join(f"<p><b>warning:</b> {escape(text)}</p>" for text in warnings)


def result_html(result: Result) -> str:
    """Returns one result with its main metrics and every warning."""
    return rows_html([({"trace": result.workload.name, "device": result.device}, result)])


def rows_html(rows: Sequence[tuple[Mapping[str, Any], Result]]) -> str:
    """Returns a row for each result: its labels, then its main metrics. The warnings come below."""
    if not rows:
        return "<p>no results</p>"
    told = [({**label, "seed": result.seed}, _metrics(result)) for label, result in rows]
    from .scaling import mark

    if any(marks := [mark(result) for _, result in rows]):
        told = [
            (label | {"drive": one}, numbers)
            for (label, numbers), one in zip(told, marks, strict=True)
        ]
    titles = [*told[0][0], *told[0][1]]
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "".join(
        "<tr>"
        + "".join(f"<td>{escape(str(value))}</td>" for value in label.values())
        + "".join(f'<td style="text-align:right">{escape(text)}</td>' for text in metrics.values())
        + "</tr>"
        for label, metrics in told
    )
    warnings = dict.fromkeys(text for _, result in rows for text in result.warnings)
    doubts = _warnings_html([*warnings])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{doubts}"


def _metrics(result: Result) -> dict[str, str]:
    from .report.values import measured, percent, ratio

    latency, hits = result.latency.all, result.mapping.hit_ratio
    return {
        "write amplification": ratio(result.write_amplification),
        "map hits": percent(hits),
        "mean \N{MICRO SIGN}s": measured(latency.mean_us),
        "p99 \N{MICRO SIGN}s": measured(latency.p99_us),
        "requests/s": measured(result.throughput.iops),
    }
