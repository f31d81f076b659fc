"""The examples in the documentation run, and print the documented output."""

from __future__ import annotations

import doctest

from paths import ROOT

DOCS = ROOT / "docs"


def test_the_examples_of_the_api_page_hold() -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    page = str(DOCS / "api.md")
    found = doctest.testfile(page, module_relative=False, optionflags=flags, encoding="utf-8")
    assert found.attempted > 25
    assert found.failed == 0
