"""Draws the pictures of the guides: what a drive costs a log, handles, map curves, seeds, advice.

    python tools/pictures_guides.py

Three pictures have the numbers of tables in their pages, which tests compare with commands. The
others are simulated, in some seconds.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import vl_convert
from pictures_svg import ONE, TWO, roomy

import floatgate as fg

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
FOLDER = DOCS / "images"

INK = "#7d838c"
"""Colour of text and rules, readable on white and on black."""

HOST, PARTIAL, CLEANING = "#2f86d8", "#8e63f2", "#e0862d"
CURVES = (ONE, TWO, "#808d00")
SEEDS = [1, 2, 3, 4, 5]
PER_CENT = "round(100 * datum.value) + '\u00a0%'"


def draw(folder: Path = FOLDER) -> list[Path]:
    """Writes the pictures into the folder and returns their paths."""
    charts = {
        "log.svg": _log((DOCS / "learn" / "log.md").read_text("utf-8")),
        "handles.svg": _handles((DOCS / "handles.md").read_text("utf-8")),
        "map-curve.svg": _map_curve(),
        "seeds.svg": _seeds(),
        "advise.svg": _advise((DOCS / "advise.md").read_text("utf-8")),
    }
    for name, chart in charts.items():
        svg = roomy(vl_convert.vegalite_to_svg(_styled(chart).to_json()))
        clear = svg.replace('fill="#00000000"', 'fill="none"')
        (folder / name).write_text(clear, "utf-8")
    return [folder / name for name in charts]


def _styled(chart: Any) -> Any:
    """Returns the chart without a background, with colours for light and dark pages."""
    text = {"labelColor": INK, "titleColor": INK}
    axis = text | {"domainColor": INK, "tickColor": INK, "gridOpacity": 0.25, "gridColor": INK}
    return (
        chart.configure(background="#00000000")
        .configure_view(stroke=None)
        .configure_axis(**axis, labelFontSize=11, titleFontSize=11, titleFontWeight="normal")
        .configure_legend(**text, labelFontSize=11, orient="top", title=None)
        .configure_header(**text, labelFontSize=11)
        .configure_title(color=INK, fontSize=12, anchor="start")
    )


def _log(page: str) -> alt.LayerChart:
    """Returns write amplification by cause of the drives in the table of the page."""
    rows = re.findall(r"^    (tlc|qlc)-\S+ +(0\.\d+) +([\d.]+) .*$", page, re.MULTILINE)
    parts: list[dict[str, Any]] = []
    for kind, spare, printed in rows:
        name = f"{kind.upper()}, {float(spare) * 100:.0f} % spare"
        total = float(printed)
        partial = 15.0 if kind == "qlc" else 0.0
        for cause, value in (
            ("your writes", 1.0),
            ("partial pages", partial),
            ("cleaning", total - 1 - partial),
        ):
            parts.append({"drive": name, "cause": cause, "value": value, "total": printed})
    frame = pl.DataFrame(parts)
    order = frame["drive"].unique(maintain_order=True).to_list()
    causes = ["your writes", "partial pages", "cleaning"]
    base = alt.Chart(frame, width=560, height=150).encode(
        y=alt.Y("drive:N", sort=order, title=None)
    )
    bars = base.mark_bar().encode(
        x=alt.X("value:Q", title="Bytes programmed for each byte written"),
        color=alt.Color("cause:N", sort=causes, scale=alt.Scale(domain=causes, range=_causes())),
        order=alt.Order("place:Q"),
    )
    places = alt.datum.cause == "your writes"
    numbers = base.transform_filter(places).mark_text(align="left", dx=4, color=INK)
    ends = numbers.encode(x=alt.X("end:Q"), text="total:N")
    ends = ends.transform_calculate(end="toNumber(datum.total)")
    place = f"indexof({causes!r}, datum.cause)"
    return alt.layer(bars.transform_calculate(place=place), ends)


def _causes() -> list[str]:
    return [HOST, PARTIAL, CLEANING]


def _handles(page: str) -> alt.LayerChart:
    """Returns write amplification with one handle and by handle, from the table of questions."""
    block = page.partition("<!-- questions -->\n")[2].partition("<!-- end")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in block.splitlines()[2:]]
    kinds = ["one handle for both", "a handle each", "log, handle 0", "cache, handle 1"]
    points = [
        {"question": row[0], "kind": kind, "value": float(value)}
        for row in rows
        for kind, value in zip(kinds, row[2:], strict=True)
    ]
    base = alt.Chart(pl.DataFrame(points), width=440, height=26 * len(rows)).encode(
        y=alt.Y(
            "question:N",
            sort=[row[0] for row in rows],
            title=None,
            axis=alt.Axis(labelLimit=280, grid=True, ticks=False, labelPadding=8),
        )
    )
    x = alt.X("value:Q", title="Write amplification", scale=alt.Scale(domain=[1, 5.1], nice=False))
    scale = alt.Scale(domain=kinds, range=["#808893", "#808893", ONE, TWO])
    shapes = alt.Scale(domain=kinds, range=["square", "diamond", "circle", "circle"])
    return base.mark_point(size=80, filled=True, opacity=1).encode(
        x=x,
        color=alt.Color("kind:N", sort=kinds, scale=scale),
        shape=alt.Shape("kind:N", sort=kinds, scale=shapes),
    )


def _map_curve() -> alt.Chart:
    """Returns the map curves of three workloads over 1 GiB."""
    workloads = {
        "zipf 0.99": "zipf:span=1GiB,requests=1M,theta=0.99",
        "90 % to 10 %": "hotcold:span=1GiB,requests=1M,r=0.9,f=0.1",
        "uniform": "uniform:span=1GiB,requests=1M",
    }
    points = [
        {"workload": name, "bytes": point["bytes"], "ratio": point["hit_ratio"]}
        for name, spec in workloads.items()
        for point in fg.map_curve(spec, sample="exact")["points"]
    ]
    label = "datum.value >= 1048576 ? datum.value / 1048576 + ' MiB' : datum.value / 1024 + ' KiB'"
    sizes = [1 << power for power in range(12, 22, 2)]
    return (
        alt.Chart(pl.DataFrame(points), width=560, height=220)
        .mark_line(clip=True, interpolate="step-after")
        .encode(
            x=alt.X(
                "bytes:Q",
                title="Memory for map entries",
                scale=alt.Scale(type="log", domain=[4096, 4 << 20], nice=False),
                axis=alt.Axis(values=[*sizes, 4 << 20], labelExpr=label, grid=False),
            ),
            y=alt.Y("ratio:Q", title="Hit ratio", axis=alt.Axis(labelExpr=PER_CENT, tickCount=5)),
            color=alt.Color("workload:N", sort=[*workloads], scale=alt.Scale(range=[*CURVES])),
        )
    )


def _seeds() -> alt.HConcatChart:
    """Returns write amplification by seed, and the differences to the first policy."""
    policies = ["greedy", "cost_benefit", "cat"]
    table = fg.compare(
        ["hotcold:span=64MiB,r=0.9,f=0.1,writes=100k"],
        device="classic",
        set={"start.fill": "random", "timing": "none"},
        vary={"cleaning.victim": policies},
        seeds=SEEDS,
    )
    frame = pl.DataFrame(table.select("cleaning.victim", "seed", "write_amplification"))
    frame = frame.rename({"cleaning.victim": "policy", "write_amplification": "value"})
    first = frame.filter(pl.col("policy") == "greedy").select("seed", first="value")
    frame = frame.join(first, on="seed").with_columns(
        difference=100 * (pl.col("value") / pl.col("first") - 1)
    )
    left = _dots(frame, "value", "Write amplification", policies)
    others = frame.filter(pl.col("policy") != "greedy")
    right = _dots(others, "difference", "Difference to greedy, %", policies[1:])
    zero = alt.Chart(pl.DataFrame({"x": [0]})).mark_rule(color=INK, strokeDash=[3, 3])
    return left | (zero.encode(x="x:Q") + right)


def _dots(frame: pl.DataFrame, field: str, title: str, order: list[str]) -> alt.LayerChart:
    """Returns a dot for each seed over the 95 % interval of the mean."""
    base = alt.Chart(frame, width=230, height=44 * len(order)).encode(
        y=alt.Y("policy:N", sort=order, title=None)
    )
    value = alt.X(f"{field}:Q", title=title, scale=alt.Scale(zero=False))
    dots = base.mark_circle(size=36, opacity=0.75, color=ONE).encode(x=value)
    summary = _intervals(frame, field)
    bars = alt.Chart(summary).mark_rule(strokeWidth=8, opacity=0.35, color=INK)
    ends = bars.encode(
        x=alt.X("low:Q", title=title), x2="high:Q", y=alt.Y("policy:N", sort=order, title=None)
    )
    return ends + dots


STUDENT = 2.776
"""Student's t for 95 % and five seeds."""


