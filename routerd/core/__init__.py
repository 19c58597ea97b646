"""A router without I/O: addresses, forwarding, deliveries, and what the workers of a router know of each other."""

from routerd.core.address import Address
from routerd.core.address_table import AddressTable
from routerd.core.addresses import AddressClass, AddressSpace, KeyParts, canonical, parts_of
from routerd.core.errors import CoreError, DuplicatePattern, InvalidPattern, StaleMember, UnknownMember
from routerd.core.fan_out import FanOut
from routerd.core.forwarder import Forwarder
from routerd.core.inlet import Inlet
from routerd.core.membership import Changes, Delta, Interest, Sibling
from routerd.core.observer import Observer
from routerd.core.outlet import Outlet
from routerd.core.pattern_tree import PatternTree
from routerd.core.peer import FABRIC, NORMAL, Peer
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
from routerd.core.totals import Totals
from routerd.core.treatment import Treatment, Treatments

__all__ = [
    "DEFAULT_LINK_CAPACITY",
    "FABRIC",
    "NORMAL",
    "PHASE_MAX",
    "PRIORITY_MAX",
    "Address",
    "AddressClass",
    "AddressSettings",
    "AddressSpace",
    "AddressTable",
    "Changes",
    "CoreError",
    "Delta",
    "Distribution",
    "DuplicatePattern",
    "FanOut",
    "Forwarder",
    "Inlet",
    "Interest",
    "InvalidPattern",
    "KeyParts",
    "Observer",
    "Outlet",
    "PatternTree",
    "Peer",
    "Router",
    "RouterMode",
    "RouterSettings",
    "Sibling",
    "StaleMember",
    "Totals",
    "Treatment",
    "Treatments",
    "UnknownMember",
    "canonical",
    "parts_of",
]
