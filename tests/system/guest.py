"""A client of python-qpid-proton that tries things and says what it was told when they were refused."""

import re
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from proton import ConnectionException, Data, Message, Timeout, symbol
from proton.reactor import AtMostOnce, DynamicNodeProperties, LinkOption
from proton.utils import BlockingConnection, ConnectionClosed, LinkDetached, SendException

WITHIN_S = 60.0
CLOSE_S = 2.0
Refusal = tuple[str, str]
_CONDITION = re.compile(r"Condition\('([^']*)', '([^']*)'\)")


class Capabilities(LinkOption):  # type: ignore[misc]
    """Gives both termini of a link capabilities."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def apply(self, link: Any) -> None:
        """Write them."""
        for terminus in (link.source, link.target):
            terminus.capabilities.put_array(False, Data.SYMBOL)
            terminus.capabilities.enter()
            for name in self._names:
                terminus.capabilities.put_symbol(symbol(name))
            terminus.capabilities.exit()


class Guest:
    """One connection."""

    def __init__(self, port: int, vhost: str | None = None, **options: Any) -> None:
        self.connection = BlockingConnection(
            f"127.0.0.1:{port}", timeout=WITHIN_S, virtual_host=vhost, allowed_mechs="ANONYMOUS", **options
        )
        self._names = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection, if it is open: one that the router lost may not notice."""
        self.connection.timeout = CLOSE_S
        with suppress(ConnectionException, Timeout):
            self.connection.close()

    def sender(self, address: str | None, *options: LinkOption) -> Any:
        """A link that sends."""
        return self.connection.create_sender(address, name=self._name(), options=list(options))

    def post(self, address: str | None, message: Message) -> None:
        """Send a message, settled; it is on its way when the link is closed."""
        sender = self.sender(address, AtMostOnce())
        sender.send(message)
        sender.close()

    def receiver(self, address: str | None, *options: LinkOption, dynamic: bool = False) -> Any:
        """A link that receives."""
        return self.connection.create_receiver(
            address, name=self._name(), options=list(options), dynamic=dynamic, credit=10
        )

    def _name(self) -> str:
        self._names += 1
        return f"link-{self._names}"


def refusal(attempt: Callable[[], object]) -> Refusal | None:
    """Try something; return why it was refused, None if it was not."""
    try:
        attempt()
    except (LinkDetached, ConnectionClosed) as refused:
        # What the link or connection had of it is gone with the transport.
        [found] = _CONDITION.findall(str(refused))
        condition, description = found
        return condition, description
    except SendException as refused:
        return "outcome", str(refused.state)
    return None


def refused(port: int, vhost: str | None = None) -> Refusal | None:
    """Connect and leave; return why that was refused."""
    found: list[Guest] = []
    told = refusal(lambda: found.append(Guest(port, vhost)))
    for guest in found:
        guest.close()
    return told


__all__ = ["AtMostOnce", "Capabilities", "DynamicNodeProperties", "Guest", "Message", "refusal", "refused"]
