"""Policy, without I/O: it limits connections, links and messages.

`settings` has the configuration. `rulebook` compiles it into `vhost`, `hosts` and `address_rules`. The `gate` of a
worker checks what begins, and gives a connection its `grant`. `message_guard` serves links whose messages need a check.
`ledger` counts the connections of all workers, and `account` is a worker's part of it.
"""

from routerd.core.policy.account import Account
from routerd.core.policy.address_rules import NameRules, PatternRules, is_pattern_of_user
from routerd.core.policy.counters import PolicyCounters, VhostCounters
from routerd.core.policy.gate import Gate
from routerd.core.policy.grant import Grant
from routerd.core.policy.hosts import HostRules, host_number, host_of
from routerd.core.policy.ledger import Ledger, Report, Seat, SeatLimits, Verdict
from routerd.core.policy.message_guard import MessageGuard
from routerd.core.policy.rulebook import Refusal, Rulebook
from routerd.core.policy.service_rules import ServiceRules
from routerd.core.policy.settings import (
    CONNECTOR_GROUP,
    DEFAULT_GROUP,
    GroupSettings,
    HostRange,
    PolicySettings,
    VhostSettings,
)

__all__ = [
    "CONNECTOR_GROUP",
    "DEFAULT_GROUP",
    "Account",
    "Gate",
    "Grant",
    "GroupSettings",
    "HostRange",
    "HostRules",
    "Ledger",
    "MessageGuard",
    "NameRules",
    "PatternRules",
    "PolicyCounters",
    "PolicySettings",
    "Refusal",
    "Report",
    "Rulebook",
    "Seat",
    "SeatLimits",
    "ServiceRules",
    "Verdict",
    "VhostCounters",
    "VhostSettings",
    "host_number",
    "host_of",
    "is_pattern_of_user",
]
