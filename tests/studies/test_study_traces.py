"""Several entries of a study's `traces` that name one file: every summary keeps their rows
separate."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import Cli

import floatgate as fg
import floatgate.studies
from floatgate.studies import report
from floatgate.traces.read import open_trace
from floatgate.traces.stream import Room

WA, REQUESTS = "write_amplification", "workload.requests"
BASE: dict[str, Any] = {"set": {"timing": "none", "start.fill": "random"}, "seeds": 2}


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return written(tmp_path / "one" / "t.csv", 120)


def written(path: Path, requests: int) -> Path:
    """Writes a trace of two volumes with the same number of requests."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{at},src,{at % 2},Write,{4096 * (at * 7 % 50)},4096,0" for at in range(requests)]
    path.write_text("\n".join(lines) + "\n")
    return path


def study(traces: list[Any], out: Path, **more: Any) -> fg.studies.Dataset:
    return fg.study(BASE | {"traces": traces} | more, out=out)


@pytest.mark.parametrize(
    ("options", "column", "values"),
    [
        ({"limit": 40}, "options.limit", [40, None]),
        ({"repeat": 3}, "options.repeat", [1, 3]),
        ({"addresses": "span"}, "options.addresses", ["fold", "span"]),
        ({"time_scale": 2.0}, "options.time_scale", [1.0, 2.0]),
        ({"verify": True}, "options.verify", [False, True]),
        ({"close_gaps": "1ms"}, "options.close_gaps", ["1ms", None]),
        ({"streams": "device"}, "options.streams", ["device", "trace"]),
    ],
)
def test_a_trace_with_other_options_is_another_row(
    options: dict[str, Any], column: str, values: list[Any], trace: Path, tmp_path: Path
) -> None:
    entry = {"trace": str(trace), "format": "msr"}
    found = study([entry, entry | options], tmp_path / "out")
    table = report.summary(found, [WA, REQUESTS])
    assert table.columns[:2] == ["trace", column]
    assert table[column].to_list() == values
    assert table["runs"].to_list() == [2, 2]
    for row in table.iter_rows(named=True):
        own = options if row[column] == options[column.removeprefix("options.")] else {}
        alone = [
            fg.run(str(trace), format="msr", seed=seed, set=BASE["set"], **own) for seed in (1, 2)
        ]
        assert row[REQUESTS] == alone[0].workload.requests
        assert row[WA] == pytest.approx(sum(one.write_amplification for one in alone) / 2)
    assert report.grid(table, [WA]).columns == ["trace", column, "runs", WA]


def test_generators_and_volumes_are_apart_too(trace: Path, tmp_path: Path) -> None:
    uniform = "uniform:span=1MiB,writes=100"
    split = {"trace": str(trace), "format": "msr", "split": "volume"}
    traces = [uniform, {"trace": uniform, "limit": 30}, split, split | {"limit": 20}]
    table = report.summary(study(traces, tmp_path / "out"), [REQUESTS])
    rows = table.select("trace", "options.limit", "volume", REQUESTS).rows()
    assert sorted(rows, key=str) == sorted(
        [
            (str(trace), limit, f"src_{volume}", requests)
            for limit, requests in ((None, 60), (20, 20))
            for volume in (0, 1)
        ]
        + [(uniform, 30, None, 30), (uniform, None, None, 100)],
        key=str,
    )


def test_what_all_traces_have_is_no_row_of_its_own(trace: Path, tmp_path: Path) -> None:
    """An option common to all traces, or one set to its default, does not separate them."""
    traces = [
        {"trace": str(trace), "format": "msr", "limit": 30},
        {"trace": str(trace), "format": "msr", "repeat": 1},
    ]
    found = study(traces, tmp_path / "out", options={"limit": 30})
    table = report.summary(found, [WA])
    assert table.columns[:2] == ["trace", "volume"] and table["runs"].to_list() == [2]
    assert found.frame()["options.limit"].unique().to_list() == [30]


def test_an_option_of_another_trace_is_no_column(trace: Path, tmp_path: Path) -> None:
    """If the trace name already separates the runs, its own format or limit is no extra column."""
    uniform = "uniform:span=1MiB,writes=100"
    entry = {"trace": str(trace), "format": "msr"}
    found = study([entry, entry | {"repeat": 2}, {"trace": uniform, "limit": 9}], tmp_path / "out")
    table = report.summary(found, [REQUESTS])
    rows = table.select("trace", "options.repeat", REQUESTS).rows()
    assert rows == [(str(trace), 1, 120), (str(trace), 2, 240), (uniform, 1, 9)]
    assert table.columns[:3] == ["trace", "options.repeat", "volume"]


