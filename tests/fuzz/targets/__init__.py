"""What is fuzzed: each module has a `run`, which takes any octets and raises when something is wrong."""

from collections.abc import Callable
from importlib import import_module

NAMES = ("decoder", "message", "frames", "configuration", "policy", "tls", "sasl", "connection", "pair")


def target(name: str) -> Callable[[bytes], None]:
    """Return the function that runs one input through a target; the engine is imported here and not before."""
    run: Callable[[bytes], None] = import_module(f"{__name__}.{name}").run
    return run
