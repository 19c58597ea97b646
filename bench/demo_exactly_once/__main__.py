"""`python -m bench.demo_exactly_once`: run the demo; the status is 0 if the account of all clients is clean."""

import argparse
import signal
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random

from bench.demo_exactly_once.places import a_place
from bench.demo_exactly_once.stage import AT_LEAST_ONCE, EXACTLY_ONCE, ROUTERS, Setting, Stage
from bench.demo_exactly_once.story import Story
from bench.demo_exactly_once.trouble import GRACE_S, Trouble
from bench.demo_mesh.parts import DemoFailed
from bench.namespaces import why_not


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.demo_exactly_once",
        description="Three routers with a topic, whose publishers and subscribers keep what they do in SQLite. Routers "
        "and clients are killed. The status is 0 if each subscriber has processed each message once and in order, 1 if "
        "not, 2 if a part of it did not start.",
    )
    parser.add_argument("--phase", type=float, default=6.0, metavar="SECONDS", help="time between events [%(default)g]")
    parser.add_argument("--in-process", action="store_true", help="routers without Ray")
    parser.add_argument("--delivery", choices=(EXACTLY_ONCE, AT_LEAST_ONCE), default=EXACTLY_ONCE, help="[%(default)s]")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where logs and databases are to stay")
    long = parser.add_argument_group("the long run")
    long.add_argument("--minutes", type=float, metavar="N", help="for so long, failures of all kinds in any order")
    long.add_argument("--seed", type=int, default=1, help="what the choice of failures comes from [%(default)s]")
    long.add_argument("--one-host", action="store_true", help="no network namespaces, and so no cuts")
    return run(parser.parse_args(), lambda text: print(text, flush=True))


def run(arguments: argparse.Namespace, tell: Callable[[str], None]) -> int:
    """Run what the arguments say; return the status."""
    is_long = arguments.minutes is not None
    actors = "2" if is_long else "1"
    form = ("--in-process",) if arguments.in_process else ("--connection-actors", actors)
    setting = Setting(form, arguments.delivery, GRACE_S) if is_long else Setting(form, arguments.delivery)
    reason = None if is_long and not arguments.one_host else "not asked for"
    if reason is None and (reason := why_not()) is not None:
        tell(f"There are no cuts: {reason}")
    # So that routers and clients end with us, however we do.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        with ExitStack() as at_exit:
            folder = arguments.keep or Path(at_exit.enter_context(tempfile.TemporaryDirectory(prefix="demo-topics-")))
            folder.mkdir(parents=True, exist_ok=True)
            place = at_exit.enter_context(a_place(ROUTERS, has_own_hosts=reason is None))
            stage = Stage(setting, place, folder, tell)
            stage.happens(f"{len(ROUTERS)} routers start, each joined to the others")
            stage.begin(at_exit)
            if is_long:
                Trouble(stage, Random(arguments.seed)).happen(60 * arguments.minutes)
            else:
                Story(stage, arguments.phase).happen()
            return 0 if stage.end() else 1
    except DemoFailed as failure:
        print(f"demo-exactly-once: {failure}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