def _intervals(frame: pl.DataFrame, field: str) -> pl.DataFrame:
    column = pl.col(field)
    half = STUDENT * column.std() / len(SEEDS) ** 0.5
    found = frame.group_by("policy", maintain_order=True)
    return found.agg(low=column.mean() - half, high=column.mean() + half)


def _advise(page: str) -> alt.LayerChart:
    """Returns prediction, interval and full simulation of the rows in the table of the page."""
    pattern = r"^\| (\S+) \| (\d+)% \| ([\d.]+) \| ([\d.]+) to ([\d.]+) \| ([\d.]+) "
    rows = [
        {
            "trace": re.sub(r"^capture-|-\w+-\d+k$|-\d+k$|:.*$", "", trace),
            "spare": f"{spare} %",
            "predicted": float(predicted) / float(full),
            "low": float(low) / float(full),
            "high": float(high) / float(full),
        }
        for trace, spare, predicted, low, high, full in re.findall(pattern, page, re.MULTILINE)
    ]
    frame = pl.DataFrame(rows)
    order = frame["trace"].unique(maintain_order=True).to_list()
    title = "Prediction over full simulation"
    axis = alt.Axis(format=".2f", tickCount=6)
    base = alt.Chart(frame, width=420).encode(
        y=alt.Y("spare:N", sort=["7 %", "15 %", "28 %"], title=None)
    )
    bars = base.mark_rule(strokeWidth=6, opacity=0.4, color=ONE).encode(
        x=alt.X("low:Q", title=title, scale=alt.Scale(zero=False), axis=axis), x2="high:Q"
    )
    dots = base.mark_circle(size=40, opacity=1, color=TWO).encode(x="predicted:Q")
    one = alt.Chart(frame).mark_rule(color=INK).encode(x=alt.datum(1))
    return (one + bars + dots).facet(
        row=alt.Row(
            "trace:N", sort=order, title=None, header=alt.Header(labelAngle=0, labelAlign="left")
        ),
        spacing=6,
    )


def main() -> None:
    for path in draw():
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
