"""Draws the pictures of the pages of evidence into docs/images.

    python tools/pictures_evidence.py

Their numbers are those of the tables of docs/measured-drives.md, docs/measured-fdp.md,
docs/handles.md, docs/performance.md and docs/testing.md, and of the recorded claims of the papers.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path

import altair as alt
import kinds_of_tests
import trust_summary
from measured_fdp import READ_AT
from pictures_svg import ONE, TEXT, TWO, svg_of

from floatgate.papers.warp.domain import UNITS

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
GOOD, BAD = "#2e9e78", "#c2404a"
WIDE = alt.Axis(labelLimit=280)
BAND = 15.0
"""Limit of means and medians, in percent."""
NAMES = {trust_summary.STEADY: "write amplification"}


def measured_drives() -> alt.Chart:
    """Returns the errors of all measured drives as dots on one scale."""
    points = [
        {
            "drive": _short(one.drive),
            "number": NAMES.get(one.quantity, one.quantity),
            "is": "predicted" if one.role == "predicted" else "fitted, chosen or seen",
            "percent": one.percent,
        }
        for one in trust_summary.points(trust_summary.PAGE.read_text("utf-8"))
    ]
    y = alt.Y(
        "number:N",
        title=None,
        sort=[*NAMES.values(), *trust_summary.READS, trust_summary.KNEE],
    )
    x = alt.X(
        "percent:Q",
        title="simulated minus measured, % of measured",
        scale=alt.Scale(domain=[-30, 30]),
        axis=alt.Axis(values=[-30, -15, 0, 15, 30]),
    )
    roles = alt.Scale(domain=["predicted", "fitted, chosen or seen"], range=[ONE, TWO])
    base = alt.Chart(alt.Data(values=points))
    once = base.transform_aggregate(runs="count()", groupby=["drive"])
    band = once.mark_rect(color=GOOD, opacity=0.15).encode(
        x=alt.XDatum(-BAND), x2=alt.X2Datum(BAND)
    )
    zero = once.mark_rule(color=TEXT).encode(x=alt.XDatum(0))
    dots = base.mark_point(size=28, filled=True, opacity=0.7).encode(
        x=x, y=y, color=alt.Color("is:N", title=None, scale=roles)
    )
    rows = alt.Row(
        "drive:N",
        title=None,
        sort=list(dict.fromkeys(point["drive"] for point in points)),
        header=alt.Header(labelOrient="top", labelAnchor="start"),
    )
    chart = alt.layer(band, zero, dots).properties(width=440, height=alt.Step(16))
    return chart.facet(row=rows).resolve_scale(y="independent")


def _short(drive: str) -> str:
    """Returns the drive without its maker and capacity."""
    model = re.search(r"7450 MAX|D7-P5520|PE8110|CM7-R", drive)
    name = re.search(r"\(\w+\)", drive)
    assert model and name, drive
    return f"{model[0]} {name[0]}"


def performance() -> alt.LayerChart:
    """Returns the share of their limit that the drives of docs/performance.md reach."""
    rows = trust_summary.table(_page("performance"), "limit")
    sizes = {"256 Ki pages": 3, "4 Mi pages": 6}
    bars = [
        {"drive": row[0].strip("`"), "size": size, "share": float(row[at])}
        for row in rows
        for size, at in sizes.items()
    ]
    drives = [row[0].strip("`") for row in rows]
    base = alt.Chart(alt.Data(values=bars)).encode(
        y=alt.Y("drive:N", title=None, sort=drives, axis=WIDE),
        yOffset=alt.YOffset("size:N", sort=list(sizes)),
    )
    scale = alt.Scale(domain=[0, 1])
    x = alt.X("share:Q", title="share of the limit, one core", scale=scale)
    colors = alt.Scale(domain=list(sizes), range=[ONE, TWO])
    bar = base.mark_bar().encode(x=x, color=alt.Color("size:N", title=None, scale=colors))
    text = base.mark_text(align="left", dx=3, color=TEXT)
    text = text.encode(x=x, text=alt.Text("share:Q", format=".2f"))
    return alt.layer(bar, text).properties(width=420, height=30 * len(rows))


def testing() -> alt.LayerChart:
    """Returns the test functions of each kind, as docs/testing.md states them."""
    counts = kinds_of_tests.stated(_page("testing"))
    bars = [{"kind": kind, "tests": number} for kind, number in counts.items()]
    most = 1.1 * max(counts.values())
    base = alt.Chart(alt.Data(values=bars)).encode(
        y=alt.Y("kind:N", title=None, sort="-x", axis=WIDE),
        x=alt.X("tests:Q", title="test functions, at least", scale=alt.Scale(domainMax=most)),
    )
    bar = base.mark_bar(color=ONE)
    text = base.mark_text(align="left", dx=3, color=TEXT).encode(text="tests:Q")
    return alt.layer(bar, text).properties(width=420, height=alt.Step(20))


VERDICTS = {
    "as_claimed": ("as claimed", GOOD),
    "more": ("more", "#96ceb8"),
    "open": ("open", "#aab2bd"),
    "less": ("less", BAD),
    "": ("more or less", "#8c6bb1"),
}
"""Columns of the recorded claims with counts of points: their names and colours. The last one has
the points that no column counts."""
PAPERS = {
    "tlllp": "TLLLP",
    "eti": "ETI",
    "asa": "ASA-FTL",
    "ncq": "NCQ-aware buffer",
    "shrd": "SHRD",
    "warp": "WARP",
    "together": "all five on one drive",
}

HANDLES = ("FDP", "mixed", "no FDP", "one handle")
COLORS = (GOOD, ONE, BAD, TEXT)


def papers() -> alt.Chart:
    """Returns a stacked bar for each paper: the share of points with each verdict.

    Every claim has the same weight, whatever the number of its points."""
    bars = {}
    for name, title in PAPERS.items():
        shares = [_shares(row) for row in _checked(name)]
        label = f"{title}: {len(shares)} {'questions' if name == 'together' else 'claims'}"
        bars[label] = {
            column: sum(share[column] for share in shares) / len(shares) for column in VERDICTS
        }
    return _stacked(bars, "points, mean over claims, %")


def paper(name: str) -> alt.Chart:
    """Returns a stacked bar for each checked claim of a paper, by its id."""
    bars = {row["id"]: _shares(row) for row in _checked(name)}
    return _stacked(bars, "points, %")


def isolation() -> alt.LayerChart:
    """Returns the change of write amplification with persistent isolation, over spare space."""
    rows = trust_summary.table(_page("handles"), "isolation")
    units = [str(unit) for unit in UNITS]
    points = [
        {"unit": f"1/{unit}", "over": float(row[0].rstrip(" %")), "change": _percent(cell)}
        for row in rows
        for unit, cell in zip(units, row[1:], strict=True)
        if cell
    ]
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("over:Q", title="over-provisioning, %", scale=alt.Scale(domain=[5, 30])),
        y=alt.Y("change:Q", title="persistent against initial isolation, %"),
        color=alt.Color("unit:N", title="reclaim unit", sort=[f"1/{unit}" for unit in units]),
    )
    zero = alt.Chart(alt.Data(values=[{}])).mark_rule(color=TEXT).encode(y=alt.YDatum(0))
    return alt.layer(zero, base.mark_line(), base.mark_point(filled=True)).properties(width=420)


def emulated() -> alt.FacetChart:
    """Returns the cumulative write amplification of emulated FDP drives over the volumes written:
    a panel for each drive and workload, simulated as lines and measured as points."""
    points = [
        {
            "panel": f"{drive}, {workload}",
            "handles": placement or "one handle",
            "is": kind,
            "volumes": volumes,
            "write amplification": float(cell),
        }
        for drive, workload, placement, kind, *cells in trust_summary.table(
            _page("measured-fdp"), "emulated"
        )
        for volumes, cell in zip(READ_AT, cells, strict=True)
    ]
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("volumes:Q", title="volumes written"),
        y=alt.Y("write amplification:Q", title="cumulative WA", scale=alt.Scale(zero=False)),
        color=alt.Color("handles:N", title=None, scale=alt.Scale(domain=HANDLES, range=COLORS)),
    )
    line = base.transform_filter("datum.is == 'simulated'").mark_line()
    dots = base.transform_filter("datum.is == 'measured'").mark_point(filled=True)
    panels = list(dict.fromkeys(point["panel"] for point in points))
    facet = alt.Facet("panel:N", title=None, sort=panels)
    return alt.layer(line, dots).properties(width=110, height=90).facet(facet, columns=4)


def _percent(cell: str) -> float:
    return float(cell.partition("%")[0].replace("\N{MINUS SIGN}", "-"))


def _checked(name: str) -> list[dict[str, str]]:
    """Returns the recorded claims of a paper that were judged at a point at least."""
    text = (ROOT / "python" / "floatgate" / "papers" / "claims.csv").read_text("utf-8")
    rows = csv.DictReader(io.StringIO(text))
    return [row for row in rows if row["of"] == name and int(row["points"])]


def _stacked(bars: Mapping[str, Mapping[str, float]], title: str) -> alt.Chart:
    """Returns a bar for each label, of the shares of the verdicts."""
    parts = [
        {"bar": label, "verdict": verdict, "order": order, "points": 100 * shares[column]}
        for label, shares in bars.items()
        for order, (column, (verdict, _)) in enumerate(VERDICTS.items())
    ]
    names, colors = zip(*VERDICTS.values(), strict=True)
    scale = alt.Scale(domain=names, range=colors)
    return (
        alt.Chart(alt.Data(values=parts))
        .mark_bar()
        .encode(
            y=alt.Y("bar:N", title=None, sort=None, axis=WIDE),
            x=alt.X("points:Q", title=title, scale=alt.Scale(domain=[0, 100])),
            color=alt.Color("verdict:N", title=None, scale=scale),
            order="order:Q",
        )
        .properties(width=420, height=alt.Step(24))
    )


def _shares(claim: Mapping[str, str]) -> dict[str, float]:
    """Returns the share of a claim's points with each verdict."""
    points = int(claim["points"])
    found = {column: int(claim[column] or 0) / points for column in VERDICTS if column}
    return found | {"": 1 - sum(found.values())}


def _page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text("utf-8")


def draw(folder: Path) -> None:
    """Writes the pictures."""
    for name, chart in (
        ("measured-drives", measured_drives()),
        ("performance", performance()),
        ("testing", testing()),
        ("papers", papers()),
        ("warp-isolation", isolation()),
        ("warp-curves", emulated()),
        *((f"papers-{name}", paper(name)) for name in PAPERS),
    ):
        (folder / f"{name}.svg").write_text(svg_of(chart), "utf-8")


def main() -> None:
    draw(IMAGES)


if __name__ == "__main__":
    main()
