"""The commands as a user calls them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer
from command_line import python
from paths import DATA

import floatgate as fg
from floatgate.cli import app

SMALL = "uniform:span=16MiB,writes=5k"
QUICK = ("--set", "queue.arrivals=closed")


def _without_engine(document: dict[str, Any]) -> str:
    return json.dumps({key: value for key, value in document.items() if key != "engine"})


def _commands(command: Any, *path: str) -> Iterator[tuple[str, ...]]:
    """Yields the words of a command and of all commands in it."""
    yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, *path, name)


@pytest.mark.parametrize("command", _commands(typer.main.get_command(app)), ids=" ".join)
def test_help_has_an_example(cli, command: tuple[str, ...]) -> None:
    done = cli(*command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    is_group = command in (("trace",), ("image",))
    assert ("Example: floatgate" in done.stdout) != is_group, (
        "the commands in a group have examples"
    )
    short = cli(*command, "-h")
    assert (short.returncode, short.stdout) == (0, done.stdout)


def test_the_shell_completes_commands_options_and_presets(tmp_path: Path) -> None:
    def offered(*words: str) -> set[str]:
        environment = {
            **os.environ,
            "_FLOATGATE_COMPLETE": "complete_bash",
            "COMP_WORDS": "\n".join(["floatgate", *words]),
            "COMP_CWORD": str(len(words)),
        }
        code = "import sys; sys.argv = ['floatgate']; from floatgate.__main__ import main; main()"
        done = python("-c", code, env=environment, cwd=tmp_path)
        assert done.stderr == ""
        return set(done.stdout.split())

    assert {"compare", "crash"} <= offered("c")
    assert "--time-scale" in offered("run", "x", "--time")
    assert offered("run", "x", "--device", "small") == {"small-nvme"}


def test_completion_can_be_shown_for_any_shell(cli, monkeypatch: pytest.MonkeyPatch) -> None:
    # Typer detects the shell that started it. Here that may be make.
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "true")
    for shell, word in (("bash", "complete "), ("zsh", "#compdef"), ("fish", "complete ")):
        assert word in cli("--show-completion", shell).stdout


def test_a_key_that_changes_nothing_is_said(cli) -> None:
    call = ("compare", SMALL, *QUICK, "--json", "--vary", "mapping.cache=4KiB,8KiB")
    done = cli(*call)
    warning = "mapping.cache changes nothing: runs that differ in it alone are equal"
    assert done.document()["warnings"] == [warning]
    assert f"warning: {warning}\n" in done.stderr
    assert cli(*call, "--set", "mapping.scheme=dftl").document()["warnings"] == []


TIED = "placement.scheme+cleaning.victim=single+greedy,sepbit+cat,eti+cat"


def test_a_plus_ties_keys(cli) -> None:
    call = ("compare", SMALL, *QUICK, "--json", "--vary", TIED)
    document = cli(*call, "--baseline", "placement.scheme=eti").document()
    rows = [(row["placement.scheme"], row["cleaning.victim"]) for row in document["table"]]
    assert rows == [("single", "greedy"), ("sepbit", "cat"), ("eti", "cat")]
    gaps = [row["write_amplification.difference"] for row in document["summary"]]
    assert [gap is None for gap in gaps] == [False, False, True]
    error = cli(*call, "--baseline", "cleaning.victim=cat").refused("expected the values of")
    assert "single+greedy or sepbit+cat or eti+cat" in error


@pytest.mark.parametrize("values", ["single,eti", "single+greedy,eti", "single+greedy,+cat"])
def test_tied_values_must_fit_their_keys(cli, values: str) -> None:
    vary = f"placement.scheme+cleaning.victim={values}"
    cli("compare", SMALL, "--vary", vary).refused("each of them 2 values with + between them")


@pytest.mark.parametrize(
    "options",
    [
        {"repeat": 3, "limit": 7, "seed": 5},
        {"time_scale": 2.5, "addresses": "span", "verify": True},
        {"format": "spc", "repeat": 2},
    ],
)
def test_options_of_a_run_are_those_of_the_api(cli, options: dict[str, Any]) -> None:
    """Each option changes the result as in Python: the same call gives the same document."""
    trace = DATA / "financial.spc"
    words = []
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", *([] if value is True else [value])]
    expected = fg.run(trace, device="dftl09", set={"queue.depth": 2}, **options)
    call = (trace, "--device", "dftl09", *words, "--json")
    document = cli("run", *call, "--set", "queue.depth=2").document()
    assert _without_engine(document) == _without_engine(expected.to_dict())
    vary = ("--vary", "queue.depth=2,1", "--workers", 2)
    [first, _] = cli("compare", *call, *vary).document()["results"]
    assert _without_engine(first) == _without_engine(expected.to_dict())


def test_run_prints_a_summary(cli) -> None:
    done = cli("run", SMALL, *QUICK)
    assert done.returncode == 0
    for word in ("spare factor", "over-provisioning", "write amplification", "p99.9", "warning: "):
        assert word in done.stdout
    assert done.stderr == ""


def test_run_json_is_one_document_and_repeats_to_the_byte(cli, process) -> None:
    """Another process, because each hashes texts with a secret of its own."""
    first, second = (run("run", SMALL, *QUICK, "--json", "--seed", 7) for run in (cli, process))
    assert _without_engine(first.document()) == _without_engine(second.document())
    assert first.stderr == ""
    assert first.document()["seed"] == 7


def test_run_writes_its_files_and_nothing_else(cli, tmp_path: Path) -> None:
    done = cli("run", SMALL, *QUICK, "--json", "--out", "a/b", "--pictures", "svg")
    document = done.document()
    folder = tmp_path / "a" / "b"
    assert done.stderr == f"report: {Path('a/b/report.html')}\n"
    assert json.loads((folder / "result.json").read_text("utf-8")) == document
    timeline = pl.read_parquet(folder / "timeline.parquet")
    assert timeline["host_pages"].to_list() == document["timeline"]["host_pages"]
    assert "<html" in (folder / "report.html").read_text("utf-8")
    assert list(folder.glob("*.svg"))
    assert not [path for path in tmp_path.rglob(".*")]
    again = cli("run", SMALL, *QUICK, "--out", "a/b", "-q", "--force")
    assert (again.returncode, again.stderr) == (0, "")
    assert not [path for path in tmp_path.rglob(".*")]


def test_what_a_trace_leaves_open_is_in_the_result(cli, tmp_path: Path) -> None:
    lines = (DATA / "three.disksim").read_text().splitlines() * 60
    (tmp_path / "some.disksim").write_text("\n".join([*lines, "not a request", ""]))
    document = cli("run", "some.disksim", "--json").document()
    assert document["workload"]["skipped"] == 1
    assert any("not a request" in note for note in document["notes"])
    assert any("time taken as" in note for note in document["notes"])


def test_compare_says_where_its_report_is(cli, tmp_path: Path) -> None:
    done = cli("compare", SMALL, *QUICK, "--vary", "mapping.scheme=ideal,dftl")
    assert done.returncode == 0
    assert "dftl" in done.stdout
    assert done.stderr == f"report: {Path('floatgate-compare/report.html')}\n"
    folder = tmp_path / "floatgate-compare"
    written = {"report.html", "results.json", "runs", "table.parquet", "table.csv"}
    assert {path.name for path in folder.iterdir()} == written
    table = pl.read_parquet(folder / "table.parquet")
    assert table["mapping.scheme"].to_list() == ["ideal", "dftl"]


def test_a_second_call_replaces_nothing_of_the_first(cli, tmp_path: Path) -> None:
    call = ("compare", SMALL, "--set", "timing=none", "--vary", "queue.depth=1,2")
    assert cli(*call).returncode == 0
    first = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    (tmp_path / "floatgate-compare-2").write_text("a file of the user's")
    again = cli(*call)
    assert again.returncode == 0
    assert again.stderr.splitlines()[-1] == f"report: {Path('floatgate-compare-3/report.html')}"
    assert {path: path.read_bytes() for path in first} == first
    # A call that fails leaves no directory.
    assert cli(*call, "--set", "queue.dept=1").returncode == 2
    assert cli(*call[:-1], "queue.depth=0,1").returncode == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "floatgate-compare",
        "floatgate-compare-2",
        "floatgate-compare-3",
    ]
    # With --force, the comparison uses the first directory again.
    assert "floatgate-compare/" in cli(*call, "--force").stderr.replace("\\", "/")


def test_generated_imported_and_direct_are_the_same_requests(cli, tmp_path: Path) -> None:
    made = cli("trace", "generate", SMALL, "-o", "made.parquet", "--seed", 3)
    assert (made.returncode, made.stdout) == (0, "")
    assert cli("trace", "import", "made.parquet", "-o", "again.parquet").returncode == 0
    info = cli("trace", "info", "again.parquet", "--json").document()
    assert (info["requests"], info["writes"], info["mean_write_bytes"]) == (5000, 5000, 4096)
    assert any("seed 3" in note for note in info["notes"])
    recorded = cli("run", "again.parquet", "--json", "--seed", 3).document()
    direct = cli("run", SMALL, "--json", "--seed", 3).document()
    for key in ("write_amplification", "flash", "wear"):
        assert recorded[key] == direct[key]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.parquet", "made.parquet"]


def test_trace_info_is_readable_and_takes_units(cli) -> None:
    file = DATA / "three.disksim"
    assert "time taken as" in cli("trace", "info", file).stdout
    document = cli("trace", "info", file, "--json", "--time-unit", "ms").document()
    assert document["units"]["time"] == "ms"
    assert not any("time" in guess for guess in document["guessed"])


def test_the_lists_agree_with_what_runs(cli, tmp_path: Path) -> None:
    devices = cli("devices", "--json").document()
    assert all(device["source"] for device in devices)
    listing = cli("devices").stdout
    assert all(device["name"] in listing for device in devices)
    (tmp_path / "mine.toml").write_text(cli("devices", "classic").stdout, "utf-8")
    same = [
        cli("run", SMALL, "--device", device, "--json").document()["config"]
        for device in ("classic", "mine.toml")
    ]
    assert same[0] == same[1]
    policies = cli("policies", "--json").document()
    assert {"mapping", "placement", "victim"} <= policies.keys()
    assert "dftl.protected_share" in cli("policies", "dftl").stdout
    assert cli("schema").document()["properties"].keys() >= {"flash", "capacity"}
    assert cli("schema", "--result").document()["properties"].keys() >= {"latency", "wear"}


def test_predict(cli) -> None:
    document = cli("predict", "--spare-factor", "0.1", "--hot", "90/10", "--json").document()
    assert document["spare_factor"] == 0.1
    assert document["hot"] == {"writes": 0.9, "pages": 0.1}
    assert "greedy" in cli("predict").stdout


def test_generators_are_listed_with_their_keys(cli) -> None:
    rows = cli("trace", "generate", "--list", "--json").document()
    names = [row["name"] for row in rows]
    random = ["uniform", "hotcold", "zipf"]
    assert names == [*random, "sequential", "shuffled", "zones", "iometer", "tenants", "fitted"]
    text = cli("trace", "generate", "--list").stdout
    for row in rows:
        assert row["example"] in text
        for key in row["keys"]:
            assert f"  {key['name']} " in text, key
            assert key["doc"].endswith(".")
    alone = cli("trace", "generate", "--list", "zipf").stdout
    for word in ("theta", "0.99", "span", "interarrival"):
        assert word in alone
    assert "hotcold" not in alone


@pytest.mark.parametrize(("trace", "changes"), [("sequential", False), ("uniform", True)])
def test_seeds_that_change_nothing_are_a_warning(cli, trace: str, changes: bool) -> None:
    load = f"{trace}:span=16MiB,writes=2k"
    done = cli("compare", load, "--seeds", "3", "--device", "classic", "--out", "seeds")
    assert done.returncode == 0
    assert ("warning: the seeds change nothing" in done.stderr) != changes


def test_messages_of_a_few_runs_keep_their_own_numbers(cli) -> None:
    done = cli("compare", SMALL, "--vary", "device=qlc-capacity,tlc-client", "--out", "two")
    notes = [" ".join(text.split()) for text in done.stdout.split("note: ")[1:]]
    for device in ("qlc-capacity", "tlc-client"):
        [note] = [one for one in notes if one.startswith("scaled") and one.endswith(f"({device})")]
        assert " to " not in note
