"""What a router is told of itself and of its addresses, as the routing code uses it."""

from dataclasses import dataclass
from enum import Enum

DEFAULT_LINK_CAPACITY = 250
"""Deliveries that a producer may have under way when its listener says nothing else."""
REACH_OCTETS = 1 << 21
"""Octets that a producer near by may have under way, where its messages are large: what caches have room for."""
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
    """What requests to a router's management may do."""

    READ = "read"
    """Nothing is changed by them."""
    POLICY = "policy"
    """Policy says who may change what; where there is none, nothing is changed."""
    CHANGE = "change"
    """Policy says who may change what; where there is none, everybody may change everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressSettings:
    """The treatment of all addresses that match a pattern."""

    pattern: str
    """Tokens between `.` or `/`, `*` for one and `#` for any number of them; a prefix p is the pattern p/#."""
    distribution: Distribution = Distribution.BALANCED
    ingress_phase: int = 0
    """The phase that producers send to."""
    egress_phase: int = 0
    """The phase that consumers receive from."""
    priority: int | None = None
    """Stands in for the priority of the messages, 0 to 9."""
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterSettings:
    """What one router is."""

    id: str
    mode: RouterMode = RouterMode.STANDALONE
    default_distribution: Distribution = Distribution.BALANCED
    """The treatment of addresses that match no pattern."""
    addresses: tuple[AddressSettings, ...] = ()
    version: str = ""
    metadata: str | None = None
    hello_interval_s: int = 1
    """Time between two greetings to the neighbours."""
    hello_max_age_s: int = 3
    """A neighbour that was not heard for so long is lost."""
    ra_interval_s: int = 30
    """Time between two announcements to the network while it is stable."""
    ra_interval_flux_s: int = 4
    """Time between two announcements to the network while it changes."""
    remote_ls_max_age_s: int = 60
    """A router that announced nothing for so long is forgotten."""
    sasl_config_dir: str | None = None
    """The folder with the SASL configuration."""
    sasl_config_name: str = "qdrouterd"
    """The name of the SASL configuration there, without `.conf`."""
    user_file: str | None = None
    """Where the router's own users are; None is nowhere."""
    has_test_hooks: bool = False
    """Whether it has the addresses and the haste that tests of clients use (2.1)."""
    allows_resumable_link_routes: bool = True
    """Whether a routed link may be one that is to be resumed later."""
    management_access: ManagementAccess = ManagementAccess.POLICY
    has_policy: bool = False
    """Whether policy holds what clients do against the rules of vhosts."""
    management_file_dir: str | None = None
    """The folder that has every file which requests to management may name; None is that they may name none."""

    @property
    def allows_management_changes(self) -> bool:
        """Whether requests to management may change anything; policy decides before that, where there is one."""
        access = self.management_access
        return access is ManagementAccess.CHANGE or (access is ManagementAccess.POLICY and self.has_policy)
