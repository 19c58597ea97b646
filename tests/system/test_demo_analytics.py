"""The demo of recorded decisions: the report names the slow consumer and the trunk that was cut."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.launched import ROOT, environment

RUN_S = 900.0


@pytest.mark.soak
def test_the_report_names_both_faults(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="the report is made by Spark")
    done = subprocess.run(
        [sys.executable, "-m", "bench.demo_analytics", "--folder", str(tmp_path), "--phase", "4"],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=RUN_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    named = re.findall(r"^   (slow consumer|trunk cut): (.*)$", done.stdout, re.M)
    assert [fault for fault, _ in named] == ["slow consumer", "trunk cut"]
    assert "slow/slow-from-orders of orders at C is slow" in named[0][1]
    assert (tmp_path / "report.html").stat().st_size > 10_000
