"""Charts as SVG that can be read on a light and on a dark page."""

from __future__ import annotations

import math
import re
from typing import Any

TEXT = "#767676"
"""Contrast of at least 4 with white, and with the dark pages of GitHub and of the site."""
GRID = 'stroke="#808080" stroke-opacity="0.3"'
MEASURED, MODELLED = "#7f7f7f", "#d95f02"

ONE, TWO = "#0a99b2", "#ce007b"
"""Colours of runs on the pages, which mean no cause."""

WIDER = 0.2
"""Share by which a font such as DejaVu Sans is wider than Arial."""

LEGEND = 110
"""Width of the names of a legend, in pixels."""


def light_and_dark(svg: str) -> str:
    """Returns the SVG of a chart without its white background, and with text in grey."""
    svg = re.sub(r'<rect width="[\d.]+" height="[\d.]+" fill="white"/>', "", svg, count=1)
    svg = re.sub(r'fill="(?:#000|black)"', f'fill="{TEXT}"', svg)
    svg = re.sub(r'stroke="(?:#000|black)"', f'stroke="{TEXT}"', svg)
    # Vega draws the lines of a legend without a stroke if the chart has points, too.
    svg = re.sub(r'(d="M-5,0L5,0") fill=', rf'\1 stroke="{TEXT}" fill=', svg)
    return svg.replace('stroke="#ddd"', GRID)


def svg_of(chart: Any) -> str:
    """Returns an Altair chart as SVG."""
    import vl_convert

    return light_and_dark(roomy(vl_convert.vegalite_to_svg(chart.to_json())))


def roomy(svg: str) -> str:
    """Widens a picture, so that names fit in a wider font than the one it was drawn with.

    The names at the left have the width by which the plot is indented; a legend may be at the
    right.
    """
    size = re.search(r'width="(\d+)" height="(\d+)" viewBox="0 0 \1 \2"', svg)
    indent = re.search(r'transform="translate\((\d+),', svg)
    assert size and indent, "Vega writes another head"
    width, height = int(size[1]), int(size[2])
    left = math.ceil(WIDER * int(indent[1]))
    right = math.ceil(WIDER * LEGEND) if "role-legend" in svg else 0
    whole = width + left + right
    return svg.replace(
        size[0], f'width="{whole}" height="{height}" viewBox="{-left} 0 {whole} {height}"', 1
    )
