"""No module uses another module's private names."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "python" / "floatgate"
FILES = sorted(PACKAGE.rglob("*.py"))


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
