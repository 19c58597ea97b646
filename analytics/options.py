"""The command line of routeranalyze."""

import argparse
import tomllib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

from analytics.choices import FORMATS, LATENCY_BY, MATRIX_BY, RAY_ADDRESS, RAYDP

EXAMPLES = """\
examples:
  what happened, as a page to look at or print:
    routeranalyze report --records records --out report.html
  the same of two hours, with the tables as CSV:
    routeranalyze report --from 2026-11-21T14:00 --to 2026-11-21T16:00 --tables tables --format csv
  who sends to whom, by address:
    routeranalyze matrix --by address
  why one message went where it went:
    routeranalyze audit --message 7f3c-0001
  what if a trunk were cheaper, or a router gone:
    routeranalyze whatif --change 'cost A B 5' --change 'remove-router C'
  made-up records to try all this with:
    routeranalyze synthesize --records made-up --rows 1000000

exit status: 0 when all went well; 1 when it did not, with a sentence that says why; 130 after Ctrl-C.

Times are UTC, such as 2026-11-21, 2026-11-21T14:00 or 2026-11-21T14:00:05.
"""

QUESTIONS = {
    "matrix": "the traffic matrix: messages from router to router",
    "talkers": "the busiest addresses, senders and consumers",
    "latency": "percentiles of the latency",
    "outcomes": "what became of messages over time",
    "undeliverables": "messages that were not delivered, and why",
    "balance": "how the messages of an address are shared among its consumers",
    "stretch": "paths against the best of their time",
    "trunks": "how busy trunks are",
    "stalls": "where messages waited for credit, how long, and whose",
    "churn": "addresses, links, trunks and routes that come and go",
    "audit": "single decisions: what was known, and why this consumer was chosen",
    "anomalies": "hours that are unlike the same hour of the days before",
    "clocks": "by how much the clocks of routers disagree",
}


class Parser(argparse.ArgumentParser):
    """A parser whose errors end with exit status 1, as all of this command's do."""

    def error(self, message: str) -> NoReturn:
        """End the program."""
        self.exit(1, f"routeranalyze: {message}; see {self.prog} --help\n")


