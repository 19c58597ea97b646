"""`python -m examples.nova`: run the demo; the status is 0 if nothing was lost."""

import argparse
import signal
import sys

from examples.nova.story import Story, Wishes
from examples.routers import DidNotHappen, why_no_router


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.nova",
        description="A Nova in small over three routers: an API, a scheduler and three computes, of which one router "
        "is killed and started again. The status is 0 if nothing that was promised was lost, 1 if something was, 2 if "
        "a part of it did not start. MOBULA_PYTHON names the interpreter of the routers' environment.",
    )
    add = parser.add_argument
    add("--free-ports", action="store_true", help="any ports, instead of those that the files here have")
    add("--phase", type=float, default=3.0, metavar="SECONDS", help="time between two events [%(default)g]")
    arguments = parser.parse_args()
    wishes = Wishes(has_free_ports=arguments.free_ports, phase_s=arguments.phase)
    # So that all processes end with us, however we do.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        if reason := why_no_router():
            raise DidNotHappen(reason)
        return 0 if Story(wishes, lambda text: print(text, flush=True)).happen() else 1
    except DidNotHappen as failure:
        print(f"demo-nova: {failure}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
