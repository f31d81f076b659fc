"""Study files: their keys and values, and the error message for each mistake."""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterator
from dataclasses import fields
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import floatgate as fg
import floatgate.studies
from floatgate.simulation.options import RunOptions
from floatgate.studies.plan import combinations
from floatgate.studies.rows import OPTIONS
from floatgate.studies.spec import Options, parse
from floatgate.traces.read import check_head
from floatgate.traces.source import contents

TRACE = {"traces": ["uniform:span=1MiB,writes=300"]}
WA = "write_amplification"
QUICK = {"timing": "none", "start.fill": "random"}


class Short(fg.Placement):
    """A policy that no package provides."""

    streams = 2

    def stream(self, write: fg.HostWrite) -> int:
        return int(write.request_pages <= 4)


def _search(**given: Any) -> dict[str, Any]:
    return {"optuna": {"trials": 1, "keys": {"a": [1]}, **given}}


def _twice(section: str, one: Any, other: Any) -> dict[str, Any]:
    """Returns a key twice: in quotes, and as a nested table."""
    return {section: {"a.b": one, "a": {"b": other}}}


POLICY = r"placement.scheme.*: the policy Short\(\) itself; name it python:NAME"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({}, "s: traces is missing"),
        ({"traces": []}, "s: traces = .* given; .*at least 1"),
        (
            TRACE | {"gird": {}},
            "s: unknown key gird; expected one of traces, device, set, options, ",
        ),
        (TRACE | {"settings": {}}, "s: unknown key settings; expected one of .* set, "),
        ({"traces": [{"trace": "x", "slpit": 1}]}, r"s: traces.0: unknown key slpit; .* split"),
        (
            TRACE | {"optuna": {"trails": 1}},
            "s: optuna: unknown key trails; expected one of trials",
        ),
        (TRACE | {"options": {"verfy": True}}, "s: options: unknown key verfy; .* verify, "),
        (TRACE | {"grid": {"a.b": "x"}}, r"s: grid.a.b = 'x' given; .*list"),
        (TRACE | {"grid": {"a.b": []}}, r"s: grid.a.b: expected one or more values"),
        (TRACE | {"grid": {"a.b": [1, 1]}}, r"s: grid.a.b: .*all different"),
        (TRACE | {"seeds": 0}, "s: seeds: 0 given; expected how many, 1 or more, or a list"),
        (TRACE | {"seeds": "x"}, "s: seeds: 'x' given; expected how many"),
        (TRACE | {"grid": {"a": [date(2026, 1, 1)]}}, r"s: grid.a.0 = .* given; .* a text, true"),
        (TRACE | {"set": {"a": date(2026, 1, 1)}}, r"s: set.a = .* given; expected a number, a te"),
        ({"traces": [1]}, "s: traces: 1 given; expected a path, a URL, a generator"),
        (TRACE | {"grid": {"placement.scheme": ["single", Short()]}}, POLICY),
        (TRACE | {"set": {"placement.scheme": Short()}}, POLICY),
        (TRACE | {"random": {"draws": 1, "keys": {"placement.scheme": [Short()]}}}, POLICY),
        (TRACE | {"seeds": [1, 1]}, "s: seeds: .*all different"),
        (TRACE | {"seeds": [-1]}, r"s: seeds.0 = -1 given"),
        (TRACE | {"memory": "much"}, "s: memory: 'much' given; expected a number of bytes, or a"),
        (TRACE | {"memory": 0}, "s: memory: 0 given"),
        (TRACE | {"set": {"a": 1}, "grid": {"a": [1, 2]}}, "a is in set and in grid"),
        (TRACE | {"device": "classic", "grid": {"device": ["dftl09"]}}, "device is in grid and"),
        ({"traces": [{"trace": "x", "split": "die"}]}, r"s: traces.0.split = 'die' given"),
        (TRACE | {"options": {"repeat": "x"}}, "s: options.repeat = 'x' given"),
        (TRACE | {"random": {"draws": 0, "keys": {"a": [1]}}}, "random.draws = 0 given"),
        (TRACE | _search(seed=-1), "s: optuna.seed = -1 given; expected at least 0"),
        (TRACE | _search(seed=1 << 32), "s: optuna.seed = 4294967296 given; expected less than"),
        (TRACE | _search(minimize=[WA], maximize=[WA]), f"s: optuna: {WA} is given twice"),
        (TRACE | _search(minimize=[WA, "wear.erases_max", WA]), f"s: optuna: {WA} is given twice"),
        (TRACE | _twice("grid", [1], [2]), r"s: grid: a\.b is given twice; expected it once"),
        (TRACE | _twice("set", 1, 1), r"s: set: a\.b is given twice"),
        (TRACE | {"list": [_twice("list", 1, 2)["list"]]}, r"s: list: a\.b is given twice"),
        (
            TRACE | {"random": {"draws": 1, **_twice("keys", [1], "1..8")}},
            r"s: random\.keys: a\.b is given twice",
        ),
        (
            TRACE | {"random": {"draws": 1, "keys": {"a": {"from": 2, "to": 1}}}},
            "from less to more",
        ),
        (
            TRACE | {"random": {"draws": 1, "keys": {"a": {"from": 0, "to": 1, "log": True}}}},
            "random.keys.a: .*expected a range above 0",
        ),
    ],
)
def test_mistakes_are_told_with_their_place(document: dict[str, Any], said: str) -> None:
    with pytest.raises(fg.ConfigError, match=said):
        parse(document, "s")


