"""The ETI paper's table and figures, from what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from floatgate.models import (
    alpha_from_spare_factor,
    fifo_mixed,
    greedy,
    oracle_greedy_same_pool,
)
from floatgate.report.values import count, fixed, percent, ratio

from .eti_runs import PAGES_PER_BLOCK, SPARE, SYNTHETIC, TABLE_1, Extents, Point
from .eti_schemes import EVERY, FACTORS, FIGURE_4, MBF, READINGS, SENSITIVITY, VICTIMS
from .paper import Bars, Column, Exhibit, Lines, Numbers, Row, crosstab

if TYPE_CHECKING:
    from floatgate.hot_data import Hotness

HOT_COLD = {"uniform": None, "80/20": (0.8, 0.2), "90/10": (0.9, 0.1)}
"""The synthetic loads: shares of the writes and of the pages that are hot."""

Named = Sequence[tuple[str, "Hotness"]]
"""Where hot data lie, by the name of the workload."""


def table_1(found: Named) -> Numbers:
    """The paper's rows and ours."""
    fields = ("hot_pages", "cold_pages", "hot_writes", "cold_writes")
    paper = {row.name: row for row in TABLE_1}
    rows: list[Row] = []
    for name, data in found:
        row: Row = {"trace": name}
        for field in fields:
            row[field] = getattr(data.means, field)
            row[f"{field}_paper"] = getattr(paper[name], field) if name in paper else None
        row["length"] = data.means.length_pages
        row["length_paper"] = paper[name].length if name in paper else None
        rows.append(row)
    columns = [Column("", "trace")]
    for field, style in [*((field, count) for field in fields), ("length", _tenths)]:
        columns.append(Column(field.replace("_", " "), field, style))
        columns.append(Column("paper", f"{field}_paper", style))
    caption = (
        "Means per GB (10^9 bytes) of writes: pages of 4 KiB written four times or more, and less "
        "often; page writes to these; pages of a write. The stand-ins were made from the paper's "
        "rows: theirs says whether that worked, and nothing about the paper."
    )
    return Numbers(
        key="table-1",
        title="Table 1: hot and cold pages",
        caption=caption,
        rows=rows,
        columns=columns,
    )


def _tenths(value: float) -> str:
    return fixed(value, 1)


def merged(found: Named) -> list[Lines]:
    """Figures 1 and 2."""
    rows = [
        {
            "trace": name,
            "line": name,
            "gap_pages": at.gap_pages,
            "extents": at.extents,
            "cold_writes_share": at.cold_writes_share or 0.0,
        }
        for name, data in found
        for at in data.extents
        if at.extents is not None
    ]
    labels = {name: name for name, _ in found}

    def chart(key: str, title: str, caption: str, metric: str, style: str) -> Lines:
        return Lines(
            key=key,
            title=title,
            caption=caption,
            rows=rows,
            metric=metric,
            style=style,
            labels=labels,
            panel=None,
            x="gap_pages",
            x_title="k, cold pages",
            x_text=count,
        )

    made = "Where hot extents lie in the stand-ins is our choice, not the paper's table."
    return [
        chart(
            "figure-1",
            "Figure 1: hot extents after merging",
            f"Extents of hot pages with fewer than k cold pages between them are one. {made}",
            "extents",
            ",.0f",
        ),
        chart(
            "figure-2",
            "Figure 2: cold writes taken for hot",
            f"Share of the writes to cold pages that fall into merged extents. {made}",
            "cold_writes_share",
            ",.1%",
        ),
    ]


def figure_4(points: Sequence[Point], caption: str) -> list[Exhibit]:
    """Write amplification by scheme, as bars and as a table."""
    labels = {scheme.key: scheme.label for scheme in FIGURE_4}
    rows = [_row(point) for point in points if point.line in labels and point.kind != SYNTHETIC]
    labels_more = labels | {scheme.key: scheme.label for scheme in READINGS}
    real = [point for point in points if point.kind != SYNTHETIC]
    table, columns = crosstab(real, labels_more, "write_amplification", ratio)
    return [
        Bars(
            key="figure-4",
            title="Figure 4: write amplification",
            axis="Write amplification",
            caption=caption,
            rows=rows,
            metric="write_amplification",
            style=".3f",
            labels=labels,
            groups={scheme.key: scheme.group for scheme in FIGURE_4},
        ),
        Numbers(
            key="write-amplification",
            title="Write amplification",
            caption=caption,
            rows=table,
            columns=columns,
        ),
    ]


