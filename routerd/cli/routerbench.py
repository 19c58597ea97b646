"""`routerbench`: load for an AMQP 1.0 router, and figures of how it bore it."""

import argparse
import signal
import sys
from collections.abc import Sequence

from routerd.cli.load.conductor import Conductor, RunFailed
from routerd.cli.load.plan import Mode, Plan, PlanError
from routerd.cli.load.report import Progress, as_json, as_text, shortfalls
from routerd.cli.load.tally import Tally
from routerd.cli.version import build, version_text

EXAMPLES = """\
examples:
  one sender, one receiver, 5 seconds, as fast as credit allows:
    routerbench --connect 127.0.0.1:5672 --seconds 5
  the same with no router between, to compare with:
    routerbench --direct --seconds 5
  50 senders to 50 receivers over 50 addresses, 20 000 messages a second, 64 KiB each:
    routerbench --senders 50 --receivers 50 --addresses 50 --rate 20000 --size 65536 --seconds 10
  one sender, ten receivers, each of which is to get all of a multicast address:
    routerbench --receivers 10 --multicast --address multicast.news --count 100000
  round trips of requests, one in flight, pre-settled:
    routerbench --requesters 1 --responders 1 --settled --count 20000
  attaches answered a second, 100 connections of 50 links:
    routerbench --attach --connections 100 --links 50
  10 000 connections, held for a minute:
    routerbench --idle --connections 10000 --seconds 60
  over WebSocket, at a listener with http: yes:
    routerbench --connect 127.0.0.1:8672 --websocket --seconds 5
  two hosts or shells, receiving and sending apart:
    routerbench --listen 127.0.0.1:5999 --receivers 1 --count 1000000
    routerbench --connect 127.0.0.1:5999 --senders 1 --receivers 0 --count 1000000

exit status: 0 when all went well; 1 when something fell short, such as an outcome other than accepted, or a message
that did not arrive; 2 for options that make no sense; 130 after Ctrl-C, which prints what was measured so far.

Latency is from the stamp in a message to its arrival, and for requests the round trip; with --rate it is from the time
at which the message was due, so that a stall counts for all that it delayed. Stamps compare on one host only.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for, print the figures, and return the exit status."""
    parser = option_parser()
    options = parser.parse_args(arguments)
    if options.version:
        print(version_text())
        return 0
    try:
        plan = plan_of(options)
    except PlanError as error:
        parser.error(str(error))
    progress = Progress(plan.mode)

    def on_progress(now_s: float, tally: Tally) -> None:
        if not options.quiet:
            print(progress.line(now_s, tally), file=sys.stderr, flush=True)

    def on_listening(host: str, port: int) -> None:
        if plan.is_listening:
            print(f"listening on {host}:{port}", file=sys.stderr, flush=True)

    def on_ready(ready_s: float) -> None:
        if not options.quiet:
            slow = "" if build() == "compiled" else "; uncompiled, so many times slower than it could be"
            print(f"ready after {ready_s:.3f} s{slow}", file=sys.stderr, flush=True)

    conductor = Conductor(plan, on_progress, on_listening, on_ready)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: conductor.interrupt())
    try:
        result = conductor.run()
    except RunFailed as error:
        print(f"routerbench: {error}", file=sys.stderr)
        return 130 if error.is_interrupted else 1
    print(as_json(result) if options.json else as_text(result))
    missing = shortfalls(result)
    for shortfall in missing:
        print(f"routerbench: {shortfall}", file=sys.stderr)
    if result.is_interrupted:
        return 130
    return 1 if missing else 0


