"""A router without I/O: addresses, forwarding, deliveries, and the exchange between the workers of a router."""

from routerd.core.directory.address_table import AddressTable
from routerd.core.directory.addresses import (
    FALLBACK_PHASE,
    UPLINK,
    AddressClass,
    AddressSpace,
    KeyParts,
    canonical,
    parts_of,
)
from routerd.core.directory.link_routes import LinkRoutes, is_link_route, is_prefix_pattern
from routerd.core.directory.membership import Changes, Delta, Interest, Sibling
from routerd.core.directory.naming import TOPICS_ADDRESS
from routerd.core.directory.network import MappedAddresses, Network, NetworkNews, RouteTo
from routerd.core.directory.pattern_tree import PatternTree
from routerd.core.directory.topics import Topics
from routerd.core.directory.treatment import HINTS, Treatment, Treatments
from routerd.core.errors import (
    ChangesMissed,
    CoreError,
    DuplicatePattern,
    FullDeltaMissing,
    InvalidKey,
    InvalidPattern,
    InvalidPhase,
    JoinRequired,
    MembershipError,
    PatternError,
    QueueFull,
    StaleMember,
    UnknownMember,
    UnknownPattern,
)
from routerd.core.inside.binding_tree import BindingTree, key_fault
from routerd.core.inside.built_in_endpoints import add_built_in_endpoints
from routerd.core.inside.exchange import Exchange
from routerd.core.inside.exchange_loop import ExchangeLoop
from routerd.core.inside.exchanges import Exchanges
from routerd.core.inside.inner_connection import InnerConnection
from routerd.core.inside.inner_endpoints import InnerConsumer, InnerProducer, LoopBack
from routerd.core.inside.link_keeper import LinkKeeper
from routerd.core.links.address import Address
from routerd.core.links.end import COUNTERS
from routerd.core.links.fan_out import FanOut
from routerd.core.links.inlet import Inlet
from routerd.core.links.outlet import Outlet
from routerd.core.links.peer import EDGE, FABRIC, INNER, INTER_ROUTER, NORMAL, ROUTE_CONTAINER, TOPICS, Peer
from routerd.core.links.routed_end import RoutedEnd
from routerd.core.observer import Observer
from routerd.core.policy import (
    CONNECTOR_GROUP,
    DEFAULT_GROUP,
    Account,
    Gate,
    Grant,
    GroupSettings,
    HostRange,
    Ledger,
    PolicyCounters,
    PolicySettings,
    Report,
    Rulebook,
    Seat,
    SeatLimits,
    ServiceRules,
    Verdict,
    VhostCounters,
    VhostSettings,
    host_number,
    host_of,
    is_pattern_of_user,
)
from routerd.core.recording.columns import (
    COUNTERS_OF_FLOW,
    COUNTS,
    DecisionColumns,
    FlowNames,
    FlowRows,
    RecordedEvent,
    Records,
    Register,
    Room,
    private_memory,
)
from routerd.core.recording.names import CAUSE_WORDS, OUTCOME_WORDS
from routerd.core.recording.recorder import Recorder
from routerd.core.roles.address_routes import RELAY
from routerd.core.roles.containers import ContainerUse
from routerd.core.roles.edge_lookups import LOOKUP
from routerd.core.roles.edges import HEARTBEAT_S
from routerd.core.roles.trunks import ControlArrived, TrunkClosed, TrunkEvent, TrunkOpened
from routerd.core.roles.uplinks import HEARTBEAT, TRACKING
from routerd.core.router import Router
from routerd.core.settings import (
    DEFAULT_LINK_CAPACITY,
    PHASE_MAX,
    PRIORITY_MAX,
    REACH_OCTETS,
    AddressSettings,
    AutoLinkSettings,
    BindingSettings,
    Distribution,
    ExchangeSettings,
    LinkDirection,
    LinkRouteSettings,
    ManagementAccess,
    MatchMethod,
    RouterMode,
    RouterSettings,
    TopicRules,
)
from routerd.core.totals import Totals

__all__ = [
    "CAUSE_WORDS",
    "CONNECTOR_GROUP",
    "COUNTERS",
    "COUNTERS_OF_FLOW",
    "COUNTS",
    "DEFAULT_GROUP",
    "DEFAULT_LINK_CAPACITY",
    "EDGE",
    "FABRIC",
    "FALLBACK_PHASE",
    "HEARTBEAT",
    "HEARTBEAT_S",
    "HINTS",
    "INNER",
    "INTER_ROUTER",
    "LOOKUP",
    "NORMAL",
    "OUTCOME_WORDS",
    "PHASE_MAX",
    "PRIORITY_MAX",
    "REACH_OCTETS",
    "RELAY",
    "ROUTE_CONTAINER",
    "TOPICS",
    "TOPICS_ADDRESS",
    "TRACKING",
    "UPLINK",
    "Account",
    "Address",
    "AddressClass",
    "AddressSettings",
    "AddressSpace",
    "AddressTable",
    "AutoLinkSettings",
    "BindingSettings",
    "BindingTree",
    "Changes",
    "ChangesMissed",
    "ContainerUse",
    "ControlArrived",
    "CoreError",
    "DecisionColumns",
    "Delta",
    "Distribution",
    "DuplicatePattern",
    "Exchange",
    "ExchangeLoop",
    "ExchangeSettings",
    "Exchanges",
    "FanOut",
    "FlowNames",
    "FlowRows",
    "FullDeltaMissing",
    "Gate",
    "Grant",
    "GroupSettings",
    "HostRange",
    "Inlet",
    "InnerConnection",
    "InnerConsumer",
    "InnerProducer",
    "Interest",
    "InvalidKey",
    "InvalidPattern",
    "InvalidPhase",
    "JoinRequired",
    "KeyParts",
    "Ledger",
    "LinkDirection",
    "LinkKeeper",
    "LinkRouteSettings",
    "LinkRoutes",
    "LoopBack",
    "ManagementAccess",
    "MappedAddresses",
    "MatchMethod",
    "MembershipError",
    "Network",
    "NetworkNews",
    "Observer",
    "Outlet",
    "PatternError",
    "PatternTree",
    "Peer",
    "PolicyCounters",
    "PolicySettings",
    "QueueFull",
    "RecordedEvent",
    "Recorder",
    "Records",
    "Register",
    "Report",
    "Room",
    "RouteTo",
    "RoutedEnd",
    "Router",
    "RouterMode",
    "RouterSettings",
    "Rulebook",
    "Seat",
    "SeatLimits",
    "ServiceRules",
    "Sibling",
    "StaleMember",
    "TopicRules",
    "Topics",
    "Totals",
    "Treatment",
    "Treatments",
    "TrunkClosed",
    "TrunkEvent",
    "TrunkOpened",
    "UnknownMember",
    "UnknownPattern",
    "Verdict",
    "VhostCounters",
    "VhostSettings",
    "add_built_in_endpoints",
    "canonical",
    "host_number",
    "host_of",
    "is_link_route",
    "is_pattern_of_user",
    "is_prefix_pattern",
    "key_fault",
    "parts_of",
    "private_memory",
]
