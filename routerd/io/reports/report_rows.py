"""The rows of links, connections and addresses. There may be very many: they are compiled, and made without keywords.

The arguments of a row have the order of its fields.
"""

from typing import TYPE_CHECKING, Any

from routerd.config import ConnectorConfig, ListenerConfig
from routerd.management import AddressRow, ConnectionRow, LinkRow

if TYPE_CHECKING:
    from routerd.core import Network
    from routerd.core.links.address import Address
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.peer import Peer
    from routerd.core.links.routed_end import RoutedEnd

_row = tuple.__new__
_WITHOUT_NAME = ("ANONYMOUS", "EXTERNAL")


def address_row(address: "Address", worker: int, now: float, network: "Network | None") -> AddressRow:
    """Return the row of an address; `network` has the other routers, if there are any."""
    inner = 0
    container_out = address.container_out
    for outlet in address.outlets[: address.local_count]:
        inner += outlet.peer.is_inner
        if outlet.peer.is_container:
            container_out += outlet.deliveries
    container_in = address.container_in
    for inlet in address.inlets:
        if inlet.peer.is_container:
            container_in += inlet.deliveries
    parked = address.waiting
    return _row(
        AddressRow,
        (
            worker,
            address.key,
            address.distribution.value,
            address.priority,
            len(address.inlets) - len(address.fabric_inlets),
            address.local_count - inner,
            inner,
            address.remote_count,
            address.ingress,
            address.egress,
            parked,
            _oldest_parked_s(address, now) if parked else 0.0,
            () if network is None else remote_routers(network, address.key),
            tuple([route.outstanding for route in address.routes]) if address.routes else (),
            address.transit,
            container_in,
            container_out,
            0,
            address.redirected,
        ),
    )


def _user_of(details: Any, sasl: Any) -> str | None:
    """Return the user at whichever end one has logged in."""
    if sasl is None:
        return None
    if isinstance(details, ConnectorConfig):
        return None if sasl.mechanism in _WITHOUT_NAME else details.sasl_username
    user: str | None = sasl.identity
    return user


def connection_row(peer: "Peer", worker: int, now: float, is_in_reserve: bool) -> ConnectionRow:
    """Return the row of a connection."""
    connection = peer.connection
    remote = connection.remote_open
    sasl = connection.sasl
    shell = peer.shell
    details = peer.details
    return _row(
        ConnectionRow,
        (
            worker,
            peer.number,
            peer.role_name,
            not connection.is_client,
            details.address if isinstance(details, ConnectorConfig) else getattr(shell, "host", ""),
            remote.container_id if remote else "",
            (remote and remote.hostname) or "",
            sasl.mechanism if sasl else None,
            _user_of(details, sasl),
            peer.tenant or None,
            details.identity if isinstance(details, (ListenerConfig, ConnectorConfig)) else None,
            peer.is_open,
            peer.is_blocked,
            getattr(shell, "is_traced", False),
            len(peer.inlets),
            len(peer.outlets),
            now - peer.opened_at if peer.opened_at else 0.0,
            now - peer.active_at if peer.active_at else None,
            dict((remote and remote.properties) or {}),
            getattr(shell, "is_encrypted", False),
            getattr(shell, "tls_protocol", None),
            getattr(shell, "tls_cipher", None),
            getattr(shell, "tls_ssf", 0),
            is_in_reserve,
        ),
    )


def inlet_row(
    inlet: "Inlet",
    worker: int,
    kind: str,
    priority: int,
    stuck: int,
    oldest_s: float,
    rate: int,
    without_credit_s: float,
) -> LinkRow:
    """Return the row of a producer's link."""
    link = inlet.link
    return _row(
        LinkRow,
        (
            worker,
            inlet.peer.number,
            inlet.number,
            link.name,
            inlet.peer.role_name,
            False,
            None if inlet.address is None else inlet.address.key,
            priority,
            inlet.capacity,
            link.credit,
            link.unsettled_count,
            waiting_here(inlet),
            inlet.deliveries,
            inlet.presettled + inlet.waiting,
            inlet.dropped_presettled,
            inlet.accepted,
            inlet.rejected,
            inlet.released,
            inlet.modified,
            link.aborted,
            inlet.delayed_1s,
            inlet.delayed_10s,
            stuck,
            oldest_s,
            rate,
            0,
            without_credit_s,
            kind,
            None,
            link.is_attached,
        ),
    )


