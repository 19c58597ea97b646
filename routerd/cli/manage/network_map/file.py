"""A map in a file."""

import os
from pathlib import Path

from routerd.cli.manage.failures import ToolFailed
from routerd.cli.manage.network_map.graph import Graph
from routerd.cli.manage.network_map.svg import svg_of


class MapNotWritten(ToolFailed):
    """The file cannot be written."""

    def __init__(self, path: str, error: OSError) -> None:
        super().__init__(f"cannot write {path}: {error.strerror}")


def write_map(graph: Graph, path: str) -> None:
    """Put the image of a network in a file at once, so that nobody ever reads half of it."""
    beside = f"{path}.{os.getpid()}"
    try:
        Path(beside).write_text(svg_of(graph), encoding="utf-8")
        os.replace(beside, path)
    except OSError as error:
        Path(beside).unlink(missing_ok=True)
        raise MapNotWritten(path, error) from error
