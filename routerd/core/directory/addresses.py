"""Addresses and their keys.

Peers write one address in several forms, such as `amqp://host/orders`, `/orders` and `orders.`. Its canonical text is
`orders`. The first letter of its key is the class: `M` is mobile, followed by the phase (`M0orders`). `L` is an address
in this router, and `T` an address of every router. `R` stands for another router, `A` for another area, `H` for an edge
router. `C` to `F` are link routes. Keys are spelled as in qpid, because routers exchange them.
"""

from dataclasses import dataclass
from enum import Enum

from routerd.core.errors import InvalidKey, InvalidPhase

FALLBACK_PHASE = 22
"""The phase of the fallback address, which gets undeliverable messages; it is written `F`."""

_PHASES = {phase: chr(ord("0") + phase) for phase in (*range(10), FALLBACK_PHASE)}
_PHASE_OF = {letter: phase for phase, letter in _PHASES.items()}

PRIMARY, FALLBACK = "M0", "MF"
"""The first letters of the key of an address with a fallback destination, and of that."""

UPLINK = "L_edge"
"""The address of an edge router's uplink: it gets the messages for other routers."""


class AddressClass(Enum):
    """The first letter of a key."""

    MOBILE = "M"
    LOCAL = "L"
    TOPOLOGICAL = "T"
    ROUTER = "R"
    AREA = "A"
    EDGE = "H"
    LINK_ROUTE_PREFIX_IN = "C"
    LINK_ROUTE_PREFIX_OUT = "D"
    LINK_ROUTE_PATTERN_IN = "E"
    LINK_ROUTE_PATTERN_OUT = "F"


@dataclass(frozen=True, slots=True)
class KeyParts:
    """The parts of a key."""

    address_class: AddressClass
    phase: int | None
    """For mobile addresses only."""
    text: str


def parts_of(key: str) -> KeyParts:
    """Split a key into its parts; raises InvalidKey."""
    try:
        address_class = AddressClass(key[:1])
        if address_class is AddressClass.MOBILE:
            return KeyParts(address_class, _PHASE_OF[key[1:2]], key[2:])
    except (ValueError, KeyError):
        raise InvalidKey(key) from None
    return KeyParts(address_class, None, key[1:])


def canonical(address: str) -> str:
    """Return an address without its scheme, host, leading slash and trailing separator."""
    if address.startswith(("amqp:", "amqps:")):
        address = address.partition(":")[2]
    address = address[2:].partition("/")[2] if address.startswith("//") else address.removeprefix("/")
    return address[:-1] if address.endswith((".", "/")) else address


class AddressSpace:
    """Addresses from the view of one router."""

    def __init__(self, router_id: str, area: str = "0", is_edge: bool = False) -> None:
        self._id = router_id
        self._area = area
        self._is_edge = is_edge

    def key(self, address: str, phase: int = 0, tenant: str = "") -> str:
        """Return the key of an address, or an empty text for an empty address.

        `phase` and `tenant` (the name of a vhost) belong to the link. They count for mobile addresses only. The tenant
        does not count for an address that begins with an underscore. Raises InvalidPhase.
        """
        # Nearly all addresses arrive in canonical form.
        if address and address[0] not in "/_" and address[-1] not in "./" and not address.startswith("amqp"):
            return self._mobile_key(address, phase, tenant) if phase or tenant else "M0" + address
        text = canonical(address)
        if not text:
            return ""
        if text[0] != "_":
            return self._mobile_key(text, phase, tenant)
        word, slash, rest = text.partition("/")
        if slash and word == "_local":
            return "L" + rest
        if slash and word == "_topo":
            return self._topological_key(rest)
        if slash and word == "_edge":
            return self._edge_key(rest)
        return self._mobile_key(text, phase, "")

    def reply_address(self, token: str) -> str:
        """Return the address of a dynamic source, which any router can reach."""
        place = "_edge" if self._is_edge else f"_topo/{self._area}"
        return f"amqp:/{place}/{self._id}/temp.{token}"

    def _mobile_key(self, text: str, phase: int, tenant: str) -> str:
        letter = _PHASES.get(phase)
        if letter is None:
            raise InvalidPhase(phase)
        return f"M{letter}{tenant}/{text}" if tenant else f"M{letter}{text}"

    def _topological_key(self, rest: str) -> str:
        area, _, rest = rest.partition("/")
        router, _, text = rest.partition("/")
        if router == "all" and area in ("all", self._area):
            return "T" + text
        if router == self._id and area == self._area:
            return "L" + text
        if self._is_edge:
            return UPLINK
        return "R" + router if area == self._area else "A" + area

    def _edge_key(self, rest: str) -> str:
        router, _, text = rest.partition("/")
        if router == self._id:
            return "L" + text
        return UPLINK if self._is_edge else "H" + router
