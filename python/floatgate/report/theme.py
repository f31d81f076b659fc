"""Colours and fonts for the page, its charts in the browser, and the picture files.

In the browser, charts take their colours from CSS variables. A change of the reader's colour
scheme, or printing, therefore needs no redraw. Picture files contain the colours of the light
theme.

Series colours 0 to 17 have a contrast of 3:1 or more against the page in both themes. The colours
of one plot stay distinct (CIE76 distance above 10) under the three dichromacies as modelled by
Machado et al., IEEE TVCG 2009. `palette` gives the colours their meanings; number 18 is for idle
time. The colours of runs (`run-0` and so on) are distinct from each other in the same way, and from
every series colour, so that none of them seems to mean a cause. Bars of the style `plain` have no
colour of a run, because labels name their runs.
"""

from __future__ import annotations

from typing import Any, Literal

from floatgate.results.values import NARROW_SPACE, SPACE

LIGHT = {
    "paper": "#ffffff",
    "panel": "#f5f7f9",
    "ink": "#1a1f26",
    "muted": "#545d69",
    "rule": "#cfd6dd",
    "grid": "#e8ebef",
    "link": "#0b5cad",
    "alarm": "#8a4b00",
    "alarm-panel": "#fff6e5",
    "bad": "#a3141f",
    "bad-panel": "#fdecec",
    "good": "#0a6b4f",
    "good-panel": "#e6f5ef",
    "met": "#a9dfca",
    "partly": "#f5d68f",
    "unmet": "#de8582",
    "series-0": "#0b5cad",
    "series-1": "#d97706",
    "series-2": "#00866b",
    "series-3": "#4a97db",
    "series-4": "#a3459a",
    "series-5": "#6b7280",
    "series-6": "#b3202a",
    "series-7": "#3b3f46",
    "series-8": "#7a3cf0",
    "series-9": "#5a2d0c",
    "series-10": "#2e220f",
    "series-11": "#b87aa5",
    "series-12": "#092334",
    "series-13": "#1c1c9c",
    "series-14": "#054561",
    "series-15": "#8477f8",
    "series-16": "#b83d56",
    "series-17": "#92924f",
    "series-18": "#cfd6dd",
    "run-0": "#0a99b2",
    "run-1": "#ce007b",
    "run-2": "#808d00",
    "run-3": "#7a2cb1",
    "run-4": "#b57959",
    "run-5": "#19560b",
    "run-6": "#2c00da",
    "run-7": "#620032",
}

DARK = {
    "paper": "#14171c",
    "panel": "#1b2027",
    "ink": "#e6e9ed",
    "muted": "#a3acb8",
    "rule": "#3a424d",
    "grid": "#262c34",
    "link": "#7db8f7",
    "alarm": "#f5c069",
    "alarm-panel": "#2b2416",
    "bad": "#ff9d96",
    "bad-panel": "#331b1d",
    "good": "#5fd0ae",
    "good-panel": "#14291f",
    "met": "#1e7558",
    "partly": "#70540f",
    "unmet": "#832b37",
    "series-0": "#5aa2f0",
    "series-1": "#f0a63a",
    "series-2": "#2fbf9b",
    "series-3": "#a8d4ff",
    "series-4": "#d98ad0",
    "series-5": "#9aa3af",
    "series-6": "#ff7b72",
    "series-7": "#e8ecf1",
    "series-8": "#8f6bff",
    "series-9": "#a8552a",
    "series-10": "#f3dd16",
    "series-11": "#924f84",
    "series-12": "#096cae",
    "series-13": "#873df5",
    "series-14": "#0ce9bc",
    "series-15": "#6257c7",
    "series-16": "#d50b5c",
    "series-17": "#92924f",
    "series-18": "#3a424d",
    "run-0": "#1af0ff",
    "run-1": "#cd259e",
    "run-2": "#d5e543",
    "run-3": "#aa00ff",
    "run-4": "#da909c",
    "run-5": "#7bca6b",
    "run-6": "#9f88fc",
    "run-7": "#787104",
}

