"""The diagrams of docs/design.md are what tools/pictures_design.py draws, in light and in dark."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
from paths import ROOT


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "pictures_design", ROOT / "tools" / "pictures_design.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_no_diagram_is_stale(tool: ModuleType, tmp_path: Path) -> None:
    tool.draw(tmp_path)
    for path in tmp_path.iterdir():
        assert path.read_text("utf-8") == (tool.FOLDER / path.name).read_text("utf-8"), path.name


def test_the_page_shows_every_diagram_with_a_description(tool: ModuleType) -> None:
    page = (ROOT / "docs" / "design.md").read_text("utf-8")
    shown = re.findall(r"^!\[(.*)\]\(images/(.*)\.svg\)$", page, re.MULTILINE)
    assert [name for _, name in shown] == [*tool.DIAGRAMS]
    assert all(len(description) > 60 for description, _ in shown)


def test_a_diagram_has_colours_for_both_schemes_and_no_background(tool: ModuleType) -> None:
    for make in tool.DIAGRAMS.values():
        document = make().svg()
        ElementTree.fromstring(document)
        assert "prefers-color-scheme: dark" in document
        assert f'width="{tool.WIDTH}"' not in document
