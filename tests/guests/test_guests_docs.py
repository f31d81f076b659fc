"""The examples of `docs/python-policies.md` are short, and run in page order."""

from __future__ import annotations

import ast
import re
from typing import Any

import pytest
from paths import ROOT

PAGE = ROOT / "docs" / "python-policies.md"
LINES_MAX = 25

BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def test_the_examples_are_short() -> None:
    assert len(BLOCKS) > 8
    for block in BLOCKS:
        assert block.count("\n") < LINES_MAX, block


def test_the_examples_run() -> None:
    pytest.importorskip("numba", reason="Numba is not installed")
    names: dict[str, Any] = {"__name__": "examples"}
    for block in BLOCKS:
        exec(compile(block, str(PAGE), "exec"), names)
    policies = [name for name in names if "Policy" in repr(getattr(names[name], "__mro__", ""))]
    assert len(policies) >= 8


def test_without_numba_the_other_examples_run() -> None:
    names: dict[str, Any] = {"__name__": "examples"}
    skipped = 0
    for block in BLOCKS:
        if "numba" in {getattr(one, "module", None) for one in ast.walk(ast.parse(block))}:
            skipped += 1
        else:
            exec(compile(block, str(PAGE), "exec"), names)
    assert skipped == 1
