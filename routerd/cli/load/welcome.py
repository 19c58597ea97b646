"""What answers the links of peers in a direct run, each with the role that fits it."""

import itertools
from typing import TYPE_CHECKING

from routerd.cli.load.meter import Meter
from routerd.cli.load.roles import Consuming, Responding, Role
from routerd.wire import Source

if TYPE_CHECKING:
    from routerd.wire import Link, Sender


class Welcome:
    """Answers links of peers: consumes from senders or responds to them, and gives receivers their reply address."""

    def __init__(self, meter: Meter, *, is_responding: bool, is_settled: bool, credit: int) -> None:
        self._meter = meter
        self._is_responding = is_responding
        self._is_settled = is_settled
        self._credit = credit
        self._reply_links: dict[str, Sender] = {}
        self._numbers = itertools.count(1)

    def attach(self, link: "Link") -> Role | None:
        """Answer an attach; a role, if there is one, is to be pumped."""
        if link.is_sender:
            self._attach_to_receiver(link)
            return None
        role = self._role()
        link.context = role
        link.attach(source=link.remote_source, target=link.remote_target)
        link.grant(self._credit)  # type: ignore[attr-defined]
        return role

    def _attach_to_receiver(self, link: "Link") -> None:
        source = link.remote_source
        if source is not None and source.dynamic:
            address = f"reply-{next(self._numbers)}"
            source = Source(address=address, dynamic=True)
            self._reply_links[address] = link  # type: ignore[assignment]
        link.attach(source=source, target=link.remote_target)

    def _role(self) -> Role:
        if self._is_responding:
            return Responding(self._meter, "", "", self._is_settled, self._credit, self._reply_links)
        return Consuming(self._meter, "", "", self._credit)
