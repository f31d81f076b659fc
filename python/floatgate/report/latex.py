"""LaTeX tables, for a user's own paper."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from floatgate.results.tables import Table

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: rf"\{sign}" for sign in "&%$#_"},
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "\N{MINUS SIGN}": r"\textminus{}",
    "\N{MULTIPLICATION SIGN}": r"\texttimes{}",
    "\N{PLUS-MINUS SIGN}": r"\textpm{}",
    "\N{MICRO SIGN}": r"\textmu{}",
    "\N{GREEK SMALL LETTER MU}": r"\textmu{}",
    "\N{EM DASH}": "---",
    "\N{EN DASH}": "--",
    "\N{NO-BREAK SPACE}": "~",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
}
"""Characters that are special in LaTeX, or missing in some font, with their replacements."""

LINE, LANDSCAPE = 69, 110
"""Width of a line of the class article, 345 points, and on a landscape page, 550 points. All widths
are in digits of the 10-point font, which are half an em wide."""
GAP = 2.4
"""Width between two columns: twice `\\tabcolsep`, which does not depend on the font."""
SIZES = (("", 1.0), ("\\small", 0.925), ("\\footnotesize", 0.85), ("\\scriptsize", 0.8))
"""Font sizes in descending order, each with the width of its digits (Computer Modern)."""
WIDE = frozenset("%\N{MINUS SIGN}\N{PLUS-MINUS SIGN}\N{MULTIPLICATION SIGN}&mwMW")
"""Characters that are up to 1.7 digits wide. Letters are narrower than a digit, on average."""
SHORT, READ, LONG = 6, 16, 60
"""Widths in a column of text: the room in addition to its longest cell, the minimum width of a
line, and the longest cell that still makes its column wider."""


def escape(text: str) -> str:
    """Returns LaTeX code that prints the text."""
    return "".join(SPECIAL.get(sign, sign) for sign in text)


def latex(table: Table) -> str:
    """Returns a table for `\\input` that may span pages; it needs booktabs and longtable.

    Columns of numbers keep their width. Columns of text share the rest of the line in proportion to
    their longest cells, of which at most `LONG` characters count. The font is the largest in which
    both fit.
    """
    widths = _widths(table)
    size, line = _room(table, widths)
    return _template().render(
        title=table.title,
        is_wide=line != LINE,
        size=size,
        columns=table.columns,
        kinds=_kinds(table, widths, line > 0),
        rows=[[cell.text for cell in row] for row in table.rows],
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader(__package__ or "", "assets"),
        autoescape=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["tex"] = escape
    return environment.get_template("table.tex.jinja")


def _digits(text: str) -> float:
    """Returns the width of a text, in digits."""
    return len(text) + 0.7 * sum(sign in WIDE for sign in text)


def _widths(table: Table) -> list[float]:
    """Returns the width of each column's longest cell, in digits. In a column of numbers, the title
    counts as a cell."""
    return [
        max(
            [0 if at in table.text_columns else _digits(title)]
            + [_digits(row[at].text) for row in table.rows]
        )
        for at, title in enumerate(table.columns)
    ]


def _room(table: Table, widths: Sequence[float]) -> tuple[str, int]:
    """Returns the largest font in which the table fits, and the width of the line; 0 if the table
    fits in no font."""
    least = sum(min(w, READ) if at in table.text_columns else w for at, w in enumerate(widths))
    gaps = GAP * (len(widths) - 1)
    fits = (
        (size, line)
        for line in (LINE, LANDSCAPE)
        for size, digit in SIZES
        if least * digit + gaps <= line
    )
    return next(fits, (SIZES[-1][0], 0))


def _kinds(table: Table, widths: Sequence[float], fits: bool) -> list[str]:
    """Returns the column specifiers of the LaTeX table."""
    texts = {at: min(widths[at], LONG) + SHORT for at in sorted(table.text_columns)}
    gaps = 2 * (len(widths) - 1)
    numbers = sum(width for at, width in enumerate(widths) if at not in texts) / 2
    left = rf"\dimexpr\linewidth-{gaps}\tabcolsep-{numbers:.1f}em\relax"
    whole = sum(texts.values())
    own = {
        at: f"{share / whole:.3f}{left}" if fits else f"{min(widths[at], READ) / 2:.1f}em"
        for at, share in texts.items()
    }
    return [f"p{{{own[at]}}}" if at in own else "r" for at in range(len(widths))]
