"""Numbers as a reader expects them, colours, and cells. Tests compare reports with them."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

from floatgate.report.tables import Table

THIN = "\N{NARROW NO-BREAK SPACE}"
PER_CENT = "\N{NO-BREAK SPACE}%"


def whole(value: float) -> str:
    """Returns a whole number with its thousands separated: 1 234 567."""
    digits = str(round(value))
    groups = []
    while len(digits) > 3:
        groups.insert(0, digits[-3:])
        digits = digits[:-3]
    return THIN.join([digits, *groups])


def decimals(value: float, digits: int) -> str:
    """Returns a number with `digits` decimals and its thousands separated."""
    left, dot, right = f"{value:.{digits}f}".partition(".")
    return whole(int(left)) + dot + right


def three(value: float) -> str:
    """Returns a measurement with three significant digits and at most three decimals. Digits before
    the point are all kept."""
    for least, digits in ((100, 0), (10, 1), (1, 2)):
        if value >= least:
            return decimals(value, digits)
    return "0" if value == 0 else decimals(value, 3)


def share(value: float) -> str:
    """Returns a share in per cent with two decimals."""
    return f"{value * 100:.2f}{PER_CENT}"


def factor(value: float) -> str:
    """Returns an amplification below 100, with three decimals."""
    assert value < 100
    return f"{value:.3f}"


def size(value: float) -> str:
    """Returns bytes in a binary unit, with four digits."""
    power = 0
    while value >= 1024 and power < 4:
        value, power = value / 1024, power + 1
    return f"{value:.4g}{THIN}{['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]}"


def contrast(one: Sequence[int], other: Sequence[int]) -> float:
    """Returns the contrast (WCAG 2.2) of two colours: red, green and blue from 0 to 255."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Sequence[int]) -> float:
    red, green, blue = (_linear(part / 255) for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


DICHROMACIES = (
    ((0.15229, 1.05258, -0.20487), (0.11450, 0.78628, 0.09922), (-0.00388, -0.04812, 1.05200)),
    ((0.36732, 0.86065, -0.22797), (0.28009, 0.67250, 0.04741), (-0.01182, 0.04294, 0.96888)),
    ((1.25553, -0.07675, -0.17878), (-0.07841, 0.93081, 0.14760), (0.00473, 0.69137, 0.30390)),
)  # fmt: skip
"""Linear colours as seen with protanopia, deuteranopia and tritanopia (Machado et al. 2009)."""

NORMAL = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def difference(one: Sequence[int], other: Sequence[int], eye: Sequence[Sequence[float]]) -> float:
    """Returns the difference (CIE76) of two colours as an eye sees them."""
    return math.dist(_lab(one, eye), _lab(other, eye))


def _lab(colour: Sequence[int], eye: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    whole = [_linear(part / 255) for part in colour]
    seen = [min(1.0, max(0.0, sum(map(operator.mul, row, whole)))) for row in eye]
    to_xyz = ((0.4125, 0.3576, 0.1804), (0.2127, 0.7152, 0.0722), (0.0193, 0.1192, 0.9503))
    white = (0.9505, 1.0, 1.0888)
    x, y, z = (
        _root(sum(map(operator.mul, row, seen)) / full)
        for row, full in zip(to_xyz, white, strict=True)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _root(value: float) -> float:
    return math.cbrt(value) if value > 0.008856 else 7.787 * value + 16 / 116


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def texts(table: Table) -> list[list[str]]:
    """Returns the cells of a table as printed."""
    return [[cell.text for cell in row] for row in table.rows]
