"""The entry points of the programs.

Everything is imported before anything runs, and none of it is garbage. To look for garbage meanwhile takes a third of
the processor time of a start.
"""

import gc
from importlib import import_module

from routerd.generated_code import keep_code


def routerd() -> int:
    """Run the router."""
    return _run("routerd.cli.routerd")


def routermanage() -> int:
    """Run the tool that changes a router."""
    return _run("routerd.cli.routermanage")


def routerstat() -> int:
    """Run the tool that shows a router."""
    return _run("routerd.cli.routerstat")


def routerbench() -> int:
    """Run the tool that loads a router."""
    return _run("routerd.cli.routerbench")


def _run(module: str) -> int:
    gc.disable()
    program = import_module(module)
    keep_code()
    gc.freeze()
    gc.enable()
    status: int = program.main()
    return status
