"""The wheel in dist/ (`make wheel`), installed by pip without access to Rust or this source."""

from __future__ import annotations

import gzip
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from paths import ROOT

import floatgate

WORKLOAD = "hotcold:span=64MiB,r=0.9,f=0.1,writes=50k"
pytestmark = pytest.mark.long


def _wheel() -> Path:
    made = sorted((ROOT / "dist").glob("*.whl"))
    if not made:
        pytest.skip("there is no wheel in dist/ (make wheel makes it)")
    [wheel] = made
    return wheel


def _pythons() -> Iterator[str]:
    """Yields every Python from 3.10 on that this machine has, one per version, including this
    Python."""
    wanted = [sys.executable, *(f"python3.{minor}" for minor in range(10, 20))]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    wanted += map(str, sorted(pyenv.glob("3.*/bin/python3")))
    seen = set()
    for name in wanted:
        found = shutil.which(name)
        version = found and _version(found)
        if found and version and version >= (3, 10) and version not in seen:
            seen.add(version)
            yield found


def _version(python: str) -> tuple[int, ...] | None:
    """Returns the version, or None for a Python that cannot make environments."""
    probe = "import sys, venv, ensurepip; print(*sys.version_info[:2])"
    done = subprocess.run([python, "-c", probe], capture_output=True, text=True)
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else None


PYTHONS = list(_pythons())


