"""The last lines of the log: --log."""

import time
from typing import Any

from routerd.cli.manage.figures import plain
from routerd.cli.manage.node import Node
from routerd.cli.manage.table import Block, Message
from routerd.cli.manage.views.view import Ask

_FIELDS = ("module", "level", "text", "file", "line", "time")


def log_message(entries: list[Any]) -> Message:
    """Return lines of the log, oldest first, with the time as it is here."""
    rows = [dict(zip(_FIELDS, entry, strict=False)) for entry in entries]
    return Message(
        tuple(
            f"{time.ctime(row['time'])} {plain(row['module'])} ({plain(row['level'])}) {plain(row['text'])}"
            for row in rows
        ),
        "Log",
        tuple(rows),
    )


def fetch_log(node: Node, ask: Ask) -> list[Block]:
    """Return what --log shows."""
    return [log_message(node.log(ask.limit or None))]
