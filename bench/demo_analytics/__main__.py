"""`python -m bench.demo_analytics`: run the demo; the status is 0 if the report names both faults."""

import argparse
import signal
import sys
from pathlib import Path

from bench.demo_analytics.story import Story, Wishes
from bench.demo_analytics.verdict import ReportFailed
from bench.demo_mesh.parts import DemoFailed


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.demo_analytics",
        description="Three routers that record what they decide, load, a slow consumer and a trunk that is cut; then "
        "the report of it. The status is 0 if that names both faults, 1 if not, 2 if a part of it did not start.",
    )
    add = parser.add_argument
    add("--folder", type=Path, default=Path("demo"), help="where records and the report go [%(default)s]")
    add("--phase", type=float, default=5.0, metavar="SECONDS", help="time between two events [%(default)g]")
    arguments = parser.parse_args()
    wishes = Wishes(folder=arguments.folder.absolute(), phase_s=arguments.phase)
    # So that routers end with us, however we do.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        return 0 if Story(wishes, lambda text: print(text, flush=True)).happen() else 1
    except (DemoFailed, ReportFailed) as failure:
        print(f"demo-analytics: {failure}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
