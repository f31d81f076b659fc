"""The README's numbers come out. `test_docs_commands.py` runs its commands."""

from __future__ import annotations

import contextlib
import io
import json
import re
import runpy
import shlex
from pathlib import Path
from typing import Any

import pytest
from paths import ROOT

from floatgate import models

README = (ROOT / "README.md").read_text("utf-8")


def _section(title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", README, re.MULTILINE | re.DOTALL)
    assert found, f"the README has no section {title}"
    return found[1]


def _blocks() -> list[list[str]]:
    """Returns the commands in indented blocks, as words."""
    text = re.sub(r"\\\n\s*", "", README)
    return [shlex.split(line) for line in re.findall(r"^    (floatgate .*)$", text, re.MULTILINE)]


def _measured_row(name: str) -> tuple[float, float]:
    """Returns the printed measured and predicted write amplification."""
    row = re.search(rf"^\| `{name}` \| ([\d.]+) \| ([\d.]+) \|$", README, re.MULTILINE)
    assert row, f"the README has no row {name}"
    return float(row[1]), float(row[2])


def test_the_example_in_python_prints_what_it_says() -> None:
    section = _section("From Python")
    [code] = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    promised = re.search(r"The first line printed is `(.*?)`", section)
    assert promised
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue().splitlines()[0] == promised[1]


def test_the_predictions_are_those_of_predict() -> None:
    predicted = {row.policy: row for row in models.predict(pages_per_block=128).rows}
    for name in ("greedy", "fifo"):
        _, printed = _measured_row(name)
        assert printed == round(predicted[name].write_amplification, 3)


def _long_run(victim: str) -> list[str]:
    """Returns the README's command with another victim policy. The other rows of its table are such
    runs."""
    [words] = [words for words in _blocks() if "cleaning.victim=greedy" in words]
    return [*[word.replace("victim=greedy", f"victim={victim}") for word in words[1:]], "--json"]


@pytest.mark.parametrize("victim", ["greedy", "fifo"])
def test_a_sixteenth_of_the_run_comes_near_what_is_printed(cli: Any, victim: str) -> None:
    whole = _long_run(victim)
    call = [word.replace("span=4GiB,writes=8M", "span=256MiB,writes=500k") for word in whole]
    assert call != whole
    done = cli(*call).ok()
    measured, predicted = _measured_row(victim)
    found = json.loads(done.stdout)["write_amplification"]
    assert found == pytest.approx(measured, rel=0.02)
    assert measured == pytest.approx(predicted, rel=0.01)


def test_the_number_printed_for_another_victim_is_that_measured(cli: Any) -> None:
    """`test_docs_commands.py` checks the number of the printed command itself."""
    done = cli(*_long_run("fifo")).ok()
    measured, _ = _measured_row("fifo")
    assert measured == round(json.loads(done.stdout)["write_amplification"], 3)


def test_the_presets_of_the_table_are_those_there_are(cli: Any) -> None:
    named = re.findall(r"^\| `([\w-]+)` \|", _section("Presets"), re.MULTILINE)
    there = [row["name"] for row in json.loads(cli("devices", "--json").stdout)]
    assert sorted(named) == sorted(there)


def test_every_page_that_is_linked_is_there() -> None:
    linked = re.findall(r"\]\(([^)#:]+)\)", README)
    assert len(linked) > 10
    for page in linked:
        assert (ROOT / page).exists(), page


def test_the_picture_of_the_report_shows_what_the_command_prints(cli: Any, tmp_path: Path) -> None:
    """`python tools/readme_picture.py` renews the picture."""
    tool = runpy.run_path(str(ROOT / "tools" / "readme_picture.py"))
    words = tool["command"]()
    cli(*words[1:], "-q").ok()
    report = tmp_path / words[words.index("--out") + 1] / "report.html"
    rows = tool["table"](report)
    assert len(rows) == 3 and len(rows[0]) > 5
    shown = tool["texts"](tool["PICTURE"].read_bytes())[tool["KEY"]]
    assert json.loads(shown) == rows


def test_the_errors_against_real_drives_are_those_of_the_page_of_trust() -> None:
    text = " ".join(README.split())
    trust = (ROOT / "docs" / "measured-drives.md").read_text("utf-8")
    runs = trust.partition("<!-- runs -->")[2].partition("<!-- end of runs -->")[0]
    steady = [float(row.split("|")[6].split()[0]) for row in runs.strip().splitlines()[2:]]
    printed = re.search(r"steady state: (\S+) % to (\S+) % over (\d+) runs", text)
    assert printed
    assert (float(printed[1]), float(printed[2])) == (min(steady), max(steady))
    assert int(printed[3]) == len(steady)
    assert "15.3 % too short" in text and "15.3 % too short" in " ".join(trust.split())


def test_the_five_systems_are_on_the_first_screen() -> None:
    first = README.partition("\n## ")[0]
    for name in ("tlllp", "shrd", "asa", "ncq", "eti"):
        assert f"(docs/papers/{name}.md)" in first
    assert "not been compared with a real drive" not in README
