"""The AMQP engine that the client is built on.

It is `routerd.wire`, as the router has it. A distribution of the client carries a copy, `mobula_client._wire`. The
router's own is preferred where a router of the same version is installed, because it may be compiled.
"""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.wire import *  # noqa: F403
    from routerd.wire.sasl import *  # noqa: F403

OF_THE_ROUTER = "routerd.wire"
CARRIED = "mobula_client._wire"


def engine_name() -> str:
    """Return the name of the package that is used as the engine."""
    if find_spec(CARRIED) is None:
        return OF_THE_ROUTER
    try:
        is_same = version("mobula") == version("mobula-client")
    except PackageNotFoundError:
        is_same = False
    return OF_THE_ROUTER if is_same else CARRIED


if not TYPE_CHECKING:
    for _module in (import_module(engine_name()), import_module(f"{engine_name()}.sasl")):
        globals().update({_name: getattr(_module, _name) for _name in _module.__all__})
