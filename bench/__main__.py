"""`python -m bench NAME [--json] [--record]`: run one benchmark and print its rows; some have options of their own."""

import argparse
import importlib

from bench import results
from bench.report import as_json, as_text

BENCHMARKS = {
    "core": "the forwarding core alone: a router between clients in one process, its share of the time",
    "exchanges": "messages through an exchange of many bindings, and how many subjects find theirs a second",
    "wire": "the AMQP engine alone: two endpoints in one process, joined in memory",
    "mesh": "messages over several routers, and what it costs each router to know all others and their addresses",
    "router": "a router between its clients, against the clients alone",
    "brokers": "routed links and auto-links to containers, against clients at the container",
    "management": "how long management takes, and what it costs messages on their way",
    "oslo": "calls of oslo.messaging over a router, over RabbitMQ and without a bus, and who uses the processor",
    "security": "what TLS costs: messages and connections with it against those in clear text",
    "policy": "what a policy of many rules costs, an attach and a message",
    "logins": "how soon many clients that were all cut off are back, by SASL",
    "recording": "what recording costs: messages through a router that records, against one that does not",
    "analytics": "how long the study of recorded decisions takes, and what a recorded decision takes on disk",
    "http": "AMQP over WebSocket against TCP, scrapes of metrics, the files of the console",
    "exactly_once": "messages of a topic to three subscribers, against those of an ordinary multicast address",
    "stalls": "how long requests take while another connection does what costs a router most",
    "life": "how long a router takes to start and to get over the death of an actor, and what it costs at rest",
}


def main() -> None:
    """Parse the command line, run the benchmark, print its rows."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__, add_help=False)
    parser.add_argument("name", nargs="?", choices=BENCHMARKS, help="the benchmark to run")
    parser.add_argument("--json", action="store_true", help="print an object keyed by case instead of columns")
    parser.add_argument("--record", action="store_true", help="put the figures into bench/RESULTS.md, too")
    parser.add_argument("--list", action="store_true", help="print the names of the benchmarks, one a line")
    parser.add_argument("-h", "--help", action="store_true", help="this, or behind NAME the options of that benchmark")
    arguments, rest = parser.parse_known_args()
    if arguments.list:
        print("\n".join(BENCHMARKS))
        return
    if arguments.name is None:
        if arguments.help:
            parser.exit(message=parser.format_help())
        parser.error("name a benchmark, or use --list")
    benchmark = importlib.import_module(f"bench.{arguments.name}")
    if hasattr(benchmark, "parse"):
        rows = benchmark.run(benchmark.parse([*rest, *(["--help"] if arguments.help else [])]))
    elif arguments.help:
        parser.exit(message=parser.format_help())
    elif rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    else:
        rows = benchmark.run()
    print(as_json(rows) if arguments.json else as_text(rows))
    if arguments.record:
        results.record(arguments.name, rows)


if __name__ == "__main__":
    main()