def test_files_of_one_name_are_apart(trace: Path, tmp_path: Path) -> None:
    other = written(tmp_path / "two" / "t.csv", 60)
    file = tmp_path / "study.toml"
    file.write_text(
        'seeds = 2\nset.timing = "none"\noptions.format = "msr"\n'
        'traces = ["one/t.csv", "two/*.csv"]\n'
    )
    table = report.summary(fg.study(file, out=tmp_path / "out"), [REQUESTS])
    assert table.select("trace", "runs", REQUESTS).rows() == [
        ("one/t.csv", 2, 120),
        (str(other.relative_to(tmp_path)), 2, 60),
    ]


def test_the_command_tells_them_apart(cli: Cli, trace: Path, tmp_path: Path) -> None:
    entry = {"trace": str(trace), "format": "msr"}
    found = study([entry | {"limit": limit} for limit in (20, 90)], tmp_path / "out")
    asked = ["study", "report", found.folder.place, "--metric", REQUESTS]
    rows = json.loads(cli(*asked, "--json").stdout)
    assert [(row["options.limit"], row[REQUESTS]) for row in rows] == [(20, 20), (90, 90)]
    done = cli(*asked, "--columns", "options.limit")
    assert "options.limit = 20" in done.stdout and "options.limit = 90" in done.stdout
    assert cli(*asked, "--out", "page.html").returncode == 0
    assert "Against options.limit" in (tmp_path / "page.html").read_text("utf-8")
    for form in report.FORMS:
        report.export(found, tmp_path / f"rows.{form}", form)
    assert pl.read_csv(tmp_path / "rows.csv")["options.limit"].to_list() == [20, 20, 90, 90]


def test_files_may_be_named_from_the_root_on(trace: Path, tmp_path: Path) -> None:
    other = written(tmp_path / "two" / "t.csv", 60)
    entry = {"trace": f"{tmp_path}/*/t.csv", "format": "msr"}
    table = report.summary(study([entry], tmp_path / "out"), [REQUESTS])
    assert dict(table.select("trace", REQUESTS).iter_rows()) == {str(trace): 120, str(other): 60}
    # A name with a pattern character is a plain name if such a file exists.
    odd = written(tmp_path / "odd[1].csv", 30)
    entry = {"trace": str(odd), "format": "msr"}
    assert study([entry], tmp_path / "odd").frame()["trace"].unique().to_list() == [str(odd)]
    with pytest.raises(fg.TraceError, match=r"no file is .*none-\*.csv in /"):
        study([f"{tmp_path}/none-*.csv"], tmp_path / "none")


def test_the_table_says_what_it_lacks(cli: Cli, tmp_path: Path) -> None:
    """Means over only some of the seeds would look complete in a table with a key in the
    columns."""
    document = BASE | {
        "traces": ["uniform:writes=100"],
        "set": BASE["set"] | {"flash.blocks": 16},
        "grid": {"trace.span": ["1MiB", "64MiB"]},
        "seeds": 10,
    }
    found = fg.study(document, out=tmp_path / "out", shard="1/2")
    counts = found.counts()
    assert counts["failed"] > 1 and counts["missing"] > 1
    done = cli("study", "report", found.folder.place, "--metric", WA, "--columns", "trace.span")
    assert done.returncode == 0
    assert f"warning: {counts['failed']} runs have failed" in done.stderr
    assert f"warning: {counts['missing']} of 20 runs are missing" in done.stderr


def without_options(place: Path) -> None:
    """Removes the option columns of a directory, as in rows written without options."""
    head = json.loads((place / "study.json").read_text("utf-8"))
    gone = [name for name in head["columns"] if name.startswith("options.")]
    assert gone
    for name in gone:
        del head["columns"][name]
    (place / "study.json").write_text(json.dumps(head))
    for file in (place / "runs").iterdir():
        pl.read_parquet(file).drop(gone).write_parquet(file)


def test_a_directory_without_options_is_read(cli: Cli, trace: Path, tmp_path: Path) -> None:
    entry = {"trace": str(trace), "format": "msr"}
    place = tmp_path / "out"
    before = report.summary(study([entry], place), [WA])
    without_options(place)
    old = fg.studies.Dataset.open(place)
    assert report.summary(old, [WA]).equals(before)
    assert old.frame().height == old.counts()["done"] == 2
    report.export(old, tmp_path / "rows.csv", "csv")
    assert cli("study", "status", place).returncode == 0
    with pytest.raises(fg.ConfigError, match="has runs of another version, whose rows have other"):
        fg.study(BASE | {"traces": [entry]}, out=place, resume=True)


