"""`routerstat`: what goes on in a router, in the views of qdstat and more."""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from routerd.cli.exit_status import SUCCESS
from routerd.cli.manage.colour import add_colour_option, style
from routerd.cli.manage.command_line import Parser, VersionAction, run
from routerd.cli.manage.connecting import Place, add_connection_options, add_target_options, open_client, place_of
from routerd.cli.manage.failures import WrongUse
from routerd.cli.manage.node import Node
from routerd.cli.manage.output import dumps
from routerd.cli.manage.report import Report, check_column, look
from routerd.cli.manage.views.catalogue import GENERAL, MAP, VIEWS
from routerd.cli.manage.views.view import Ask, View

PROGRAM = "routerstat"
EXAMPLES = """\
examples:
  the router at port 5672 of this host:
    routerstat
  its links, the busiest first, again every 2 seconds, with deliveries a second:
    routerstat -l --watch 2 --sort deliv/s
  the addresses that another router of its network knows:
    routerstat -a -r QDR.B -b amqp://router.example:5672
  who is connected, each once:
    routerstat -c --json | jq '[.routers[].tables[].rows[].authentication] | unique'
  where a message to an address would go from another router, and why:
    routerstat --explain orders/new --from QDR.B
  the network that it belongs to as a picture on the terminal, and in a file for a browser:
    routerstat --map
    routerstat --map network.svg

exit status: 0; 1 when the router cannot be reached or refuses; 2 for options that make no sense; 130 after Ctrl-C.
"""
SHELLS = ("bash", "zsh", "fish")


def main(arguments: Sequence[str] | None = None) -> int:
    """Show what the command line asks for, and return the exit status."""
    parser = option_parser()
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        parser.refuse(unknown)
    if options.completion:
        from routerd.cli.manage.completion import routerstat_script

        print(routerstat_script(options.completion, parser))
        return SUCCESS
    return run(parser, PROGRAM, partial(_show, options))


class _MapAction(argparse.Action):
    """Chooses the view, and keeps the name of the file if there is one."""

    def __call__(self, parser: argparse.ArgumentParser, options: argparse.Namespace, value: Any, *_: Any) -> None:
        """Do so; without a file the value is the view."""
        options.view = self.const
        options.map_file = None if value is self.const else value


class _ExplainAction(argparse.Action):
    """Chooses the view of an address."""

    def __call__(self, parser: argparse.ArgumentParser, options: argparse.Namespace, value: Any, *_: Any) -> None:
        """Do so."""
        from routerd.cli.manage.views.explain import explain_view

        options.view = explain_view(value)


def option_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [view] [option ...]",
        description="Shows what goes on in a router.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=VersionAction, help="print the version, and end")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="show more columns")
    parser.add_argument("--completion", choices=SHELLS, help="print the script that completes what is typed, and end")
    views = parser.add_argument_group("what is shown").add_mutually_exclusive_group()
    for view in VIEWS:
        if view is MAP:
            views.add_argument(*view.options, action=_MapAction, nargs="?", const=view, metavar="FILE", help=view.help)
        else:
            views.add_argument(*view.options, dest="view", action="store_const", const=view, help=view.help)
    views.add_argument(
        "--explain", action=_ExplainAction, metavar="ADDRESS", help="where a message to ADDRESS would go, and why"
    )
    parser.set_defaults(view=GENERAL, map_file=None)

    targets = add_target_options(parser)
    targets.add_argument("--from", dest="router", metavar="ROUTER", help="with --explain: from this router; as -r")
    targets.add_argument("--all-routers", action="store_true", help="each router of the network, one after the other")

    form = parser.add_argument_group("form")
    form.add_argument("--limit", type=_row_count, metavar="N", help="show N rows at most; 0 is all, as without it")
    form.add_argument("--sort", metavar="COLUMN", help="rows by this column: the largest numbers first, texts from A")
    form.add_argument("--reverse", action="store_true", help="with --sort: the other way round")
    formats = form.add_mutually_exclusive_group()
    formats.add_argument("--csv", action="store_true", help="cells in quotes, with commas between")
    formats.add_argument("--json", action="store_true", help="JSON with the values as the router has them")
    form.add_argument(
        "--watch",
        type=_interval,
        metavar="SECS",
        help="look again every SECS seconds, with rates: in place on a terminal, until q is pressed; elsewhere one "
        "after the other",
    )
    add_colour_option(form)
    add_connection_options(parser, PROGRAM)
    return parser


