"""The claims of every paper: on hand-made evidence, over their domains, and their origins.

`evidence/NAME.py` has runs with the paper's numbers, and cases with one number changed.
"""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from evidence import Case, Evidence, is_met

from floatgate.papers import PAPERS
from floatgate.papers.eti.hot import HOT_CLAIMS
from floatgate.papers.kit.claims import BASES, OWN, STATED, Claim, Statement
from floatgate.papers.kit.judging import LONGEST, domain_of
from floatgate.papers.kit.verdicts import AS_CLAIMED, LESS, MORE, STRADDLES
from floatgate.papers.ncq.claims import AS_LRU
from floatgate.papers.shrd.crash import RECOVERY

NAMES = [paper.name for paper in PAPERS]
EVIDENCE: dict[str, Evidence] = {name: import_module(f"evidence.{name}").EVIDENCE for name in NAMES}
CASES = [(name, case) for name in NAMES for case in EVIDENCE[name].cases]
CLAIMS = [(name, claim) for name in NAMES for claim in EVIDENCE[name].claims]
KNOWN = [(name, c) for name, c in CLAIMS if c.key not in EVIDENCE[name].never]
STATEMENTS: list[tuple[str, Statement]] = [
    *CLAIMS,
    *((name, claim) for name in NAMES for claim, _ in EVIDENCE[name].unchecked),
    *(("eti", claim) for claim in HOT_CLAIMS),
    ("ncq", AS_LRU),
    ("shrd", RECOVERY),
]


def _ids(pairs: list[tuple[str, Any]]) -> list[str]:
    return [f"{name}-{one.key}" for name, one in pairs]


@pytest.mark.parametrize(
    ("name", "case"), CASES, ids=[f"{n}-{c.claim} {c.case}: {c.because}" for n, c in CASES]
)
def test_a_claim_on_evidence_made_by_hand(name: str, case: Case) -> None:
    found = EVIDENCE[name].at_one_point(case)
    assert {row["case"] for row in found.rows} == {case.case}
    [number] = {"as claimed": "as_claimed"}.get(case.case, case.case).split()
    assert getattr(found.counts, number) == found.counts.points == len(found.rows)


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_meets_evidence_for_each_case(name: str) -> None:
    """A claim without evidence that makes it less would pass whatever it compares."""
    met = {(case.claim, case.case) for case in EVIDENCE[name].cases}
    own = [claim for of, claim in KNOWN if of == name]
    wanted = {(claim.key, case) for claim in own for case in (AS_CLAIMED, LESS, STRADDLES)}
    wanted |= {(c.key, MORE) for c in own if c.region.beyond}
    assert met == wanted


@pytest.mark.parametrize(("name", "claim"), KNOWN, ids=_ids(KNOWN))
def test_a_claim_is_asked_over_its_whole_domain(name: str, claim: Claim[Any]) -> None:
    known = EVIDENCE[name]
    quick, full = known.stated(claim), known.stated(claim, full=True)
    assert is_met(known.judged(claim, quick))
    assert quick.keys() <= full.keys()
    for levels in domain_of(known.experiment, claim, False):
        assert levels in domain_of(known.experiment, claim, True)


@pytest.mark.parametrize(("name", "claim"), KNOWN, ids=_ids(KNOWN))
def test_without_its_runs_a_claim_is_not_checked(name: str, claim: Claim[Any]) -> None:
    """The claim names its missing workloads. A workload that may be left out is left out, and no
    other."""
    known = EVIDENCE[name]
    quick = known.stated(claim)
    for family in {getattr(one, "family", one.trace) for one in quick.values()}:
        left = {
            run: one for run, one in quick.items() if getattr(one, "family", one.trace) != family
        }
        found = known.judged(claim, left)
        assert len(found.rows) < len(known.judged(claim, quick).rows)
        if not found.rows:
            assert (found.is_checked, found.why[:9]) == (False, "not run: ")
    nothing = known.judged(claim, {})
    assert (nothing.is_checked, nothing.verdict) == (False, "not checked")
    assert nothing.why.startswith(f"not run: {claim.workloads[0]}")


@pytest.mark.parametrize(("name", "claim"), KNOWN, ids=_ids(KNOWN))
def test_what_is_left_out_is_left_out_of_all_claims(name: str, claim: Claim[Any]) -> None:
    known = EVIDENCE[name]
    points = {run: replace(p, **known.rejected) for run, p in known.stated(claim).items()}
    found = known.judged(claim, points)
    assert not found.is_checked
    assert found.counts.left_out == len(found.rows) > 0
    assert found.why == f"{len(found.rows)} {known.filter.text}"


@pytest.mark.parametrize("name", NAMES)
def test_every_axis_has_a_reason_and_a_claim(name: str) -> None:
    known = EVIDENCE[name]
    used = {axis for claim in known.claims for axis in claim.axes} | known.swept
    assert used == {axis.key for axis in known.experiment.axes}
    for axis in known.experiment.axes:
        assert axis.reason


@pytest.mark.parametrize("name", NAMES)
def test_no_point_is_asked_twice(name: str) -> None:
    """A parameter without effect on a workload is not swept with it, so each point has separate
    runs."""
    experiment = EVIDENCE[name].experiment
    for claim in EVIDENCE[name].claims:
        asked = [
            [experiment.run_of(levels, *pair, 1) for pair in product(claim.workloads, claim.lines)]
            for levels in domain_of(experiment, claim, full=True)
        ]
        if name == "shrd":
            assert len(asked) == len(set(map(tuple, asked))), claim.key


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_checked_says_why(name: str) -> None:
    for statement, measured in EVIDENCE[name].unchecked:
        assert not measured.is_checked
        assert 0 < len(measured.why) <= LONGEST, statement.key


# Origins of claims


def test_keys_are_of_one_claim_each() -> None:
    for name in NAMES:
        keys = [claim.key for of, claim in STATEMENTS if of == name]
        assert len(keys) == len(set(keys))


@pytest.mark.parametrize(("name", "claim"), STATEMENTS, ids=_ids(STATEMENTS))
def test_a_claim_is_stated_with_its_words_inferred_or_ours(name: str, claim: Statement) -> None:
    origin = claim.origin
    assert origin.basis in BASES
    assert bool(origin.quote) or origin.basis != STATED
    assert origin.basis == OWN or name != "together", "there is no paper"
    assert not origin.quote or origin.basis != OWN
    assert all(len(text) <= LONGEST for text in (claim.text, origin.where, origin.paper))


TEXTS = Path(__file__).resolve().parents[3] / "shared" / "papers"
CELLS_ONLY = {"warp"}
"""Papers of which only printed numbers are at hand. A quotation states the cell of a number."""
QUOTED = [
    (name, claim) for name, claim in STATEMENTS if claim.origin.quote and name not in CELLS_ONLY
]


@pytest.mark.skipif(not TEXTS.is_dir(), reason="the papers' texts are not here")
@pytest.mark.parametrize(
    ("name", "claim"),
    QUOTED,
    ids=_ids(QUOTED),
)
def test_a_quotation_is_in_the_paper(name: str, claim: Statement) -> None:
    texts = [_letters(file.read_text("utf-8")) for file in sorted(TEXTS.glob("*.txt"))]
    quote = _letters(claim.origin.quote)
    assert any(quote in text for text in texts)


def _letters(text: str) -> str:
    """Returns letters and digits only, because files of papers differ in signs, line breaks and
    style marks."""
    return re.sub(r"[^0-9A-Za-z%]", "", text)
