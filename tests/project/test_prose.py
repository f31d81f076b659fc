"""Docs, docstrings and comments keep to patterns that a stranger reads once.

A pattern is a thermometer: a sentence that breaks none may still be hard to read.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from paths import ROOT

PATTERNS = {
    "a clause without a head": (
        r"(?:^|[.:;] )(?:(?:What|Who|Whose) (?:is|was|are|has)|(?:Those|That) of)\b"
    ),
    "an agentless verb of saying": r"\b(?:is|are|was|were|be|been) (?:told|said|held|asked|let)\b",
    "a pronoun for a title": r"(?:^|[.] )The same(?:,|\.| for\b| of\b)",
    "but for": r"\bbut for\b",
    "a private word": r"\b(?:untold|manieth|stands? still|stands? before)\b",
}
"""Patterns that no sentence has, by what is wrong with them."""

LINE_MAX = 300
"""Characters of a line in Markdown, outside tables and code."""


def _tracked(suffix: str) -> list[Path]:
    """Returns the project's files with this suffix."""
    listed = subprocess.run(
        ["git", "ls-files", f"*{suffix}"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = [name for name in listed.stdout.splitlines() if not name.startswith("third-party/")]
    return [path for path in (ROOT / name for name in names) if path.exists()]


def _prose_of_markdown(text: str) -> Iterator[tuple[int, str]]:
    """Yields lines with their numbers, without code and tables."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        in_code ^= line.startswith("```")
        if not (in_code or line.startswith(("```", "    ", "|"))):
            yield number, re.sub(r"`[^`]*`", "``", line)


def _prose_of_python(text: str) -> Iterator[tuple[int, str]]:
    """Yields comments and docstrings with their line numbers."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(docstring))):
                yield node.lineno, " ".join(docstring.split())
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


READERS = {".md": _prose_of_markdown, ".py": _prose_of_python}


@pytest.mark.parametrize("suffix", READERS)
def test_no_sentence_has_a_pattern_that_readers_stumble_over(suffix: str) -> None:
    breaches = [
        f"{path.relative_to(ROOT)}:{number}: {why}: {line[:120]}"
        for path in _tracked(suffix)
        for number, line in READERS[suffix](path.read_text("utf-8"))
        for why, pattern in PATTERNS.items()
        if re.search(pattern, line)
    ]
    assert not breaches, "\n".join(breaches)


def test_lines_of_docs_are_short() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{number}: {len(line)} characters"
        for path in _tracked(".md")
        for number, line in _prose_of_markdown(path.read_text("utf-8"))
        if len(line) > LINE_MAX
    ]
    assert not long, "\n".join(long)
