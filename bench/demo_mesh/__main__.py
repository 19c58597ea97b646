"""`python -m bench.demo_mesh`: run the demo; the status is 0 if nothing was lost."""

import argparse
import signal
import sys

from bench.demo_mesh.parts import DemoFailed
from bench.demo_mesh.story import Story, Wishes


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.demo_mesh",
        description="Four routers, fully joined, RPC between them, and what callers see when a server, a trunk and a "
        "router fail. The status is 0 if nothing was lost, 1 if something was, 2 if a part of it did not start.",
    )
    add = parser.add_argument
    add("--in-process", action="store_true", help="each router in a process of its own, without Ray: quick to start")
    add("--free-ports", action="store_true", help="any ports, instead of those that the files in configs/ have")
    add("--phase", type=float, default=2.0, metavar="SECONDS", help="time between two events [%(default)g]")
    arguments = parser.parse_args()
    wishes = Wishes(is_in_process=arguments.in_process, has_free_ports=arguments.free_ports, phase_s=arguments.phase)
    # So that routers end with us, however we do.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        return 0 if Story(wishes, lambda text: print(text, flush=True)).happen() else 1
    except DemoFailed as failure:
        print(f"demo-mesh: {failure}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
