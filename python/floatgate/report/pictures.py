"""The report's figures as picture files for papers and slides, in the light theme, with legends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import altair as alt
import vl_convert

from floatgate.files.writing import write_whole
from floatgate.results.result import Result

from . import theme
from .figure import Drawing, Figure
from .figures import figures
from .page import SCHEMA
from .runs import combined_runs

PAIR_WIDTH = 400
"""Width in pixels of each plot in a row of two."""

PIXELS = 2.0
"""Pixels in a PNG for each pixel of the drawing, so that prints are sharp."""


def write_pictures(
    results: Sequence[Result], directory: Path, kind: Literal["svg", "png"]
) -> list[Path]:
    """Writes a file for each figure into `directory`, which must exist; returns the paths.

    A figure with nothing to draw has no file. Raises `ValueError` for another kind or when there
    are no results, and `OSError` when a file cannot be written.
    """
    if kind not in ("svg", "png"):
        raise ValueError(f"pictures can be svg or png; {kind!r} was asked for")
    if not results:
        raise ValueError("pictures need at least one result; none was given")
    paths = []
    for figure in figures(combined_runs(results)):
        if figure.drawings:
            paths.append(write_figure(figure, directory, kind))
    return paths


def write_figure(figure: Figure, directory: Path, kind: str) -> Path:
    """Writes one figure, named after its key, and returns its path."""
    path = Path(directory) / f"{figure.key}.{kind}"
    write_whole(path, _draw(_spec(figure), kind))
    return path


def figure_chart(figure: Figure) -> alt.ConcatChart:
    """Returns one figure as an Altair chart that looks like the figure's picture."""
    chart: alt.ConcatChart = alt.ConcatChart.from_dict(_spec(figure))
    return chart


def _spec(figure: Figure) -> dict[str, Any]:
    """Returns one Vega-Lite spec with the figure's plots side by side, under its title."""
    alone = figure.wide or len(figure.drawings) == 1
    own = any(drawing.legend for drawing in figure.drawings)
    how = "shared" if figure.legend else "independent"
    plots = [
        _still(drawing, theme.PICTURE_WIDTH if alone else PAIR_WIDTH) for drawing in figure.drawings
    ]
    if not (figure.legend or own):
        for plot in plots:
            hide_legends(plot)
    return {
        "title": {"text": figure.title, "fontSize": 16, "offset": 14},
        # Only the outermost spec may hold data by name. The names are digests, so none collide.
        "datasets": {name: rows for plot in plots for name, rows in plot.pop("datasets").items()},
        "concat": plots,
        "columns": 1 if alone else 2,
        "spacing": 28,
        "resolve": {"scale": {"color": how, "strokeDash": how}},
        "config": theme.picture_config(lines=figure.lines),
    }


def _still(drawing: Drawing, width: int) -> dict[str, Any]:
    """Returns the spec of one plot without the extras for the page's script."""
    spec = drawing.chart.to_dict()
    for name in ("config", "$schema", "usermeta"):
        spec.pop(name, None)
    spec["width"] = width
    if drawing.heading:
        spec["title"] = drawing.heading
    return spec


def hide_legends(spec: dict[str, Any]) -> None:
    """Removes the legends that distinguish runs and causes; shades of numbers keep theirs."""
    for layer in spec.get("layer", [spec]):
        for channel in ("color", "strokeDash"):
            if layer["encoding"].get(channel, {}).get("type") == "nominal":
                layer["encoding"][channel]["legend"] = None


def _draw(spec: dict[str, Any], kind: str) -> bytes:
    if kind == "svg":
        text: str = vl_convert.vegalite_to_svg(
            spec, vl_version=SCHEMA, format_locale=theme.THOUSANDS
        )
        return text.encode("utf-8")
    picture: bytes = vl_convert.vegalite_to_png(
        spec, vl_version=SCHEMA, scale=PIXELS, format_locale=theme.THOUSANDS
    )
    return picture
