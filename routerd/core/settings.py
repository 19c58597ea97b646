"""The settings of a router and of its addresses, as the routing code uses them."""

from dataclasses import dataclass
from enum import Enum

DEFAULT_LINK_CAPACITY = 250
"""The default limit of deliveries that a producer may have under way."""
REACH_OCTETS = 1 << 21
"""Octets of large messages that a nearby producer may have under way; they fit into caches."""
UNHELD_MAX = 256 << 20
"""Octets of messages that may wait in parts on sessions that several links share, without closing their windows."""
PRIORITY_MAX = 9
PHASE_MAX = 9


class Distribution(Enum):
    """How the messages of an address are shared among its consumers."""

    CLOSEST = "closest"
    BALANCED = "balanced"
    MULTICAST = "multicast"
    UNAVAILABLE = "unavailable"


class RouterMode(Enum):
    """A router's place in the network."""

    STANDALONE = "standalone"
    INTERIOR = "interior"
    EDGE = "edge"


class ManagementAccess(Enum):
    """The rights of management requests."""

    READ = "read"
    """Requests change nothing."""
    POLICY = "policy"
    """Policy gives the rights; without policy, requests change nothing."""
    CHANGE = "change"
    """Policy gives the rights; without policy, everybody may change everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRules:
    """What topics promise their publishers and subscribers, and what they keep for that."""

    is_exactly_once: bool
    """Otherwise a message may come twice after a failure."""
    unsettled_max: int
    """Messages that the publishers of a topic may have unsettled at one router."""
    unsettled_octets_max: int
    subscription_timeout_s: int
    """The longest time that a subscriber may be away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressSettings:
    """The treatment of all addresses that match a pattern."""

    pattern: str
    """Tokens separated by `.` or `/`, `*` for one token and `#` for any number; a prefix p is the pattern p/#."""
    distribution: Distribution = Distribution.BALANCED
    ingress_phase: int = 0
    """The phase that producers send to."""
    egress_phase: int = 0
    """The phase that consumers receive from."""
    priority: int | None = None
    """Overrides the priority of messages, 0 to 9."""
    has_fallback: bool = False
    """Whether a fallback destination gets messages that nobody else can take."""
    resends_released: bool = False
    """Whether a released message goes to another consumer before its producer hears of it."""
    topic: TopicRules | None = None
    """Addresses with it are topics: their links go to the router's host of topics."""
    name: str | None = None


class LinkDirection(Enum):
    """The direction of messages, as the router sees it."""

    IN = "in"
    """From the peer."""
    OUT = "out"
    """To the peer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRouteSettings:
    """Addresses whose links are routed to a container."""

    name: str
    """No other link route of the router has it."""
    direction: LinkDirection
    """`in` for the links of senders, `out` for those of receivers."""
    pattern: str
    """Like that of an address; a prefix p is the pattern p/#."""
    container_id: str | None = None
    connection: str | None = None
    """The name of the listener or connector of the container."""
    add_prefix: str = ""
    """The prefix of the container's addresses that those of clients do not have."""
    del_prefix: str = ""
    """The prefix of clients' addresses that those of the container do not have."""

    @property
    def has_prefixes(self) -> bool:
        """Whether addresses differ between the container and clients."""
        return bool(self.add_prefix or self.del_prefix)

    def to_container(self, address: str) -> str:
        """Return an address as the container knows it."""
        if self.del_prefix and address.startswith(self.del_prefix) and len(address) > len(self.del_prefix):
            address = address[len(self.del_prefix) :]
        return self.add_prefix + address

    def to_client(self, address: str) -> str:
        """Return an address of the container as clients know it."""
        return self.del_prefix + address.removeprefix(self.add_prefix)


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoLinkSettings:
    """A link that the router attaches to a container, on each connection to it."""

    name: str
    """No other auto-link of the router has it."""
    address: str
    direction: LinkDirection
    phase: int
    external_address: str | None = None
    """The address at the container, if it differs."""
    is_fallback: bool = False
    container_id: str | None = None
    connection: str | None = None
    """The name of the container's listener or connector."""


class MatchMethod(Enum):
    """The rules that the keys of bindings follow."""

    AMQP = "amqp"
    """Words with `.` between them; `*` is one word, `#` any number of them."""
    MQTT = "mqtt"
    """Words with `/` between them; `+` is one word, `#` any number of them at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeSettings:
    """An address whose messages are sent on by their subjects."""

    name: str
    """No other exchange of the router has it."""
    address: str
    phase: int = 0
    method: MatchMethod = MatchMethod.AMQP
    alternate: str | None = None
    """The destination of messages that no next hop takes."""
    alternate_phase: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingSettings:
    """The messages of an exchange that go to one address."""

    name: str
    """No other binding of the exchange has it."""
    exchange: str
    next_hop: str
    phase: int = 0
    key: str = "#"


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterSettings:
    """The settings of one router."""

    id: str
    mode: RouterMode = RouterMode.STANDALONE
    default_distribution: Distribution = Distribution.BALANCED
    """The treatment of addresses that match no pattern."""
    addresses: tuple[AddressSettings, ...] = ()
    version: str = ""
    metadata: str | None = None
    hello_interval_s: int = 1
    """The interval of HELLO messages to neighbours."""
    hello_max_age_s: int = 3
    """A neighbour that is silent for this long is lost."""
    ra_interval_s: int = 30
    """The interval of announcements while the network is stable."""
    ra_interval_flux_s: int = 4
    """The interval of announcements while the network changes."""
    remote_ls_max_age_s: int = 60
    """A router that announced nothing for this long is forgotten."""
    sasl_config_dir: str | None = None
    """The folder with the SASL configuration."""
    sasl_config_name: str = "qdrouterd"
    """The name of the SASL configuration in that folder, without `.conf`."""
    user_file: str | None = None
    """The file of the router's own users; None for none."""
    has_test_hooks: bool = False
    """Whether the addresses and short intervals for tests of clients are on (2.1)."""
    allows_resumable_link_routes: bool = True
    """Whether a routed link may be resumed later."""
    cuts_for_large_messages: bool = False
    """Whether messages beyond policy's `maxMessageSize` cut connections as in qdrouterd.

    Then the close has the error alone, and edge routers send on what their interior router does not take.
    """
    takes_long_tags: bool = False
    """Whether only the message is rejected that has a delivery tag of more than 32 octets, as in qdrouterd."""
    carries_anything: bool = False
    """Whether octets that are no AMQP message are carried to links of other routers too, as in qdrouterd."""
    gathers_messages: bool = False
    """Whether a message is not routed before it has come as a whole, or 32 KiB of it have, as in qdrouterd.

    So only larger ones need links of their own between routers, and nobody sees what was aborted before.
    """
    gives_credit_at_once: bool = False
    """Whether a client has its credit back for each settled message, even if that waits for a consumer.

    So it is in qdrouterd. Settled messages are dropped if more wait than links may hold.
    """
    forgets_of_lost_producers: bool = False
    """Whether a client's messages that wait unsettled are forgotten when the client's link ends."""
    management_access: ManagementAccess = ManagementAccess.POLICY
    has_policy: bool = False
    """Whether the policy of vhosts is enforced."""
    topic_grace_s: int | None = None
    """How long topics accept nothing after a start if no other router tells which subscriptions there are."""
    management_file_dir: str | None = None
    """The folder of files that requests to management may name; None allows none."""

    @property
    def allows_management_changes(self) -> bool:
        """Whether requests to management may change anything; policy, if present, decides first."""
        access = self.management_access
        return access is ManagementAccess.CHANGE or (access is ManagementAccess.POLICY and self.has_policy)