def test_rows_that_nothing_tells_apart_have_no_mean(cli: Cli, trace: Path, tmp_path: Path) -> None:
    entry = {"trace": str(trace), "format": "msr"}
    place = tmp_path / "out"
    study([entry, entry | {"limit": 30}], place)
    without_options(place)
    done = cli("study", "report", place)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{trace}: several runs of one seed that no column tells apart" in done.stderr
    assert "another --out" in done.stderr
    assert "4 of 4 runs done" in cli("study", "status", place).stdout


def test_a_run_that_two_processes_have_made_counts_once(trace: Path, tmp_path: Path) -> None:
    """A scheduler may restart a shard while its first process still runs."""
    place = tmp_path / "out"
    found = study([{"trace": str(trace), "format": "msr"}], place)
    before = report.summary(found, [WA])
    [file] = (place / "runs").iterdir()
    shutil.copy(file, place / "runs" / "0.parquet")
    failed = pl.read_parquet(file).with_columns(status=pl.lit("failed"), error=pl.lit("lost"))
    failed.write_parquet(place / "runs" / "failed-0.parquet")
    assert found.frame().height == 2 and found.frame()["status"].to_list() == ["done"] * 2
    assert report.summary(found, [WA]).equals(before)
    assert found.counts() | {"failed": 0} == found.counts()
    assert found.counts()["done"] == 2


def test_each_reading_of_a_file_has_its_own_volumes(tmp_path: Path) -> None:
    """The same bytes are other requests in another format, even if split by volume."""
    path = tmp_path / "t.txt"
    path.write_text("".join(f"{at} 0 {8 * at} 8 0\n" for at in range(40)))
    entry = {"trace": str(path), "split": "volume"}
    formats = ["disksim", "disksim-pages"]
    found = study([entry | {"format": one} for one in formats], tmp_path / "out")
    table = report.summary(found, ["workload.write_pages"])
    pages = dict(table.select("options.format", "workload.write_pages").iter_rows())
    assert pages == {"disksim": 40, "disksim-pages": 40 * 8}


def test_equal_traces_are_said_to_be_one(cli: Cli, trace: Path, tmp_path: Path) -> None:
    shutil.copy(trace, tmp_path / "copy.csv")
    (tmp_path / "s.toml").write_text(
        'options.format = "msr"\nset.timing = "none"\ntraces = ["one/t.csv", "*.csv"]\n'
    )
    done = cli("study", "s.toml", "--out", "out")
    said = "note: copy.csv has the bytes of one/t.csv: their runs are the same"
    assert f"{said}, and are called one/t.csv\n" in done.stderr
    assert said in cli("study", "status", "out").stdout
    assert said in " ".join(cli("study", "report", "out").stdout.split())
    found = fg.studies.Dataset.open(tmp_path / "out")
    assert found.counts()["done"] == 1 and len(found.notes) == 1
    assert found.notes[0] in report.page(found, report.summary(found, [WA]), [WA])
    # With other options the runs differ, and one trace listed twice needs no note.
    entry = {"trace": str(trace), "format": "msr"}
    other = {"trace": str(tmp_path / "copy.csv"), "format": "msr"}
    assert study([entry, entry, other | {"limit": 9}], tmp_path / "apart").notes == []
    split = [one | {"split": "volume"} for one in (entry, other)]
    assert len(study(split, tmp_path / "split").notes) == 1


@pytest.mark.parametrize("requests", [1000, 40])
def test_volumes_say_what_could_not_be_read_of_their_trace(
    requests: int, trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = trace.read_text().splitlines()
    trace.write_text("\n".join([*lines[:50], "no request", *lines[50:]]) + "\n")
    entry = {"trace": str(trace), "format": "msr"}
    said = "1 line of the trace could not be read, the first: line 51: 'no request'"
    monkeypatch.setitem(open_trace.__kwdefaults__, "room", Room(requests))
    whole = study([entry], tmp_path / "whole")
    found = study([entry | {"split": "volume"}], tmp_path / "out")
    for runs, rows in ((whole, 2), (found, 4)):
        notes = runs.frame()["notes"].to_list()
        assert len(notes) == rows and all(one.count(said) == 1 for one in notes)
