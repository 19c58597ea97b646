"""The form of the benchmarks; their figures are not for tests."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench import oslo, policy, results, wire
from bench.core import forwarding
from bench.hostility import AMQP_HEADER, EMPTY_FRAME, KINDS, codes_in, flow, frame
from bench.load_runs import LoadFailed
from bench.memory import TwoRouters, Workers, single_router
from bench.mesh import CASES, growth, memory, paths
from bench.mesh.simulation import Simulation
from bench.report import Row, as_json, as_text
from bench.router import ratio_rows
from routerd.wire import Begin

ROOT = Path(__file__).resolve().parents[2]
ROWS = [
    Row("rate", 1234567.8, "messages/s", 400_000),
    Row("delay", 16.25, "us", 15, at_most=True),
    Row("plain", 3.0, "x"),
]


def test_a_target_is_met_on_its_good_side():
    assert [row.is_met for row in ROWS] == [True, False, True]
    assert [Row("at", 15, "us", 15).is_met, Row("at", 15, "us", 15, at_most=True).is_met] == [True, True]


def test_rows_are_printed_in_columns():
    assert as_text(ROWS).splitlines() == [
        "case       value  unit        target",
        "rate   1,234,568  messages/s  >= 400,000  met",
        "delay       16.2  us          <= 15       short",
        "plain          3  x",
    ]


def test_json_is_keyed_by_case():
    assert json.loads(as_json(ROWS))["delay"] == {"value": 16.25, "unit": "us", "target": 15, "met": False}


PAGE = """\
# Results

{figures}
|---|
| core | delay | 20 | us | <= 15 | short | 2026-01-01 | abc |
| core | other | 1 | us |  |  | 2026-01-01 | abc |
| wire | delay | 2 | us |  |  | 2026-01-01 | abc |

Between.

