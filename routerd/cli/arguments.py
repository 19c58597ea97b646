"""The command line of routerd: the options that the reference has (2.1), and those of the process."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from routerd.cli.exit_status import FAILURE
from routerd.cli.options import add_arguments

DEFAULT_CONFIG = "/etc/qpid-dispatch/qdrouterd.conf"


class UsageParser(argparse.ArgumentParser):
    """A parser that says what is wrong above its usage and ends with status 1, not 2."""

    def error(self, message: str) -> NoReturn:
        """End the program."""
        self.exit(FAILURE, f"{self.prog}: {message}\n{self.format_usage()}")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = UsageParser(
        prog="routerd",
        usage="routerd [-c FILE] [option ...]",
        description="Starts an AMQP 1.0 router.",
        epilog="Exit status: 0 after an orderly stop, 1 when the options or the configuration are wrong, the router "
        "cannot start, or it was ended by a second signal.",
    )
    add = made.add_argument
    add("-c", "--config", metavar="FILE", default=DEFAULT_CONFIG, help="the configuration file [%(default)s]")
    add("-I", "--include", metavar="DIR", help="accepted for the sake of scripts: a directory, which has to exist")
    add("-d", "--daemon", action="store_true", help="go on in the background once the router is ready")
    add("-P", "--pidfile", metavar="FILE", help="with -d: the file that the number of the process is written to")
    add("-U", "--user", metavar="NAME", help="with -d: the user to become")
    add("-T", "--test-hooks", action="store_true", help="add the addresses and the haste that tests of clients use")
    add("-v", "--version", action="store_true", help="print the version and what it runs on")
    add("--check", action="store_true", help="say whether the configuration file is right, and start nothing")
    add(
        "--explain",
        nargs="?",
        const="",
        metavar="FILE",
        help="with --check: say line by line what will be different from qdrouterd; FILE stands for -c FILE",
    )
    add("--strict", action="store_true", help="refuse what qdrouterd lets pass in a file, instead of a warning")
    add("--stop", metavar="ID", help="end the router of this id that was left running in Ray, and start nothing")
    add("--options-file", metavar="FILE", help="a file with the options of the process that follow")
    add("--sample-options", action="store_true", help="print such a file, with all options explained and none set")
    add_arguments(made)
    return made


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Return the arguments, or end the program with usage and status 1, or with help and status 0."""
    made = parser()
    arguments, rest = made.parse_known_args(argv)
    if rest:
        unknown = next((one for one in rest if one.startswith("-")), None)
        made.error(f"unknown option: {unknown}" if unknown else f"Unexpected arguments: {' '.join(rest)}")
    if arguments.explain is not None and not arguments.check:
        made.error("--explain goes with --check")
    if arguments.explain:
        arguments.config = arguments.explain
    if arguments.include is not None and not Path(arguments.include).is_dir():
        made.exit(FAILURE, f"{sys.argv[0]}: Cannot find Python library path '{arguments.include}': no such directory\n")
    return arguments
