"""Makes the tables and the figure of write amplification in docs/measured-drives.md.

    python tools/trust.py ../shared/drives     # rewrites them; takes some minutes

The drives are docs/trust/*.toml, fitted by `floatgate calibrate` as the page describes. The
measurements are not part of the repository.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import trust_summary
from pictures_svg import MEASURED, MODELLED, svg_of
from trust_summary import PAGE

from floatgate.calibrate.study import Told
from floatgate.calibrate.wa import WaStudy
from floatgate.simulation import configs

DRIVES = PAGE.parent / "trust"
SEED = 1

FILES = {
    "micron7450max": (("wa-micron7450max-capacity.csv", 256), ("wa-micron7450max-zones.csv", 64)),
    "p5520": (("wa-p5520-start.csv", 256),),
}
"""Measurements of each drive, and the scale of their simulation."""

FITTED = {"mp0-cap670": "spare", "mp0-zone1024-active1": "unit", "i1-seq-uniform": "spare"}
"""Runs used for a fit, and the fitted parameter."""

CHOSEN = {"i1-seq-zipf": "placement"}
"""Run that decided the placement: its result is no prediction either."""

COLD = {"placement.gc_destination": "cold"}
COST_BENEFIT = {"cleaning.victim": "cost_benefit"}
SCHEMES = ("autostream", "mbf", "mhf", "direct", "lru_lists", "wdac", "asa", "eti")
VICTIMS = (
    *("greedy", "fifo", "windowed", "d_choices", "random"),
    *("cost_benefit", "lfs_cost_benefit", "cat"),
)
AXES = ("placement.scheme", "cleaning.victim")
SEPARATIONS: list[dict[str, str]] = [
    *(
        {"placement.scheme": scheme, "cleaning.victim": victim}
        for victim in VICTIMS
        for scheme in ("single", "dac", "sepbit")
    ),
    *(
        {"placement.scheme": scheme, **more}
        for scheme in SCHEMES
        for more in ({}, COLD, COST_BENEFIT)
    ),
    *({"placement.scheme": "length", **more} for more in ({}, COLD)),
    *({"placement.scheme": "dac", "dac.regions": n} for n in ("2", "3", "4", "5", "8", "12")),
]
SEPARATION_SCALE = 512

UNITS_MIB = (256, 512, 1024, 1536, 2048, 2560, 3072)
UNIT_SEEDS = (1, 2, 3)


def study(drive: str, file: Path) -> WaStudy:
    """Returns the measurements in a file, for a drive of docs/trust."""
    return WaStudy([file], config(drive, {}))


def config(drive: str, settings: Mapping[str, str]) -> dict[str, Any]:
    """Returns the config of a drive of docs/trust with some keys set."""
    found: dict[str, Any] = configs.resolve(DRIVES / f"{drive}.toml", settings).table()
    return found


def tell_runs(folder: Path) -> list[Told]:
    """Returns every run that can be simulated, with its simulation."""
    found = []
    for drive, files in FILES.items():
        for name, scale in files:
            measured = study(drive, folder / name)
            told = (measured.tell(run, config(drive, {}), scale, SEED) for run in measured.names)
            found += list(told)
    return found


def run_rows(told: Sequence[Told]) -> list[list[str]]:
    rows = []
    for one in told:
        numbers = one.numbers
        fitted, chosen = FITTED.get(one.run), CHOSEN.get(one.run)
        role = f"fitted: {fitted}" if fitted else f"chosen: {chosen}" if chosen else "predicted"
        rows.append(
            [
                f"`{one.run}`",
                role,
                f"{numbers['base']:.3f}",
                f"{numbers['steady_measured']:.3f}",
                f"{numbers['steady_simulated']:.3f}",
                *(percent(numbers[key], key) for key in ("steady_error", "curve_mean")),
                percent(numbers["curve_worst"]),
            ]
        )
    return rows


RUN_HEAD = ["run", "is", "base", "measured", "modelled", "steady", "curve, mean", "worst window"]


def separation_rows(folder: Path, settings: Sequence[Mapping[str, str]]) -> list[list[str]]:
    """Returns rows for Zipf and uniform writes on the P5520 under several placements and victim
    policies."""
    measured = study("p5520", folder / FILES["p5520"][0][0])
    rows = []
    for one in settings:
        # The fitted spare factor stays. The drive of the file has another placement.
        both = {"placement.scheme": "single", "cleaning.victim": "greedy", **one}
        drive = config("p5520", both)
        zipf, uniform = (
            measured.tell(run, drive, SEPARATION_SCALE, SEED).numbers
            for run in ("i1-seq-zipf", "i1-seq-uniform")
        )
        beside = [f"{key} {value}" for key, value in one.items() if key not in AXES]
        name = " ".join([both["placement.scheme"], *beside])
        close = abs(zipf["steady_error"]) <= 0.1 and abs(uniform["steady_error"]) <= 0.03
        rows.append(
            [
                name.replace("placement.gc_destination", "copies"),
                both["cleaning.victim"],
                f"{zipf['steady_simulated']:.3f}",
                percent(zipf["steady_error"], "error"),
                percent(zipf["curve_mean"]),
                percent(uniform["steady_error"], "error"),
                "yes" if close else "",
            ]
        )
    return rows


SEPARATION_HEAD = [
    *("placement", "victim", "Zipf 0.8", "error", "curve, mean", "uniform, error"),
    "within 10 % and 3 %",
]


def unit_rows(folder: Path, units: Sequence[int]) -> list[list[str]]:
    """Returns the steady write amplification of the zone runs for several sizes of the erase
    unit."""
    measured = study("micron7450max", folder / FILES["micron7450max"][1][0])
    names = sorted(measured.names, key=lambda name: measured.runs[name].zone_bytes or 0)
    truth = [measured.runs[name].steady(measured.runs[name].wa) for name in names]
    rows = [["measured", *(f"{one:.3f}" for one in truth)]]
    for mib in units:
        # A unit has 64 blocks of 4 KiB pages.
        drive = config("micron7450max", {"flash.pages_per_block": str(mib * 4)})
        cells = []
        for name in names:
            told = [measured.tell(name, drive, 64, seed).numbers for seed in UNIT_SEEDS]
            mean = sum(one["steady_simulated"] for one in told) / len(told)
            cells.append(f"{mean:.3f}")
        rows.append([f"{mib} MiB", *cells])
    return rows


def unit_head(folder: Path) -> list[str]:
    measured = study("micron7450max", folder / FILES["micron7450max"][1][0])
    sizes = sorted(round((measured.runs[name].zone_bytes or 0) / 2**20) for name in measured.names)
    return ["erase unit", *(f"zones of {size} MiB" for size in sizes)]


def percent(share: float, kind: str = "") -> str:
    return f"{100 * share:+.1f} %" if kind.endswith("error") else f"{100 * share:.1f} %"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def replace(text: str, name: str, table: str) -> str:
    """Returns the page with a new table between the marks of its name."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, _, rest = text.partition(begin)
    _, found, after = rest.partition(end)
    assert found, f"{PAGE} has no table {name}"
    return f"{before}{begin}\n{table}\n{end}{after}"


