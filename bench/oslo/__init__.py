"""RPC of oslo.messaging through a router: calls a second and their latency, next to RabbitMQ and to no bus at all.

Each repetition measures every bus, one after the other. A server runs in one process, and a client with several threads
in another. Both run in the environment of the driver (MOBULA_DRIVER_PYTHON, or driver/.venv). `fake` is oslo.messaging
without a bus, with server and client in one process: it shows the cost of oslo.messaging alone. A ratio is the median
of the repetitions' ratios.

`load` runs in that environment, and `cpu_profile` tells which code has used the processor there. `cases` runs them.
"""

import argparse
from collections.abc import Sequence

from bench.oslo.cases import CASES, QUICK, THOROUGH, Environment, measure
from bench.report import Row

__all__ = ["parse", "run"]


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the options of this benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench oslo", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short repetition, for development")
    parser.add_argument("--case", action="append", choices=CASES, help="only this one; may be given again")
    parser.add_argument("--in-process", action="store_true", help="a router without Ray")
    parser.add_argument("--no-broker", action="store_true", help="without RabbitMQ, though it is installed")
    return parser.parse_args(arguments)


def run(options: argparse.Namespace | None = None) -> list[Row]:
    """Measure every case, or those that were asked for."""
    options = options or parse([])
    return measure(
        options.case or list(CASES),
        Environment(
            effort=QUICK if options.quick else THOROUGH,
            form=("--in-process",) if options.in_process else ("--connection-actors", "1"),
            has_broker=not options.no_broker,
        ),
    )