def _row(point: Point) -> Row:
    return {
        "trace": point.trace,
        "line": point.line,
        "write_amplification": point.write_amplification,
    }


def figure_5(points: Sequence[Point]) -> Lines:
    """Write amplification over the size of MBF's filters; ETI's is the same at every size."""
    at = {key: (key, 1.0) for key in MBF}
    at |= {f"{key}-x{n}": (key, float(n)) for key in MBF for n in FACTORS}
    swept = {at[point.line][0] for point in points if point.line in at and "-x" in point.line}
    rows: list[Row] = []
    for point in points:
        line, x = at.get(point.line, (point.line, None))
        if point.kind != SYNTHETIC and (line == "eti" or line in swept):
            rows.append(_row(point) | {"line": line, "times": x})
    labels = {"eti": "ETI"} | {s.key: s.label for s in FIGURE_4 if s.key in MBF}
    return Lines(
        key="figure-5",
        title="Figure 5: larger Bloom filters",
        caption="Write amplification with filters of two and four times the bits.",
        rows=rows,
        metric="write_amplification",
        style=".3f",
        labels=labels,
        x="times",
        x_title="Bits of a filter, times those of Table 2",
        x_text=count,
    )


def figure_6(found: Sequence[Extents]) -> Bars:
    """Extents in use."""
    rows = [
        {"trace": each.trace, "line": line, "extents": value, "share": value / each.table}
        for each in found
        for line, value in (("mean", each.mean), ("most", float(each.most)))
    ]
    return Bars(
        key="figure-6",
        title="Figure 6: extents in use",
        axis="Share of the table",
        caption="Of those that there can be, at several moments of the second half of a workload.",
        rows=rows,
        metric="share",
        style=".1%",
        labels={"mean": "mean", "most": "most"},
        panel=None,
        row="trace",
    )


def sensitivity(points: Sequence[Point]) -> Numbers:
    """Change of the write amplification by ETI's parameters."""
    base = {point.trace: point.write_amplification for point in points if point.line == "eti"}
    labels = {scheme.key: scheme.label for scheme in SENSITIVITY}
    table, columns = crosstab(
        [point for point in points if point.kind != SYNTHETIC],
        labels,
        "write_amplification",
        _signed,
    )
    rows = [
        {"line": row["line"]}
        | {trace: value / base[trace] - 1 for trace, value in row.items() if trace in base}
        for row in table
    ]
    return Numbers(
        key="sensitivity",
        title="Sensitivity to alpha and beta",
        caption="Change of the write amplification against alpha 100% and beta 4.",
        rows=rows,
        columns=columns,
    )


def _signed(value: float) -> str:
    return ("+" if value > 0 else "") + percent(value)


def closed_forms(points: Sequence[Point], caption: str) -> Bars:
    """The synthetic loads, with what formulas say as rules."""
    shown = [point for point in points if point.kind == SYNTHETIC]
    labels = {scheme.key: scheme.label for scheme in FIGURE_4}
    labels |= {"perfect": "no error in hot and cold"}
    return Bars(
        key="closed-forms",
        title="Check against closed forms",
        axis="Write amplification",
        caption=caption,
        rows=[_row(point) for point in shown],
        metric="write_amplification",
        style=".3f",
        labels=labels,
        rules={trace: _rules(mix) for trace, mix in HOT_COLD.items()},
    )


def _rules(mix: tuple[float, float] | None) -> list[tuple[str, float]]:
    alpha = alpha_from_spare_factor(SPARE)
    uniform = greedy(alpha, PAGES_PER_BLOCK).write_amplification
    if mix is None:
        return [("greedy", uniform)]
    split = oracle_greedy_same_pool(alpha, PAGES_PER_BLOCK, *mix, "cold")
    return [
        ("no error, greedy", split.write_amplification),
        ("uniform greedy", uniform),
        ("FIFO, mixed", fifo_mixed(alpha, *mix)),
    ]


def every_placement(points: Sequence[Point]) -> Numbers:
    """Write amplification of every placement with two victim policies."""
    rows: list[Row] = []
    columns: list[Column] = []
    for victim in VICTIMS:
        labels = {scheme.key: f"{scheme.label}, {victim}" for scheme in EVERY}
        chosen = [point for point in points if point.victim == victim]
        found, columns = crosstab(chosen, labels, "write_amplification", ratio)
        rows += found
    return Numbers(
        key="every-placement",
        title="Every placement",
        caption="Write amplification with greedy and cost-benefit cleaning. Stand-ins on drives "
        "that they span, two volumes; captured traces whole.",
        rows=rows,
        columns=columns,
    )
