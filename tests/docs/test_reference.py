"""The pages in docs/reference/ list what the code has."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from paths import ROOT

from floatgate import _core
from floatgate.cli import app

TOOL = runpy.run_path(str(ROOT / "tools" / "reference.py"))
FOLDER = ROOT / "docs" / "reference"


@pytest.mark.parametrize("page", TOOL["PAGES"])
def test_a_page_equals_the_output_of_the_tool(page: str) -> None:
    """`python tools/reference.py` renews the pages."""
    assert (FOLDER / page).read_text("utf-8") == TOOL["text"](page)


def _keys(path: str, of: dict[str, Any]) -> Iterator[str]:
    for name, one in of["properties"].items():
        if "properties" in one:
            yield from _keys(f"{path}{name}.", one)
        else:
            yield f"{path}{name}"


def test_every_config_key_has_one_row() -> None:
    page = (FOLDER / "config.md").read_text("utf-8")
    keys = [*_keys("", json.loads(_core.schema()))]
    assert len(keys) > 150
    assert re.findall(r"^\| `([\w.]+)` \|", page, re.MULTILINE) == sorted(keys, key=_order)


def _order(key: str) -> tuple[bool, str]:
    """Keys without a section come first."""
    return "." in key, key


def test_every_command_has_an_example_of_itself() -> None:
    page = (FOLDER / "commands.md").read_text("utf-8")
    sections = dict(re.findall(r"^## (floatgate [^\n]*)\n(.*?)(?=^## |\Z)", page, re.M | re.S))
    top = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert {name.split()[1] for name in sections} == {*top}
    for name, text in sections.items():
        [example] = re.findall(r"^For example: `(.*)`$", text, re.MULTILINE)
        assert f"{example} ".startswith(f"{name.removesuffix(' run')} "), example
