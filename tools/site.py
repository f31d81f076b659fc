"""The pages of the documentation site that are no files of docs/: see mkdocs.yml.

README.md is the first page. It, ARCHITECTURE.md and CHANGELOG.md stay where GitHub shows them, with
links that hold there; here those links are turned to the pages of the site.
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
"""Files of the root, and what they are on the site."""

ELSEWHERE = {
    "What a run has": ["floatgate.result_types"],
    "What the others return": [
        "floatgate.advising.lines.Line",
        "floatgate.advising.lines.Number",
        "floatgate.datasheet.Line",
        "floatgate.datasheet.LatencyLine",
        "floatgate.hot_data.SequenceMeans",
        "floatgate.hot_data.MergedExtents",
        "floatgate.hot_data.Skew",
        "floatgate.hot_data.TopShare",
        "floatgate.hot_data.Overwrites",
        "floatgate.hot_data.DistanceQuantile",
        "floatgate.hot_data.DistanceBar",
        "floatgate.hot_data.Sequentiality",
        "floatgate.hot_data.Runs",
        "floatgate.hot_data.OneSequence",
        "floatgate.models.Prediction",
        "floatgate.models.PredictionRow",
        "floatgate.preconditioning.Judged",
        "floatgate.preconditioning.Steady",
        "floatgate.preconditioning.Start",
        "floatgate.preconditioning.Estimate",
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
"""What the package does not export itself: where it is, under the headings of the reference."""

# Their fields are what is looked for; not each has words of its own, but all have a type.
FIELDS = """\
::: {path}
    options:
      heading_level: 3
      show_root_full_path: true
      show_if_no_docstring: true
"""


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Adds the pages that are made."""
    for name, page in PAGES.items():
        text = _for_the_site((ROOT / name).read_text("utf-8"))
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "reference.md", content=_reference()))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """A page of docs/ with its links to files of the root as they are from there."""
    for name, page in PAGES.items():
        pattern = rf"\]\(((?:\.\./)*)\.\./{re.escape(name)}(?=[)#])"
        markdown = re.sub(pattern, rf"](\g<1>{page}", markdown)
    return markdown


def _for_the_site(text: str) -> str:
    """A page of the root, with its links as they are from docs/."""
    text = text.replace("](docs/", "](")
    for name, page in PAGES.items():
        text = re.sub(rf"\]\({re.escape(name)}(?=[)#])", f"]({page}", text)
    return text


def _reference() -> str:
    """A page with the docstrings of all that the package exports, and of what that returns."""
    about = "What `import floatgate` gives; [Python](api.md) shows how it is used.\n"
    blocks = ["# Python reference\n", about]
    blocks += [f"::: floatgate.{name}\n" for name in _exported()]
    for heading, paths in ELSEWHERE.items():
        blocks += [f"## {heading}\n", *(FIELDS.format(path=path) for path in paths)]
    return "\n".join(blocks)


def _exported() -> list[str]:
    tree = ast.parse((ROOT / "python/floatgate/__init__.py").read_text("utf-8"))
    [exported] = [
        ast.literal_eval(line.value)
        for line in tree.body
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "__all__"
    ]
    return [name for name in exported if not name.startswith("__")]
