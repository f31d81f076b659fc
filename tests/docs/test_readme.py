"""The numbers of the README, and of the run that docs/models.md compares with closed forms, come
out. `test_docs_commands.py` runs the commands of both pages."""

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
MODELS = (ROOT / "docs" / "models.md").read_text("utf-8")


def _blocks() -> list[list[str]]:
    """Returns the commands in indented blocks of docs/models.md, as words."""
    text = re.sub(r"\\\n\s*", "", MODELS)
    return [shlex.split(line) for line in re.findall(r"^    (floatgate .*)$", text, re.MULTILINE)]


def _measured_row(name: str) -> tuple[float, float]:
    """Returns the printed measured and predicted write amplification."""
    row = re.search(rf"^\| `{name}` \| ([\d.]+) \| ([\d.]+) \|$", MODELS, re.MULTILINE)
    assert row, f"docs/models.md has no row {name}"
    return float(row[1]), float(row[2])


def test_the_example_in_python_prints_what_it_says() -> None:
    [code] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    promised = re.search(r"It prints `(.*?)`", README)
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
    """Returns the command with another victim policy. The other rows of its table are such runs."""
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


def test_the_readme_is_short_and_its_links_hold() -> None:
    assert len(README.split()) <= 600
    linked = re.findall(r"\]\(([^)#:]+)\)", README)
    assert len([page for page in linked if page.endswith(".md")]) == 8
    for page in linked:
        assert (ROOT / page).exists(), page


def test_the_table_has_the_numbers_of_the_picture() -> None:
    """`make pictures` draws the picture anew."""
    picture = (ROOT / "docs" / "images" / "tour.svg").read_text("utf-8")
    [title] = re.findall(r"<title>.*: (.*)</title>", picture)
    drawn = re.findall(r"[\w-][\w -]*? (\N{MINUS SIGN}\d+ %)", title)
    shown = re.findall(r"^\| \[.*\| .* (\N{MINUS SIGN}\d+ %) against .* \|$", README, re.MULTILINE)
    assert len(shown) == 5 and shown == drawn
    alternative = re.search(r"!\[(.*?)\]", README)
    assert alternative
    for percent in shown:
        assert percent.removeprefix("\N{MINUS SIGN}") in alternative[1]


@pytest.mark.long
def test_the_picture_has_the_numbers_of_the_tour(tmp_path: Path) -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "pictures_readme.py"))
    tool["draw"](tmp_path)
    drawn = (ROOT / "docs" / "images" / "tour.svg").read_text("utf-8")
    assert (tmp_path / "tour.svg").read_text("utf-8") == drawn


def test_the_picture_of_the_report_shows_the_report_of_the_command(
    cli: Any, tmp_path: Path
) -> None:
    """`make pictures` takes the picture anew."""
    tool = runpy.run_path(str(ROOT / "tools" / "pictures_report.py"))
    words = tool["command"]()
    cli(*words[1:], "-q").ok()
    report = tmp_path / words[words.index("--out") + 1] / "report.html"
    shown = tool["texts"](tool["PICTURE"].read_bytes())[tool["KEY"]]
    assert json.loads(shown) == tool["shown_on"](report)


def test_the_closed_form_of_the_readme_is_that_of_the_table() -> None:
    printed = re.search(r"measures ([\d.]+), and the mean-field model predicts ([\d.]+)", README)
    assert printed and (float(printed[1]), float(printed[2])) == _measured_row("greedy")


def test_the_errors_against_real_drives_are_those_of_the_page_of_trust() -> None:
    text = " ".join(README.split())
    trust = (ROOT / "docs" / "measured-drives.md").read_text("utf-8")
    runs = trust.partition("<!-- runs -->")[2].partition("<!-- end of runs -->")[0]
    steady = [float(row.split("|")[6].split()[0]) for row in runs.strip().splitlines()[2:]]
    printed = re.search(r"two drives: (\S+) % to (\S+) % over (\d+) runs", text)
    assert printed
    low, high = (float(one.replace("\N{MINUS SIGN}", "-")) for one in printed.groups()[:2])
    assert (low, high) == (min(steady), max(steady))
    assert int(printed[3]) == len(steady)
    assert "15.3 % too short" in text and "15.3 % too short" in " ".join(trust.split())


def test_the_five_systems_are_on_the_first_screen() -> None:
    first = README.partition("\n## ")[0]
    for name in ("tlllp", "shrd", "asa", "ncq", "eti"):
        assert f"(docs/papers/{name}.md)" in first
    assert "not been compared with a real drive" not in README
