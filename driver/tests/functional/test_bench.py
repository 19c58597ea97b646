"""The form of `python -m bench oslo`; its figures are not for tests."""

import json
import os
import subprocess
import sys

from examples.routers import TREE, router_python

RUN_S = 100


def test_the_benchmark_says_what_is_held_and_who_uses_the_processor(routers_can_start: None) -> None:
    cases = [word for case in ("memory", "profile") for word in ("--case", case)]
    done = subprocess.run(
        [router_python(), "-m", "bench", "oslo", "--json", "--quick", "--in-process", "--no-broker", *cases],
        cwd=TREE,
        env=os.environ | {"MOBULA_DRIVER_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=RUN_S,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert [name for name in figures if not name.startswith("share")] == [
        "50 servers",
        "50 clients",
        "50 servers and 50 clients",
    ]
    whole = figures["50 servers"]["value"] + figures["50 clients"]["value"]
    assert figures["50 servers and 50 clients"]["value"] == whole > 0
    for where in ("client", "server"):
        shares = {
            name.removeprefix(f"share in the {where}: "): figure["value"]
            for name, figure in figures.items()
            if name.startswith(f"share in the {where}: ")
        }
        assert {"the driver", "oslo.messaging", "proton and pyngus"} <= set(shares)
        assert 99.0 < sum(share for name, share in shares.items() if ".py" not in name) < 101.0
