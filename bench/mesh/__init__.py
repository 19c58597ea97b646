"""The mesh: what it costs a router to know its way through many others."""

from bench.mesh import paths
from bench.report import Row


def run() -> list[Row]:
    """Measure everything."""
    return paths.rows()
