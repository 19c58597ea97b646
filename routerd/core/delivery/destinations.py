"""The addresses of messages that name their destination themselves."""

from typing import TYPE_CHECKING

from routerd.core.directory.addresses import UPLINK
from routerd.core.policy.message_guard import is_management, read_only_guard

if TYPE_CHECKING:
    from routerd.core.annotations.router_annotations import RouterAnnotations
    from routerd.core.clock import Clock
    from routerd.core.directory.directory import Directory
    from routerd.core.links.address import Address
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.peer import Peer
    from routerd.wire import Error

_OWN = ("M", "L")
"""The classes of addresses that belong to this router."""


class Destinations:
    """Finds the addresses that messages name, and asks for links to consumers who want them."""

    def __init__(self, clock: "Clock", directory: "Directory", guards_requests: bool) -> None:
        self._clock = clock
        self._directory = directory
        # Whether clients may not change other routers, since those do not know from whom a request comes.
        self.guards_requests = guards_requests

    def of_client(self, inlet: "Inlet", to: str) -> "Address | Error | None":
        """Return the destination of an anonymous link's message: None without consumers, or the error of a refusal."""
        directory = self._directory
        key = directory.naming.destination_key(to, inlet.peer.tenant)
        if not isinstance(key, str):
            return key
        if self.guards_requests and key[:1] != "M" and inlet.guard is None and self.asks_others(inlet.peer, key, to):
            # Few links without an address ever ask the management: only these are checked from now on.
            inlet.guard = read_only_guard(None)
        address = directory.addresses.get(key)
        if address is None:
            address = directory.passing_address(key)
            if address is None:
                return directory.fallback()
        elif directory.is_edge and key[:1] == "M" and not address.has_outlet(False):
            return directory.fallback()
        if address.missing or address.routes:
            directory.want(address)
        return address

    def asks_others(self, peer: "Peer", key: str, text: str) -> bool:
        """Return whether a client sends to the management of another router."""
        # The management of this router looks at its own settings.
        is_client = peer.is_external and not (peer.is_router or peer.is_edge)
        return is_client and (key == UPLINK or key[:1] not in _OWN) and is_management(text)

    def of_router(self, annotations: "RouterAnnotations", to: str) -> "Address | None":
        """Return the destination of another router's message; None without consumers."""
        directory = self._directory
        key = annotations.key if annotations.to is not None else ""
        if not key:
            key = directory.naming.arrival_key(to, annotations.phase)
            if annotations.to is not None:
                annotations.key = key
        address = directory.addresses.get(key)
        if address is None:
            address = directory.passing_address(key)
            if address is None:
                return None
        if address.missing or address.routes:
            directory.want(address)
        return address

    def soon(self, annotations: "RouterAnnotations", to: str) -> "Address | None":
        """Return the address of another router's message, if there may be news of it soon."""
        directory = self._directory
        key = annotations.key if annotations.to is not None else directory.naming.arrival_key(to, annotations.phase)
        if not key or not directory.expectations.may_come(key, self._clock.now):
            return None
        return directory.address_without_link(key)

    def want(self, address: "Address") -> None:
        """Ask for links to the consumers of an address that has no producer's link here."""
        if address.missing or address.routes:
            self._directory.want(address)

    def is_expected(self, inlet: "Inlet", address: "Address") -> bool:
        """Whether a message from another router waits for news of its address."""
        trunk = inlet.trunk
        return trunk is not None and trunk.is_up and self._directory.expectations.wait_for(address, self._clock.now)
