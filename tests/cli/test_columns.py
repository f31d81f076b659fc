"""Tables on terminals of 40 to 200 columns: rows keep their labels, and every column is in the
table or named below it."""

from __future__ import annotations

import ast
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from rich.console import Console

import floatgate as fg
from floatgate.cli import columns as cli_columns
from floatgate.cli import interval_summary, lists, summary
from floatgate.cli.columns import Column, label, print_columns, prose
from floatgate.cli.study import report as study_report

WIDTHS = [*range(40, 120, 3), *range(120, 201, 10)]
CLI = Path(cli_columns.__file__).parent

SCHEMES = ["single", "python:twoq", "sepbit"]


def printed(columns: Sequence[Column], width: int) -> list[str]:
    out = Console(file=io.StringIO(), width=width, highlight=False, markup=False, emoji=False)
    print_columns(out, columns)
    text: str = out.file.getvalue()  # type: ignore[attr-defined]
    return text.splitlines()


def check(columns: Sequence[Column], width: int) -> None:
    """Checks that no cell is cut, and that each column is in the table or named below it."""
    lines = printed(columns, width)
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    below = " ".join(text.partition("left out at ")[2].split())
    for column in columns:
        cells = {str(cell).strip() for cell in column.cells}
        name = column.name or " ".join(column.title.split("\n"))
        if name and name in below:
            assert column.kind != "label" or len(cells) == 1
        elif column.kind == "prose":
            words = {word for cell in cells for word in cell.split()}
            assert all(word in text for word in words)
        else:
            # A label that is longer than the terminal wraps.
            assert all(cell in text or len(cell) > width for cell in cells), column.title
            assert all("".join(cell.split()) in "".join(text.split()) for cell in cells)


