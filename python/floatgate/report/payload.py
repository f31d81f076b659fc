"""What the page's script draws from: every plot's spec, and every table of data once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from . import theme
from .figure import Drawing, Figure, join_title


def payload(found: Sequence[Figure]) -> dict[str, Any]:
    """Themes, plots by the id of the element that they are drawn in, and data by its digest.

    A plot in the page has its legend beside it, as text; a picture of it brings its own.
    """
    data: dict[str, Any] = {}
    plots = {}
    for figure in found:
        for i, drawing in enumerate(figure.drawings):
            # Tests hold all figures against Vega-Lite's schema, which takes longer than the rest.
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
    return {"config": config, "width": theme.PICTURE_WIDTH, "plots": plots, "data": data}


def _plot(figure: Figure, drawing: Drawing, spec: dict[str, Any]) -> dict[str, Any]:
    # The config is the page's, the same for all plots.
    del spec["config"]
    spec["description"] = drawing.description
    return {
        "spec": spec,
        "title": join_title(figure.title, drawing.heading),
        "picture": "lines" if figure.lines else "areas",
        "legend": bool(figure.legend or drawing.legend),
    }


def columns(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns: numbers as they are, texts as pairs of a text and how often it follows."""
    found: dict[str, list[Any]] = {}
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        if any(isinstance(value, str) for value in values):
            values = [[text, len(list(group))] for text, group in groupby(values)]
        found[name] = values
    return found
