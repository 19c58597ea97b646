"""The demo of topics: its account is clean, and it would say so if it were not."""

import re
import subprocess
import sys
from pathlib import Path

from bench.demo_exactly_once.account import Account, account_of
from tests.system.launched import ROOT, environment

from mobula_client import SqliteStore

RUN_S = 300.0
ACCOUNT = re.compile(r"subscriber-\d: (\d+) processed, 0 missing, (\d+) twice, 0 out of order")


def demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the demo to its end."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.demo_exactly_once", "--in-process", *arguments],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=RUN_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_each_message_is_processed_once_while_clients_and_routers_are_killed() -> None:
    done = demo("--phase", "1")
    events = re.findall(r"^ *[\d.]+ s  (.*)$", done.stdout, re.M)
    assert [re.split("[;,]", event)[0] for event in events] == [
        "3 routers start",
        "all routers are joined",
        "4 publishers and 6 subscribers are attached",
        "kill -9 of router B",
        "router B is started again",
        "both are started again",
        "kill -9 of all routers at once",
        "the publishers stop",
    ]
    assert done.stdout.count(", 0 missing, 0 twice, 0 out of order") == 6
    verdict = done.stdout.splitlines()[-1]
    pattern = r"Every message was processed once by each subscriber: (\d+) messages of 4 publishers\."
    found = re.fullmatch(pattern, verdict)
    assert found is not None
    assert int(found[1]) > 100


def test_with_at_least_once_nothing_is_missing_and_what_comes_again_is_bounded() -> None:
    done = demo("--phase", "1", "--delivery", "at-least-once")
    last = done.stdout.splitlines()[-1]
    found = re.fullmatch(
        r"Every message was processed by each subscriber, at most (\d+) again: (\d+) messages of 4 publishers\.", last
    )
    assert found is not None
    at_most, count = map(int, found.groups())
    accounts = [(int(processed), int(twice)) for processed, twice in ACCOUNT.findall(done.stdout)]
    assert len(accounts) == 6
    assert all(processed == count + twice and twice <= at_most for processed, twice in accounts)


def test_the_long_run_makes_failures_and_mends_them() -> None:
    done = demo("--minutes", "0.3", "--one-host", "--seed", "3")
    assert re.search(r"everything is mended: \d+ ", done.stdout)
    assert "There are no cuts" not in done.stdout
    assert done.stdout.count(", 0 missing, 0 twice, 0 out of order") == 6


def test_the_account_sees_what_is_missing_twice_and_out_of_order(tmp_path: Path) -> None:
    database = tmp_path / "subscriber.db"
    store = SqliteStore(database)
    with store.transaction() as connection:
        connection.execute("CREATE TABLE processed (place INTEGER PRIMARY KEY, writer TEXT, number INTEGER)")
        rows = [("a", 0), ("a", 2), ("a", 1), ("b", 0), ("b", 0)]
        connection.executemany("INSERT INTO processed (writer, number) VALUES (?, ?)", rows)
    store.close()
    found = account_of("s", database, {"a": 4, "b": 1})
    assert found == Account("s", processed=5, missing=1, twice=1, disordered=1)
    assert not found.is_clean()
    assert not Account("s", processed=5, missing=0, twice=1, disordered=0).is_clean()
    assert Account("s", processed=5, missing=0, twice=1, disordered=0).is_clean(twice_at_most=1)
    assert not Account("s", processed=5, missing=1, twice=0, disordered=0).is_clean(twice_at_most=1)
