"""Keys for the addresses that peers write in termini and messages, by configuration and tenant.

The address of a terminus has the phase configured for its direction, or the phase in its capabilities. The address of a
message has the ingress phase, or the phase that another router annotated. Keys of messages' addresses are remembered,
up to one limit for clients and one for other routers.
"""

from collections.abc import Iterable

from routerd.core.directory.addresses import FALLBACK, FALLBACK_PHASE, AddressSpace, canonical
from routerd.core.directory.treatment import Treatment, Treatments
from routerd.core.settings import Distribution
from routerd.wire import Error

KNOWN_MAX = 10_000
"""Limit of the message addresses whose keys are remembered."""
KNOWN_LENGTH_MAX = 512
"""Characters of the longest address that is remembered; a message may have a longer one."""

_NO_DESTINATION = Error(
    condition="amqp:not-found", description="Deliveries cannot be sent to an unavailable address"
)
TOPICS_ADDRESS = "mobula.topics"
"""What routers' topics say to each other goes to this address of a router. No client may use it."""
_TOPICS_ADDRESS = TOPICS_ADDRESS
FOR_ROUTERS = Error(condition="amqp:not-allowed", description="this address is for routers")
_WAYPOINT = "qd.waypoint"
FALLBACK_LINK = "qd.fallback"
"""The capability of a link that is for a fallback destination."""
_FALLBACK_LINK = FALLBACK_LINK


class Naming:
    """Finds keys for the addresses of peers; call `forget` when treatments change."""

    def __init__(self, space: AddressSpace, treatments: Treatments) -> None:
        self._space = space
        self._treatments = treatments
        self._destinations: dict[str, str | Error] = {}
        self._arrivals: dict[tuple[str, int], str] = {}

    def forget(self) -> None:
        """Forget the remembered keys."""
        self._destinations.clear()
        self._arrivals.clear()

    def treatment(self, text: str, tenant: str) -> Treatment:
        """Return the treatment of an address that a peer of this tenant writes."""
        treatment = self._treatments.of(text)
        if not tenant or canonical(text).startswith("_"):
            return treatment
        return self._treatments.of(f"{tenant}/{canonical(text)}")

    def terminus_key(
        self,
        text: str,
        tenant: str,
        treatment: Treatment,
        capabilities: Iterable[str],
        is_producer: bool,
        is_edge: bool = False,
    ) -> str:
        """Return the key of a terminus' address, or an empty text for an empty address.

        A client's producer never sends to the fallback destination itself; an edge router has diverted messages.
        """
        phase = treatment.ingress_phase if is_producer else treatment.egress_phase
        for capability in capabilities:
            if capability.startswith(_WAYPOINT):
                phase = _waypoint_phase(capability, is_producer, phase)
            elif capability == _FALLBACK_LINK and (is_edge or not is_producer):
                phase = FALLBACK_PHASE
        return self._space.key(text, phase, tenant)

    def destination_key(self, to: str, tenant: str) -> "str | Error":
        """Return the key of the address that a client sends a message to, or the error if it is not allowed."""
        name = f"{tenant}/{to}" if tenant else to
        key = self._destinations.get(name)
        if key is None:
            treatment = self.treatment(to, tenant)
            if is_for_topics(to):
                key = FOR_ROUTERS
            elif treatment.distribution is Distribution.UNAVAILABLE:
                key = _NO_DESTINATION
            else:
                key = self._space.key(to, treatment.ingress_phase, tenant)
            if len(name) <= KNOWN_LENGTH_MAX:
                if len(self._destinations) >= KNOWN_MAX:
                    self._destinations.clear()
                self._destinations[name] = key
        return key

    def arrival_key(self, to: str, phase: int) -> str:
        """Return the key of the destination of another router's message, or an empty text if it is not allowed."""
        key = self._arrivals.get((to, phase))
        if key is None:
            treatment = self._treatments.of(to)
            key = "" if treatment.distribution is Distribution.UNAVAILABLE else self._space.key(to, phase)
            if len(to) <= KNOWN_LENGTH_MAX:
                if len(self._arrivals) >= KNOWN_MAX:
                    self._arrivals.clear()
                self._arrivals[(to, phase)] = key
        return key


def is_for_topics(text: str) -> bool:
    """Whether an address is for what routers' topics say to each other."""
    return text.endswith(_TOPICS_ADDRESS) and canonical(text).startswith("_")


def phase_of(key: str) -> int:
    """Return the phase of a mobile address; other classes have none."""
    if key[:2] == FALLBACK:
        return FALLBACK_PHASE
    return int(key[1]) if key[:1] == "M" and key[1:2].isdecimal() else 0


def _waypoint_phase(capability: str, is_producer: bool, phase: int) -> int:
    """Return the phase of a terminus with waypoint capabilities."""
    if capability == _WAYPOINT:
        ordinal = 1
    elif capability.startswith(_WAYPOINT + ".") and capability[len(_WAYPOINT) + 1 :].isdecimal():
        ordinal = int(capability[len(_WAYPOINT) + 1 :])
    else:
        return phase
    if ordinal == 10 and not is_producer:
        # By this an exchange is at the last phase, which no waypoint can be.
        return 9
    ordinal = min(ordinal, 9)
    return ordinal if is_producer else max(0, ordinal - 1)