def outlet_row(
    outlet: "Outlet", worker: int, kind: str, priority: int, stuck: int, oldest_s: float, rate: int, now: float
) -> LinkRow:
    """Return the row of a consumer's link."""
    link = outlet.link
    # Copies that wait for credit, deliveries that were begun and wait for the session's window, and what waits for any
    # consumer of the address.
    undelivered = link.credit_on_wire() - link.credit + waiting_share(outlet)
    if outlet.waiting:
        undelivered += len(outlet.waiting)
    return _row(
        LinkRow,
        (
            worker,
            outlet.peer.number,
            outlet.number,
            link.name,
            outlet.peer.role_name,
            True,
            None if outlet.address is None else outlet.address.key,
            priority,
            outlet.peer.capacity,
            link.credit,
            link.unsettled_count,
            undelivered,
            outlet.deliveries,
            outlet.presettled,
            outlet.dropped_presettled,
            outlet.accepted,
            outlet.rejected,
            outlet.released,
            outlet.modified,
            0,
            outlet.delayed_1s,
            outlet.delayed_10s,
            stuck,
            oldest_s,
            rate,
            outlet.stalls,
            zero_credit_s(outlet, now),
            kind,
            None,
            link.is_attached,
        ),
    )


def routed_row(
    end: "RoutedEnd", worker: int, kind: str, priority: int, stuck: int, oldest_s: float, rate: int, now: float
) -> LinkRow:
    """Return the row of a half of a routed link."""
    link = end.link
    other = end.other
    undelivered = 0
    if link.is_sender:
        undelivered = end.sender.credit_on_wire() - link.credit
        if end.waiting is not None:
            undelivered += len(end.waiting)
    # The sender on one half has the credit of the other half.
    sending = end if link.is_sender else other
    return _row(
        LinkRow,
        (
            worker,
            end.peer.number,
            end.number,
            link.name,
            end.peer.role_name,
            link.is_sender,
            f"M0{end.address}" if end.address else None,
            priority,
            end.peer.capacity if end.is_near else 0,
            link.credit,
            link.unsettled_count,
            undelivered,
            end.deliveries,
            end.presettled,
            end.dropped_presettled,
            end.accepted,
            end.rejected,
            end.released,
            end.modified,
            0 if link.is_sender else end.receiver.aborted,
            end.delayed_1s,
            end.delayed_10s,
            stuck,
            oldest_s,
            rate,
            0,
            0.0 if sending is None else routed_zero_credit_s(sending, now),
            kind,
            None if other is None else other.number,
            link.is_attached,
        ),
    )


def waiting_here(inlet: "Inlet") -> int:
    """Return how many of a producer's messages wait without a consumer here that they count for."""
    address = inlet.address
    return inlet.parked if address is not None and address.local_count == 0 else 0


def waiting_share(outlet: "Outlet") -> int:
    """Return a consumer's part of the messages that wait at its address: all consumers of the router share them."""
    address = outlet.address
    if address is None or not 0 <= outlet.place < address.local_count:
        return 0
    each, rest = divmod(address.waiting, address.local_count)
    return int(each + (outlet.place < rest))


def zero_credit_s(outlet: "Outlet", now: float) -> float:
    """Return for how long a consumer has given no credit."""
    # Nearly all outlets have credit: their links need no look then.
    if not outlet.dry_since or outlet.link.credit > 0:
        return 0.0
    return now - outlet.dry_since


def routed_zero_credit_s(end: "RoutedEnd", now: float) -> float:
    """Return for how long there has been no credit on a half that sends."""
    return 0.0 if end.link.credit > 0 else now - end.dry_since


def settled_count(end: "Inlet | Outlet | RoutedEnd") -> int:
    """Return how many deliveries of a link are over."""
    return end.presettled + end.accepted + end.rejected + end.released + end.modified


def remote_routers(network: "Network", key: str) -> tuple[str, ...]:
    """Return the routers that have an address and can be reached."""
    routes = network.routes
    return tuple([router for router in network.routers_of(key) if router in routes])


def _oldest_parked_s(address: Any, now: float) -> float:
    stamps = [queue[0].stamp for queue in (address.parked_from_siblings, address.parked) if queue]
    return now - min(stamps) if stamps else 0.0