{history}
|---|
| 2026-01-01 | abc | core: 0 of 1 |  |
"""


def test_a_run_replaces_the_figures_of_its_cases_on_the_page_of_results():
    page = PAGE.format(figures=results.FIGURES, history=results.HISTORY)
    page = results.with_run(page, "core", [ROWS[1], ROWS[2]], "2026-01-02", "def")
    page = results.with_run(page, "router", [Row("1 to 1: ratio", 0.5, "of direct", 0.45)], "2026-01-02", "def")
    assert page.splitlines() == [
        *("# Results", "", results.FIGURES, "|---|---|---:|---|---|---|---|---|"),
        "| core | delay | 16.2 | us | <= 15 | short | 2026-01-02 | def |",
        "| core | other | 1 | us |  |  | 2026-01-01 | abc |",
        "| core | plain | 3 | x |  |  | 2026-01-02 | def |",
        "| wire | delay | 2 | us |  |  | 2026-01-01 | abc |",
        "| router | 1 to 1: ratio | 0.5 | of direct | >= 0.45 | met | 2026-01-02 | def |",
        *("", "Between.", "", results.HISTORY, "|---|---|---|---|"),
        "| 2026-01-02 | def | core: 0 of 1, router: 1 of 1 | 1 to 1 0.5 |",
        "| 2026-01-01 | abc | core: 0 of 1 |  |",
    ]


def test_the_page_of_results_takes_a_run():
    page = results.with_run(results.PAGE.read_text(), "core", [Row("made up", 3.0, "x")], "2026-01-02", "def")
    assert "| core | made up | 3 | x |" in page


def test_a_page_without_a_table_is_refused():
    with pytest.raises(results.NoSuchTable, match="no table with this header"):
        results.with_run("# Results", "core", ROWS, "2026-01-02", "def")


def test_the_benchmarks_are_listed():
    result = subprocess.run(
        [sys.executable, "-m", "bench", "--list"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == [
        *("core", "exchanges", "wire", "mesh", "router", "brokers", "management", "oslo", "security"),
        *("policy", "logins", "recording", "analytics", "http", "exactly_once", "stalls", "life"),
    ]


def test_an_unknown_benchmark_is_refused_with_the_known_ones():
    result = subprocess.run([sys.executable, "-m", "bench", "nothing"], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 2
    assert "wire" in result.stderr


def test_the_engine_benchmark_measures_what_it_says():
    assert wire.messages_per_second(2_000) > 0
    assert wire.relay_ns(200) > 0
    assert wire.attach_detach_us(5) > 0
    assert wire.link_pair_bytes(20) > 0
    assert wire.connection_bytes(5) > 0


@pytest.mark.parametrize("routers", [single_router, Workers, lambda: TwoRouters("q")], ids=["one", "workers", "two"])
def test_the_routers_of_the_core_benchmark_forward(routers):
    assert forwarding(routers(), "q", messages=20) > 0
    assert forwarding(routers(), "q", messages=20, settled=True) > 0


def test_the_router_of_the_policy_benchmark_takes_links(monkeypatch):
    monkeypatch.setattr(policy, "LINKS", 3)
    assert policy.attaching(None) > 0
    assert policy.attaching(policy.group()) > 0


def test_the_mesh_benchmark_measures_what_it_says():
    assert [(row.case, row.value > 0) for row in paths.rows(routers=20, trunks=40)] == [
        ("full computation", True),
        ("one cost change", True),
        ("all origins", True),
        ("origins after one cost change", True),
        ("memory with all origins", True),
    ]


def test_the_mesh_benchmark_has_a_case_for_each_question():
    assert list(CASES) == ["two-routers", "hops", "addresses", "memory", "paths", "edges", "growth"]


def test_the_memory_of_remote_addresses_is_measured_for_each_who_holds_them():
    holders = ("the routing engine", "a worker", "one process with both")
    assert [(row.case, row.value > 0) for row in memory.rows(20_000)] == [
        (f"remote address in {holder}, {where}", True)
        for where in ("all at one router", "at ten routers")
        for holder in holders
    ]


def test_addresses_that_are_not_taken_are_not_weighed(monkeypatch):
    monkeypatch.setattr(memory, "KEY", "no address {}")
    with pytest.raises(LoadFailed, match="0 of 10 addresses are known"):
        memory.told(1, 10)


def test_growth_is_told_figure_by_figure():
    figures = ("shortest paths", "all links", "messages", "octets", "CPU")
    assert [row.case for row in growth.rows((6, 8))] == [
        f"{event}: {figure}"
        for events in (("cold start of 6", "cold start of 8"), ("one trunk of 6 lost", "one trunk of 8 lost"))
        for figure in figures
        for event in events
    ]


def test_a_simulated_mesh_finds_the_shortest_paths_and_others_when_a_trunk_is_lost():
    links = {"A": {"B": 1, "C": 5}, "B": {"A": 1, "C": 1}, "C": {"A": 5, "B": 1}}
    simulation = Simulation(links)
    assert 0 < simulation.start().paths_s < 1
    assert simulation.costs() == {"A": {"B": 1, "C": 2}, "B": {"A": 1, "C": 1}, "C": {"B": 1, "A": 2}}
    simulation.rest(10.0)
    assert simulation.cut("A", "B").messages > 0
    assert simulation.costs() == {"A": {"C": 5, "B": 6}, "B": {"C": 1, "A": 6}, "C": {"A": 5, "B": 1}}


def test_the_options_of_a_benchmark_are_its_own():
    listed = subprocess.run(
        [sys.executable, "-m", "bench", "router", "--help"], cwd=ROOT, capture_output=True, text=True
    )
    assert (listed.returncode, "--loadgen" in listed.stdout) == (0, True)
    refused = subprocess.run(
        [sys.executable, "-m", "bench", "wire", "--quick"], cwd=ROOT, capture_output=True, text=True
    )
    assert (refused.returncode, "unrecognized arguments: --quick" in refused.stderr) == (2, True)


def test_what_hostile_peers_are_answered_is_counted_by_the_codes_of_performatives():
    begin = frame(Begin(next_outgoing_id=0, incoming_window=1, outgoing_window=1))
    answered = bytearray(AMQP_HEADER + begin + EMPTY_FRAME + flow(0, 1) + flow(None, None))
    codes, taken = codes_in(answered + b"\0\0")
    assert (codes, taken) == ([0x11, 0x13, 0x13], len(answered))
    assert {*KINDS} >= {"nothing", "flow-echoes", "unread-echoes", "attaches", "dispositions", "end", "disconnect"}


def test_calls_of_the_driver_are_not_measured_without_its_environment(monkeypatch, capsys):
    monkeypatch.setenv("MOBULA_DRIVER_PYTHON", "/nowhere/python")
    assert oslo.run(oslo.parse(["--quick"])) == []
    told = "/nowhere/python is not there: `make driver-setup` makes it, MOBULA_DRIVER_PYTHON names another"
    assert capsys.readouterr().err == f"oslo: {told}\n"


def test_a_ratio_is_the_median_of_the_ratios_of_the_repetitions():
    assert ratio_rows("case", 0.3, [(100.0, 10.0), (200.0, 80.0), (400.0, 100.0)]) == [
        Row("case: directly", 200.0, "messages/s"),
        Row("case: through", 80.0, "messages/s"),
        Row("case: ratio", 0.25, "of direct", 0.3),
    ]
