"""Metrics of real routers: the same at every worker, whatever becomes of an actor, and as Prometheus wants them."""

import re
import shutil
import signal
import subprocess
from collections.abc import Iterator

import pytest

from routerd.management import CENTRAL_ACTORS, DETAILED_FAMILIES, FAMILIES
from tests.system.conftest import Connect, in_forms, running
from tests.system.routers import FORMS, THREE_ACTORS, Form, RunningRouter, configuration, listener
from tests.system.web_client import Browser, close_all
from tests.waiting import WITHIN_S, eventually

DETAILED = "/metrics/detailed?" + "&".join(f"family={name}" for name in DETAILED_FAMILIES)
MESSAGES = 30
SCRAPES = 12
"""Connections among which those to several workers are, wherever the kernel puts each."""

Series = dict[str, float]

PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(
    PROMTOOL is None, reason="promtool is not installed (Debian has it in the package prometheus)"
)


@pytest.fixture(autouse=True)
def _closes_all() -> Iterator[None]:
    """Close what a test has opened."""
    yield
    close_all()


@pytest.fixture(scope="module")
def router(form: Form, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRouter]:
    """A router with a page of metrics."""
    text = configuration(listener("clients"), listener("web", http="yes"), mode="interior")
    with running(form, tmp_path_factory.mktemp("router"), text) as router:
        yield router


def text_at(router: RunningRouter, path: str = "/metrics", **headers: str) -> str:
    """Return a page from a connection of its own; management may be the last to start."""

    def page() -> str | None:
        status, body, _ = Browser(router.port_of("web")).ask(path, **headers)
        assert status in (200, 503), body
        return body.decode() if status == 200 else None

    return eventually(page, f"{path} is told") or ""


def scrape(router: RunningRouter, path: str = "/metrics") -> Series:
    """Return values by series."""
    lines = (line.rpartition(" ") for line in text_at(router, path).splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


def send(connect_to: Connect, router: RunningRouter, address: str, count: int) -> None:
    """Have messages sent and accepted, from one client to another."""
    sender, receiver = (connect_to(router.port_of("clients")) for _ in range(2))
    consumer = receiver.consumer(address, credit=count)
    producer = sender.producer(address)
    sent = producer.send_all(range(count))
    consumer.wait_for(count)
    assert [one.outcome() for one in sent] == ["accepted"] * count


@in_forms(*FORMS)
def test_every_worker_tells_of_all(router: RunningRouter, connect_to: Connect) -> None:
    before = scrape(router)
    send(connect_to, router, "told", MESSAGES)

    def increase(name: str, after: Series) -> float:
        return after[name] - before[name]

    name = 'mobula_deliveries_settled_total{direction="in",peer="client",outcome="accepted"}'
    eventually(lambda: increase(name, scrape(router)) == MESSAGES, "they are counted")
    for after in (scrape(router) for _ in range(SCRAPES)):
        assert increase("qdr_deliveries_ingress_total", after) == MESSAGES
        assert increase("qdr_deliveries_egress_total", after) == MESSAGES
        assert increase("qdr_accepted_deliveries_total", after) == MESSAGES
        assert increase('mobula_received_bytes_total{peer="client"}', after) > 10 * MESSAGES
        assert increase('mobula_sent_bytes_total{peer="client"}', after) > 10 * MESSAGES
        assert after["qdr_connections_total"] == after["mobula_connections"] == 2
        workers = max(router.form.actors, 1)
        assert [after[f'mobula_worker_up{{worker="{number}"}}'] for number in range(workers)] == [1] * workers
        assert sum(after[f'mobula_worker_connections{{worker="{number}"}}'] for number in range(workers)) == 2


@in_forms(*FORMS)
def test_details_are_told_of_what_is_asked_for(router: RunningRouter, connect_to: Connect) -> None:
    client = connect_to(router.port_of("clients"), container_id='odd "name"\n')
    client.consumer("detailed/a")
    client.consumer("detailed/b")
    found = scrape(router, "/metrics/detailed?family=address&address=detailed/a&family=link")
    assert found['mobula_address_consumers{address="detailed/a",class="mobile"}'] == 1
    assert not [name for name in found if "detailed/b" in name]
    [credit] = [name for name in found if name.startswith("mobula_link_credit{")]
    assert re.fullmatch(
        r'mobula_link_credit\{connection="\d+",link="\d+",direction="out",address="detailed/a",'
        r'container="odd \\"name\\"\\n"\}',
        credit,
    )
    few = scrape(router, "/metrics/detailed?family=address&limit=7")
    assert few['mobula_detailed_left_out{family="address"}'] >= 2
    assert len(few) == 7 + 1


@in_forms(THREE_ACTORS)
def test_no_count_is_lost_when_actors_die(router: RunningRouter, connect_to: Connect) -> None:
    send(connect_to, router, "kept", MESSAGES)
    before = scrape(router)
    for role in ("connection.0", "management", "connection.1"):
        victim = router.actors()[role]
        victim.signal(signal.SIGKILL)
        eventually(lambda role=role, victim=victim: router.actors().get(role) not in (None, victim), f"{role} is back")

    def workers_up() -> list[float]:
        return [value for name, value in scrape(router).items() if name.startswith("mobula_worker_up{")]

    eventually(lambda: workers_up() == [1, 1, 1], "all workers answer")
    after = scrape(router)
    counters = {one.name for one in FAMILIES if one.kind.value == "counter"}
    fallen = [
        name for name in before if name.partition("{")[0] in counters and after.get(name, 0.0) < before[name]
    ]
    assert fallen == []
    assert after['mobula_worker_restarts_total{worker="0"}'] == before['mobula_worker_restarts_total{worker="0"}'] + 1


@in_forms(THREE_ACTORS)
def test_every_actor_that_is_started_again_counts_once(router: RunningRouter) -> None:
    def restarts() -> Series:
        found = scrape(router)
        return {role: found.get(f'mobula_actor_restarts_total{{actor="{role}"}}', -1.0) for role in CENTRAL_ACTORS}

    eventually(lambda: min(restarts().values()) >= 0, "all actors tell")
    expected = restarts()
    # Management ends last and knows nothing of the others' deaths then.
    for role in ("table", "engine", "table", "management"):
        victim = router.actors()[role]
        victim.signal(signal.SIGKILL)
        eventually(lambda role=role, victim=victim: router.actors().get(role) not in (None, victim), f"{role} is back")
        expected[role] += 1
    seen: list[Series] = []

    def is_told() -> bool:
        seen.append(restarts())
        return seen[-1] == expected

    eventually(is_told, "all restarts are counted")
    assert all(one[role] <= expected[role] for one in seen for role in CENTRAL_ACTORS)


@in_forms(FORMS[0])
def test_open_metrics_is_told_to_who_asks_for_it(router: RunningRouter) -> None:
    text = text_at(router, Accept="application/openmetrics-text; version=1.0.0")
    assert text.endswith("\n# EOF\n")
    assert "# TYPE mobula_deliveries counter\n" in text
    assert "# TYPE qdr_connections_total unknown\n" in text


@needs_promtool
@in_forms(FORMS[0])
@pytest.mark.parametrize("path", ["/metrics", DETAILED], ids=["aggregated", "detailed"])
def test_promtool_finds_nothing_wrong(router: RunningRouter, connect_to: Connect, path: str) -> None:
    connect_to(router.port_of("clients")).consumer("checked")
    text = text_at(router, path)
    assert PROMTOOL is not None
    checked = subprocess.run(
        [PROMTOOL, "check", "metrics"], input=text, text=True, capture_output=True, timeout=WITHIN_S, check=False
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
