"""Asks the address table where a link goes for which no container is known: a sibling's may be news here.

A container's connection is open before every worker knows of it, and a client may attach in the meantime.
"""

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.directory.directory import Directory
    from routerd.core.roles.awaited_attaches import AwaitedAttaches, AwaitedEnd
    from routerd.core.roles.link_routing import LinkRouting, RoutedAttach
    from routerd.core.roles.siblings import Siblings


class SiblingLookups:
    """Lets attaches wait until this worker knows what the address table knows."""

    def __init__(
        self, directory: "Directory", awaited: "AwaitedAttaches", routing: "LinkRouting", siblings: "Siblings"
    ) -> None:
        self._directory = directory
        self._awaited = awaited
        self._routing = routing
        self._siblings = siblings

    def ask(self, attach: "RoutedAttach", key: str) -> bool:
        """Let a link wait for news of the containers for a key; return whether there can be any."""
        if not self._directory.neighbours:
            return False
        end = self._awaited.new_end(attach)
        self._awaited.hold(end)
        self._siblings.await_news(key, partial(self._answered, end))
        return True

    def _answered(self, end: "AwaitedEnd") -> None:
        if self._awaited.take(end):
            self._awaited.conclude(end, self._routing.without_uplink(end.attach))