class VersionAction(argparse.Action):
    """Prints the version, and ends."""

    def __init__(self, option_strings: Sequence[str], dest: str, **options: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, **options)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        """Do so; where nothing is installed, the project says it."""
        try:
            version = metadata.version("mobula")
        except metadata.PackageNotFoundError:
            project = Path(__file__).resolve().parents[1] / "pyproject.toml"
            version = tomllib.loads(project.read_text())["project"]["version"]
        print(version)
        parser.exit()


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = Parser(
        prog="routeranalyze",
        description="Studies what routers recorded of their decisions, with Spark.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action=VersionAction, help="print the version, and end")
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    add = commands.add_parser
    _report(add("report", help="a page with the answers to all questions"))
    for name, says in QUESTIONS.items():
        _question(name, add(name, help=says, description=says))
    _what_if(add("whatif", help="the recorded traffic over a changed network"))
    _optimise(add("optimise", help="costs that lower the load of the busiest trunk"))
    _stream(add("stream", help="keeps hourly results up to date while records come in"))
    _compact(add("compact", help="puts the small files of past hours together"))
    _synthesize(add("synthesize", help="makes up records, with faults to be found"))
    return made


def time_of(text: str) -> datetime:
    """Return a time in UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time: write 2026-11-21T14:00") from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _number(least: float, kind: Callable[[str], float]) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            found = kind(text.replace("_", ""))
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
        if found < least:
            raise argparse.ArgumentTypeError(f"{text} is too small: {least:g} is the least")
        return found

    return read


def _common(made: argparse.ArgumentParser) -> None:
    group = made.add_argument_group("where it runs")
    group.add_argument("--records", metavar="DIR", type=Path, default=Path("records"), help="[%(default)s]")
    group.add_argument(
        "--spark",
        metavar="WHERE",
        default="local[*]",
        help=f"`{RAYDP}` for the Ray that {RAY_ADDRESS} names, or one of its own; `local[*]` for this process alone; "
        "or the URL of a Spark master [%(default)s]",
    )
    group.add_argument("--memory", default="4g", help="of Spark's process, or of an executor [%(default)s]")
    group.add_argument("--cores", type=_number(1, int), default=2, metavar="N", help=f"with `{RAYDP}` [%(default)s]")
    group.add_argument("--quiet", action="store_true", help="say nothing of the progress")


def _period(made: argparse.ArgumentParser) -> None:
    made.add_argument("--from", dest="begin", type=time_of, metavar="TIME", help="[the first record]")
    made.add_argument("--to", dest="end", type=time_of, metavar="TIME", help="[the last record]")


def _table(made: argparse.ArgumentParser) -> None:
    made.add_argument("--out", type=Path, metavar="FILE", help="write the table there, and not to the terminal")
    made.add_argument("--format", choices=FORMATS, help="of the table [by the end of FILE's name, or parquet]")
    made.add_argument("--limit", type=_number(1, int), default=50, metavar="N", help="rows to print [%(default)s]")


def _report(made: argparse.ArgumentParser) -> None:
    _period(made)
    made.add_argument("--out", type=Path, metavar="FILE", default=Path("report.html"), help="[%(default)s]")
    made.add_argument("--tables", type=Path, metavar="DIR", help="write all tables there as well")
    made.add_argument("--format", choices=FORMATS, default="parquet", help="of the tables [%(default)s]")
    _capacity(made)
    _common(made)


def _capacity(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--trunk-capacity",
        type=_number(1, float),
        metavar="OCTETS/S",
        help="what a trunk can carry [its busiest second]",
    )


def _question(name: str, made: argparse.ArgumentParser) -> None:
    _period(made)
    if name == "matrix":
        made.add_argument("--by", choices=MATRIX_BY, default="routers", help="[%(default)s]")
    elif name == "latency":
        made.add_argument("--by", choices=LATENCY_BY, default="address", help="[%(default)s]")
    elif name == "talkers":
        made.add_argument("--top", type=_number(1, int), default=10, metavar="N", help="[%(default)s]")
    elif name == "outcomes":
        made.add_argument("--seconds", type=_number(1, int), metavar="N", help="span of a row [by the period]")
    elif name == "trunks":
        _capacity(made)
    elif name == "audit":
        made.add_argument("--message", metavar="ID", help="the message-id")
        made.add_argument("--address", help="with --at: the decisions on this address within a second of it")
        made.add_argument("--at", type=time_of, metavar="TIME")
    _table(made)
    _common(made)


def _what_if(made: argparse.ArgumentParser) -> None:
    _period(made)
    made.add_argument(
        "--change",
        action="append",
        required=True,
        metavar="CHANGES",
        help="one scenario: `cost A B 5`, `remove-trunk A B`, `remove-router A`, `add-router N A=1 B=1`, "
        "`move ADDRESS A B`, or several with `;` between; may be given again",
    )
    _table(made)
    _common(made)


def _optimise(made: argparse.ArgumentParser) -> None:
    _period(made)
    made.add_argument("--rounds", type=_number(1, int), default=5, metavar="N", help="changes at most [%(default)s]")
    _common(made)


def _stream(made: argparse.ArgumentParser) -> None:
    made.add_argument("--results", type=Path, metavar="DIR", default=Path("results"), help="[%(default)s]")
    made.add_argument("--format", choices=FORMATS, default="parquet", help="[%(default)s]")
    made.add_argument("--every", type=_number(1, float), metavar="S", help="go on, and look so often [once]")
    _common(made)


def _compact(made: argparse.ArgumentParser) -> None:
    made.add_argument("--before", type=time_of, metavar="TIME", help="hours that ended before [an hour ago]")
    _common(made)


def _synthesize(made: argparse.ArgumentParser) -> None:
    made.add_argument("--rows", type=_number(1, int), default=100_000, metavar="N", help="decisions [%(default)s]")
    made.add_argument("--days", type=_number(0.01, float), default=1.0, metavar="N", help="[%(default)s]")
    made.add_argument("--routers", type=_number(4, int), default=5, metavar="N", help="[%(default)s]")
    made.add_argument("--addresses", type=_number(3, int), default=30, metavar="N", help="[%(default)s]")
    made.add_argument("--begin", type=time_of, default=time_of("2026-11-01"), metavar="TIME", help="[2026-11-01]")
    made.add_argument("--seed", type=_number(0, int), default=1, metavar="N", help="[%(default)s]")
    _common(made)
