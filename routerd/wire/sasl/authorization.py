"""Whether an authenticated client may act as somebody else: the authorization identity of PLAIN and EXTERNAL."""

from collections.abc import Callable
from typing import TypeAlias

from routerd.wire.sasl.exchange import Failure, Success

Authorize: TypeAlias = Callable[[str, str], bool]
"""Called with the authenticated name and the name that it wants to act as."""


def act_as(name: str, wanted: str, authorize: Authorize | None) -> Success | Failure:
    """Return the identity of a client that proved to be `name` and wants to act as `wanted`; '' is as itself."""
    if wanted in ("", name):
        return Success(name)
    if authorize is None or not authorize(name, wanted):
        return Failure(f"{name!r} may not act as {wanted!r}")
    return Success(wanted)
