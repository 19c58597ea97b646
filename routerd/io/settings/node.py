"""Where a worker runs, when a router spans hosts: the nodes of its Ray."""

from dataclasses import dataclass
from ipaddress import ip_address

from routerd.io.sockets import endpoints_of


@dataclass(frozen=True, slots=True)
class Node:
    """The node that a worker is on. Without Ray, or with one of the router's own, there is this host alone."""

    id: str = ""
    """Workers with the same one share a host."""
    address: str = ""
    """By which other nodes reach it."""
    is_away: bool = False
    """Whether it is another one than the launcher's."""

    def host_of(self, host: str, family: str | None = None) -> str:
        """Return where a listener of a host listens on this node.

        What is an address of the launcher's host stands for the node's own on other nodes. All addresses, and those
        that only the host itself reaches, are on every node what they are.
        """
        return host if not self.is_away or _is_everywhere(host, family) else self.address


def _is_everywhere(host: str, family: str | None) -> bool:
    try:
        found = [ip_address(one.address[0]) for one in endpoints_of(host, 0, family)]
    except OSError:
        return False
    return all(one.is_loopback or one.is_unspecified for one in found)
