"""Numbers as a reader expects them, written with the plainest code: what tests compare with."""

from __future__ import annotations

THIN = "\N{NARROW NO-BREAK SPACE}"


def whole(value: float) -> str:
    """Thousands apart: 1 234 567."""
    digits = str(round(value))
    groups = []
    while len(digits) > 3:
        groups.insert(0, digits[-3:])
        digits = digits[:-3]
    return THIN.join([digits, *groups])


def decimals(value: float, digits: int) -> str:
    """So many decimals, thousands apart."""
    left, dot, right = f"{value:.{digits}f}".partition(".")
    return whole(int(left)) + dot + right


def three(value: float) -> str:
    """A measurement: three digits that count, at most three decimals, no digit lost before the
    point."""
    for least, digits in ((100, 0), (10, 1), (1, 2)):
        if value >= least:
            return decimals(value, digits)
    return "0" if value == 0 else decimals(value, 3)


def share(value: float) -> str:
    """Per cent with two decimals."""
    return f"{value * 100:.2f}%"


def factor(value: float) -> str:
    """An amplification, up to 100."""
    assert value < 100
    return f"{value:.3f}"


def size(value: float) -> str:
    """Bytes in a binary unit, four digits."""
    power = 0
    while value >= 1024 and power < 4:
        value, power = value / 1024, power + 1
    return f"{value:.4g}{THIN}{['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]}"
