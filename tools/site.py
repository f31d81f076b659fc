"""The pages of the documentation site that are no files of docs/: see mkdocs.yml.

README.md is the first page. It, ARCHITECTURE.md and CHANGELOG.md stay where GitHub shows them, with
links that hold there; here those links are turned to the pages of the site.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent

PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
}
"""Files of the root, and what they are on the site."""


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Adds the pages that are made."""
    for name, page in PAGES.items():
        text = _for_the_site((ROOT / name).read_text("utf-8"))
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "reference.md", content=_reference()))
    return files


def _for_the_site(text: str) -> str:
    """A page of the root, with its links as they are from docs/."""
    text = text.replace("](docs/", "](")
    for name, page in PAGES.items():
        text = re.sub(rf"\]\({re.escape(name)}(?=[)#])", f"]({page}", text)
    return text


def _reference() -> str:
    """A page with the docstring of everything that the package exports."""
    tree = ast.parse((ROOT / "python/floatgate/__init__.py").read_text("utf-8"))
    [exported] = [
        ast.literal_eval(line.value)
        for line in tree.body
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "__all__"
    ]
    names = [name for name in exported if not name.startswith("__")]
    blocks = [f"::: floatgate.{name}\n" for name in names]
    about = "What `import floatgate` gives; [Python](api.md) shows how it is used.\n"
    return "\n".join(["# Python reference\n", about, *blocks])
