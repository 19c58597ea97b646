"""The entry points of the programs."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.waiting import WITHIN_S

PROJECT = Path(__file__).parents[3] / "pyproject.toml"
SCRIPTS = tomllib.loads(PROJECT.read_text())["project"]["scripts"]
START = """\
import gc, sys
from {module} import {function}
gc.collect()
at_start = gc.get_stats()[2]["collections"]
try:
    sys.exit({function}())
finally:
    print("looks for garbage:", gc.isenabled(), "has looked:", gc.get_stats()[2]["collections"] - at_start)
"""


@pytest.mark.parametrize("name", sorted(set(SCRIPTS) - {"routeranalyze"}))
def test_a_program_is_imported_without_looking_for_garbage_and_looks_for_it_afterwards(name):
    module, function = SCRIPTS[name].split(":")
    command = [sys.executable, "-c", START.format(module=module, function=function), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S)
    counts = done.stdout.splitlines()[-1]
    assert (done.returncode, name in done.stdout, counts) == (0, True, "looks for garbage: True has looked: 0"), done
