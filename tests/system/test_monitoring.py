"""configs/monitoring: every series named there is one of a running router, and Prometheus takes the files."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from routerd.management import DETAILED_FAMILIES, FAMILIES
from tests.interop.certificates import Authority, absence
from tests.interop.tls_routers import profile
from tests.system.conftest import running
from tests.system.launched import ROOT
from tests.system.routers import IN_PROCESS, RunningRouter, configuration, listener, section
from tests.system.web_client import Browser, close_all
from tests.waiting import WITHIN_S, eventually

MONITORING = ROOT / "configs" / "monitoring"
ALERTS, DASHBOARD = MONITORING / "alerts.yml", MONITORING / "grafana-dashboard.json"
RULE_TESTS = Path(__file__).with_name("alerts.test.yml")
SERIES = re.compile(r"\b(?:mobula|qdr)_\w+")
SELECTORS = re.compile(r"\b((?:mobula|qdr)_\w+)\{([^}]*)\}")
LABELS = re.compile(r"(\w+)(?:=~|!~|!=|=)")
OF_PROMETHEUS = {"instance", "job"}
PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(
    PROMTOOL is None, reason="promtool is not installed (Debian has it in the package prometheus)"
)


def expressions() -> list[str]:
    """Return all that is asked of Prometheus."""
    alerts = re.findall(r"^ +expr: (.*)$", ALERTS.read_text(), re.M)
    panels = json.loads(DASHBOARD.read_text())["panels"]
    return alerts + [target["expr"] for panel in panels for target in panel.get("targets", ())]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[set[str]]:
    """The series of a router that has a neighbour, TLS, records and topics."""
    if absence() is not None:
        pytest.skip(str(absence()))
    folder = tmp_path_factory.mktemp("authority")
    ca = Authority(folder)
    trunk = listener("routers", role="inter-router")
    with running(IN_PROCESS, tmp_path_factory.mktemp("b"), configuration(trunk, mode="interior", id="B")) as other:
        text = configuration(
            profile(own=ca.issue()),
            listener("tls", sslProfile="tls"),
            listener("web", http="yes"),
            section("connector", name="to-b", host="127.0.0.1", port=other.port, role="inter-router"),
            section("record", level="all", directory=folder / "records"),
            section("address", prefix="prices", distribution="multicast", delivery="exactly-once"),
            mode="interior",
            id="A",
        )
        with running(IN_PROCESS, tmp_path_factory.mktemp("a"), text) as router:
            try:
                eventually(lambda: "mobula_trunk_cost" in series_of(router), "the trunk is up")
                yield series_of(router)
            finally:
                close_all()


def series_of(router: RunningRouter) -> set[str]:
    status, body, _ = Browser(router.port_of("web")).ask("/metrics")
    assert status == 200
    return {line.split()[0].partition("{")[0] for line in body.decode().splitlines() if not line.startswith("#")}


def test_a_running_router_has_all_series(told: set[str]) -> None:
    assert told == {family.name for family in FAMILIES}


def test_every_series_that_is_watched_is_there(told: set[str]) -> None:
    watched = {name for one in expressions() for name in SERIES.findall(one)}
    assert len(watched) > 25
    assert watched - told == set()


def test_every_label_that_is_watched_is_one_of_its_series() -> None:
    labels = {family.name: {*family.labels, *OF_PROMETHEUS} for family in FAMILIES}
    found = [(name, label) for one in expressions() for name, text in SELECTORS.findall(one)
             for label in LABELS.findall(text)]
    assert found
    assert [(name, label) for name, label in found if label not in labels[name]] == []


def test_the_panels_of_the_dashboard_are_told_apart_and_lie_side_by_side() -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    assert len({one["id"] for one in panels}) == len(panels)
    places = [(one["gridPos"]["y"], one["gridPos"]["x"]) for one in panels]
    assert sorted(set(places)) == places
    assert all(one["gridPos"]["x"] + one["gridPos"]["w"] <= 24 for one in panels)
    assert all(one["description"] for one in panels if one["type"] != "row")


def test_the_example_asks_for_families_that_there_are() -> None:
    text = (MONITORING / "prometheus.yml").read_text()
    [families] = re.findall(r"family: \[(.*)\]", text)
    assert set(families.split(", ")) <= set(DETAILED_FAMILIES)


@needs_promtool
@pytest.mark.parametrize(
    "arguments",
    [("check", "config", MONITORING / "prometheus.yml"), ("test", "rules", RULE_TESTS)],
    ids=["files", "alerts"],
)
def test_promtool_takes_it(arguments: tuple[object, ...]) -> None:
    checked = subprocess.run(
        [str(PROMTOOL), *map(str, arguments)], text=True, capture_output=True, timeout=WITHIN_S, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


@needs_promtool
def test_promtool_takes_every_expression_of_the_dashboard(tmp_path: Path) -> None:
    rules = [
        {"record": f"panel:{number}", "expr": one.replace("$__rate_interval", "1m").replace("$router", ".*")}
        for number, one in enumerate(expressions())
    ]
    file = tmp_path / "rules.yml"
    # JSON is YAML.
    file.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    checked = subprocess.run(
        [str(PROMTOOL), "check", "rules", file], text=True, capture_output=True, timeout=WITHIN_S, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
