"""Claims without a domain on evidence made by hand: they hold, fail, or cannot be checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from importlib import import_module
from typing import Any

import pytest
from verdicts import Case, measured, without

from floatgate.papers import PAPERS
from floatgate.papers.paper import FAILS, HOLDS, PARTLY, UNCHECKED

OPEN = ("tlllp", "asa", "together")
"""Those whose claims have a domain: `test_paper_tlllp.py` and so on."""
TABLES = {p.name: import_module(f"verdicts.{p.name}") for p in PAPERS if p.name not in OPEN}
CASES = [(name, case) for name, table in TABLES.items() for case in table.CASES]


@pytest.mark.parametrize(
    ("paper", "case"), CASES, ids=[f"{p}: {c.claim} {c.verdict}: {c.because}" for p, c in CASES]
)
def test_verdict(paper: str, case: Case) -> None:
    found = measured(paper, case.evidence)[case.claim]
    assert found.verdict == case.verdict
    if found.verdict == UNCHECKED:
        assert found.why, "what cannot be checked says what it takes"


@pytest.mark.parametrize("paper", TABLES)
def test_every_claim_meets_evidence_for_each_of_its_verdicts(paper: str) -> None:
    table = TABLES[paper]
    expected = {}
    for claim in import_module(f"floatgate.papers.{paper}_claims").CLAIMS:
        middle = set() if claim.key in table.NO_MIDDLE else {PARTLY}
        judged = set() if claim.key in table.NEVER else {HOLDS, FAILS} | middle
        expected[claim.key] = judged | {UNCHECKED}
    met: dict[str, set[str]] = {key: set() for key in expected}
    for case in table.CASES:
        met[case.claim].add(case.verdict)
    assert met == expected


@pytest.mark.parametrize("paper", TABLES)
def test_all_that_can_be_checked_holds_as_stated(paper: str) -> None:
    table = TABLES[paper]
    found = {key: got.verdict for key, got in measured(paper, table.as_stated()).items()}
    assert found == {key: UNCHECKED if key in table.NEVER else HOLDS for key in found}


def _nothing(paper: str) -> Any:
    evidence = TABLES[paper].as_stated()
    return (
        [] if isinstance(evidence, list) else replace(evidence, points=[], hotness=[], extents=[])
    )


@pytest.mark.parametrize("paper", TABLES)
def test_nothing_is_judged_without_evidence(paper: str) -> None:
    for key, found in measured(paper, _nothing(paper)).items():
        assert found.verdict == UNCHECKED, key
        assert (found.ours, found.number) == ("not measured", None), key
        assert found.why, key


KEYS = ("trace", "family", "kind", "line", "setup", "cache", "cache_bytes", "buffer_mib")


def _with_gaps(evidence: Any) -> Iterator[Any]:
    """The evidence without a trace, a line, a setup or a size, and without any two of them."""
    points = evidence if isinstance(evidence, list) else evidence.points
    names = [field.name for field in fields(points[0]) if field.name in KEYS]
    parts = list(dict.fromkeys((name, getattr(p, name)) for p in points for name in names))
    for i, first in enumerate(parts):
        for second in parts[i:]:
            left = without(without(points, **dict([first])), **dict([second]))
            yield left if isinstance(evidence, list) else replace(evidence, points=left)


@pytest.mark.parametrize("paper", TABLES)
def test_evidence_with_gaps_is_judged_by_what_there_is_or_not_at_all(paper: str) -> None:
    for evidence in _with_gaps(TABLES[paper].as_stated()):
        for key, found in measured(paper, evidence).items():
            assert found.verdict in (HOLDS, PARTLY, FAILS, UNCHECKED)
            assert " of 0 " not in found.ours, key
            if found.verdict == UNCHECKED:
                assert (found.number, bool(found.why)) == (None, True), key
            else:
                assert found.ours not in ("", "not measured"), key
