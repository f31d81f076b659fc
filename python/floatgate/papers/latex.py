"""Tables for a paper of one's own, in LaTeX."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from floatgate.report.tables import Table

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
"""What LaTeX would read as something else, or has no sign for in every font."""

TEXT = 0.85
"""Of the width of the lines, what columns of text share; the rest is for numbers and gaps."""

SHORT, LONG = 6, 60
"""Signs that a column of text has room for at least, and those from which on it breaks lines."""


def escape(text: str) -> str:
    """A text as LaTeX prints it."""
    return "".join(SPECIAL.get(sign, sign) for sign in text)


def latex(table: Table) -> str:
    """The table for `\\input`, over as many pages as it takes; it needs booktabs and longtable.

    Columns of text share the width by their longest cells, of which `LONG` signs count at most.
    """
    return _template().render(
        title=table.title,
        columns=table.columns,
        widths=_widths(table),
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


def _widths(table: Table) -> list[float | None]:
    """The width of each column of text, as a part of the lines; None for one of numbers."""
    columns = range(len(table.columns))
    longest = {
        at: max((len(row[at].text) for row in table.rows), default=1)
        for at in columns
        if at in table.text_columns
    }
    shares = {at: min(length, LONG) + SHORT for at, length in longest.items()}
    whole = sum(shares.values())
    return [TEXT * shares[at] / whole if at in shares else None for at in columns]
