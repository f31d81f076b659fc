"""Modules use only public names of one another, and rooms import in one direction."""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from pathlib import Path

import pytest
from paths import ROOT

import floatgate

sys.path.append(str(ROOT / "tools"))

import exports

PACKAGE = ROOT / "python" / "floatgate"
FILES = sorted(PACKAGE.rglob("*.py"))


ROOMS = (
    *("result_types", "files", "guests", "results", "traces", "simulation", "api", "analysis"),
    *("models", "tuning", "advising", "report", "studies", "calibrate", "live", "papers", "cli"),
    "__main__",
)
"""Rooms and modules of the top level: each imports only those in front of it."""

DRAWN = "results.drawn"
"""The one module that imports a later room, `report`, when a result is drawn."""

FOR_ALL = ("_core", "_current_frames")
"""Our own compiled module, and a function documented in `sys`."""


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in FOR_ALL


def _borrowed(text: str) -> list[str]:
    """Returns private names that are imported, or taken from an imported module."""
    tree = ast.parse(text)
    found, modules = [], set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.name for alias in node.names]
            found += [name for name in names if _is_private(name.rpartition(".")[2])]
            modules |= {alias.asname or alias.name for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner, name = node.value.id, node.attr
            found += [f"{owner}.{name}"] if owner in modules and _is_private(name) else []
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_no_module_uses_what_is_private_to_another(file: Path) -> None:
    assert _borrowed(file.read_text("utf-8")) == []


def test_what_is_private_is_noticed() -> None:
    for text in (
        "from .result import _build",
        "from . import jobs\njobs._simulate()",
        "def late():\n    from floatgate import sources as s\n    return s._notes",
    ):
        assert len(_borrowed(text)) == 1, text
    assert _borrowed("from floatgate import _core\nself._own = _core.__version__") == []


def _module(file: Path) -> str:
    """Returns the name of a file's module inside the package."""
    return ".".join(file.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def _imported(file: Path, modules: set[str]) -> set[str]:
    """Returns the modules of the package that a file imports, for types only or later, too."""
    package = ["floatgate", *file.relative_to(PACKAGE).parts[:-1]]
    imported = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                inside = f"{source}.{alias.name}".removeprefix("floatgate.")
                module = inside if inside in modules else source.removeprefix("floatgate.")
                imported |= {module} & modules
    return imported - {_module(file)}


MODULES = {
    _module(file): file for file in FILES if file.parent != PACKAGE or file.stem != "__init__"
}
IMPORTS = {module: _imported(file, {*MODULES}) for module, file in MODULES.items()}


def test_the_top_level_has_at_most_20_rooms_and_modules() -> None:
    rooms = {module.partition(".")[0] for module in MODULES}
    assert rooms == {*ROOMS}
    assert len(rooms | {"__init__", "_core"}) <= 20


def test_rooms_import_in_one_direction() -> None:
    for module, imported in IMPORTS.items():
        room = module.partition(".")[0]
        before = {*ROOMS[: ROOMS.index(room) + 1]} | ({"report"} if module == DRAWN else set())
        assert {name.partition(".")[0] for name in imported} <= before, module


def test_modules_of_a_room_import_in_one_direction() -> None:
    """The room of papers is left out: its modules judge one another's claims."""
    left = {
        module: {name for name in imported if name.partition(".")[0] == module.partition(".")[0]}
        for module, imported in IMPORTS.items()
        if not module.startswith("papers")
    }
    while ready := [module for module, imported in left.items() if not imported & {*left}]:
        left = {module: imported for module, imported in left.items() if module not in ready}
    assert not left, "circle"


def test_type_checkers_see_the_names_that_the_package_exports() -> None:
    """After a change of the table, run `python tools/exports.py`."""
    assert exports.TARGET.read_text("utf-8") == exports.stub()
    for module, names in exports.exports().items():
        for name in names:
            assert getattr(floatgate, name) is getattr(import_module(f"floatgate.{module}"), name)
    assert floatgate.__all__ == sorted({*floatgate.__all__})
