"""`routermanage`: the operations of AMQP management, as qdmanage has them."""

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from routerd.cli.exit_status import FAILURE, SUCCESS
from routerd.cli.manage.command_line import Parser, VersionAction, run
from routerd.cli.manage.connecting import add_connection_options, add_target_options, open_client, place_of
from routerd.cli.manage.failures import Refused, WrongUse
from routerd.cli.manage.node import Node
from routerd.cli.manage.output import dumps
from routerd.cli.manage.requests import NOTHING, OPERATIONS, Command, parse_json, prepare
from routerd.cli.manage.schema_names import entity_type, full_type, type_names
from routerd.cli.manage.suggestions import did_you_mean
from routerd.cli.manage.users import USER, VARIABLE, manage_users
from routerd.config import DEFAULT_USER_FILE, SCRAM_ITERATIONS, SCRAM_ITERATIONS_LEAST, SCRAM_ITERATIONS_MOST

PROGRAM = "routermanage"
EXAMPLES = """\
operations:
  query [ATTR ...]                    the entities of --type, with these attributes or all
  read                                the entity of --name or --identity
  create [ATTR=VALUE ...]             make an entity of --type, or those that --stdin describes
  update ATTR=VALUE ...               change the entity of --name or --identity, or those that --stdin describes
  delete                              end the entity of --name or --identity
  get-types, get-attributes, get-operations, get-annotations [TYPE]
                                      what there is to be managed
  get-mgmt-nodes                      the management nodes of the network
  get-schema, get-json-schema         all types with their attributes
  get-log [limit=N]                   the last lines of the log
  user add|passwd|del NAME, user list the users in the router's user file; no router is asked
  any other [ATTR=VALUE ...]          sent with these as its properties, and --body

examples:
  routermanage query --type connection host container user
  routermanage create --type address --name orders prefix=orders distribution=multicast
  routermanage update --type log --identity log/ROUTER enable=debug+
  routermanage update --type connection --identity 7 adminStatus=deleted
  routermanage user add alice --user-file users --password-file secret
  echo '[{"type": "address", "prefix": "a"}, {"type": "address", "prefix": "b"}]' | routermanage create --stdin

exit status: 0; 1 when the router cannot be reached (told on stderr) or refuses (told on stdout); 2 for arguments that
make no sense; 130 after Ctrl-C.
"""
SHELLS = ("bash", "zsh", "fish")


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for, and return the exit status."""
    parser = option_parser()
    options, unknown = parser.parse_known_intermixed_args(arguments)
    if unknown:
        parser.refuse(unknown)
    if options.completion:
        from routerd.cli.manage.completion import routermanage_script

        print(routermanage_script(options.completion, parser))
        return SUCCESS
    if options.operation is None:
        parser.error(f"an operation is needed: {', '.join(OPERATIONS)}, user, or another that the router has")
    if options.operation.lower() == USER:
        return run(parser, PROGRAM, partial(manage_users, options))
    return run(parser, PROGRAM, partial(_manage, options))


def option_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} OPERATION [option ...] [ATTR=VALUE ... | ATTR ...]",
        description="Asks a router for what is configured and what goes on in it, and changes that.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("operation", nargs="?", metavar="OPERATION", help="what is to be done, in any case; see below")
    parser.add_argument("arguments", nargs="*", metavar="ATTR=VALUE", help="attributes; see below")
    parser.add_argument("--version", action=VersionAction, help="print the version, and end")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="say on stderr what is asked of whom")
    parser.add_argument("--completion", choices=SHELLS, help="print the script that completes what is typed, and end")
    what = parser.add_argument_group("what is meant")
    what.add_argument("--type", help="the type of entity; its prefix can be left out")
    what.add_argument("--name", help="the name of the entity")
    what.add_argument("--identity", metavar="ID", help="its identity, which goes before its name")
    what.add_argument("--stdin", action="store_true", help="read attributes from stdin: a JSON map or a list of maps")
    what.add_argument("--body", metavar="JSON", help="the body of an operation that is none of the standard ones")
    what.add_argument("--properties", metavar="JSON", help="more properties of such an operation, as a map")
    what.add_argument(
        "--indent", type=int, default=2, metavar="N", help="indent JSON by N; -1 writes one line [%(default)s]"
    )
    users = parser.add_argument_group("users of the router")
    users.add_argument(
        "--user-file", metavar="FILE", help=f"the user file; where nothing is said ${VARIABLE}, or {DEFAULT_USER_FILE}"
    )
    users.add_argument(
        "--password-file", metavar="FILE", help="a file with the new password in its first line, `-` is stdin"
    )
    users.add_argument(
        "--iterations",
        type=int,
        metavar="N",
        help=f"SCRAM iterations of all users of a new file, {SCRAM_ITERATIONS_LEAST} to {SCRAM_ITERATIONS_MOST}"
        f" [{SCRAM_ITERATIONS}]",
    )
    add_target_options(parser)
    add_connection_options(parser, PROGRAM)
    return parser


def command_of(options: argparse.Namespace) -> Command:
    """Return what the options ask for; WrongUse if that makes no sense."""
    properties = parse_json(options.properties, "--properties") if options.properties else None
    if properties is not None and not isinstance(properties, dict):
        raise WrongUse("--properties has to be a JSON map")
    return Command(
        operation=options.operation.upper(),
        type=full_type(options.type) if options.type else None,
        name=options.name,
        identity=options.identity,
        arguments=tuple(options.arguments),
        body=parse_json(options.body, "--body") if options.body else None,
        properties=properties,
        given=parse_json(sys.stdin.read(), "stdin") if options.stdin else None,
    )


def _manage(options: argparse.Namespace) -> int:
    place, command = place_of(options), command_of(options)
    act = prepare(command)
    if options.verbose:
        about = f" {command.type}" if command.type else ""
        print(f"{PROGRAM}: {command.operation}{about} of {place.address} at {place.bus.where}", file=sys.stderr)
    client = open_client(place, PROGRAM)
    try:
        answer = act(Node(client, place.address))
    except Refused as refusal:
        # As scripts expect it: on stdout.
        print(refusal)
        _hint(command)
        return FAILURE
    finally:
        client.close()
    if isinstance(answer, str):
        print(answer)
    elif answer is not NOTHING:
        print(dumps(answer, options.indent if options.indent >= 0 else None))
    return SUCCESS


def _hint(command: Command) -> None:
    operation, kind = command.operation.lower(), command.type
    hint = "" if operation in OPERATIONS else did_you_mean(operation, OPERATIONS)
    if not hint and kind is not None and entity_type(kind) is None:
        hint = did_you_mean(kind.rpartition(".")[2], type_names())
    if hint:
        print(f"{PROGRAM}: {hint.removeprefix('; ')}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
