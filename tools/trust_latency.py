"""Makes the tables and the figure of latency under load in docs/measured-drives.md.

    python tools/trust_latency.py ../shared/drives     # rewrites them; takes some minutes

The drives are docs/trust/latency-*.toml, fitted by `floatgate calibrate` as the page describes. The
measurements are not part of the repository.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pictures_svg
import trust

from floatgate.calibrate.latency import LatencyStudy
from floatgate.calibrate.study import Told


@dataclass(frozen=True)
class Drive:
    """A measured drive, and the model to compare it with."""

    config: str
    scale: int
    fitted: Sequence[str]
    """Rates that `calibrate` fitted."""
    seen: Sequence[str]
    """Rates that we looked at while choosing the drive's shape by hand."""


CM7_FITTED, CM7_SEEN = ("100000", "250000", "300000"), ("10000", "30000", "200000", "500000")
MEASURED = {
    "h0": Drive("latency-pe8110", 512, ("10000", "50000", "70000"), ("40000", "60000", "200000")),
    "k4": Drive("latency-cm7", 2048, CM7_FITTED, CM7_SEEN),
    "k5": Drive("latency-cm7", 2048, (), ()),
}

READS = {"r_mean_us": "mean", "r_p50_us": "p50", "r_p99_us": "p99"}
HEAD = [
    *("rate", "is", "served", "modelled", "error"),
    *(cell for name in READS.values() for cell in (f"read {name}", "modelled", "error")),
    *("write mean", "modelled"),
]


def study(name: str, folder: Path) -> LatencyStudy:
    return LatencyStudy([folder / f"latency-{name}.csv"], config(name))


def config(name: str) -> dict[str, Any]:
    return trust.config(MEASURED[name].config, {})


def tell(name: str, folder: Path, rates: Sequence[str] | None = None) -> list[Told]:
    """Returns the rates of a drive with their simulation, in ascending order. By default these are
    all served rates, and the highest rate."""
    measured = study(name, folder)
    runs = [f"{name}-{rate}" for rate in rates or shown(measured)]
    return [measured.tell(run, config(name), MEASURED[name].scale, trust.SEED) for run in runs]


def shown(measured: LatencyStudy) -> list[str]:
    rates = sorted(int(run.partition("-")[2]) for run in measured.names)
    served = [rate for rate in rates if measured.loads[f"{measured.drive}-{rate}"].is_served]
    return [f"{rate}" for rate in (*served, rates[-1])]


def rows(name: str, told: Iterable[Told]) -> list[list[str]]:
    return [row(MEASURED[name], one) for one in told]


def row(drive: Drive, one: Told) -> list[str]:
    rate, numbers = one.run.partition("-")[2], one.numbers
    role = "fitted" if rate in drive.fitted else "seen" if rate in drive.seen else "predicted"
    served = [f"{numbers[f'iops_{kind}']:.0f}" for kind in ("measured", "simulated")]
    cells = [rate, role, *served, percent(numbers["iops_error"])]
    for key in READS:
        measured, simulated = numbers[f"{key}_measured"], numbers[f"{key}_simulated"]
        cells += [microseconds(measured), microseconds(simulated)]
        cells.append(percent(numbers[f"{key}_error"]) if numbers["below_knee"] else "")
    writes = [numbers[f"w_mean_us_{kind}"] for kind in ("measured", "simulated")]
    return [*cells, *map(microseconds, writes)]


def microseconds(value: float) -> str:
    return f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def percent(share: float) -> str:
    return f"{100 * share:+.1f} %"


def points(name: str, told: Iterable[Told]) -> list[Mapping[str, Any]]:
    """Returns the points of the figure: rates below the knee."""
    return [
        {"drive": name, "read": label, "is": kind, "rate": n["offered"], "us": n[f"{key}_{suffix}"]}
        for one in told
        if (n := one.numbers)["below_knee"]
        for key, label in READS.items()
        for kind, suffix in (("measured", "measured"), ("modelled", "simulated"))
    ]


def draw(told: Mapping[str, Sequence[Told]]) -> str:
    """Returns read latencies over the offered rate, measured and modelled, as SVG."""
    import altair as alt

    scale = alt.Scale(type="log", domain=[50, 1000])
    lines = alt.Legend(symbolType="stroke", symbolStrokeColor=pictures_svg.MEASURED)
    values = [point for name, ones in told.items() for point in points(name, ones)]
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=1.5, point=alt.OverlayMarkDef(size=18))
        .encode(
            x=alt.X("rate:Q", title="requests offered a second"),
            y=alt.Y("us:Q", title="reads, us", scale=scale),
            color=alt.Color(
                "is:N",
                title=None,
                scale=alt.Scale(range=[pictures_svg.MEASURED, pictures_svg.MODELLED]),
            ),
            strokeDash=alt.StrokeDash("read:N", title=None, legend=lines),
        )
        .properties(width=260, height=200)
        .facet(facet=alt.Facet("drive:N", title=None), columns=3)
        .resolve_scale(x="independent")
    )
    return pictures_svg.svg_of(chart)


def main() -> None:
    folder = Path(sys.argv[1])
    told = {name: tell(name, folder) for name in MEASURED}
    text = trust.PAGE.read_text("utf-8")
    for name, ones in told.items():
        text = trust.replace(text, f"latency {name}", trust.markdown(HEAD, rows(name, ones)))
    trust.PAGE.write_text(trust.summarised(text), "utf-8")
    (trust.DRIVES / "latency.svg").write_text(draw(told), "utf-8")


if __name__ == "__main__":
    main()
