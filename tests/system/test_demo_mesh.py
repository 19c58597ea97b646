"""The demo of four routers: nothing is lost in it, and it would say so if something were."""

import re
import subprocess
import sys

from tests.system.launched import ROOT, environment

RUN_S = 120.0
SEEN = re.compile(r"   caller at (\w): (\d+) calls, (\d+) answered \((.*?)\), repeated (\d+).*, lost (\d+)")


def test_nothing_is_lost_when_a_server_a_trunk_and_a_router_fail() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.demo_mesh", "--in-process", "--free-ports", "--phase", "1"],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=RUN_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    events = re.findall(r"^ *[\d.]+ s  (.*)$", done.stdout, re.M)
    assert [event.partition(",")[0] for event in events] == [
        "four routers start from configs/mesh-a.conf to mesh-d.conf",
        "they are joined",
        "RPC servers at A and D",
        "kill -9 of the server at A",
        "the server at A is started again",
        "the trunk B-A is cut",
        "the trunk B-A is back",
        "kill -9 of router D",
        "router D is started again",
        "the callers have stopped; what each saw",
    ]
    seen = [SEEN.fullmatch(line) for line in done.stdout.splitlines() if line.startswith("   caller")]
    assert [one[1] for one in seen if one] == ["B", "C", "D"] * 8
    for one in seen[-3:]:
        assert one is not None
        assert one[2] == one[3]
        assert int(one[2]) > 100
        assert one[4].startswith("A ")
        assert ", D " in one[4]
        assert one[6] == "0"
    # Those at living routers are never without answers.
    assert all(int(one[3]) > 0 for one in seen if one and one[1] in "BC")
    assert done.stdout.splitlines()[-1].startswith("Nothing was lost: ")
