"""Authorization identities of PLAIN and EXTERNAL: whether an authenticated client may act as another user."""

from collections.abc import Callable
from typing import TypeAlias

from routerd.wire.sasl.exchange import Failure, Success

Authorize: TypeAlias = Callable[[str, str], bool]
"""Called with the authenticated name and the requested name."""


def act_as(name: str, wanted: str, authorize: Authorize | None) -> Success | Failure:
    """Return the identity of a client authenticated as `name` that requests `wanted`; '' requests its own."""
    if wanted in ("", name):
        return Success(name)
    if authorize is None or not authorize(name, wanted):
        return Failure(f"{name!r} may not act as {wanted!r}")
    return Success(wanted)
