"""Compares a quick run with the recorded full run: how much it covers, and where they differ."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from .claims import AnyClaim, Statement
from .outcome import kind_of

RECORDED = Path(__file__).resolve().parents[1] / "claims.csv"
"""The claims.csv of the last site. The column `mode` states which rows are of a full run."""


def recorded_claims(name: str) -> dict[str, dict[str, str]]:
    """Returns the paper's claims in the last full run, by their ids."""
    with RECORDED.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["of"] == name]
    return {row["id"]: row for row in rows if row["mode"] == "full"}


def coverage_of(claims: Sequence[AnyClaim], recorded: dict[str, dict[str, str]]) -> str:
    """Returns a text: the points that these claims of a quick run cover, and the claims whose kind
    of verdict differs from the recorded full run. It names claims that have no full verdict."""
    counts = {claim.key: measured.counts for claim, measured in claims}
    fresh = [claim.key for claim, _ in claims if not _is_recorded(claim, recorded)]
    full = {key: row for key, row in recorded.items() if key not in fresh}
    parts = []
    if full:
        kinds = {key: kind_of(counts[key]) if key in counts else "not run" for key in full}
        differs = [
            f"{key} (quick: {kinds[key]}, full: {row['kind']})"
            for key, row in full.items()
            if kinds[key] != row["kind"]
        ]
        covered = sum(counts[key].points + counts[key].left_out for key in full if key in counts)
        points = sum(int(row["points"]) + int(row["left_out"]) for row in full.values())
        parts.append(f"covers {covered:,} of {points:,} points")
        parts.append(
            f"agrees with the full run in {len(full) - len(differs)} of {len(full)} claims"
        )
        parts += [f"differs: {', '.join(differs)}"] if differs else []
    parts += [f"has no recorded full verdict of {', '.join(fresh)}"] if fresh else []
    return "; ".join(parts)


def _is_recorded(claim: Statement, recorded: dict[str, dict[str, str]]) -> bool:
    """Returns whether a full run is recorded for the claim as it is worded now."""
    row = recorded.get(claim.key, {})
    now = claim.text, claim.origin.where, claim.origin.paper
    return now == (row.get("claim"), row.get("where"), row.get("paper"))
