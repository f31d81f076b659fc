"""Rewrites the tables of verdicts of docs/papers from a site of all papers.

    floatgate paper all --full --out papers
    python tools/paper_tables.py papers/claims.csv

Fills the columns of each row whose `id` is a claim's, and copies the claims to the package, where
a quick run finds the verdicts of the full one. Each page chooses its rows.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAPERS = ROOT / "docs" / "papers"
CLAIMS = ROOT / "python" / "floatgate" / "papers" / "claims.csv"

ROWS = 12
"""Largest number of claims in the table of a page."""
COLUMNS = {
    "id": "id",
    "claim": "claim",
    "paper": "paper",
    "ours": "middle",
    "range": "ours",
    "counts": "verdict",
    "run": "mode",
}
"""Columns of a table of verdicts, each with its column in claims.csv. A cell stays as it is if
claims.csv does not have its column."""

Claim = Mapping[str, str]
"""A row of the site's claims.csv."""


def main(path: Path) -> None:
    """Rewrites all pages that have claims, and copies the claims to the package."""
    text = path.read_text("utf-8")
    claims = read_claims(text)
    pages = {PAPERS / f"{name}.md": name for name in dict.fromkeys(c["of"] for c in claims)}
    written = {
        page: rewritten(page.read_text("utf-8"), name, claims) for page, name in pages.items()
    }
    for page, changed in written.items():
        page.write_text(changed, "utf-8")
    CLAIMS.write_text(text, "utf-8")


def read_claims(text: str) -> list[Claim]:
    """Returns the rows of a site's claims.csv."""
    return list(csv.DictReader(io.StringIO(text)))


def rewritten(page: str, name: str, claims: Sequence[Claim]) -> str:
    """Returns a paper's page with the numbers of these claims. Raises ValueError if a row has no
    claim, a claim has two rows, or the page has no rows or more than `ROWS`."""
    of_page = {claim["id"]: claim for claim in claims if claim["of"] == name}
    known, lines, columns = dict(of_page), [], list[str]()
    for line in page.splitlines(keepends=True):
        cells = _cells(line)
        if not cells or {"id", "counts"} <= set(cells):
            columns = cells
        elif {"id", "counts"} <= set(columns) and set(line) - set("|- \n"):
            row = dict(zip(columns, cells, strict=True))
            if row["id"] not in known:
                raise ValueError(f"{name}: no claim, or another row of it: {row['id']}")
            row |= _filled(columns, known.pop(row["id"]))
            cells = [f" {row[column]} ".replace("  ", " ") for column in columns]
            line = f"|{'|'.join(cells)}|\n"
        lines.append(line)
    rows = len(of_page) - len(known)
    if not 0 < rows <= ROWS:
        raise ValueError(f"{name}: {rows} claims in the table; expected 1 to {ROWS}")
    return "".join(lines)


def _cells(line: str) -> list[str]:
    """Returns the cells of a table's line, and no cells for any other line."""
    if not line.startswith("|"):
        return []
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _filled(columns: Sequence[str], claim: Claim) -> dict[str, str]:
    """Returns the cells that claims.csv has. Without a number the middle point was left out."""
    filled = {c: claim[COLUMNS[c]] for c in columns if COLUMNS.get(c, "") in claim}
    if claim.get("middle") == "" and "ours" in filled:
        filled["ours"] = "left out"
    if any("|" in text for text in filled.values()):
        raise ValueError(f"{claim['id']}: a cell of a table cannot have the sign |")
    return filled


if __name__ == "__main__":
    main(Path(sys.argv[1]))
