"""What the command lines of both tools have in common: how they are read, and how the tools end."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from routerd.cli.exit_status import FAILURE
from routerd.cli.manage.failures import ToolFailed, WrongUse
from routerd.cli.manage.suggestions import did_you_mean

INTERRUPTED = 130


class Parser(argparse.ArgumentParser):
    """A parser that tells what was probably meant by an option that it does not know."""

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """End with status 2: these arguments are none."""
        options = [one for action in self._actions for one in action.option_strings]
        first = unknown[0]
        name = first.partition("=")[0]
        if name.startswith("-"):
            self.error(f"there is no option {name}{did_you_mean(name, options)}")
        self.error(f"unexpected argument {first!r}{did_you_mean(f'--{first}', options)}")


class VersionAction(argparse.Action):
    """Prints the version, and ends; what is running is looked up only then."""

    def __init__(self, option_strings: Sequence[str], dest: str, **options: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, **options)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        """Print the version, and end."""
        from routerd.cli.version import version

        print(version())
        parser.exit()


def run(parser: Parser, program: str, work: Callable[[], int]) -> int:
    """Do the work of a tool, and return its exit status; what goes wrong is one line on stderr."""
    try:
        status = work()
        sys.stdout.flush()
        return status
    except WrongUse as error:
        parser.error(str(error))
    except ToolFailed as error:
        print(f"{program}: {error}", file=sys.stderr)
        return FAILURE
    except BrokenPipeError:
        # The reader has seen enough. The rest that Python would flush is thrown away.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return INTERRUPTED
