"""Claimants that refuse links: by policy, at the end of the router, and of routers on the connections of clients."""

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

_NOT_A_ROUTER = Error(condition="qd:forbidden", description="this is no connection between routers")


class PolicyClaim(Claimant):
    """Refuses what policy does not allow."""

    gate: Gate | None

    def __init__(self) -> None:
        # Holds what begins against policy; None where none is configured.
        self.gate = None

    def claim(self, peer: "Peer", link: "Link", performative: "Attach") -> "bool | Error":
        """Hold a link against what its peer may do."""
        if peer.grant is None and peer.service_rules is None:
            return False
        if peer.grant is None or self.gate is None:
            # Rules of a service, and nobody who holds the link against them.
            return LINK_DENIED
        grant: Grant = peer.grant
        if grant.knows(peer, link, performative):
            return False
        return self.gate.link_error(peer, link, performative) or False


class DrainingClaim(Claimant):
    """Refuses all that begins once the router is about to end."""

    def __init__(self, attaching: "Attaching") -> None:
        self._attaching = attaching

    def claim(self, peer: "Peer", link: "Link", performative: "Attach") -> "bool | Error":
        """Refuse whatever comes now."""
        return SHUTTING_DOWN if self._attaching.is_draining else False


class RouterLinkClaim(Claimant):
    """Refuses a link between routers on the connection of a client."""

    def claim(self, peer: "Peer", link: "Link", performative: "Attach") -> "bool | Error":
        """Refuse what has the capability of such a link."""
        return _NOT_A_ROUTER if not peer.is_inner and is_for_routers(performative) else False
