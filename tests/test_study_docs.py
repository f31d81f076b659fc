"""What docs/studies.md shows is true."""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path

import pytest

from floatgate.studies.spec import parse

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAGE = Path(__file__).resolve().parents[1] / "docs" / "studies.md"


def test_the_files_are_studies() -> None:
    blocks = re.findall(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        assert parse(tomllib.loads(block), block).varied


def test_the_examples_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    found = doctest.testfile(str(PAGE), module_relative=False, optionflags=flags, encoding="utf-8")
    assert found.attempted >= 10
    assert found.failed == 0
