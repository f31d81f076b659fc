"""Writes python/floatgate/__init__.pyi, the public names for type checkers and editors.

    python tools/exports.py

The package imports a public name on first use, which no type checker follows.
"""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "python" / "floatgate"
TARGET = PACKAGE / "__init__.pyi"

HEAD = '''"""Public names of floatgate. Made from the table in __init__.py by tools/exports.py."""

'''


def exports() -> dict[str, tuple[str, ...]]:
    """Returns the public names by the module that has them."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    [table] = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_EXPORTS"
    ]
    names: dict[str, tuple[str, ...]] = ast.literal_eval(table)
    return names


def stub() -> str:
    """Returns the text of the stub."""
    imports = [
        f"from .{module} import {name} as {name}\n"
        for module, names in exports().items()
        for name in names
    ]
    return HEAD + "".join(imports)


if __name__ == "__main__":
    TARGET.write_text(stub(), "utf-8")
