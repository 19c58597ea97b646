"""`python -m bench.demo_brokers`: run the demo; the status is 0 if every accepted message came out."""

import argparse
import signal
import sys

from bench.demo_brokers.story import Story
from bench.demo_mesh.parts import DemoFailed
from bench.rabbitmq import BrokerFailed, absence


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.demo_brokers",
        description="Two RabbitMQ behind three routers: a queue in two shards, a routed link, and a broker that is "
        "killed. The status is 0 if every accepted message came out, 1 if not, 2 if a part of it did not start.",
    )
    parser.add_argument("--phase", type=float, default=3.0, metavar="SECONDS", help="time between events [%(default)g]")
    arguments = parser.parse_args()
    if (reason := absence()) is not None:
        print(f"demo-brokers: {reason}", file=sys.stderr)
        return 2
    # So that routers and brokers end with us, however we do.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        return 0 if Story(arguments.phase, lambda text: print(text, flush=True)).happen() else 1
    except (DemoFailed, BrokerFailed) as failure:
        print(f"demo-brokers: {failure}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
