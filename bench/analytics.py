"""How long the study of recorded decisions takes, by made-up records of two sizes, and what a decision takes on disk.

A part of a report's time does not depend on the number of rows (starting, planning), the rest does. So the time for 100
million follows from two sizes. It is worked out from processor time, which other programs hardly change.
`--rows 100_000_000` measures it, and takes as long as it says.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.report import Row

MILLION = 1_000_000
MANY = 100 * MILLION
WITHIN_S = 600
MOST_BYTES = 24
MEMORY = "4g"
ROWS_AN_HOUR = 1_000_000
NOT_BY_ROWS = {"look at the files"}


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the options of this benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench analytics", description=__doc__)
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")), default=2 * MILLION, metavar="N")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--keep", metavar="DIR", help="make the records there, use those of an earlier run, keep them")
    return parser.parse_args(arguments)


def run(options: argparse.Namespace | None = None) -> list[Row]:
    """Make records of half the rows and of all, and a report of each."""
    options = options or parse([])
    if find_spec("pyspark") is None:
        print("analytics: pyspark is not installed: `make analytics` installs it", file=sys.stderr)
        return []
    from analytics.session import spark_session

    with _folder(options.keep) as folder, spark_session(f"local[{options.cores}]", memory=MEMORY) as spark:
        # Code that is compiled once belongs to neither of the two runs that are compared.
        _measured(spark, folder, max(1, options.rows // 8))
        many = _measured(spark, folder, options.rows)
        few = _measured(spark, folder, options.rows // 2)
    return _rows(few, many, options.cores)


@contextmanager
def _folder(keep: str | None) -> Any:
    if keep is not None:
        yield Path(keep)
        return
    with tempfile.TemporaryDirectory(prefix="bench-analytics-") as folder:
        yield Path(folder)


def _measured(spark: Any, folder: Path, rows: int) -> dict[str, Any]:
    """Return how many decisions there are, what they take, and how long making and studying them took."""
    from analytics.progress import Progress
    from analytics.record_directory import list_records
    from analytics.report import build_report
    from analytics.synthesize import Plan, synthesize

    directory = folder / f"rows-{rows}"
    begun = time.monotonic()
    if not directory.exists():
        hours = max(1, min(24, rows // ROWS_AN_HOUR + 1))
        try:
            synthesize(spark, directory, Plan(rows=rows, days=hours / 24))
        except BaseException:
            shutil.rmtree(directory, ignore_errors=True)
            raise
    made_s = time.monotonic() - begun
    files = list_records(directory).of("decisions")
    count = sum(one.footer.rows for one in files)
    begun, begun_cpu_s = time.monotonic(), _cpu_s()
    _, progress = build_report(spark, directory, None, None, progress=lambda steps: Progress(steps, is_quiet=True))
    return {
        "rows": count,
        "bytes": sum(one.footer.size_bytes for one in files) / count,
        "made_s": made_s,
        "report_s": time.monotonic() - begun,
        "cpu_s": _cpu_s() - begun_cpu_s,
        "steps": progress.seconds,
    }


def _cpu_s() -> float:
    """Return the time of processors that this process and all below it have used."""
    parents, ticks = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
        # Own time and that of children that have ended.
        ticks[int(stat.parent.name)] = sum(map(int, fields[11:15]))
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(ticks.get(pid, 0) for pid in ours) / os.sysconf("SC_CLK_TCK")


def _rows(few: dict[str, Any], many: dict[str, Any], cores: int) -> list[Row]:
    a_row_s = max(0.0, many["cpu_s"] - few["cpu_s"]) / max(1, many["rows"] - few["rows"])
    expected_s = (many["cpu_s"] + a_row_s * max(0, MANY - many["rows"])) / cores
    label = f"{many['rows'] / MILLION:.3g} million decisions"
    return [
        Row("a decision on disk", many["bytes"], "bytes", MOST_BYTES, at_most=True),
        Row(f"making {label} up", many["rows"] / max(many["made_s"], 1e-9), "rows/s"),
        Row(f"report of {label}", many["report_s"], "s"),
        Row(f"report of {label}: processors", many["cpu_s"], "s"),
        Row("report of twice the rows: processors", many["cpu_s"] / few["cpu_s"], "times as much", 2, at_most=True),
        Row(f"report of 100 million decisions, {cores} cores at full use", expected_s, "s", WITHIN_S, at_most=True),
        *(
            Row(f"{name}: {label}", many["rows"] / seconds, "rows/s")
            for name, seconds in many["steps"].items()
            if name not in NOT_BY_ROWS
        ),
    ]