def option_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="routerbench",
        description="Load for an AMQP 1.0 router: throughput and latency of what it forwards.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    where = parser.add_argument_group("where")
    places = where.add_mutually_exclusive_group()
    places.add_argument("--connect", metavar="HOST:PORT", default="127.0.0.1:5672", help="the router; %(default)s")
    places.add_argument("--direct", action="store_true", help="no router: the sending side connects to the receiving")
    places.add_argument("--listen", metavar="HOST:PORT", help="only the receiving side, which listens; port 0 for any")
    where.add_argument(
        "--receive-at", metavar="HOST:PORT", help="where receivers and responders connect, if not where senders do"
    )
    where.add_argument("--hostname", help="the virtual host to ask for")
    where.add_argument("--sasl", action="store_true", help="connect with SASL ANONYMOUS, for peers that insist on SASL")
    where.add_argument("--tls", action="store_true", help="connect with TLS")
    where.add_argument("--websocket", action="store_true", help="connect with AMQP over WebSocket, at an HTTP listener")
    where.add_argument("--ca", metavar="FILE", help="the authorities to trust, as PEM; connects with TLS")
    where.add_argument(
        "--address", default="routerbench", help="the address, {} being the number of one of several; %(default)s"
    )
    where.add_argument(
        "--addresses", type=int, metavar="N", help="links take turns at so many; 1, with --attach one for each link"
    )

    who = parser.add_argument_group("who; without any of these, one sender and one receiver")
    for role, words in (
        ("senders", "links that send"),
        ("receivers", "links that receive and accept"),
        ("requesters", "links that send requests and wait for replies, to a dynamic address"),
        ("responders", "links that reply"),
    ):
        who.add_argument(f"--{role}", type=int, metavar="N", help=words)
    who.add_argument("--connections", type=int, default=0, metavar="N", help="of each side; one a link by default")
    who.add_argument("--links", type=int, metavar="N", help="of each connection, with --attach (1) and --idle (0)")
    who.add_argument(
        "--processes", type=int, default=1, metavar="N", help="of each side; 0 is one for all; %(default)s"
    )

    what = parser.add_argument_group("what")
    modes = what.add_mutually_exclusive_group()
    modes.add_argument("--attach", action="store_true", help="measure attaches, no messages")
    modes.add_argument("--idle", action="store_true", help="hold connections, no messages")
    what.add_argument("--size", type=int, default=100, metavar="OCTETS", help="of a body, 8 at least; %(default)s")
    settling = what.add_mutually_exclusive_group()
    settling.add_argument("--settled", action="store_true", help="send pre-settled")
    settling.add_argument("--unsettled", dest="settled", action="store_false", help="count outcomes; the default")
    what.add_argument("--multicast", action="store_true", help="each receiver of an address is to get everything")
    what.add_argument("--credit", type=int, default=1000, metavar="N", help="of each receiver; %(default)s")
    what.add_argument("--in-flight", type=int, default=1, metavar="N", help="requests at a time; %(default)s")
    what.add_argument(
        "--rate",
        type=float,
        default=0,
        metavar="N",
        help="messages a second of all senders; 0, the default, means no limit",
    )

    how_long = parser.add_argument_group("how long; 5 seconds by default")
    ends = how_long.add_mutually_exclusive_group()
    ends.add_argument("--count", type=int, default=0, metavar="N", help="messages of all senders")
    ends.add_argument("--seconds", type=float, default=0, metavar="S", help="time to measure")
    how_long.add_argument(
        "--warmup", type=float, default=0, metavar="S", help="time before, counted apart; %(default)s"
    )
    how_long.add_argument(
        "--patience", type=float, default=10, metavar="S", help="give up when nothing moves so long; %(default)s"
    )

    form = parser.add_argument_group("form")
    form.add_argument("--json", action="store_true", help="print the figures as an object")
    form.add_argument("--version", action="store_true", help="print the version and the form of the build, and end")
    form.add_argument("--quiet", action="store_true", help="no line of progress every second")
    return parser


def plan_of(options: argparse.Namespace) -> Plan:
    """Return the plan that the options make."""
    mode = Mode.ATTACH if options.attach else Mode.IDLE if options.idle else Mode.TRAFFIC
    given = {role: getattr(options, role) for role in ("senders", "receivers", "requesters", "responders")}
    links = _links(mode, given, is_listening=options.listen is not None)
    standing = options.links if options.links is not None else int(mode is Mode.ATTACH)
    addresses = max(options.connections * standing, 1) if mode is Mode.ATTACH else 1
    host, port = _place(options.listen or options.connect)
    is_endless = mode is Mode.TRAFFIC and (options.listen is not None or not (links["senders"] or links["requesters"]))
    return Plan(
        mode=mode,
        host=host,
        port=port,
        receive_at=_place(options.receive_at) if options.receive_at else None,
        is_direct=options.direct,
        is_listening=options.listen is not None,
        connections=options.connections,
        links=standing,
        address=options.address,
        addresses=addresses if options.addresses is None else options.addresses,
        rate=options.rate,
        size=options.size,
        is_settled=options.settled,
        is_multicast=options.multicast,
        credit=options.credit,
        in_flight=options.in_flight,
        count=options.count,
        seconds=options.seconds or (0 if options.count or is_endless else 5),
        warmup_s=options.warmup,
        processes=options.processes,
        patience_s=options.patience,
        hostname=options.hostname,
        is_sasl=options.sasl,
        is_tls=options.tls or options.ca is not None,
        ca_file=options.ca,
        is_websocket=options.websocket,
        **links,
    )


def _links(mode: Mode, given: dict[str, int | None], *, is_listening: bool) -> dict[str, int]:
    if mode is not Mode.TRAFFIC:
        return dict.fromkeys(given, 0)
    if all(number is None for number in given.values()):
        return {"senders": 0 if is_listening else 1, "receivers": 1, "requesters": 0, "responders": 0}
    links = {role: number or 0 for role, number in given.items()}
    # Each role calls for its counterpart, unless that is set to 0.
    for role, counterpart in (
        ("senders", "receivers"),
        ("receivers", "senders"),
        ("requesters", "responders"),
        ("responders", "requesters"),
    ):
        if links[role] and given[counterpart] is None and not is_listening:
            links[counterpart] = 1
    return links


def _place(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdigit() or int(port) > 65_535:
        raise PlanError(f"{text!r} is not of the form host:port")
    return host.strip("[]") or "127.0.0.1", int(port)


if __name__ == "__main__":
    sys.exit(main())