TABLES: dict[str, list[Column]] = {
    "two keys": [
        label("placement.scheme", SCHEMES),
        label("capacity.spare_factor", ["0.07", "0.1", "0.28"]),
        Column("WA", ["8.602", "5.360", "3.240"]),
        Column("map hits", ["100.00%"] * 3),
        Column("mean\nms", ["67.5", "41.7", "25.8"]),
        Column("p99\nms", ["124", "237", "113"]),
        Column("IOPS", ["474", "766", "292"]),
    ],
    "a long trace": [
        label(
            "trace", [f"captures/of/a/machine/with/a/long/name/number-{i}.csv.zst" for i in "12"]
        ),
        label("mapping.scheme", ["ideal", "dftl"]),
        Column("WA", ["8.60 ± 0.097", "5.36 ± 0.026"]),
        Column("latency.all.mean_us", ["67 536 ± 737", "41 729 ± 720"]),
        Column("latency.all.p99_us", ["124 060 ± 9 160", "236 650 ± 12 491"]),
    ],
    "a label without a blank that no terminal has room for": [
        label("trace", ["x" * 230, "y" * 90]),
        Column("WA", ["8.602", "5.360"]),
    ],
    "prose": [
        label("cleaning", ["greedy", "d-choices, d = 10"]),
        Column("WA", ["6.945", "7.182"]),
        prose("holds for", ["uniform writes, many blocks", "any traffic, one write frontier"]),
        prose("source", ["Bux and Iliadis, 2010, limit", "Van Houdt, SIGMETRICS 2013"]),
    ],
    "no titles": [
        label("", ["classic", "tlc-enterprise"]),
        prose("", ["One serial SLC chip", "A data-centre TLC NVMe drive of 1.92 TB"], "summary"),
        prose("", ["FTL papers of 2009 to 2015", "data sheets of its class"], "source"),
    ],
    "one row": [label("latency", ["all"]), *(Column(f"p{n}\nms", ["1 234"]) for n in range(30))],
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_any_width_keeps_its_labels(name: str) -> None:
    for width in WIDTHS:
        check(TABLES[name], width)


def test_what_is_the_same_in_all_rows_goes_first_and_then_the_last_column() -> None:
    same = "the same in all rows: map hits 100.00%"
    for width, words in ((52, same), (45, f"IOPS; {same}")):
        lines = printed(TABLES["two keys"], width)
        assert " ".join(" ".join(lines[6:]).split()) == f"left out at {width} columns: {words}"
        labels = [tuple(line.split()[:2]) for line in lines[3:6]]
        assert labels == [("single", "0.07"), ("python:twoq", "0.1"), ("sepbit", "0.28")]


def test_a_column_of_a_higher_rank_goes_earlier() -> None:
    titles = {"WA": 0, "last quarter": 2, "p99": 1, "p99.9": 2}
    columns = [Column(title, ["1.234", "5.678"], rank=rank) for title, rank in titles.items()]
    shown = ["WA", "p99", "last quarter", "p99.9"]
    for width, left in ((40, 4), (26, 3), (20, 2), (12, 1)):
        text = " ".join(" ".join(printed([label("run", ["a", "b"]), *columns], width)).split())
        out = text.partition(f"left out at {width} columns: ")[2]
        assert out == ", ".join(title for title in titles if title not in shown[:left]), width


def test_labels_that_leave_no_room_stand_above_their_numbers() -> None:
    lines = printed(TABLES["a long trace"], 72)
    first = lines.index("captures/of/a/machine/with/a/long/name/number-1.csv.zst, ideal")
    assert lines[first + 1].split()[:3] == ["8.60", "±", "0.097"]
    assert lines[first + 2] == "captures/of/a/machine/with/a/long/name/number-2.csv.zst, dftl"


def test_a_title_is_broken_at_its_dots_but_in_no_number() -> None:
    columns = [label("scheme", ["a", "b"]), Column("latency.all.p99.9_us", ["1", "2"])]
    assert [line.split() for line in printed(columns, 20)[:3]] == [
        ["latency."],
        ["all."],
        ["scheme", "p99.9_us"],
    ]


def test_every_table_of_the_command_line_is_made_here() -> None:
    """Rich's own tables cut labels. Only paper claims and name-value grids may use them."""
    users = {
        path.name
        for path in CLI.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "add_column"
    }
    assert users == {"columns.py", "grids.py", "paper.py"}


SMALL = "uniform:span=8MiB,writes=1k"


@pytest.fixture(scope="module")
def comparison() -> fg.Comparison:
    vary = {"placement.scheme": ["single", "sepbit"], "capacity.spare_factor": [0.1, 0.28]}
    return fg.compare_results(SMALL, vary=vary, seeds=2)


@pytest.fixture
def walk(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Checks every table that a function prints, on terminals of all widths."""

    def walked(show: Any, module: Any = cli_columns) -> None:
        found: list[list[Column]] = []
        with monkeypatch.context() as patched:
            patched.setattr(module, "print_columns", lambda _, columns: found.append([*columns]))
            show()
        assert found
        capsys.readouterr()
        for columns in found:
            for width in WIDTHS[::2]:
                check(columns, width)

    return walked


def test_comparisons_with_and_without_seeds(comparison: fg.Comparison, walk: Any) -> None:
    keys = comparison.keys
    walk(lambda: summary.print_comparison(comparison[::2], keys), summary)
    table = comparison.summary()
    walk(lambda: interval_summary.print_intervals(table, keys, comparison), interval_summary)


@pytest.mark.parametrize("width", [50, 60, 70])
def test_a_narrow_terminal_leaves_out_the_least_important_metrics(
    comparison: fg.Comparison,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    width: int,
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    interval_summary.print_intervals(comparison.summary(), comparison.keys, comparison)
    below = capsys.readouterr().out.partition(f"left out at {width} columns: ")[2]
    names = " ".join(below.partition("means of")[0].split())
    different, _, same = names.partition("the same in all rows")
    known = [summary.METRICS[name] for name in summary.IMPORTANT]
    order = [one.short for one in known if one in interval_summary.SHOWN and one.short not in same]
    missing = [name in different for name in order]
    assert missing == sorted(missing) and any(missing) and not missing[0], names


def test_runs_and_lists(comparison: fg.Comparison, walk: Any) -> None:
    walk(lambda: summary.print_summary(comparison[0], "classic"), summary)
    walk(lists.devices)
    walk(lambda: lists.policies("dftl"))
    walk(lambda: lists.predict(0.07, 128, None, False))


def test_studies(walk: Any, tmp_path: Path) -> None:
    study = {
        "traces": [SMALL],
        "set": {"timing": "none"},
        "grid": {"placement.scheme": ["single", "sepbit"], "capacity.spare_factor": [0.1, 0.28]},
        "seeds": 2,
    }
    fg.study(study, out=tmp_path)
    walk(lambda: study_report(str(tmp_path)))
    walk(lambda: study_report(str(tmp_path), columns="placement.scheme"))


def test_a_command_in_a_narrow_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 80 columns, a table with two keys over seeds must keep both key columns."""
    monkeypatch.setenv("COLUMNS", "80")
    varied = (
        "--vary",
        "placement.scheme=single,sepbit",
        "--vary",
        "capacity.spare_factor=0.1,0.28",
    )
    # Enough erase units, so that no row is marked as having too few.
    units = ("--set", "flash.pages_per_block=8")
    asked = ("compare", SMALL, *varied, *units, "--seeds", "2", "--out", "out", "-q")
    done = cli(*asked).ok()
    rows = [line.split()[:2] for line in done.stdout.splitlines()]
    for scheme in ("single", "sepbit"):
        assert [scheme, "0.1"] in rows and [scheme, "0.28"] in rows
    assert "left out at 80 columns" in " ".join(done.stdout.split())
