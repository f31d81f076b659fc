"""Draws docs/images/tour.svg, the picture of the README: what each system saves in the tour.

    python tools/pictures_readme.py

It takes the numbers of `floatgate tour`, for the first workload of each system, in some 20 s of
processor time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from floatgate.analysis.tour.measured import Shown, take

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "images"

WIDTH, ROW, TOP, LEFT, RIGHT = 1000, 46, 56, 170, 300
BAR = 16
HEAD = "Cost with each system, on the workload that suits it, as a share of its baseline"

STYLE = """
text { font: 15px system-ui, sans-serif; fill: #24292f; }
.head { font-weight: 600; }
.quiet { fill: #57606a; font-size: 13px; }
.base { fill: #d0d7de; }
.own { fill: #0a99b2; }
.bound { stroke: #24292f; stroke-width: 3; }
.whisker { stroke: #24292f; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .quiet { fill: #9198a1; }
  .base { fill: #3d444d; }
  .bound { stroke: #e6edf3; }
  .whisker { stroke: #e6edf3; }
}
"""


def percent(value: float) -> str:
    """Returns a change in per cent with its sign, in two digits."""
    sign = "\N{MINUS SIGN}" if value < 0 else "+"
    return f"{sign}{abs(value):.0f} %"


def picture(shown: Sequence[Shown]) -> str:
    """Returns the SVG: a row for each system, its baseline as 100 %."""
    height = TOP + ROW * len(shown) + 12
    answers = "; ".join(
        f"{one.stop.name} {percent(one.pictures[0].change.percent)}" for one in shown
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>What each system changes against its baseline: {answers}</title>",
        f"<style>{STYLE}</style>",
        _text("head", 0, 20, HEAD),
        *_legend(),
        *_rows(shown),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _legend() -> Iterator[str]:
    for kind, x, label in (("base", LEFT, "baseline"), ("own", LEFT + 100, "the system")):
        yield f'<rect class="{kind}" x="{x}" y="33" width="14" height="10"/>'
        yield _text("quiet", x + 20, 43, label)
    x = LEFT + 212
    yield f'<line class="bound" x1="{x}" x2="{x}" y1="31" y2="45"/>'
    yield _text("quiet", x + 10, 43, "ideal: whole map in memory, or future known")


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{text}</text>'


def _rows(shown: Iterable[Shown]) -> Iterator[str]:
    for number, one in enumerate(shown):
        top = TOP + ROW * number
        first = one.pictures[0]
        own, bound = (100 + part.percent for part in (first.change, first.least))
        yield _text("name", 0, top + 18, one.stop.name)
        yield _text("quiet", 0, top + 35, one.stop.metric.name)
        yield _bar("base", 100, top + 4)
        yield _bar("own", own, top + 4 + BAR)
        low, high = (_x(own + side * first.change.half) for side in (-1, 1))
        middle = top + 4 + BAR * 1.5
        yield f'<line class="whisker" x1="{low}" x2="{high}" y1="{middle}" y2="{middle}"/>'
        x, end = _x(bound), top + 4 + 2 * BAR
        yield f'<line class="bound" x1="{x}" x2="{x}" y1="{top + 4}" y2="{end}"/>'
        right = WIDTH - RIGHT + 14
        change = f"{percent(first.change.percent)} against {one.stop.baseline.label}"
        yield _text("name", right, top + 18, change)
        yield _text("quiet", right, top + 35, first.load.title)


def _bar(kind: str, share: float, top: float) -> str:
    width = _x(share) - LEFT
    return f'<rect class="{kind}" x="{LEFT}" y="{top}" width="{width:.1f}" height="{BAR}"/>'


def _x(share: float) -> float:
    """Returns the place of a share, in per cent of the baseline."""
    return round(LEFT + (WIDTH - RIGHT - LEFT) * share / 100, 1)


def draw(folder: Path) -> None:
    """Runs the tour and writes the picture into the folder."""
    (folder / "tour.svg").write_text(picture(take()), "utf-8")


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
