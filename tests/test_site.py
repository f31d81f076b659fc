"""The documentation site: every page there, every link and anchor leading somewhere."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import floatgate

ROOT = Path(__file__).resolve().parents[1]


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
    assert "Floatgate simulates the inside of an SSD" in first
    assert 'href="traces/"' in first
    assert 'href="docs/' not in first


def test_the_reference_has_every_name_that_is_exported(site: Path) -> None:
    page = (site / "reference/index.html").read_text("utf-8")
    for name in floatgate.__all__:
        if not name.startswith("__"):
            assert f'id="floatgate.{name}"' in page, name


def test_no_page_fetches_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        for loaded in ('<script src="http', 'rel="stylesheet" href="http', 'src="//'):
            assert loaded not in text, page
