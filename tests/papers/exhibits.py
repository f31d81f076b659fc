"""Formats exhibits of papers as a page shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from floatgate.papers.kit.drawing import number_table
from floatgate.papers.kit.exhibits import Column, Exhibit, Numbers

THIN = "\N{NARROW NO-BREAK SPACE}"


def cells(exhibit: Exhibit) -> list[list[str]]:
    """Returns a printed table, its titles first."""
    assert isinstance(exhibit, Numbers)
    return printed(exhibit.columns, exhibit.rows)


def printed(columns: Sequence[Column], rows: list[Any]) -> list[list[str]]:
    """Returns titles and cells as printed, with thin spaces and signs as one types them."""
    table = number_table("", columns, rows)
    texts = [table.columns, *([cell.text for cell in row] for row in table.rows)]
    return [[_typed(text) for text in row] for row in texts]


def _typed(text: str) -> str:
    return text.replace(THIN, " ").replace("\N{MINUS SIGN}", "-")


def by_key(exhibits: list[Exhibit]) -> dict[str, Exhibit]:
    """Returns exhibits by their keys. Fails if two keys are equal."""
    found = {exhibit.key: exhibit for exhibit in exhibits}
    assert len(found) == len(exhibits)
    return found