def summarised(text: str) -> str:
    """Returns the page with the table of all drives renewed from the other tables."""
    return replace(text, "summary", markdown(trust_summary.HEAD, trust_summary.rows(text)))


def draw(told: Sequence[Told]) -> str:
    """Returns curves over volumes, measured and modelled, as SVG."""
    import altair as alt
    import polars as pl

    frame = pl.DataFrame(
        [
            {"run": one.run, "volumes": at, "write amplification over base": wa, "is": kind}
            for one in told
            if "zone" not in one.run
            for kind, curve in (("measured", one.measured), ("modelled", one.simulated))
            for at, wa in zip(one.at, curve, strict=True)
        ]
    )
    chart = (
        alt.Chart(alt.Data(values=frame.to_dicts()))
        .mark_line(strokeWidth=1.5)
        .encode(
            x=alt.X("volumes:Q", title="volumes since the fill"),
            y=alt.Y("write amplification over base:Q", scale=alt.Scale(zero=False), title=None),
            color=alt.Color("is:N", title=None, scale=alt.Scale(range=[MEASURED, MODELLED])),
        )
        .properties(width=260, height=150)
        .facet(facet=alt.Facet("run:N", title=None), columns=3)
        .resolve_scale(y="independent", x="independent")
    )
    return svg_of(chart)


def main() -> None:
    folder = Path(sys.argv[1])
    told = tell_runs(folder)
    tables = {
        "runs": markdown(RUN_HEAD, run_rows(told)),
        "separation": markdown(SEPARATION_HEAD, separation_rows(folder, SEPARATIONS)),
        "units": markdown(unit_head(folder), unit_rows(folder, UNITS_MIB)),
    }
    text = PAGE.read_text("utf-8")
    for name, table in tables.items():
        text = replace(text, name, table)
    PAGE.write_text(summarised(text), "utf-8")
    (DRIVES / "curves.svg").write_text(draw(told), "utf-8")


if __name__ == "__main__":
    main()
