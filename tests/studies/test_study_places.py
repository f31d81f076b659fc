"""Places of a study's rows: directories, URLs, and places with other files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest
from conftest import Cli
from fsspec.implementations.memory import MemoryFileSystem

import floatgate as fg
import floatgate.studies
from floatgate.studies.store import Folder

STUDY: dict[str, Any] = {
    "traces": ["uniform:span=1MiB,writes=300"],
    "set": {"timing": "none", "start.fill": "random"},
    "grid": {"capacity.spare_factor": [0.1, 0.2, 0.3]},
    "seeds": 2,
}
TOML = 'traces = ["uniform:span=1MiB,writes=300"]\nset.timing = "none"\n'


def test_a_url_of_this_machine_is_a_directory(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(TOML)
    url = f"file://{tmp_path}/deep/out"
    done = cli("study", "s.toml", "--out", url)
    assert done.returncode == 0, done.stderr
    assert sorted(one.name for one in (tmp_path / "deep" / "out").iterdir()) == [
        "plan.parquet",
        "runs",
        "study.json",
    ]
    for place in (url, tmp_path / "deep" / "out"):
        assert "1 of 1 runs done" in cli("study", "status", place).stdout
    assert cli("study", "s.toml", "--out", url, "--resume").returncode == 0
    assert cli("study", "export", url, "--out", "rows.csv").returncode == 0


class Renaming(MemoryFileSystem):
    """File system that renames files, as SFTP does, and may lose the connection halfway through a
    file."""

    protocol = "renaming"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    broken = False
    replaces = True

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return super()._strip_protocol(path.removeprefix("renaming://"))

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **more: Any) -> None:
        if not self.isdir(self._parent(path)):
            raise FileNotFoundError(path)
        half = len(value) // 2 if self.broken else len(value)
        super().pipe_file(path, value[:half], mode, **more)
        if self.broken:
            raise OSError("connection lost")

    def mv(self, path1: str, path2: str, *_: Any, **__: Any) -> None:
        if self.exists(path2) and not self.replaces:
            raise OSError("it is there already")
        self.store[self._strip_protocol(path2)] = self.store.pop(self._strip_protocol(path1))


@pytest.fixture
def renaming(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Renaming]]:
    fsspec.register_implementation("renaming", Renaming, clobber=True)
    monkeypatch.setattr(Renaming, "store", {})
    monkeypatch.setattr(Renaming, "pseudo_dirs", [""])
    yield Renaming


@pytest.mark.parametrize("replaces", [True, False])
def test_a_file_is_there_whole_or_not_at_all(
    replaces: bool, renaming: type[Renaming], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renaming, "replaces", replaces)
    folder = Folder("renaming://host/out")
    for content in (b"first", b"second"):
        folder.write("runs/a", content)
        assert folder.read("runs/a") == content
    monkeypatch.setattr(renaming, "broken", True)
    with pytest.raises(OSError, match="connection lost"):
        folder.write("runs/a", b"a longer one")
    assert folder.read("runs/a") == b"second"
    assert [*renaming.store] == ["/host/out/runs/a"]


def test_a_study_is_kept_there(renaming: type[Renaming]) -> None:
    place = "renaming://host/out"
    fg.study(STUDY, out=place, shard="1/2")
    found = fg.study(STUDY, out=place, resume=True)
    assert found.counts()["done"] == found.frame().height == 6
    assert not [name for name in renaming.store if name.endswith(".part")]


def test_rows_in_memory_are_refused(cli: Cli, tmp_path: Path) -> None:
    """The rows would be lost when the command ends."""
    (tmp_path / "s.toml").write_text(TOML)
    done = cli("study", "s.toml", "--out", "memory://out")
    assert done.returncode == 2
    assert "rows would end with this process" in " ".join(done.stderr.split())
    assert fg.study(STUDY, out="memory://floatgate-places").counts()["done"] == 6


def test_a_file_is_no_place(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(TOML)
    (tmp_path / "rows.csv").write_text("mine")
    said = "out: rows.csv: is a file; expected a directory"
    for call in (("s.toml", "--out", "rows.csv"), ("s.toml", "--out", "rows.csv", "--resume")):
        done = cli("study", *call)
        assert (done.returncode, done.stderr) == (2, f"floatgate: {said}\n")
    assert (tmp_path / "rows.csv").read_text() == "mine"


def test_what_was_not_written_to_its_end_is_nothing(tmp_path: Path) -> None:
    """A SIGKILL during the first write of a plan leaves such a file."""
    (tmp_path / ".plan.parquet.x1y2.part").write_bytes(b"PAR1")
    (tmp_path / "runs").mkdir()
    assert Folder(tmp_path).names() == ["runs"]
    (tmp_path / "runs").rmdir()
    assert fg.study(STUDY, out=tmp_path).counts()["done"] == 6
    assert fg.study(STUDY, out=tmp_path, resume=True).counts()["done"] == 6


@pytest.mark.parametrize("name", ["names", "read"])
def test_parts_may_begin_together(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other shard writes all of its files while this one lists or reads the directory."""
    looks = getattr(Folder, name)

    def then_another(folder: Folder, *given: Any) -> Any:
        monkeypatch.setattr(Folder, name, looks)
        found = looks(folder, *given)
        fg.study(STUDY, out=tmp_path, shard="2/2")
        return found

    monkeypatch.setattr(Folder, name, then_another)
    assert fg.study(STUDY, out=tmp_path, shard="1/2").counts()["done"] == 6
