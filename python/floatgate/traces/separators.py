"""Numbers as spreadsheets write them: with decimal commas, and separators between thousands."""

from __future__ import annotations

import polars as pl

from .model import shorten
from .text import unhex

_GROUPED_BY_COMMAS = r"^-?\d{1,3}(?:,\d{3})+$"
_GROUPED_BY_POINTS = r"^-?\d{1,3}(?:\.\d{3})+$"
_WHOLE = r"^(-?\d+)\.0+$"
_GROUPED_BY_BLANKS = r"^-?\d{1,3}(?:[ '\u2019\u00a0\u202f]\d{3})+$"

#: Times with a comma that must mark a fraction, with a comma that must group thousands, and with
#: an ambiguous comma.
_DECIMAL_COMMA = r"^-?(?:0|\d{4,}),\d+$|^-?\d+,(?:\d{1,2}|\d{4,})$|^-?\d{1,3}(?:\.\d{3})+,\d+$"
_COMMA_OF_THOUSANDS = r"^-?\d{1,3}(?:,\d{3})+\.\d*$|^-?\d{1,3}(?:,\d{3}){2,}$"
_EITHER = r"^-?[1-9]\d{0,2},\d{3}$"


class Separators:
    """Removes separators from text columns, and remembers an example of each kind.

    Only the whole file shows whether a comma or a point marks a fraction. So the numbers stay in
    doubt until its end.
    """

    def __init__(self) -> None:
        #: An example of each kind: a decimal comma, a comma or a point between thousands, an
        #: ambiguous comma.
        self._seen: dict[str, str] = {}

    def leave_out(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Returns `frame` with plain numbers in `time`, `offset` and `length`, as text."""
        time = pl.col("time")
        self._note(frame, "time", "decimal", _DECIMAL_COMMA)
        self._note(frame, "time", "comma", _COMMA_OF_THOUSANDS)
        self._note(frame, "time", "either", _EITHER)
        for column in ("offset", "length"):
            self._note(frame, column, "comma", _GROUPED_BY_COMMAS)
            self._note(frame, column, "point", _GROUPED_BY_POINTS)
        decimal = time.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
        plain = (
            pl.when(time.str.contains(_COMMA_OF_THOUSANDS))
            .then(time.str.replace_all(",", "", literal=True))
            .when(time.str.contains(_DECIMAL_COMMA) | time.str.contains(_EITHER))
            .then(decimal)
            .otherwise(time)
        )
        return frame.with_columns(plain.alias("time"), _integer("offset"), _integer("length"))

    def doubt(self) -> str | None:
        """Explains why numbers may have been misread; returns None if they have not."""
        seen = self._seen
        if "comma" in seen and ("decimal" in seen or "point" in seen):
            one, other = seen["comma"], seen.get("decimal") or seen["point"]
            return (
                f"commas group thousands in {shorten(one)} and not in {shorten(other)}; expected "
                "one way to write numbers"
            )
        if "either" in seen and not seen.keys() & {"decimal", "point"}:
            return (
                f"time {shorten(seen['either'])} has a decimal comma, or one between thousands; "
                "expected a decimal point"
            )
        if "point" in seen and not seen.keys() & {"decimal", "either"}:
            return (
                f"{shorten(seen['point'])} has a fraction, or points between thousands; expected a "
                "whole number without a point"
            )
        return None

    def notes(self) -> list[str]:
        """Returns notes about the separators that were found."""
        seen = self._seen
        notes = []
        if seen.keys() & {"decimal", "either"}:
            notes.append("a comma in a time read as a decimal comma")
        notes += [
            f"{mark} in {shorten(seen[mark.removesuffix('s')])} read as {mark} between thousands"
            for mark in ("commas", "points")
            if mark.removesuffix("s") in seen
        ]
        return notes

    def _note(self, frame: pl.DataFrame, column: str, kind: str, expression: str) -> None:
        if kind not in self._seen:
            hit = frame[column].str.contains(expression).fill_null(False)
            if hit.any():
                self._seen[kind] = frame[column].filter(hit)[0]


def _integer(column: str) -> pl.Expr:
    """Returns a text column with each whole number as plain digits."""
    text = pl.col(column)
    grouped = [_GROUPED_BY_COMMAS, _GROUPED_BY_POINTS, _GROUPED_BY_BLANKS]
    is_grouped = pl.any_horizontal(text.str.contains(expression) for expression in grouped)
    digits = text.str.replace_all(r"[^-0-9]", "")
    plain = pl.coalesce(text.str.extract(_WHOLE), unhex(column))
    return pl.when(is_grouped).then(digits).otherwise(plain).alias(column)
