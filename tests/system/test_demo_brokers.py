"""The demo of brokers: every accepted message comes out in it, and it would say so if one did not."""

import re
import subprocess
import sys

import pytest

from bench.rabbitmq import absence
from tests.system.launched import ROOT, environment

RUN_S = 400.0
VERDICT = re.compile(r"Every accepted message came out: (\d+) accepted, \d+ came more than once\.")

pytestmark = pytest.mark.skipif(absence() is not None, reason=str(absence()))


def test_every_accepted_message_comes_out_when_a_broker_is_killed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.demo_brokers", "--phase", "1"],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=RUN_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    events = re.findall(r"^ *[\d.]+ s  (.*)$", done.stdout, re.M)
    assert [re.split("[;,]", event)[0] for event in events] == [
        "two RabbitMQ and three routers start",
        "they listen",
        "producer and consumer at B",
        "a link at C",
        "kill -9 of the broker at A",
        "the broker at A is started again",
        "a link at C",
        "the producer stops",
    ]
    assert "hears qd:routed-link-lost, its connection stays" in done.stdout
    verdict = VERDICT.fullmatch(done.stdout.splitlines()[-1])
    assert verdict is not None
    assert int(verdict[1]) > 100
