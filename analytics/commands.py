"""What the commands of routeranalyze do."""

import argparse
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from analytics.choices import FORMATS
from analytics.compact import compact
from analytics.errors import AnalyticsError
from analytics.progress import Progress
from analytics.record_directory import list_records
from analytics.records import open_records
from analytics.report import build_report, write_report
from analytics.results import as_text, write_table
from analytics.session import spark_session
from analytics.stream import keep_up_to_date
from analytics.study import QUESTIONS, Study
from analytics.synthesize import Plan, synthesize
from analytics.whatif import demands, hop_latency, optimise, parse_scenario, what_if


def run(options: argparse.Namespace) -> int:
    """Do what the command line says, and return the exit status."""
    command = _COMMANDS.get(options.command, _ask)
    try:
        _check(options)
        with spark_session(options.spark, memory=options.memory, cores=options.cores) as spark:
            command(spark, options)
    except AnalyticsError as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"{error.filename or options.records}: {error.strerror or error}")
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("py4j", "pyspark"):
            raise
        said = f"Spark gave up at {options.command}: {_cause(error)}"
        return _fail(f"{said}; if it is for want of memory, give it more by --memory")
    return 0


def _check(options: argparse.Namespace) -> None:
    """Find what is wrong before Spark is started, which takes seconds."""
    for text in getattr(options, "change", None) or ():
        parse_scenario(text)
    if options.command == "audit" and not options.message and not (options.address and options.at):
        raise AnalyticsError("an audit is of one message (--message ID), or of an address and a time (--address, --at)")
    if options.command not in ("synthesize", "stream", "compact"):
        list_records(options.records, options.begin, options.end)


def _fail(sentence: str) -> int:
    print(f"routeranalyze: {sentence}", file=sys.stderr)
    return 1


def _cause(error: Exception) -> str:
    """Return the line of a Java trace that says most: the last cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return (causes or lines or [type(error).__name__])[-1 if causes else 0][:300]


def _report(spark: SparkSession, options: argparse.Namespace) -> None:
    report, _ = build_report(
        spark,
        options.records,
        options.begin,
        options.end,
        tables=(options.tables, options.format) if options.tables else None,
        capacity_octets_s=options.trunk_capacity,
        progress=lambda steps: Progress(steps, is_quiet=options.quiet),
    )
    write_report(report, options.out)
    print(f"{options.out}: {report.messages:,} messages, {len(report.findings)} findings")
    for one in report.findings:
        print(f"* {one.says}")


def _ask(spark: SparkSession, options: argparse.Namespace) -> None:
    names = ("by", "top", "seconds", "message", "address", "at")
    asked: dict[str, Any] = {name: getattr(options, name) for name in names if hasattr(options, name)}
    study = _study(spark, options)
    try:
        _give(QUESTIONS[options.command](study, **asked), options)
    finally:
        study.forget()


def _what_if(spark: SparkSession, options: argparse.Namespace) -> None:
    scenarios = [parse_scenario(text) for text in options.change]
    study = _study(spark, options)
    for scenario in scenarios:
        for address, _, _ in scenario.moves:
            study.check_address(address)
    apart = {address for scenario in scenarios for address, _, _ in scenario.moves}
    rows = what_if(
        spark,
        study.topology.whole.states,
        demands(study.flow_cells, apart),
        scenarios,
        duration_s=study.records.duration_s,
        latency=hop_latency(study.decision_cells),
    )
    _give(rows, options)


def _optimise(spark: SparkSession, options: argparse.Namespace) -> None:
    study = _study(spark, options)
    optimum = optimise(spark, study.topology.whole.states, demands(study.flow_cells), options.rounds)
    seconds = study.records.duration_s
    if optimum.scenario is None or optimum.before.busiest is None:
        print("No change of a cost was found that lowers the load of the busiest trunk.")
        return
    one, other = optimum.before.busiest
    print(f"now: {optimum.before.most_octets / seconds:,.0f} octets/s on the busiest trunk, {one} to {other}")
    for change, octets in optimum.steps:
        print(f"{change}: {octets / seconds:,.0f} octets/s on the busiest trunk")
    print(f"mean hops: {optimum.before.mean_hops:.3g} before, {optimum.after.mean_hops:.3g} after")
    print(f"try: routeranalyze whatif --change '{optimum.scenario.name}'")


def _stream(spark: SparkSession, options: argparse.Namespace) -> None:
    # Spark goes on with a batch when Ctrl-C comes, unless the query is told.
    signal.signal(signal.SIGTERM, signal.default_int_handler)

    def say(text: str) -> None:
        if not options.quiet:
            print(text, flush=True)

    keep_up_to_date(spark, options.records, options.results, form=options.format, every_s=options.every, say=say)


def _compact(spark: SparkSession, options: argparse.Namespace) -> None:
    before = options.before or datetime.now(UTC) - timedelta(hours=1)
    done = compact(spark, options.records, before)
    left = f"; {done.left_out} that are damaged or of a newer version were left" if done.left_out else ""
    print(f"{done.files_before} files of {done.folders} folders are {done.files_after} now{left}")


def _synthesize(spark: SparkSession, options: argparse.Namespace) -> None:
    plan = Plan(
        rows=options.rows,
        routers=options.routers,
        addresses=options.addresses,
        days=options.days,
        begin=options.begin,
        seed=options.seed,
    )
    progress = Progress(1, is_quiet=options.quiet)
    with progress.step(f"make up {plan.rows:,} decisions"):
        planted, rows = synthesize(spark, options.records, plan)
    progress.end()
    print(f"{options.records}: {rows:,} decisions of {len(plan.hours)} hours")
    print(
        f"planted: a bad cost between {' and '.join(planted.bad_cost)}, the slow consumer {planted.slow_consumer[1]}, "
    )
    print(f"a flapping trunk between {' and '.join(planted.flapping)}, nobody at {planted.lonely}")


_COMMANDS: dict[str, Callable[[SparkSession, argparse.Namespace], None]] = {
    "report": _report,
    "whatif": _what_if,
    "optimise": _optimise,
    "stream": _stream,
    "compact": _compact,
    "synthesize": _synthesize,
}


def _study(spark: SparkSession, options: argparse.Namespace) -> Study:
    progress = Progress(1, is_quiet=options.quiet)
    with progress.step("look at the files"):
        records = open_records(spark, options.records, options.begin, options.end)
    for remark in records.remarks:
        print(f"routeranalyze: {remark}", file=sys.stderr)
    return Study(spark, records, getattr(options, "trunk_capacity", None))


def _give(rows: DataFrame, options: argparse.Namespace) -> None:
    """Write a table to a file, or print its first rows."""
    progress = Progress(1, is_quiet=options.quiet)
    with progress.step(options.command):
        if options.out is not None:
            write_table(rows, options.out, options.format or _form_of(options.out))
        else:
            some = rows.limit(options.limit + 1).collect()
    progress.end()
    if options.out is not None:
        print(options.out)
        return
    print(as_text(rows.columns, some[: options.limit]) if some else "Nothing was recorded of this.")
    if len(some) > options.limit:
        print("... and more: --limit and --out have them")


def _form_of(path: Path) -> str:
    ending = path.suffix.removeprefix(".")
    return ending if ending in FORMATS else "parquet"