SERIES = 8
"""Number of colours of runs: the lines in a plot that readers can distinguish by colour."""

RUNS: Literal["ordinal"] = "ordinal"
"""Range of Vega-Lite that has the colours of runs; its default range has those of causes."""

VERDICTS: Literal["diverging"] = "diverging"
"""Range of Vega-Lite that has the colours of verdicts: met, partly met, not met."""

PARTS = 18
"""Number of colours for causes and operations, without the one for idle time."""

RUN_COLOURS = (*(f"run-{i}" for i in range(SERIES)), *(f"series-{i}" for i in range(PARTS)))
"""Colours of runs, or of lines, in their order. Figures of papers may have more than `SERIES`."""

THOUSANDS = {
    "decimal": ".",
    "thousands": NARROW_SPACE,
    "grouping": [3],
    "currency": ["", ""],
    "percent": f"{SPACE}%",
}
"""Number locale of d3: plots separate thousands, and write per cent, as tables do."""

DASHES = ((1, 0), (7, 3), (2, 2.5), (9, 3, 2, 3))
"""Line patterns for a second varying key, as lengths in pixels drawn and left out."""

FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
PICTURE_FONT = '"Helvetica Neue", Arial, "Liberation Sans", sans-serif'

PICTURE_WIDTH = 620
"""Width in pixels of a plot that is alone in its row of a picture file."""


def css_variables(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in colours.items())


def browser_config() -> dict[str, Any]:
    """Returns the Vega-Lite config of charts in the page, whose colours are CSS variables."""
    config = _config({name: f"var(--{name})" for name in LIGHT}, FONT)
    config["background"] = None
    return config


def picture_config(*, lines: bool = False) -> dict[str, Any]:
    """Returns the Vega-Lite config of picture files: the light theme, legends under the plot.

    With `lines`, the legends' entries are lines, not areas.
    """
    config = _config(LIGHT, PICTURE_FONT)
    config["background"] = LIGHT["paper"]
    config["padding"] = 16
    config["legend"] |= {"orient": "bottom", "columns": 4, "columnPadding": 28}
    config["legend"] |= {"symbolStrokeWidth": 2, "title": None}
    if lines:
        config["legend"] |= {"symbolType": "stroke", "symbolSize": 400}
    return config


def _config(colours: dict[str, str], font: str) -> dict[str, Any]:
    """Returns the common config; `colours` has the names of `LIGHT`."""
    return {
        "font": font,
        "view": {"stroke": None},
        "range": {
            "category": [colours[f"series-{i}"] for i in range(PARTS + 1)],
            RUNS: [colours[name] for name in RUN_COLOURS],
            VERDICTS: [colours[name] for name in ("met", "partly", "unmet")],
        },
        "mark": {"color": colours["run-0"]},
        "axis": {
            "domainColor": colours["rule"],
            "gridColor": colours["grid"],
            "labelColor": colours["muted"],
            "labelFontSize": 11,
            "labelSeparation": 5,
            "tickColor": colours["rule"],
            "tickSize": 4,
            "titleColor": colours["muted"],
            "titleFontSize": 11,
            "titleFontWeight": "normal",
            "titlePadding": 8,
        },
        "axisBand": {"labelColor": colours["ink"]},
        "legend": {
            "labelColor": colours["ink"],
            "labelFontSize": 11,
            "labelLimit": 320,
            "titleColor": colours["muted"],
            "titleFontSize": 11,
            "titleFontWeight": "normal",
        },
        "title": {
            "anchor": "start",
            "color": colours["ink"],
            "fontSize": 13,
            "subtitleColor": colours["muted"],
        },
        "style": {
            "segment": {"stroke": colours["paper"], "strokeWidth": 1},
            "plain": {"color": colours["grid"], "stroke": colours["muted"], "strokeWidth": 1},
            "total": {"color": colours["ink"], "fontSize": 11},
            "span": {"color": colours["muted"], "strokeWidth": 1.5},
            "mean": {"color": colours["ink"]},
        },
    }
