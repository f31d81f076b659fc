"""Draws the picture of docs/learn/policy.md: docs/images/learn-policy.svg.

    python tools/pictures_learn.py [FOLDER]

Takes the policy and the comparison from the page, runs the comparison, and draws the mean write
amplification of each placement with its 95 % interval. Takes some seconds.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Any

from pictures_svg import ONE, TEXT, roomy

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "learn" / "policy.md"
NAME = "learn-policy.svg"

OWN, OTHERS = ONE, "#8a929e"
WIDTH, ROW = 520, 26


def policy() -> type:
    """Returns the class that the page tells the reader to write."""
    [code] = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {"__name__": "twoq"}
    exec(compile(code, str(PAGE), "exec"), names)
    return names["TwoQueues"]


def comparison() -> list[str]:
    """Returns the words of the first `floatgate compare` of the page."""
    text = re.sub(r"\\\n\s*", "", PAGE.read_text("utf-8"))
    found = re.search(r"^    (floatgate compare .*)$", text, re.MULTILINE)
    assert found, "the page has no comparison"
    return shlex.split(found[1])


def _values(words: list[str], option: str) -> dict[str, str]:
    given = [words[at + 1] for at, word in enumerate(words) if word == option]
    return dict(value.partition("=")[::2] for value in given)


def rows() -> list[dict[str, Any]]:
    """Runs the page's comparison and returns mean and interval of each placement."""
    import floatgate as fg

    words = comparison()
    names = _values(words, "--vary")["placement.scheme"].split(",")
    schemes = [policy() if name == "python:twoq" else name for name in names]
    summary = fg.compare_results(
        words[2],
        vary={"placement.scheme": schemes},
        set=_values(words, "--set"),
        seeds=int(words[words.index("--seeds") + 1]),
    ).summary()
    means, halves = summary["write_amplification"], summary["write_amplification.ci95"]
    return [
        {"name": name, "mean": mean, "low": mean - half, "high": mean + half}
        for name, mean, half in zip(names, means, halves, strict=True)
    ]


def chart(values: list[dict[str, Any]]) -> Any:
    """Returns bars with intervals, the best placement first."""
    import altair as alt

    base = alt.Chart(alt.Data(values=values))
    order = [row["name"] for row in sorted(values, key=lambda row: row["mean"])]
    y = alt.Y("name:N", sort=order, title=None)
    own = alt.condition("datum.name == 'python:twoq'", alt.value(OWN), alt.value(OTHERS))
    x = alt.X("mean:Q", title="Write amplification", axis=alt.Axis(tickCount=8))
    bars = base.mark_bar().encode(y=y, x=x, color=own)
    whiskers = base.mark_rule(strokeWidth=2, color=TEXT).encode(y=y, x="low:Q", x2="high:Q")
    numbers = base.mark_text(align="left", dx=8, color=TEXT).encode(
        y=y, x="high:Q", text=alt.Text("mean:Q", format=".2f")
    )
    return (
        (bars + whiskers + numbers)
        .properties(width=WIDTH, height=ROW * len(values), background="transparent")
        .configure_view(stroke=None)
        .configure_axis(labelColor=TEXT, titleColor=TEXT, gridOpacity=0.3, labelFontSize=12)
    )


def draw(folder: Path) -> None:
    """Writes the picture into the folder."""
    import vl_convert

    svg = roomy(vl_convert.vegalite_to_svg(chart(rows()).to_json()))
    (folder / NAME).write_text(svg + "\n", "utf-8")


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    draw(folder)
    print(f"wrote {folder / NAME}")


if __name__ == "__main__":
    main()
