"""What the workers of a router report of themselves when somebody asks: plain values that can be pickled.

Of links, connections and addresses there may be very many, so that their rows are tuples, which cost the least to make.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from routerd.management.certificates import Certificate
from routerd.management.topic_rows import TopicFigures


class LinkRow(NamedTuple):
    """A link of now."""

    worker: int
    connection: int
    link: int
    name: str
    role: str
    """`normal` and so on as listeners have it, `fabric` to a sibling, `inner` to an endpoint inside the router."""
    is_outgoing: bool
    address: str | None
    """The key; an anonymous producer has none."""
    priority: int
    capacity: int
    credit: int
    """Deliveries that may be begun now: by the producer, or to the consumer."""
    unsettled: int
    undelivered: int
    """Messages of a producer that wait for some consumer; to a consumer, those that wait for this one."""
    deliveries: int
    presettled: int
    dropped_presettled: int
    accepted: int
    rejected: int
    released: int
    modified: int
    aborted: int
    """Deliveries that the producer began and then aborted; a consumer's link has none."""
    delayed_1s: int
    delayed_10s: int
    stuck: int
    """Unsettled or undelivered for too long; messages that are still streaming are not counted."""
    oldest_unsettled_s: float
    """Age of the oldest unsettled delivery, 0 without one."""
    settle_rate: int
    """Deliveries that were settled in a second, over the last five."""
    stalls: int
    """How often a consumer's credit was used up, or there was no room on the way to it."""
    zero_credit_s: float
    """For how long the link has had no credit."""
    kind: str = "endpoint"
    """What it is for: `endpoint`, and between routers `router-control`, `inter-router` or `edge-downlink`."""
    peer: int | None = None
    """Of a half of a routed link, the number of the other half."""
    is_up: bool = True
    """Whether it is attached at both ends."""


class ConnectionRow(NamedTuple):
    """A connection of now."""

    worker: int
    connection: int
    role: str
    """As for links."""
    is_incoming: bool
    host: str
    """Address and port of the peer; of one that the router connected to, as they were configured."""
    container: str
    hostname: str
    mechanism: str | None
    """None where the peer left SASL out."""
    user: str | None
    tenant: str | None
    """The vhost whose own addresses it uses, if it does."""
    listener: str | None
    """Identity of the listener where it came in, or of the connector that made it."""
    is_open: bool
    is_blocked: bool
    """Whether the peer takes less than there is for it."""
    is_traced: bool
    """Whether its frames are traced whatever the log is set to."""
    producers: int
    consumers: int
    uptime_s: float
    last_delivery_s: float | None
    """Since when no delivery has come or gone; None if none ever has."""
    properties: dict[Any, Any]
    is_encrypted: bool = False
    tls_protocol: str | None = None
    tls_cipher: str | None = None
    tls_ssf: int = 0
    """The bits of the key that it is encrypted with."""
    is_in_reserve: bool = False
    """Whether it is an edge router's connection that waits for the uplink to be lost."""


class AddressRow(NamedTuple):
    """An address that is in use at a worker; all workers know each other's consumers."""

    worker: int
    key: str
    distribution: str
    priority: int
    producers: int
    consumers: int
    inner_consumers: int
    """Endpoints inside the router; they are no `consumers`."""
    sibling_consumers: int
    """Consumers at other workers."""
    ingress: int
    egress: int
    parked: int
    """Messages that wait for a consumer."""
    oldest_parked_s: float
    remote_routers: tuple[str, ...] = ()
    """Other routers that have consumers and can be reached."""
    outstanding: tuple[int, ...] = ()
    """Unsettled deliveries that went to other routers, by the way they went."""
    transit: int = 0
    """Deliveries from one router to another."""
    container_in: int = 0
    """Deliveries that came from containers."""
    container_out: int = 0
    containers: int = 0
    """Of a link route, the connections to its containers."""
    redirected: int = 0
    """Deliveries that went to the fallback destination."""


class LinkRouteRow(NamedTuple):
    """A link route at a worker."""

    worker: int
    name: str
    """Its own, or what stands in for that."""
    connections: int
    """To its container."""


class AutoLinkRow(NamedTuple):
    """An auto-link at a worker."""

    worker: int
    name: str
    """As of a link route."""
    status: str
    """`inactive`, `attaching`, `failed`, `active` or `quiescing`: the best of its connections."""
    link: int | None
    """The number of its link; the last one, if there are several."""
    last_error: str | None
    """Why the last link that failed did, until it is there again."""


class ExchangeRow(NamedTuple):
    """An exchange at the worker that hosts it."""

    worker: int
    name: str
    received: int
    dropped: int
    forwarded: int
    diverted: int


