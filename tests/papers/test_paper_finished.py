"""Finished reproductions: the same files again, unless anything differs that they depend on."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from paper_site import outcome_of

from floatgate import papers
from floatgate.papers.kit import finished
from floatgate.papers.kit.parallel import Asked, Reproduced, reproduce_one
from floatgate.papers.kit.trace_files import Source

SOURCE = Source("a trace", "family", "a.trace")


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Returns the names of the papers that are reproduced. Their page is hand-made."""
    names: list[str] = []

    def reproduce(name: str, **_: object) -> object:
        names.append(name)
        return outcome_of(name)

    measured = tmp_path / "measured.csv"
    measured.write_text("1")
    paper = SimpleNamespace(sources=[SOURCE], read=lambda: [measured])
    monkeypatch.setattr(papers, "reproduce", reproduce)
    monkeypatch.setattr(papers, "paper_of", lambda name: (name, paper))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / SOURCE.spec).write_text("1 2 3")
    return names


def _reproduce(tmp_path: Path, name: str = "one", full: bool = False) -> Reproduced:
    """Reproduces a paper into the next free folder."""
    folder = tmp_path / f"site-{len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    asked = Asked(full, tmp_path / "traces", cached=True, document=True)
    return reproduce_one(name, asked, folder, None, print)


def _files(tmp_path: Path) -> list[dict[str, bytes]]:
    sites = sorted(tmp_path.glob("site-*"))
    return [{file.name: file.read_bytes() for file in site.iterdir()} for site in sites]


def test_a_second_reproduction_has_the_files_of_the_first(tmp_path: Path, made: list[str]) -> None:
    first, second = _reproduce(tmp_path), _reproduce(tmp_path)
    assert made == ["one"]
    assert second.document == first.document is not None
    assert second.summary == first.summary
    one, two = _files(tmp_path)
    assert one == two
    assert {"paper.html", "results.json", "numbers.csv", "claims.tex"} <= one.keys()


def test_another_paper_mode_trace_or_program_is_made_anew(
    tmp_path: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _reproduce(tmp_path)
    _reproduce(tmp_path, "two")
    _reproduce(tmp_path, full=True)
    (tmp_path / "traces" / SOURCE.spec).write_text("1 2 4")
    _reproduce(tmp_path)
    (tmp_path / "traces" / SOURCE.spec).unlink()
    _reproduce(tmp_path)
    (tmp_path / "measured.csv").write_text("2")
    _reproduce(tmp_path)
    monkeypatch.setattr(finished, "_program", lambda: "another version")
    _reproduce(tmp_path)
    assert made == ["one", "two", *["one"] * 5]
    _reproduce(tmp_path, "two", full=True)
    _reproduce(tmp_path)
    assert len(made) == 8, "the newest of each mode stays"


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty"])
def test_a_damaged_archive_is_made_anew(tmp_path: Path, made: list[str], damage: str) -> None:
    _reproduce(tmp_path)
    [archive] = (tmp_path / "cache").rglob("*.zip")
    content = archive.read_bytes()
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    archive.write_bytes({"cut": content[:middle], "flipped": flipped, "empty": b""}[damage])
    _reproduce(tmp_path)
    one, two = _files(tmp_path)
    assert (len(made), one) == (2, two)
    _reproduce(tmp_path)
    assert len(made) == 2, "the archive is whole again"


def test_the_program_is_every_file_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kit").mkdir()
    for name in ("__init__.py", "kit/claims.csv", "cached.pyc"):
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(finished.floatgate, "__file__", str(tmp_path / "__init__.py"))
    digests = []
    for changed in ("cached.pyc", "kit/claims.csv", "__init__.py"):
        digests.append(finished._program.__wrapped__())
        (tmp_path / changed).write_text("2")
    digests.append(finished._program.__wrapped__())
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3
