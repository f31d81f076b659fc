"""Published packages: one version, every licence, and a source archive that builds alone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from conftest import Cli
from paths import ROOT

import floatgate
from floatgate._core import RunError
from floatgate.live import nbdkit

LINKED = {"module.txt": "floatgate-py", "plugin.txt": "floatgate-nbdkit"}
"""Files of third-party/, and the crate whose library each file describes."""

needs_cargo = pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")


def run(*command: str, cwd: Path = ROOT) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    return done.stdout


def test_there_is_one_version() -> None:
    manifest = (ROOT / "Cargo.toml").read_text("utf-8")
    [version] = re.findall(r'^version = "(.*)"$', manifest, re.MULTILINE)
    assert floatgate.__version__ == version
    for crate in ("ftl", "lab", "nbdkit", "nvme", "py"):
        own = (ROOT / f"crates/floatgate-{crate}/Cargo.toml").read_text("utf-8")
        assert "version.workspace = true" in own, crate
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_the_changelog_has_the_version_or_there_was_no_release() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    heads = re.findall(r"^## \[(.+?)\]", changes, re.MULTILINE)
    assert heads[0] == "Unreleased"
    if heads[1:]:
        assert heads[1] == floatgate.__version__
    else:
        assert "There has been no release yet" in changes


def test_the_locks_agree() -> None:
    """The other locks install next to the test packages, for instance for `make docs`, and must not
    change their versions."""
    locked = _pins(ROOT / "requirements.lock")
    others = [*ROOT.glob("requirements-*.lock")]
    assert len(others) == 4
    for path in others:
        for name, versions in _pins(path).items():
            assert versions <= locked.get(name, versions), f"{path.name}: {name} (make lock)"


def _pins(path: Path) -> dict[str, set[str]]:
    """Returns the versions of each package. Some versions are for certain Pythons only."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", path.read_text("utf-8"), re.MULTILINE):
        found.setdefault(name, set()).add(version)
    return found


def test_the_page_of_installation_names_the_extras(cli: Cli) -> None:
    manifest = (ROOT / "pyproject.toml").read_text("utf-8")
    table = manifest.partition("[project.optional-dependencies]\n")[2].partition("\n\n")[0]
    extras = re.findall(r"^(\w+) = ", table, re.MULTILINE)
    page = (ROOT / "docs" / "install.md").read_text("utf-8").partition("## Extras")[2]
    rows = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    assert {*extras} == set(re.findall(r"`(\w+)`", " ".join(rows)))
    assert "floatgate[search]" in cli("tune", "--help").stdout


@needs_cargo
@pytest.mark.parametrize("file", LINKED)
def test_the_licences_are_those_of_what_is_linked(file: str) -> None:
    tree = ["tree", "--locked", "--package", LINKED[file], "--edges", "normal", "--prefix", "none"]
    targets = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"]
    linked = set()
    for target in targets:
        for line in run("cargo", *tree, "--target", target, "--format", "{p}").splitlines():
            name, version = line.split()[:2]
            # Procedural macros run at build time, and are not linked.
            if not name.startswith("floatgate-") and "(proc-macro)" not in line:
                linked.add(f"{name} {version.removeprefix('v')}")
    text = (ROOT / "third-party" / file).read_text("utf-8")
    told = set(re.findall(r"^  (\S+ \d\S*)", text, re.MULTILINE))
    assert linked - told == set(), "make licenses renews it"
    for head in re.findall(r"^={80}\n(.*)$", text, re.MULTILINE):
        assert re.search(r"\((Apache|MIT|BSD|Unicode|CC0)", head), head


@needs_cargo
def test_the_source_distribution_builds_alone(tmp_path: Path) -> None:
    maturin = shutil.which("maturin", path=str(Path(sys.executable).parent))
    if maturin is None:
        pytest.skip("maturin is not installed (make setup installs it)")
    run(maturin, "sdist", "--out", str(tmp_path))
    [packed] = tmp_path.glob("*.tar.gz")
    assert packed.name == f"floatgate-{floatgate.__version__}.tar.gz"
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path, filter="data")
    source = tmp_path / packed.name.removesuffix(".tar.gz")
    for name in ("LICENSE", "third-party/module.txt", "python/floatgate/py.typed"):
        assert (source / name).is_file(), name
    presets = {path.name for path in (ROOT / "devices").glob("*.toml")}
    assert {path.name for path in (source / "devices").glob("*.toml")} == presets
    # The archive contains the crates of the module, and the files that they include at build time.
    metadata = json.loads(
        run("cargo", "metadata", "--format-version", "1", "--no-deps", "--offline", cwd=source)
    )
    crates = {package["name"] for package in metadata["packages"]}
    assert crates == {"floatgate-ftl", "floatgate-lab", "floatgate-nvme", "floatgate-py"}
    for file in _included(source):
        assert file.is_file(), file


def _included(source: Path) -> list[Path]:
    """Returns the files that Rust library code includes by include_str! or include_bytes!."""
    found = []
    for code in (source / "crates").glob("*/src/**/*.rs"):
        for name in re.findall(r'include_(?:str|bytes)!\("(.*?)"\)', code.read_text("utf-8")):
            found.append(code.parent / name)
    assert found
    return found


@pytest.mark.skipif(shutil.which("cargo-deny") is None, reason="cargo-deny is not installed")
def test_licences_and_sources_of_all_crates_are_allowed() -> None:
    run("make", "deny", "CHECKS=bans licenses sources")


def test_who_has_no_plugin_is_told_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nbdkit, "PLUGIN", tmp_path / "absent.so")
    monkeypatch.setattr(nbdkit.shutil, "which", lambda name: f"/usr/bin/{name}")
    with pytest.raises(RunError, match="no plugin for nbdkit: wheels for Linux have it"):
        nbdkit.find()