class BindingRow(NamedTuple):
    """A binding at the worker that hosts its exchange."""

    worker: int
    exchange: str
    name: str
    """Its own, or what stands in for that."""
    matched: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorRow:
    """How a connector fares."""

    identity: str
    status: str
    """`CONNECTING`, `SUCCESS` or `FAILED`."""
    message: str
    """What was last said of its connection."""
    failover_urls: str
    """Where the peer can be reached as well, the next one to try first, with commas between them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRow:
    """A router of the network, as the router that is asked knows it."""

    id: str
    is_own: bool = False
    """Whether it is the router that is asked."""
    protocol_version: int = 1
    instance: int
    """Another one at each start of that router."""
    link_state: tuple[str, ...] = ()
    """Ids of its neighbours."""
    next_hop: str | None = None
    """Id of the neighbour on the way there; None for a neighbour, and for a router that cannot be reached."""
    valid_origins: tuple[str, ...] = ()
    """Ids of the routers whose multicasts come by way of it."""
    router_link: int | None = None
    """Number of the connection to it, if it is a neighbour."""
    cost: int | None = None
    """Of the way there; None for the own router, and for one that cannot be reached."""
    last_topology_change: float | None = None
    """When the ways through the network last changed, seconds since 1970; known of the own router."""
    topology_changes: int = 0
    """How often they have since its routing engine was started; known of the own router."""
    engine: int = 0
    """Another number at each start of its routing engine; known of the own router."""
    index: int
    """Which it is of those that are known, the own router being 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRow:
    """A connection actor, or the only worker of a router in one process."""

    worker: int
    role: str
    """What the actor is called in its router."""
    pid: int
    host: str
    node: str = ""
    """The address of its node of Ray."""
    uptime_s: float
    restarts: int
    connections: int
    links: int
    """Of clients."""
    addresses: int
    siblings: int
    """Other workers that it has a connection to."""
    event_loop_lag_s: float
    event_loop_lag_max_s: float
    buffered_octets: int
    """Octets that wait to be written."""
    memory_octets: int
    """Of its process."""
    stuck: int
    links_blocked: int
    authentication_failures: int = 0
    """How often a peer could not prove who it is."""
    ingress: dict[str, int]
    """Of all producers there have been: sums of the counters of `LinkRow` from `deliveries` to `delayed_10s`."""
    egress: dict[str, int]
    """Consumers."""
    fabric_in: dict[str, int]
    fabric_out: dict[str, int]
    inner_in: dict[str, int]
    inner_out: dict[str, int]
    transit: int = 0
    """Deliveries from one router to another."""
    container_in: int = 0
    """Deliveries that came from containers."""
    container_out: int = 0
    redirected: int = 0
    """Deliveries that went to fallback destinations."""
    dropped_presettled: int = 0
    """Settled deliveries, and copies of multicast ones, that were dropped: at links of clients, routers and actors."""
    trunk_in: dict[str, int] = field(default_factory=dict)
    """Of links to other routers."""
    trunk_out: dict[str, int] = field(default_factory=dict)
    endpoint_in: dict[str, int] = field(default_factory=dict)
    """Those among them that count like links of clients for qdrouterd: of edge routers, and routed ones."""
    endpoint_out: dict[str, int] = field(default_factory=dict)
    stalls: int = 0
    """How often consumers and other routers had no credit or room left."""
    octets_in: dict[str, int] = field(default_factory=dict)
    """Octets that came on connections: of a `client`, a `router` or the `fabric`."""
    octets_out: dict[str, int] = field(default_factory=dict)
    recording_status: str = "off"
    recording: dict[str, int] = field(default_factory=dict)
    """Counters of what has been recorded, by the names that `RECORD_COUNTERS` has."""

    def came_in(self, counter: str) -> int:
        """Return a counter of all links that messages come in by: those of clients and of other routers."""
        return self.ingress[counter] + self.trunk_in.get(counter, 0)

    def entered(self, counter: str) -> int:
        """Return a counter of the links that qdrouterd counts as ingress: without those between interior routers."""
        return self.ingress[counter] + self.endpoint_in.get(counter, 0)

    def left(self, counter: str) -> int:
        """Return a counter of the links that qdrouterd counts as egress: without those between interior routers."""
        return self.egress[counter] + self.endpoint_out.get(counter, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrunkRow:
    """An open connection to another router."""

    router: str
    """The id of that router."""
    role: str
    """`inter-router`, or `edge` for the uplink of an edge router."""
    cost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerFigures:
    """What a worker counts, all at once."""

    counters: WorkerRow
    policy: "PolicyRow"
    trunks: Sequence[TrunkRow] = ()
    edges: int = 0
    """Connections of edge routers."""
    connectors: Mapping[str, bool] = field(default_factory=dict)
    """Whether each connector of this worker is connected, by identity."""
    certificates: Mapping[str, Certificate] = field(default_factory=dict)
    """The certificates of TLS profiles in use, by the name of the profile."""
    log_lines: Mapping[str, int] = field(default_factory=dict)
    """Lines that its process has logged, by level."""
    topics: TopicFigures | None = None
    """Of the topics that it hosts, if it does."""

    @property
    def incarnation(self) -> tuple[int, int]:
        """Another one at each start of the worker, which then counts from 0."""
        return self.counters.restarts, self.counters.pid


CENTRAL_ACTORS = ("table", "engine", "management")
"""The actors of a router that have no connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterFigures:
    """What all workers of a router count."""

    workers: Sequence[WorkerFigures]
    """Those that have answered."""
    absent: Sequence[int] = ()
    """The numbers of the others."""
    addresses: int = 0
    """Different addresses in use."""
    restarts: Mapping[str, int] = field(default_factory=dict)
    """How often each of `CENTRAL_ACTORS` was started again, without those that do not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRow:
    """A line of the log."""

    module: str
    level: str
    text: str
    file: str | None
    line: int | None
    time: float
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRow:
    """A pool of objects of the compiled code."""

    name: str
    object_octets: int
    in_use: int
    allocated: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VhostRow:
    """What the policy of a vhost has let in and refused at a worker."""

    hostname: str
    connections_approved: int = 0
    connections_denied: int = 0
    connections_current: int = 0
    by_user: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Who is connected, as `address:port`."""
    by_host: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sessions_denied: int = 0
    senders_denied: int = 0
    receivers_denied: int = 0
    message_size_denied: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRow:
    """What policy has let in and refused at a worker."""

    connections_processed: int = 0
    connections_denied: int = 0
    connections_current: int = 0
    links_denied: int = 0
    message_size_denied: int = 0
    total_denials: int = 0
    vhosts: Sequence[VhostRow] = ()
