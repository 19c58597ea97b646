"""Whether there is colour: on a terminal, unless NO_COLOR is set, or as --color says."""

import argparse
import os
import sys

from routerd.cli.manage.output import COLOURED, PLAIN, Style


def add_colour_option(parser: argparse._ActionsContainer) -> None:
    """Add --color."""
    parser.add_argument(
        *("--color", "--colour"),
        choices=("auto", "always", "never"),
        default="auto",
        help="colours; auto is on a terminal that knows some, unless NO_COLOR is set [%(default)s]",
    )


def style(choice: str) -> Style:
    """Return the colours of the output."""
    if choice == "auto":
        is_wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
        return COLOURED if is_wanted and sys.stdout.isatty() else PLAIN
    return COLOURED if choice == "always" else PLAIN
