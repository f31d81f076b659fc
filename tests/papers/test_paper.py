"""`floatgate paper`: its verdicts, and the command as a user calls it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from floatgate.papers.kit.claims import OURS, change


@pytest.mark.parametrize(
    ("value", "text"), [(-0.1664, "-16.6%"), (0.1, "+10.0%"), (0.0, "+0.0%"), (2.5, "+250.0%")]
)
def test_a_change_has_a_sign(value: float, text: str) -> None:
    assert change(value) == text.replace("-", "\N{MINUS SIGN}")


def test_no_name_lists_the_papers(cli) -> None:
    done = cli("paper")
    assert done.returncode == 0
    assert "tlllp  Improve SSD performance by prefetch strategy" in done.stdout
    assert [paper["name"] for paper in json.loads(cli("paper", "--json").stdout)] == [
        *("tlllp", "eti", "asa", "ncq", "shrd", "together", "warp"),
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("nosuch",),
            "paper: 'nosuch' is not known; expected "
            + " or ".join(("tlllp", "eti", "asa", "ncq", "shrd", "together", "warp")),
        ),
        (("tlllp", "--traces", "nowhere"), "traces: nowhere is not a directory"),
    ],
    ids=["name", "traces"],
)
def test_wrong_calls(cli, tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    done = cli("paper", *arguments)
    assert done.returncode == 2
    assert done.stderr == f"floatgate: {words}\n"
    assert list(tmp_path.iterdir()) == []


def test_without_traces_stand_ins_are_run_and_nothing_is_judged(
    cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "2000")
    empty = tmp_path / "empty"
    empty.mkdir()
    done = cli("paper", "tlllp", "--traces", empty, "--out", "here")
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "here" / "results.json").read_text("utf-8"))
    assert {claim["verdict"] for claim in document["claims"]} == {"not checked"}
    assert all(run["trace"].startswith("stand-in: ") for run in document["runs"])
    missing, stand_ins = document["warnings"]
    assert "umass-websearch-25k.trace.zst" in missing
    assert "synthetic stand-ins" in stand_ins
    # The command prints what it writes, and a run without a backlog has no comparison with one.
    lines = [re.sub(" {2,}", " | ", line.strip()) for line in done.stdout.splitlines()]
    for i, claim in enumerate(document["claims"], 1):
        block = [f"{i} | {claim['claim']}"]
        block.append(f"paper | {claim['paper']} ({claim['basis']})")
        block += [f"{name} | {claim[name]}" for name in ("ours", "verdict", "why")]
        at = lines.index(block[0])
        assert lines[at : at + len(block)] == block
    for kind in ("warning", "note"):
        printed = [line for line in lines if line.startswith(f"{kind}: ")]
        said = [OURS] if kind == "note" else []
        assert printed == [f"{kind}: {text}" for text in (*said, *document[f"{kind}s"])]
    assert "up to 0%" not in done.stdout
    numbers = pl.read_csv(tmp_path / "here" / "numbers.csv", infer_schema_length=None)
    for row, run in zip(numbers.to_dicts(), document["runs"], strict=True):
        assert row == {name: pytest.approx(run[name]) for name in row}
