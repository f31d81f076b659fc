"""Numbers as a reader expects them, contrasts, and cells. Tests compare reports with them."""

from __future__ import annotations

from collections.abc import Sequence

from floatgate.report.tables import Table

THIN = "\N{NARROW NO-BREAK SPACE}"


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
    return f"{value * 100:.2f}%"


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
    parts = [part / 255 for part in colour]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def texts(table: Table) -> list[list[str]]:
    """Returns the cells of a table as printed."""
    return [[cell.text for cell in row] for row in table.rows]
