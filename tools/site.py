"""Makes the pages of the documentation site that are not files in docs/: see mkdocs.yml.

README.md is the first page. README.md, ARCHITECTURE.md and CHANGELOG.md stay in the root for
GitHub, with links that work there. Here those links are changed to the pages of the site.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent

PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
}
"""Files of the root, and their pages on the site."""

ELSEWHERE = {
    "What a run has": ["floatgate.result_types"],
    "What the others return": [
        "floatgate.advising.lines.Line",
        "floatgate.advising.lines.Number",
        "floatgate.analysis.datasheet.Line",
        "floatgate.analysis.datasheet.LatencyLine",
        "floatgate.analysis.hotness.SequenceMeans",
        "floatgate.analysis.hotness.MergedExtents",
        "floatgate.analysis.hotness.Skew",
        "floatgate.analysis.hotness.TopShare",
        "floatgate.analysis.hotness.Overwrites",
        "floatgate.analysis.hotness.DistanceQuantile",
        "floatgate.analysis.hotness.DistanceBar",
        "floatgate.analysis.hotness.Sequentiality",
        "floatgate.analysis.hotness.Runs",
        "floatgate.analysis.hotness.OneSequence",
        "floatgate.models.Prediction",
        "floatgate.models.PredictionRow",
        "floatgate.analysis.preconditioning.Judged",
        "floatgate.analysis.preconditioning.Steady",
        "floatgate.analysis.preconditioning.Start",
        "floatgate.analysis.preconditioning.Estimate",
        "floatgate.studies.Dataset",
        "floatgate.traces.Units",
        "floatgate.tuning.outcome.Goal",
        "floatgate.tuning.outcome.Tried",
    ],
    "Measured drives": [
        "floatgate.calibrate.calibrate",
        "floatgate.calibrate.Calibration",
        "floatgate.calibrate.predict",
        "floatgate.calibrate.Forecast",
        "floatgate.calibrate.fit.Fit",
        "floatgate.calibrate.fit.Fitted",
        "floatgate.calibrate.fit.Interval",
        "floatgate.calibrate.work.AtScale",
        "floatgate.calibrate.study.Told",
    ],
    "Live drives": [
        "floatgate.live.Live",
        "floatgate.live.Status",
        "floatgate.live.Blocks",
        "floatgate.live.Smart",
        "floatgate.live.Faults",
        "floatgate.live.Power",
        "floatgate.live.Snapshot",
    ],
}
"""Classes that the package does not export itself, by heading of the reference."""

# Readers look for the fields. Not every field has a text, but all have a type.
FIELDS = """\
::: {path}
    options:
      heading_level: 3
      show_root_full_path: true
      show_if_no_docstring: true
"""


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Adds the generated pages."""
    for name, page in PAGES.items():
        text = _for_the_site((ROOT / name).read_text("utf-8"))
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "reference.md", content=_reference()))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Returns a page of docs/ with its links to files of the root changed to pages of the site."""
    for name, page in PAGES.items():
        pattern = rf"\]\(((?:\.\./)*)\.\./{re.escape(name)}(?=[)#])"
        markdown = re.sub(pattern, rf"](\g<1>{page}", markdown)
    return markdown


def _for_the_site(text: str) -> str:
    """Returns a page of the root with its links as seen from docs/."""
    text = text.replace("](docs/", "](")
    for name, page in PAGES.items():
        text = re.sub(rf"\]\({re.escape(name)}(?=[)#])", f"]({page}", text)
    return text


def _reference() -> str:
    """Returns a page with the docstrings of all exported names, and of the classes that they
    return."""
    about = "What `import floatgate` gives; [Python](api.md) shows how it is used.\n"
    blocks = ["# Python reference\n", about]
    blocks += [f"::: floatgate.{name}\n" for name in _exported()]
    for heading, paths in ELSEWHERE.items():
        blocks += [f"## {heading}\n", *(FIELDS.format(path=path) for path in paths)]
    return "\n".join(blocks)


def _exported() -> list[str]:
    tree = ast.parse((ROOT / "python/floatgate/__init__.pyi").read_text("utf-8"))
    lines = [line for line in tree.body if isinstance(line, ast.ImportFrom)]
    names = sorted(name.name for line in lines for name in line.names)
    return [name for name in names if not name.startswith("__")]