@dataclass(frozen=True)
class Installed:
    """A virtual environment that contains only the wheel."""

    root: Path
    environment_s: float
    """Wall-clock seconds to make the environment. `install_s` is wall-clock time, too."""
    install_s: float
    install_cpu_s: float

    def run(self, *command: str) -> str:
        """Returns the command's standard output. Neither a compiler nor Rust nor this source is
        accessible."""
        done = subprocess.run(
            [self.root / "bin" / command[0], *command[1:]],
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=600,
            env={"PATH": "/usr/sbin:/nowhere", "HOME": str(self.root), "LANG": "C.UTF-8"},
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout


def _install(name: str, root: Path, extra: str = "") -> Installed:
    """Makes a new environment for a Python, and installs the wheel and an optional extra in
    brackets."""
    base = subprocess.run(
        [name, "-c", "import sys; print(sys.base_prefix + '/bin/python3')"],
        capture_output=True,
        text=True,
    )
    python = base.stdout.strip() if Path(base.stdout.strip()).exists() else name
    begun = time.perf_counter()
    subprocess.run([python, "-m", "venv", root], check=True, timeout=300)
    made, used = time.perf_counter(), _cpu_s()
    # Packages without a wheel would need a compiler, so none are allowed.
    install = [root / "bin/python", "-m", "pip", "install", "--only-binary=:all:"]
    done = subprocess.run(
        [*install, f"{_wheel()}{extra}"], capture_output=True, text=True, timeout=900, cwd=root
    )
    assert done.returncode == 0, done.stderr
    return Installed(root, made - begun, time.perf_counter() - made, _cpu_s() - used)


def _cpu_s() -> float:
    """Returns the processor seconds of all ended child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture(scope="module", params=PYTHONS, ids=lambda name: Path(name).resolve().name)
def installed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Installed:
    return _install(request.param, tmp_path_factory.mktemp("installed"))


def test_there_are_several_pythons_to_try() -> None:
    if len(PYTHONS) < 2:
        pytest.skip(f"the wheel is tried on one Python alone, {PYTHONS}; a release needs two")


def test_it_runs_and_makes_a_report(
    installed: Installed, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = time.perf_counter()
    assert installed.run("floatgate", "--version").split()[-1] == floatgate.__version__
    installed.run("floatgate", "run", WORKLOAD, "-q")
    first_s = time.perf_counter() - begun
    # Printed and not asserted: downloads depend on the network, and all times on the load. The
    # installation takes 12 to 14 s of the processor on a quiet machine.
    seconds = (installed.environment_s, installed.install_s, first_s)
    with capsys.disabled():
        print(
            "\nenvironment {:.1f} s, install {:.1f} s, first run {:.1f} s: ".format(*seconds)
            + f"{sum(seconds):.1f} s; installing took {installed.install_cpu_s:.1f} s of CPU"
        )
    installed.run("python", "-m", "pip", "check")
    call = ["run", WORKLOAD, "--device", "classic", "--set", "start.fill=random"]
    printed = installed.run("floatgate", *call, "--out", "report", "--json", "--force")
    assert (installed.root / "report/report.html").stat().st_size > 100_000
    ours = floatgate.run(WORKLOAD, device="classic", set={"start.fill": "random"})
    assert json.loads(printed)["write_amplification"] == ours.write_amplification


def test_every_command_is_there(installed: Installed) -> None:
    printed = installed.run("floatgate", "--help")
    commands = re.findall(r"^│ ([a-z]+) ", printed, re.MULTILINE)
    assert len(commands) > 15
    for command in commands:
        installed.run("floatgate", command, "--help")


def test_policies_of_packages_are_listed(installed: Installed) -> None:
    assert "python:2r" in installed.run("floatgate", "policies")


def test_extras_are_asked_for_by_name(installed: Installed) -> None:
    searched = (
        "fg.tune('uniform:span=8MiB,writes=1k', objective='write_amplification',"
        " vary={'capacity.spare_factor': '0.05..0.3'}, trials=2)"
    )
    fetched = "fg.read_trace('http://127.0.0.1/trace.csv')"
    for extra, call in (("search", searched), ("http", fetched)):
        probe = (
            f"import floatgate as fg\ntry: {call}\n"
            "except ValueError as error: print(type(error).__name__, error)\n"
        )
        assert f"floatgate[{extra}]" in installed.run("python", "-c", probe)


def test_a_trace_is_read_from_a_server(tmp_path: Path) -> None:
    """Uses the extra `http` on the newest Python."""
    newest = max(PYTHONS, key=lambda name: _version(name) or ())
    own = _install(newest, tmp_path / "installed", "[http]")
    own.run("floatgate", "trace", "generate", "zipf:span=1MiB,writes=5k", "-o", "trace.csv")
    plain = (own.root / "trace.csv").read_bytes()
    (tmp_path / "trace.csv.gz").write_bytes(gzip.compress(plain))
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/trace.csv.gz"
        told = [own.run("floatgate", "run", where, "--json") for where in (url, "trace.csv")]
        server.shutdown()
    fetched, local = map(json.loads, told)
    assert fetched["workload"]["hash"] == local["workload"]["hash"]
    assert fetched["workload"]["writes"] == 5000


def test_a_live_drive_is_served(installed: Installed) -> None:
    if shutil.which("nbdkit") is None:
        pytest.skip("nbdkit is not installed")
    [plugin] = installed.root.rglob("libfloatgate_nbdkit.so")
    # nbdkit loads the plugin and prints its properties. The live tests check the plugin of this
    # source further.
    dumped = subprocess.run(
        ["nbdkit", plugin, "--dump-plugin"], capture_output=True, text=True, timeout=60
    )
    assert dumped.returncode == 0, dumped.stderr
    assert "name=floatgate" in dumped.stdout
    assert f"version={floatgate.__version__}" in dumped.stdout


def test_it_installs_where_glibc_is_old() -> None:
    wheel = _wheel()
    auditwheel = shutil.which("auditwheel", path=str(Path(sys.executable).parent))
    if auditwheel is None:
        pytest.skip("auditwheel is not installed (make wheel installs it)")
    assert re.search(r"-cp310-abi3-.*manylinux_2_17_", wheel.name)
    done = subprocess.run([auditwheel, "show", wheel], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    told = re.sub(r"\s+", " ", done.stdout)
    assert re.search(r'consistent with the following platform tag: "manylinux_2_17_', told), told


def test_it_says_what_is_in_it() -> None:
    with zipfile.ZipFile(_wheel()) as wheel:
        names = wheel.namelist()
        boms = {name: json.loads(wheel.read(name)) for name in names if "/sboms/" in name}
        licences = [name for name in names if "/licenses/" in name]
        told = {Path(name).name: wheel.read(name).decode("utf-8") for name in licences}
    assert {"LICENSE", "module.txt", "plugin.txt"} == set(told)
    for crate, file in (("floatgate-py", "module.txt"), ("floatgate-nbdkit", "plugin.txt")):
        [bom] = [bom for name, bom in boms.items() if Path(name).name.startswith(crate)]
        assert bom["bomFormat"] == "CycloneDX"
        assert bom["metadata"]["component"]["version"] == floatgate.__version__
        named = {f"{part['name']} {part['version']}" for part in bom["components"]}
        told_of = set(re.findall(r"^  (\S+ \d\S*)", told[file], re.MULTILINE))
        # The licences also cover crates for other processors.
        assert len(named & told_of) > 0.8 * len(told_of), told_of - named
    assert not [name for name in names if name.startswith(("tests/", "benches/"))]


def test_it_does_not_say_where_it_was_built() -> None:
    cargo = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    with zipfile.ZipFile(_wheel()) as wheel:
        names = wheel.namelist()
        boms = [name for name in names if "/sboms/" in name]
        libraries = [name for name in names if name.endswith(".so")]
        assert (len(boms), len(libraries)) == (2, 2)
        for name in boms:
            assert not re.findall(r"file:[^\"]*", wheel.read(name).decode("utf-8")), name
        for name in libraries:
            held = wheel.read(name)
            for path in (str(ROOT), cargo):
                assert path.encode() not in held, f"{name}: {path}"
            # Nor may the files contain paths of another build machine.
            assert not re.search(rb"/[\w./-]*\.cargo/", held), name


def test_the_bill_of_the_environment_says_what_pip_takes() -> None:
    path = ROOT / "dist" / "floatgate-environment.cyclonedx.json"
    if not path.exists():
        pytest.skip(f"{path.name} is not in dist/ (make sbom makes it)")
    bom = json.loads(path.read_text("utf-8"))
    about = bom["metadata"]["component"]
    assert (about["name"], about.get("version")) == ("floatgate", floatgate.__version__)
    manifest = (ROOT / "pyproject.toml").read_text("utf-8")
    [listed] = re.findall(r"^dependencies = \[(.*?)^\]", manifest, re.MULTILINE | re.DOTALL)
    wanted = re.findall(r'^ +"([\w-]+)>=[^;\n]*$', listed, re.MULTILINE)
    assert len(wanted) > 10
    parts = {part["name"].lower().replace("_", "-"): part for part in bom["components"]}
    assert {*wanted} <= parts.keys()
    for name, part in parts.items():
        assert part["version"] and part.get("licenses"), name
    assert "file:" not in path.read_text("utf-8")
