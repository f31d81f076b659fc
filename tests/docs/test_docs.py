"""The examples in docs/api.md and docs/python-policies.md run, and print the documented output."""

from __future__ import annotations

import doctest
import importlib.util
import re
from typing import Any

from paths import ROOT


def test_the_examples_of_the_api_page_hold() -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    page = str(ROOT / "docs" / "api.md")
    found = doctest.testfile(page, module_relative=False, optionflags=flags, encoding="utf-8")
    assert found.attempted > 25
    assert found.failed == 0


PAGE = ROOT / "docs" / "python-policies.md"
LINES_MAX = 25

BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def test_the_examples_are_short() -> None:
    assert len(BLOCKS) > 8
    for block in BLOCKS:
        assert block.count("\n") < LINES_MAX, block


def test_the_examples_run() -> None:
    """Without Numba, the one example that needs it is left out."""
    names: dict[str, Any] = {"__name__": "examples"}
    needs = [block for block in BLOCKS if "import numba" in block or "from numba" in block]
    assert len(needs) == 1
    left_out = [] if importlib.util.find_spec("numba") else needs
    for block in BLOCKS:
        if block not in left_out:
            exec(compile(block, str(PAGE), "exec"), names)
    policies = [name for name in names if "Policy" in repr(getattr(names[name], "__mro__", ""))]
    assert len(policies) >= 8 - len(left_out)
