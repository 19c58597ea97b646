"""`python -m bench NAME [--json]`: run one benchmark and print its rows."""

import argparse
import importlib

from bench.report import as_json, as_text

BENCHMARKS = {"wire": "the AMQP engine alone: two endpoints in one process, joined in memory"}


def main() -> None:
    """Parse the command line, run the benchmark, print its rows."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("name", nargs="?", choices=BENCHMARKS, help="the benchmark to run")
    parser.add_argument("--json", action="store_true", help="print an object keyed by case instead of columns")
    parser.add_argument("--list", action="store_true", help="print the names of the benchmarks, one a line")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(BENCHMARKS))
    elif arguments.name is None:
        parser.error("name a benchmark, or use --list")
    else:
        rows = importlib.import_module(f"bench.{arguments.name}").run()
        print(as_json(rows) if arguments.json else as_text(rows))


if __name__ == "__main__":
    main()