def test_a_search_for_a_config_takes_names_only() -> None:
    with pytest.raises(fg.ConfigError, match=f"vary: {POLICY}"):
        fg.tune(TRACE["traces"][0], vary={"placement.scheme": ["single", Short()]}, objective=WA)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (TRACE | {"grid": {"mapping.shceme": ["ideal"]}}, "mapping.shceme"),
        (TRACE | {"grid": {"mapping.scheme": ["perfect"]}}, "perfect"),
        (TRACE | {"options": {"repeat": 0}}, "repeat: 0 given"),
        ({"traces": ["nowhere.csv"]}, "nowhere.csv: no such file"),
        ({"traces": ["no*.csv"]}, "traces: no file is no"),
        ({"traces": ["unifrom:span=1MiB"]}, "no generator 'unifrom'"),
        ({"traces": [{"trace": "uniform:span=1MiB", "split": "volume"}]}, "cannot be split"),
        (TRACE | {"grid": {"trace.raeds": [0.5]}}, "unknown key `raeds`"),
        (TRACE | {"grid": {"trace.reads": [0.5, 1.5]}}, "reads=1.5"),
        (TRACE | {"grid": {"trace.span": ["2MiB"]}}, "span is given twice"),
        (TRACE | {"set": {"trace.reads": 0.5}}, "trace"),
    ],
)
def test_mistakes_are_found_before_anything_runs(
    document: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=said):
        fg.study(document, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


LINE = "128166372003061629,vol,1,Write,0,4096,100\n"


@pytest.mark.parametrize(
    ("name", "content", "format", "said"),
    [
        ("empty.csv", b"", None, "empty; expected a trace"),
        ("prose.txt", b"no trace\n" * 9, None, "no known trace format"),
        ("prose.csv", b"no trace\n" * 200_000, "msr", "cannot be read as msr"),
        (
            "torn.csv.gz",
            gzip.compress(LINE.encode() * 9, mtime=0)[:-20],
            None,
            "truncated or corrupt gzip",
        ),
        ("half.parquet", b"PAR1 and no more", None, "half.parquet"),
        ("other.csv", LINE.encode(), "nothing", "format: 'nothing' is not known"),
    ],
)
def test_an_unreadable_trace_is_found_before_anything_runs(
    name: str, content: bytes, format: str | None, said: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    trace = {"trace": str(tmp_path / name)} | ({"format": format} if format else {})
    with pytest.raises(ValueError, match=said):
        fg.study({"traces": [*TRACE["traces"], trace], "set": QUICK}, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_only_the_start_of_a_long_trace_is_looked_at(tmp_path: Path) -> None:
    """A mistake after the checked start makes the run fail, and the failure becomes a row."""
    path = tmp_path / "long.csv"
    path.write_bytes(LINE.encode() * 50_000 + b"no trace\n" * 50_000)
    check_head(contents(str(path)), format="msr")
    path.write_bytes(b"no trace\n" * 300 + LINE.encode() * 50_000)
    check_head(contents(str(path)), format="msr")
    found = fg.study({"traces": [{"trace": str(path), "format": "msr"}]}, out=tmp_path / "out")
    assert found.counts()["done"] == 1


def test_a_file_has_every_option_of_a_run() -> None:
    """The seed is the exception, because a study varies it."""
    names = {option.name for option in fields(RunOptions)}
    assert set(Options.model_fields) == names - {"seed"}
    # The rows have every option that changes a result.
    assert {*OPTIONS} == names - {"seed", "start_cache"}


def test_a_file_that_is_no_toml_is_told(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text("traces = [")
    with pytest.raises(fg.ConfigError, match=r"s\.toml: no TOML: Invalid value"):
        fg.Study.read(tmp_path / "s.toml")


def test_grid_list_and_draws_are_multiplied() -> None:
    spec = parse(
        TRACE
        | {
            "grid": {"a": [1, 2], "b": {"c": ["x", "y", "z"]}},
            "list": [{"d": 1, "e": True}, {"d": 2, "e": False}],
            "random": {"draws": 5, "keys": {"f": [1, 2, 3]}},
        }
    )
    found = [*combinations(spec)]
    assert len(found) == 2 * 3 * 2 * 5
    assert {(one["d"], one["e"]) for one in found} == {(1, True), (2, False)}
    assert [*found[0]] == ["a", "b.c", "d", "e", "f"]


def test_draws_are_of_their_ranges_and_seed() -> None:
    keys = {
        "whole": {"from": 1, "to": 1000, "log": True},
        "size": {"from": "4KiB", "to": "1MiB"},
        "share": {"from": 0.01, "to": 1.0, "log": True},
        "name": ["a", "b"],
    }
    document = TRACE | {"random": {"draws": 2000, "keys": keys}}
    found = [*combinations(parse(document))]
    assert found == [*combinations(parse(document))]
    other = TRACE | {"random": {"draws": 2000, "seed": 2, "keys": keys}}
    assert found != [*combinations(parse(other))]
    frame = pl.DataFrame(found)
    assert frame["whole"].dtype == frame["size"].dtype == pl.Int64
    assert frame["whole"].min() == 1 and 900 < frame["whole"].max() <= 1000
    assert frame["size"].min() >= 4096 and frame["size"].max() <= 1 << 20
    # As many values lie below the geometric mean as above it, within four standard deviations.
    for name, middle in (("whole", math.sqrt(0.5 * 1000.5)), ("share", 0.1)):
        assert abs((frame[name] < middle).sum() - 1000) < 4 * math.sqrt(500), name


def test_equal_draws_are_one_run(tmp_path: Path) -> None:
    document = TRACE | {"set": QUICK, "random": {"draws": 9, "keys": {"queue.depth": [1, 2]}}}
    found = fg.study(document, out=tmp_path)
    assert found.counts()["planned"] == found.counts()["done"] == 2


def test_options_of_a_trace_come_before_those_of_all(tmp_path: Path) -> None:
    spec = TRACE["traces"][0]
    document = {"traces": [spec, {"trace": spec, "limit": 7}], "options": {"limit": 100}}
    found = fg.study(document | {"set": QUICK}, out=tmp_path)
    assert sorted(found.frame()["workload.requests"]) == [7, 100]


def test_keys_of_generators_vary(tmp_path: Path) -> None:
    document = {
        "traces": ["uniform:writes=300", "hotcold:writes=300,r=0.9,f=0.1"],
        "grid": {"trace": {"span": ["1MiB", "2MiB"]}, "capacity.spare_factor": [0.1, 0.2]},
        "list": [{"trace.reads": 0.5}, {"trace.trim": 0.1}],
    }
    found = fg.study(document | {"set": QUICK}, out=tmp_path / "out")
    rows = found.frame()
    assert rows.height == found.counts()["done"] == 2 * 2 * 2 * 2
    # The trace has its name from the file, and its keys are columns.
    assert rows["trace"].unique(maintain_order=True).to_list() == sorted(document["traces"])
    assert rows["trace.span"].unique().sort().to_list() == ["1MiB", "2MiB"]
    assert rows.filter(pl.col("trace.reads").is_null())["workload.reads"].max() == 0
    [one] = rows.filter(
        pl.col("trace").str.starts_with("uniform"),
        pl.col("capacity.spare_factor") == 0.2,
        pl.col("trace.span") == "2MiB",
        pl.col("trace.reads") == 0.5,
    ).iter_rows(named=True)
    alone = fg.run(
        "uniform:writes=300,span=2MiB,reads=0.5", set=QUICK | {"capacity.spare_factor": 0.2}
    )
    assert one["workload.hash"] == alone.workload.hash
    assert one["write_amplification"] == alone.write_amplification


def test_a_recording_has_no_keys(many: Path, tmp_path: Path) -> None:
    document = {"traces": [str(many)], "options": {"format": "msr"}}
    with pytest.raises(fg.ConfigError, match=r"trace\.reads: .*many\.csv is no generator"):
        fg.study(document | {"grid": {"trace.reads": [0.5]}}, out=tmp_path / "out")


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    for name in ("a", "b"):
        text = f"0,src{name},0,Write,0,4096,0\n10,src{name},0,Write,8192,4096,0\n"
        (tmp_path / "traces" / f"{name}.csv").write_text(text)
    (tmp_path / "mine.toml").write_text('preset = "classic"\n')
    (tmp_path / "s.toml").write_text(
        'traces = ["traces/*.csv"]\noptions.format = "msr"\nset.timing = "none"\n'
        'grid.device = ["mine.toml", "dftl09"]\n'
    )
    found = fg.study(tmp_path / "s.toml", out=tmp_path / "out")
    rows = found.frame()
    assert rows["trace"].to_list() == ["traces/a.csv"] * 2 + ["traces/b.csv"] * 2
    assert rows["device"].to_list() == ["dftl09", "mine.toml"] * 2
    assert rows["status"].unique().to_list() == ["done"]


VOLUMES = """\
128166372003061629,vol,1,Write,0,4096,100
128166372003061630,vol,0,Write,4096,8192,100
128166372003061640,web,1,Write,0,4096,100
128166372003061650,vol,1,Write,8192,4096,100
128166372003061660,vol,1,Read,0,4096,100
"""


@pytest.fixture
def many(tmp_path: Path) -> Path:
    path = tmp_path / "many.csv"
    path.write_text(VOLUMES)
    return path


def test_a_trace_is_split_by_volume(many: Path, tmp_path: Path) -> None:
    document = {"traces": [{"trace": str(many), "split": "volume"}], "set": {"timing": "none"}}
    found = fg.study(document, out=tmp_path / "out").frame()
    counted = found.select("volume", "workload.writes", "workload.reads").rows()
    assert {(volume.replace("_", "."), *rest) for volume, *rest in counted} == {
        ("vol.0", 1, 0),
        ("vol.1", 2, 1),
        ("web.1", 1, 0),
    }
    # Each row equals a run of a trace that has only this volume's lines.
    for number, (host, disk) in enumerate((("vol", 0), ("vol", 1), ("web", 1))):
        alone = tmp_path / f"{number}.csv"
        lines = [line for line in VOLUMES.splitlines() if f",{host},{disk}," in line]
        alone.write_text("\n".join(lines) + "\n")
        result = fg.run(alone, set={"timing": "none"}, format="msr")
        row = found.row(number, named=True)
        assert row["workload.hash"] == result.workload.hash
        assert row["flash.programs.host"] == result.flash.programs.host


def test_volumes_come_in_pieces(
    many: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = {"traces": [{"trace": str(many), "split": "volume"}], "set": {"timing": "none"}}
    whole = fg.study(document, out=tmp_path / "whole").frame()
    monkeypatch.setattr("floatgate.studies.volumes.frames_of", _by_row)
    monkeypatch.setattr("floatgate.studies.volumes.PIECE", 1)
    found = fg.study(document, out=tmp_path / "pieces").frame()
    folders = [*(tmp_path / "pieces" / "volumes").glob("*/*vol*1*")]
    assert len(folders) == 1 and len([*folders[0].iterdir()]) == 3
    assert found["workload.hash"].to_list() == whole["workload.hash"].to_list()
    assert found["run"].to_list() == whole["run"].to_list()


def test_a_study_goes_on_where_only_volumes_were_written(many: Path, tmp_path: Path) -> None:
    document = {"traces": [{"trace": str(many), "split": "volume"}], "set": {"timing": "none"}}
    whole = fg.study(document, out=tmp_path / "out").frame(["run"])
    (tmp_path / "out" / "study.json").unlink()
    for file in (tmp_path / "out" / "runs").iterdir():
        file.unlink()
    (tmp_path / "out" / "runs").rmdir()
    assert fg.study(document, out=tmp_path / "out", resume=True).frame(["run"]).equals(whole)


def test_nothing_is_split_for_a_wrong_config(many: Path, tmp_path: Path) -> None:
    trace = {"trace": str(many), "split": "volume"}
    with pytest.raises(fg.ConfigError, match="perfect"):
        fg.study({"traces": [trace], "grid": {"mapping.scheme": ["perfect"]}}, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def _by_row(trace: Any) -> Iterator[pl.DataFrame]:
    return trace.frame.iter_slices(1)


def test_a_search_goes_where_it_is_better(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    keys = {"capacity.spare_factor": {"from": 0.05, "to": 0.5}, "cleaning.victim": ["greedy"]}
    search = {"trials": 12, "batch": 3, "keys": keys}
    document = {"traces": ["uniform:span=1MiB,writes=2k"], "set": QUICK, "optuna": search}
    found = fg.study(document, out=tmp_path / "a")
    rows = found.frame()
    assert rows.height == found.counts()["planned"] == 12
    best = rows.sort("write_amplification").row(0, named=True)
    assert best["capacity.spare_factor"] > 0.35
    # Half of the search, and then the rest, gives the same trials.
    fg.study(document | {"optuna": search | {"trials": 6}}, out=tmp_path / "b")
    again = fg.study(document, out=tmp_path / "b", resume=True)
    assert again.frame(["run"]).equals(rows.select("run"))
    with pytest.raises(fg.ConfigError, match="a search has no parts"):
        fg.study(document, out=tmp_path / "c", shard="1/2")
    search = {"trials": 1, "keys": keys, "minimize": ["device"]}
    with pytest.raises(fg.ConfigError, match="device is no metric"):
        fg.study(document | {"optuna": search}, out=tmp_path / "d")


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """A bucket on a local server that implements S3."""
    pytest.importorskip("s3fs")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
            ("AWS_DEFAULT_REGION", "us-east-1"),
            ("AWS_ENDPOINT_URL", f"http://{host}:{port}"),
        ):
            patch.setenv(name, value)
        import fsspec

        fsspec.filesystem("s3").mkdir("studies")
        yield "s3://studies"
    server.stop()


def test_rows_may_be_at_a_url(bucket: str, many: Path, tmp_path: Path) -> None:
    document = {
        "traces": [*TRACE["traces"], {"trace": str(many), "split": "volume"}],
        "set": QUICK,
        "grid": {"queue.depth": [1, 4]},
    }
    here = fg.study(document, out=tmp_path / "here").frame()
    place = f"{bucket}/deep/study"
    assert 0 < fg.study(document, out=place, shard="1/2").counts()["done"] < 8
    with pytest.raises(fg.ConfigError, match="is not empty; --resume"):
        fg.study(document, out=place)
    there = fg.study(document, out=place, resume=True).frame()
    same = [name for name in here.columns if not name.startswith("engine.")]
    assert here.height == 8
    assert there.select(same).equals(here.select(same))


def test_a_url_that_nothing_knows_is_told() -> None:
    with pytest.raises(fg.ConfigError, match="out: nowhere://x"):
        fg.study(TRACE, out="nowhere://x")


def test_a_bucket_that_is_not_there_is_told(bucket: str) -> None:
    with pytest.raises(OSError, match="s3://missing"):
        fg.study(TRACE | {"set": QUICK}, out="s3://missing/study")
