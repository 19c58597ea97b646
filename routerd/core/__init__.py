"""A router without I/O: addresses, forwarding, deliveries, and what the workers of a router know of each other."""

from routerd.core.address import Address
from routerd.core.address_table import AddressTable
from routerd.core.addresses import FALLBACK_PHASE, UPLINK, AddressClass, AddressSpace, KeyParts, canonical, parts_of
from routerd.core.built_in_endpoints import add_built_in_endpoints
from routerd.core.edges import HEARTBEAT_S
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
from routerd.core.fan_out import FanOut
from routerd.core.forwarder import Forwarder
from routerd.core.inlet import Inlet
from routerd.core.inner_endpoints import InnerConsumer, InnerProducer, LoopBack
from routerd.core.link_keeper import LinkKeeper
from routerd.core.membership import Changes, Delta, Interest, Sibling
from routerd.core.network import MappedAddresses, Network, NetworkNews, RouteTo
from routerd.core.observer import Observer
from routerd.core.outlet import Outlet
from routerd.core.pattern_tree import PatternTree
from routerd.core.peer import EDGE, FABRIC, INNER, INTER_ROUTER, NORMAL, Peer
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
from routerd.core.recorder import Flow, Recorder
from routerd.core.recorder_columns import (
    COUNTERS_OF_FLOW,
    DecisionColumns,
    FlowRows,
    RecordedEvent,
    Records,
    Register,
)
from routerd.core.recorder_names import CAUSE_WORDS, OUTCOME_WORDS
from routerd.core.router import Router
from routerd.core.settings import (
    DEFAULT_LINK_CAPACITY,
    PHASE_MAX,
    PRIORITY_MAX,
    AddressSettings,
    Distribution,
    RouterMode,
    RouterSettings,
)
from routerd.core.siblings import RELAY
from routerd.core.totals import COUNTERS, Totals
from routerd.core.treatment import HINTS, Treatment, Treatments
from routerd.core.trunks import ControlArrived, TrunkClosed, TrunkEvent, TrunkOpened

__all__ = [
    "CAUSE_WORDS",
    "CONNECTOR_GROUP",
    "COUNTERS",
    "COUNTERS_OF_FLOW",
    "DEFAULT_GROUP",
    "DEFAULT_LINK_CAPACITY",
    "EDGE",
    "FABRIC",
    "FALLBACK_PHASE",
    "HEARTBEAT_S",
    "HINTS",
    "INNER",
    "INTER_ROUTER",
    "NORMAL",
    "OUTCOME_WORDS",
    "PHASE_MAX",
    "PRIORITY_MAX",
    "RELAY",
    "UPLINK",
    "Account",
    "Address",
    "AddressClass",
    "AddressSettings",
    "AddressSpace",
    "AddressTable",
    "Changes",
    "ChangesMissed",
    "ControlArrived",
    "CoreError",
    "DecisionColumns",
    "Delta",
    "Distribution",
    "DuplicatePattern",
    "FanOut",
    "Flow",
    "FlowRows",
    "Forwarder",
    "FullDeltaMissing",
    "Gate",
    "Grant",
    "GroupSettings",
    "HostRange",
    "Inlet",
    "InnerConsumer",
    "InnerProducer",
    "Interest",
    "InvalidKey",
    "InvalidPattern",
    "InvalidPhase",
    "JoinRequired",
    "KeyParts",
    "Ledger",
    "LinkKeeper",
    "LoopBack",
    "MappedAddresses",
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
    "RouteTo",
    "Router",
    "RouterMode",
    "RouterSettings",
    "Rulebook",
    "Seat",
    "SeatLimits",
    "ServiceRules",
    "Sibling",
    "StaleMember",
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
    "is_pattern_of_user",
    "parts_of",
]
