"""Every citation of docs/algorithms.md names an existing section, and every policy has a
section."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from paths import ROOT

import floatgate
from floatgate import _core

PAGE = ROOT / "docs" / "algorithms.md"

CITATION = re.compile(r"algorithms(?:\.md|\]\(algorithms\.md\)), (\d+(?:\.\d+)*)")
"""`docs/algorithms.md, 4.2` in code, `[algorithms](algorithms.md), 4.2` in the other pages."""
HEADING = re.compile(r"^#{2,3} (\d+(?:\.\d+)?)\.? (.+)$", re.MULTILINE)

CHAPTERS = {
    "mapping": ("2",),
    "placement": ("3",),
    "ftl": ("4", "8"),
    "victim": ("5",),
    "buffer": ("7",),
    "host": ("9",),
}
"""Chapters that contain the sections of an axis's policies."""


def sections() -> dict[str, tuple[str, str]]:
    """Returns title and text of each section, by section number."""
    text = PAGE.read_text("utf-8")
    found = list(HEADING.finditer(text))
    ends = [heading.start() for heading in found[1:]] + [len(text)]
    return {
        heading[1]: (heading[2], text[heading.end() : end])
        for heading, end in zip(found, ends, strict=True)
    }


def cited() -> Iterator[tuple[Path, str]]:
    """Yields every citation as a pair of file and section number."""
    folders = ("crates", "python/floatgate", "tests", "docs", "fuzz", "tools")
    for folder in folders:
        for suffix in ("rs", "py", "md"):
            for file in sorted((ROOT / folder).rglob(f"*.{suffix}")):
                if file in (PAGE, Path(__file__).resolve()) or "target" in file.parts:
                    continue
                for number in CITATION.findall(file.read_text("utf-8")):
                    yield file, number


def test_citations_name_sections_that_exist() -> None:
    known = sections()
    found = list(cited())
    assert len(found) >= 28
    missing = [
        f"{file.relative_to(ROOT)}: {number}" for file, number in found if number not in known
    ]
    assert not missing


def test_sections_are_numbered_in_order() -> None:
    numbers = [tuple(map(int, number.split("."))) for number in sections()]
    assert numbers == sorted(set(numbers))
    for chapter in range(1, numbers[-1][0] + 1):
        own = [number[1] for number in numbers if number[0] == chapter and len(number) == 2]
        assert own == list(range(1, len(own) + 1))


@pytest.mark.parametrize("axis", CHAPTERS)
def test_every_policy_has_a_section(axis: str) -> None:
    """A policy's section is in a chapter of its axis, and its title contains the policy's name."""
    titles = [
        title for number, (title, _) in sections().items() if number.split(".")[0] in CHAPTERS[axis]
    ]
    names = [row["name"] for row in floatgate.policies()[axis]]
    names = [name for name in names if not name.startswith("python:")]
    assert names
    assert [name for name in names if not any(f"`{name}`" in title for title in titles)] == []


def test_the_sections_have_every_parameter_with_its_default() -> None:
    known = sections().values()
    for row in (row for rows in floatgate.policies().values() for row in rows):
        own = "\n".join(text for title, text in known if f"`{row['name']}`" in title)
        for parameter in row["parameters"]:
            key = parameter["name"].split(".")[1]
            assert re.search(rf"\b{key}\b", own), parameter["name"]
            default = parameter["default"]
            if default is not None:
                shown = default if isinstance(default, str) else json.dumps(default)
                assert shown in own.replace(" MiB", "MiB").replace(" KiB", "KiB"), parameter


def test_every_axis_has_its_chapters() -> None:
    assert set(floatgate.policies()) == set(CHAPTERS)


def test_the_glossary_names_sections_and_keys_that_exist() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    numbers = re.findall(r"\[(\d+(?:\.\d+)?)\](?!\()", text)
    assert len(numbers) > 17
    assert not set(numbers) - set(sections())
    schema = json.loads(_core.schema())
    tables = keys(schema, schema)
    named = [key.split(".") for key in re.findall(r"`([a-z_]+\.[a-z_]+)`", text)]
    named = [key for key in named if key[0] in tables]
    assert len(named) > 20
    assert [key for key in named if key[1] not in keys(schema, tables[key[0]])] == []


def keys(schema: Any, node: Any) -> dict[str, Any]:
    """Returns the properties of a node of a JSON Schema, also through a reference."""
    if "$ref" in node:
        node = schema["$defs"][node["$ref"].rpartition("/")[2]]
    found: dict[str, Any] = node.get("properties", {})
    return found
