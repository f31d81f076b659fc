"""Figure of owners: write amplification of each handle or stream, and copies by cause."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl

from floatgate.results.owners import owner_table, used, writers
from floatgate.results.values import count

from . import charts, tables
from .charts import Plot, inline_data
from .figure import Drawing, Figure, add_panels, join_title, sentence
from .frames import PARTS, ROW
from .legends import first, part_legend
from .runs import Run, panels

CAUSES = {
    "host": "host writes",
    "gc": "cleaning",
    "wear": "wear levelling",
    "other": "folding",
}
"""Names of the causes for which pages of an owner are programmed, in the order of a bar."""

OWNERS = 16
"""Maximum number of owners drawn for each run."""

SHADES = [0.05, 0.45]
"""Opacity of the squares with the smallest and the largest share: text on them stays readable in
both themes."""

MATRICES = 8
"""Maximum number of runs whose copies are drawn."""

AMPLIFICATION = "Write amplification"
COPIES = "Copied pages"


def owners(drawn: Sequence[Run], runs: Sequence[Run]) -> Figure:
    """Returns a figure with bars by owner for each panel of runs, and the copies of each run."""
    figure = Figure(
        "owners",
        "Whose pages are copied, and for whom",
        "An owner is a placement handle if the drive obeys handles, else a stream. Cleaning copies "
        "a page for the write that waits for it, or that it runs along with: in the squares, each "
        "row is an owner whose writes made the drive clean, and each column an owner whose pages "
        "it copied.",
    )
    if all(len(used(run.result)) < 2 for run in drawn):
        figure.absent.append((figure.title, "no run has pages of two handles or streams"))
        return figure
    found = {panel: amplification_frame(group) for panel, group in panels(drawn).items()}
    limit = tables.series_limit(found)

    def draw(_: str, frame: pl.DataFrame) -> Plot:
        none = pl.DataFrame()
        return charts.chart_amplification(frame, first(frame["row"]), limit, none, (none, none))

    add_panels(figure, AMPLIFICATION, found, f"{AMPLIFICATION} by owner and cause", draw)
    figure.legend = part_legend(found.values(), CAUSES)
    for run in drawn[:MATRICES]:
        frame = copy_frame(run)
        if not frame.is_empty():
            text = sentence(
                "Copied pages by owner and by the write that they were copied for", run.name, frame
            )
            figure.drawings.append(Drawing(join_title(COPIES, run.name), _squares(frame), text))
    if len(drawn) > MATRICES:
        figure.reasons.append(f"{COPIES}: the first {MATRICES} runs; the table has all.")
    figure.table = owner_table([(run.name, run.result) for run in runs])
    return figure


def amplification_frame(runs: Sequence[Run]) -> pl.DataFrame:
    """Returns a row for each run, owner and cause: pages programmed per page of the host."""
    rows = []
    for run in runs:
        for owner in used(run.result)[:OWNERS]:
            pages = owner.pages
            whole = (pages.host_pages, pages.gc_pages, pages.wear_pages, pages.fold_pages)
            if not pages.host_pages:
                continue
            row = join_title(run.row, owner.name)
            rows += [
                (run.label, row, part, order, n / pages.host_pages, n / sum(whole))
                for order, (part, n) in enumerate(zip(CAUSES.values(), whole, strict=True))
                if n
            ]
    return pl.DataFrame(rows, schema=PARTS, orient="row")


def copy_frame(run: Run) -> pl.DataFrame:
    """Returns a row for each pair of owners: `value` is the share of all copied pages that are
    pages of the `owner` and were copied for a write of the `writer`.
    """
    result = run.result
    owners = used(result)[:OWNERS]
    whole = sum(owner.gc_pages for owner in result.placement.owners)
    rows = [
        (run.label, run.row, owner.name, writer, pages, pages / whole)
        for at, writer in (writers(result)[:OWNERS] if len(owners) > 1 else ())
        for owner in owners
        for pages in [owner.pages.gc_pages_for[at]]
    ]
    schema = ROW | {"owner": pl.String, "writer": pl.String, "pages": pl.Int64}
    return pl.DataFrame(rows, schema=schema | {"value": pl.Float64}, orient="row")


def _squares(frame: pl.DataFrame) -> Plot:
    """Returns a square for each pair of owners, shaded by its share of the copies."""
    rows, columns = first(frame["writer"]), first(frame["owner"])
    marked = frame.with_columns(text=pl.col("pages").map_elements(count, return_dtype=pl.String))
    base = alt.Chart(inline_data(marked)).encode(
        x=alt.X(
            "owner:N",
            sort=columns,
            axis=alt.Axis(title="Owner of the copied pages", labelAngle=0, grid=False),
        ),
        y=alt.Y("writer:N", sort=rows, axis=alt.Axis(title="Copied for a write of", grid=False)),
    )
    shade = alt.Opacity("value:Q", scale=alt.Scale(range=SHADES), legend=None)
    tooltip = [
        alt.Tooltip("owner:N", title="Pages of"),
        alt.Tooltip("writer:N", title="Copied for a write of"),
        alt.Tooltip("pages:Q", title="Pages", format=",.0f"),
        alt.Tooltip("value:Q", title="Share of all copies", format=".1%"),
    ]
    layers = [
        base.mark_rect().encode(opacity=shade, tooltip=tooltip),
        base.mark_text(style="total", aria=False).encode(text=alt.Text("text:N")),
    ]
    plot: Plot = alt.LayerChart(layer=layers).properties(height=40 * len(rows))
    return plot
