"""Faults that are planted in made-up records are found, and the report names them."""

import json
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import asdict
from html.parser import HTMLParser

import pytest

from analytics.questions.churn import FLAPS
from analytics.record_directory import list_records
from analytics.records import open_records
from analytics.report import build_report, page, write_report
from analytics.study import Study
from analytics.synthesize import Plan
from analytics.synthesize.making import PLANTED, write_hour
from analytics.whatif import demands, evaluate, optimise, parse_scenario
from routerd.records import EVENTS
from routerd.records.parquet import read_footer
from tests.analytics.made_rows import BEGIN_US, write_rows

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def study(spark, made_up):
    made = Study(spark, open_records(spark, made_up[0]))
    yield made
    made.forget()


@pytest.fixture(scope="module")
def report(spark, made_up, tmp_path_factory):
    tables = tmp_path_factory.mktemp("tables")
    made, progress = build_report(spark, made_up[0], None, None, tables=(tables, "csv"))
    return made, progress, tables


def test_the_faults_are_written_beside_the_records(made_up):
    directory, planted = made_up
    assert json.loads((directory / PLANTED).read_text()) == json.loads(json.dumps(asdict(planted)))


def test_the_flapping_trunk_is_found(study, made_up):
    first = study.churn().first()
    assert (first["what"], first["is_flapping"]) == ("trunk", True)
    assert {first["router"], first["name"]} == set(made_up[1].flapping)
    assert first["lost"] >= FLAPS


def test_the_slow_consumer_is_found(study, made_up):
    assert [(row["address"], row["consumer"]) for row in study.balance().where("is_slow").collect()] == [
        made_up[1].slow_consumer
    ]


def test_costs_are_proposed_that_are_about_as_good_as_mending_the_planted_one(spark, study, made_up):
    states, traffic = study.topology.whole.states, demands(study.flow_cells)
    mended = evaluate(states, traffic, parse_scenario(f"cost {' '.join(made_up[1].bad_cost)} 10"))
    optimum = optimise(spark, states, traffic, rounds=1)
    assert mended.most_octets < optimum.before.most_octets
    assert optimum.after.most_octets <= 1.15 * mended.most_octets


def test_the_clock_that_is_ahead_is_found(study, made_up):
    router, ahead_s = made_up[1].clock
    assert study.ahead_us == {router: pytest.approx(ahead_s * 1e6, abs=5_000)}


def test_the_most_urgent_findings_are_the_faults(report, made_up):
    planted = made_up[1]
    urgent = [one.says for one in report[0].findings if one.urgency == 1]
    assert len(urgent) == 3
    assert urgent[0].startswith(f"Trunk {' - '.join(planted.bad_cost)} costs 90, the usual trunk 10")
    assert urgent[1].startswith(f"Consumer {planted.slow_consumer[1]} of {planted.slow_consumer[0]}")
    assert re.match(rf"Trunk {' - '.join(planted.flapping)} flaps: it was lost \d+ times", urgent[2])


def test_the_other_findings_name_the_rest(report, made_up):
    said = " ".join(one.says for one in report[0].findings if one.urgency > 1)
    assert f"(no-consumer), to {made_up[1].lonely}" in said
    assert f"The clock of {made_up[1].clock[0]} is 2.5 s ahead of those of the others." in said


def test_every_step_is_told_how_long_it_took(report):
    assert {"look at the files", "sum up the decisions", "matrix", "clocks"} <= set(report[1].seconds)


def test_every_table_is_written(report):
    names = {path.name for path in report[2].iterdir()}
    assert names == {f"{name}.csv" for name in report[0].answers}
    assert (report[2] / "matrix.csv").read_text().splitlines()[0] == "origin,destination,messages,octets"


class Tags(HTMLParser):
    """What a page consists of, and what it would load."""

    def __init__(self, text):
        super().__init__()
        self.tags = Counter()
        self.loads = []
        self.names = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        found = dict(attrs)
        self.names.append(found.get("id"))
        self.loads += [found[name] for name in ("src", "href") if name in found]


def test_a_report_is_one_page_that_loads_nothing(report):
    tags = Tags(page(report[0]))
    assert [one for one in tags.loads if not one.startswith(("#", "data:"))] == []
    assert {"summary", "topology", "matrix", "balance", "churn", "chart-topology", "records"} <= set(tags.names)


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_browser_shows_the_report_without_complaint(report, tmp_path):
    write_report(report[0], tmp_path / "report.html")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    command += ["--enable-logging=stderr", "--virtual-time-budget=5000", "--run-all-compositor-stages-before-draw"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", f"--print-to-pdf={tmp_path / 'report.pdf'}", "--dump-dom"]
    done = subprocess.run([*command, (tmp_path / "report.html").as_uri()], capture_output=True, text=True, timeout=120)
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    assert done.stdout.count('class="main-svg"') >= 7 or (tmp_path / "report.pdf").stat().st_size > 50_000


def test_the_same_seed_makes_the_same_records(made_up, tmp_path):
    plan = Plan(rows=20_000, days=0.25, addresses=8, seed=7)
    write_hour(tmp_path, plan, plan.hours[5])
    for one in list_records(tmp_path).files:
        assert read_footer(made_up[0] / one.file.path) == one.footer


def test_there_are_about_as_many_rows_as_were_asked_for(made_up):
    rows = sum(one.footer.rows for one in list_records(made_up[0]).of("decisions"))
    assert rows == pytest.approx(20_000, rel=0.1)


def test_a_report_of_flows_alone_says_what_is_missing(spark, world, tmp_path):
    records = shutil.copytree(world.directory, tmp_path / "records")
    shutil.rmtree(records / "decisions")
    shutil.rmtree(records / "events")
    lost = {"router": "A", "time": BEGIN_US, "kind": "rows-lost", "number": 12, "detail": "disk full"}
    write_rows(records, EVENTS, [lost])
    made, _ = build_report(spark, records, None, None)
    assert made.remarks == ("There are no decisions.", "The recorder of A could not keep 12 rows (disk full).")
    assert made.messages == sum(row["messages"] for row in world.flows if row["ingress_kind"] == "client")
    assert made.findings == []
    text = page(made)
    assert "No router recorded a trunk." in text
    assert "There are no decisions." in text
    assert "Nothing stands out." in text
