"""Pages of evidence: counts of tests, and pictures of the pages' tables."""

from __future__ import annotations

import re
from pathlib import Path

import kinds_of_tests
import pictures_evidence


def test_the_page_of_tests_does_not_count_too_many() -> None:
    """`python tools/kinds_of_tests.py` renews the table."""
    stated = kinds_of_tests.stated(kinds_of_tests.PAGE.read_text("utf-8"))
    counted = kinds_of_tests.counts()
    assert {*stated} == {*counted} == {*kinds_of_tests.KINDS}
    for kind, number in stated.items():
        assert 0.8 * counted[kind] <= number <= counted[kind], kind
    assert sum(counted.values()) > 2400


def _labels(svg: Path) -> list[str]:
    """Returns the description of each mark, which has its numbers."""
    return re.findall(r'aria-label="([^"]*)"', svg.read_text("utf-8"))


def test_the_pictures_are_those_of_the_tables(tmp_path: Path) -> None:
    """`python tools/pictures_evidence.py` renews the pictures."""
    pictures_evidence.draw(tmp_path)
    drawn = sorted(tmp_path.iterdir())
    assert len(drawn) == 6 + len(pictures_evidence.PAPERS)
    for picture in drawn:
        labels = _labels(picture)
        assert len(labels) > 10
        assert labels == _labels(pictures_evidence.IMAGES / picture.name), picture.name
