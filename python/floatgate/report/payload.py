"""Input of the page's script: the spec of every plot, and the tables of data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from . import theme
from .figure import Drawing, Figure, join_title


def payload(found: Sequence[Figure]) -> dict[str, Any]:
    """Returns themes, plots by the id of their element in the page, and tables of data.

    Plots with equal tables share one, by its digest. A plot that can be zoomed has its whole table
    in addition.
    In the page, a plot's legend is text next to the plot; a downloaded picture has its own legend.
    """
    data: dict[str, Any] = {}
    plots = {}
    for figure in found:
        for i, drawing in enumerate(figure.drawings):
            # Tests validate all figures with Vega-Lite's schema. Validation takes longer than
            # everything else here.
            spec = drawing.chart.to_dict(validate=False)
            tables = spec.pop("datasets", {})
            zoom = spec.get("usermeta", {}).get("zoom", {})
            if "whole" in zoom:
                name = f"{figure.key}-{i}-whole"
                tables[name], zoom["whole"] = zoom["whole"], name
            for name, rows in tables.items():
                if name not in data:
                    data[name] = columns(json.loads(rows) if isinstance(rows, str) else rows)
            plots[f"{figure.key}-{i}"] = _plot(figure, drawing, spec)
    config = {
        "page": theme.browser_config(),
        "areas": theme.picture_config(),
        "lines": theme.picture_config(lines=True),
    }
    sizes = {"width": theme.PICTURE_WIDTH, "locale": theme.THOUSANDS}
    return {"config": config, **sizes, "plots": plots, "data": data}


def _plot(figure: Figure, drawing: Drawing, spec: dict[str, Any]) -> dict[str, Any]:
    # All plots share the page's config.
    del spec["config"]
    spec["description"] = drawing.description
    return {
        "spec": spec,
        "title": join_title(figure.title, drawing.heading),
        "picture": "lines" if figure.lines else "areas",
        "legend": bool(figure.legend or drawing.legend),
    }


def columns(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Converts rows to columns.

    Numbers stay as they are. A column of texts becomes pairs of a text and its number of
    consecutive repeats.
    """
    found: dict[str, list[Any]] = {}
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        if any(isinstance(value, str) for value in values):
            values = [[text, len(list(group))] for text, group in groupby(values)]
        found[name] = values
    return found
