"""The documentation site: every page exists, and every link and anchor has a target."""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, get_args, get_type_hints

import polars
import pytest
from paths import ROOT

import floatgate
from floatgate.calibrate import calibrate
from floatgate.guests import arrays
from floatgate.result_types import ResultFields


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for module in ("mkdocs", "material", "mkdocstrings_handlers"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed (make docs installs it)")
    out = tmp_path_factory.mktemp("site") / "site"
    call = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", out]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return out


def test_every_page_of_docs_is_on_the_site(site: Path) -> None:
    pages = [page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")]
    assert len(pages) > 20
    for page in pages:
        folder = page.parent if page.stem == "README" else page.with_suffix("")
        assert (site / folder / "index.html").is_file(), page


def test_the_readme_is_the_first_page_and_its_links_hold_there(site: Path) -> None:
    first = (site / "index.html").read_text("utf-8")
    assert "Floatgate shows what an SSD makes of your writes" in first
    assert 'href="learn/log/"' in first
    assert 'href="docs/' not in first


def test_links_to_files_of_the_root_lead_to_their_pages(site: Path) -> None:
    """MkDocs accepts links that lead out of docs/."""
    assert 'href="../../#install"' in (site / "learn/log/index.html").read_text("utf-8")
    for page in site.rglob("*.html"):
        left = re.findall(r'href="((?!http)[^"]*\.md[#"])', page.read_text("utf-8"))
        assert not left, page


def test_the_reference_has_every_name_that_is_exported(site: Path) -> None:
    page = (site / "reference/index.html").read_text("utf-8")
    for name in floatgate.__all__:
        if not name.startswith("__"):
            assert f'id="floatgate.{name}"' in page, name


def test_the_reference_has_every_field_of_a_result(site: Path) -> None:
    page = (site / "reference/index.html").read_text("utf-8")
    parts = {ResultFields, *_told_by(ResultFields)}
    assert len(parts) > 25
    for part in parts:
        for field in dataclasses.fields(part):
            path = f"floatgate.result_types.{part.__name__}.{field.name}"
            assert f'id="{path}"' in page, path


def test_the_reference_has_what_the_functions_return(site: Path) -> None:
    page = (site / "reference/index.html").read_text("utf-8")
    shown = [resolve_name(path) for path in re.findall(r'id="(floatgate[.\w]*\.[A-Z]\w+)"', page)]
    exported = [getattr(floatgate, name) for name in floatgate.__all__]
    # The API imports polars and the results for the type checker alone.
    results = {"Comparison": floatgate.Comparison, "Result": floatgate.Result}
    returned = [
        get_type_hints(one, localns={"pl": polars, **results})["return"]
        for one in (calibrate, *exported)
        if inspect.isfunction(one)
    ]
    told = {part for one in [*exported, *returned] for part in _told_by(one)}
    assert {"Prediction", "Dataset", "Calibration", "Line"} < {part.__name__ for part in told}
    for part in told:
        assert part in shown, part


INSIDE = {"StudySpec", "Folder", "Key"}
"""Classes without an entry: the input of a study, which docs/sweeps.md documents, and internal
classes."""


def _told_by(kind: Any) -> Iterator[type]:
    """Yields our dataclasses within a type: the type itself, and the types of its fields."""
    if not dataclasses.is_dataclass(kind):
        for part in get_args(kind):
            yield from _told_by(part)
    elif isinstance(kind, type) and kind.__name__ not in INSIDE:
        yield kind
        # Policies import the types of arrays for the type checker alone.
        for name, hint in get_type_hints(kind, localns=vars(arrays)).items():
            if not name.startswith("_"):
                yield from _told_by(hint)


def test_the_reference_has_every_path_that_the_page_of_python_names(site: Path) -> None:
    page = (site / "reference/index.html").read_text("utf-8")
    text = (ROOT / "docs/api.md").read_text("utf-8")
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    named = set(re.findall(r"`(?:fg|floatgate)(\.[.\w]+)", prose))
    assert {".result_types", ".live.Live", ".calibrate.calibrate", ".study"} <= named
    for path in named:
        assert f'id="floatgate{path}"' in page, path


def test_no_page_fetches_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        for loaded in ('<script src="http', 'rel="stylesheet" href="http', 'src="//'):
            assert loaded not in text, page
