"""Claimants that refuse links: by policy, while the router ends, and links between routers on clients' connections."""

from typing import TYPE_CHECKING

from routerd.core.policy.gate import LINK_DENIED, Gate
from routerd.core.roles.claims import Claimant
from routerd.core.roles.trunks import is_for_routers
from routerd.wire import Error

if TYPE_CHECKING:
    from routerd.core.links.peer import Peer
    from routerd.core.policy.grant import Grant
    from routerd.core.roles.attaching import Attaching
    from routerd.wire import Attach
    from routerd.wire.link import Link

SHUTTING_DOWN = Error(condition="amqp:connection:forced", description="the router is shutting down")

_NOT_A_ROUTER = Error(condition="qd:forbidden", description="this connection is not between routers")


class PolicyClaim(Claimant):
    """Refuses links that policy does not allow."""

    gate: Gate | None

    def __init__(self) -> None:
        # The gate of policy; None without policy.
        self.gate = None

    def claim(self, peer: "Peer", link: "Link", performative: "Attach") -> "bool | Error":
        """Check a link against the rights of its peer."""
        if peer.grant is None and peer.service_rules is None:
            return False
        if peer.grant is None or self.gate is None:
            # An authentication service gave rules, and there is no gate to apply them.
            return LINK_DENIED
        grant: Grant = peer.grant
        if grant.knows(peer, link, performative):
            return False
        return self.gate.link_error(peer, link, performative) or False


class DrainingClaim(Claimant):
    """Refuses all links while the router ends."""

    def __init__(self, attaching: "Attaching") -> None:
        self._attaching = attaching

    def claim(self, peer: "Peer", link: "Link", performative: "Attach") -> "bool | Error":
        """Refuse any link while the router ends."""
        return SHUTTING_DOWN if self._attaching.is_draining else False


class RouterLinkClaim(Claimant):
    """Refuses links between routers on the connection of a client."""

    def claim(self, peer: "Peer", link: "Link", performative: "Attach") -> "bool | Error":
        """Refuse an attach with the capability of such a link."""
        return _NOT_A_ROUTER if not peer.is_inner and is_for_routers(performative) else False
