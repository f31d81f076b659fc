"""Charts as SVG that can be read on a light and on a dark page."""

from __future__ import annotations

import re
from typing import Any

TEXT = "#767676"
"""Contrast of at least 4 with white, and with the dark pages of GitHub and of the site."""
GRID = 'stroke="#808080" stroke-opacity="0.3"'
MEASURED, MODELLED = "#7f7f7f", "#d95f02"


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

    return light_and_dark(vl_convert.vegalite_to_svg(chart.to_json()))