def _show(options: argparse.Namespace) -> int:
    view: View = options.view
    is_verbose = options.verbose > 0
    if options.sort is not None:
        if options.sort.endswith("/s") and options.watch is None:
            raise WrongUse(f"{options.sort} takes two looks: --watch SECS")
        check_column(view, options.sort, is_verbose=is_verbose)
    elif options.reverse:
        raise WrongUse("--reverse goes with --sort")
    ask = Ask(limit=options.limit or None, is_verbose=is_verbose)

    def take_look(node: Node) -> Report:
        return look(node, view, ask, of_all_routers=options.all_routers, needs_id=options.json)

    place = place_of(options)
    if options.map_file is not None:
        return _draw_file(options, place)
    if options.watch is not None:
        return _watch(options, place, take_look)
    client = open_client(place, PROGRAM)
    try:
        report = take_look(Node(client, place.address))
    finally:
        client.close()
    _print(report, options)
    return SUCCESS


def _draw_file(options: argparse.Namespace, place: Place) -> int:
    from routerd.cli.manage.network_map.file import write_map
    from routerd.cli.manage.network_map.survey import survey
    from routerd.cli.manage.network_map.text import counted

    if options.watch is not None or options.csv or options.json or options.all_routers:
        raise WrongUse("--map FILE draws one picture; --watch, --csv, --json and --all-routers go with --map alone")
    client = open_client(place, PROGRAM)
    try:
        graph = survey(Node(client, place.address))
    finally:
        client.close()
    write_map(graph, options.map_file)
    print(f"{options.map_file}: {counted(len(graph.routers), 'router')}, {counted(len(graph.trunks), 'trunk')}")
    return SUCCESS


def _print(report: Report, options: argparse.Namespace) -> None:
    if options.sort is not None:
        check_column(options.view, options.sort, is_verbose=options.verbose > 0, report=report)
        report = report.sorted_by(options.sort, is_reversed=options.reverse)
    if options.json:
        print(dumps(report.json(), None if options.watch is not None else 2))
    else:
        print_lines(report.csv() if options.csv else report.text(style(options.color), options.sort))
        if options.watch is not None:
            print()
    sys.stdout.flush()


def print_lines(lines: Sequence[str]) -> None:
    """Print lines; characters that the terminal does not have are question marks."""
    encoding = sys.stdout.encoding or "utf-8"
    print("\n".join(lines).encode(encoding, "replace").decode(encoding))


def _watch(options: argparse.Namespace, place: Place, take_look: Callable[[Node], Report]) -> int:
    # Only now: it takes modules that a single look does without.
    from routerd.cli.manage.live import LiveState
    from routerd.cli.manage.watch import Watcher, watch_live, watch_plainly

    watcher = Watcher(place, PROGRAM, take_look)
    try:
        if sys.stdout.isatty() and not (options.csv or options.json):
            from routerd.cli.manage.terminal import Terminal

            state = LiveState(sort=options.sort, is_reversed=options.reverse)
            watch_live(watcher, Terminal(), options.watch, state, style(options.color))
        else:
            watch_plainly(
                watcher,
                options.watch,
                lambda report: _print(report, options),
                lambda trouble: print(f"{PROGRAM}: {trouble}", file=sys.stderr, flush=True),
            )
    finally:
        watcher.close()
    return SUCCESS


def _interval(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds") from None
    if not 0.1 <= seconds < 1e6:
        raise argparse.ArgumentTypeError("the interval is 0.1 s or more")
    return seconds


def _row_count(text: str) -> int:
    try:
        rows = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
    if rows < 0:
        raise argparse.ArgumentTypeError("the limit is 0 or more")
    return rows


if __name__ == "__main__":
    sys.exit(main())
