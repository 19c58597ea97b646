"""`exchange`: an address whose messages are sent on by their subjects."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from routerd.config.configurable import Configurable, Reading
from routerd.config.entity import Entity
from routerd.config.kinds.auto_link import is_for_auto_links
from routerd.config.schema.foundations import CONFIGURATION_ENTITY
from routerd.config.schema.model import CREATE, ENUM, INTEGER, STRING, Attribute, EntityType, Purpose
from routerd.core import PHASE_MAX, ExchangeSettings, MatchMethod, canonical

EXCHANGE = EntityType(
    name="router.config.exchange",
    description="An address whose messages are sent on by their subjects.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="exchange",
    own_operations=("CREATE", "DELETE"),
    is_experimental=True,
    is_numbered=True,
    is_supported=True,
    own_attributes=(
        Attribute("address", STRING, "The address that is sent to.", CREATE, is_required=True),
        Attribute("phase", INTEGER, "Its phase.", CREATE, least=0, most=PHASE_MAX),
        Attribute("alternateAddress", STRING, "Where messages go that no binding takes.", CREATE),
        Attribute("alternatePhase", INTEGER, "The phase of that address.", CREATE, least=0, most=PHASE_MAX),
        Attribute("matchMethod", ENUM, "The rules that binding keys follow.", CREATE, "amqp", tags=("amqp", "mqtt")),
        Attribute("bindingCount", INTEGER, "Its bindings."),
        Attribute("receivedCount", INTEGER, "Messages that arrived."),
        Attribute("droppedCount", INTEGER, "Messages that nobody took."),
        Attribute("forwardedCount", INTEGER, "Messages that were sent on."),
        Attribute("divertedCount", INTEGER, "Messages that went to the alternate address."),
    ),
)

Spot = tuple[str, int]
"""An address and its phase, the same for all ways to write it."""
Ways = dict[Spot, set[Spot]]
"""Where the messages of each exchange can go."""

NO_ADDRESS = "names no address"
_ADDRESS = "an address that can be anywhere"


class ExchangeKind(Configurable[ExchangeSettings]):
    """Exchanges."""

    type = EXCHANGE
    example = """# Notifications with subjects such as `compute.host1.error`.
exchange {
    name: notifications
    address: notifications
    alternateAddress: notifications.rest
}
binding {
    exchangeName: notifications
    bindingKey: #.error
    nextHopAddress: alarms
}
"""
    notes = """An exchange has a name, by which bindings name it. `phase` and `alternatePhase` are 0 when not given.
See [exchanges.md](exchanges.md)."""
    change_notes = (
        "When an exchange goes, so do its bindings; messages that it has taken may settle for 10 s. The next message"
        " is sent to an ordinary address."
    )

    def read(self, entity: Entity, reading: Reading) -> ExchangeSettings | None:
        """Return what a section says."""
        values = entity.values
        name, address, alternate = values["name"], values["address"], values["alternateAddress"]
        if not name:
            entity.refuse("name", "exchange requires a unique name", "a name for bindings to name")
        if address is None or values["matchMethod"] is None:
            return None
        if not is_for_exchange(address):
            entity.refuse("address", "is the address of a place, or empty", _ADDRESS)
        if alternate is not None and not canonical(alternate):
            entity.refuse("alternateAddress", NO_ADDRESS, _ADDRESS)
        return ExchangeSettings(
            name=name or entity.label,
            address=address,
            phase=values["phase"] or 0,
            method=MatchMethod(values["matchMethod"]),
            alternate=alternate,
            alternate_phase=values["alternatePhase"] or 0,
        )

    def compare(self, found: Sequence[tuple[Entity, ExchangeSettings]], reading: Reading) -> None:
        """Note which addresses two exchanges have, and which exchanges have only each other as alternatives."""
        lines: dict[str, int | None] = {}
        ways: Ways = {}
        for entity, _ in found:
            spot = spot_of(entity.values)
            address, _ = spot
            if address in lines:
                reason = f"duplicate exchange address: the exchange of line {lines[address]} has it too"
                entity.refuse("address", reason, "one exchange for each address")
            lines.setdefault(address, entity.line)
            if not add_ways(ways, spot, alternates_of(entity.values)):
                entity.refuse("alternateAddress", "leads back to the exchange", "an address that leads elsewhere")

    def unique_text(self, values: Mapping[str, Any]) -> str:
        """Return the address alone: an address has one exchange, whatever the phase."""
        address, _ = spot_of(values)
        return address


def is_for_exchange(address: str) -> bool:
    """Whether an address can be that of an exchange."""
    return is_for_auto_links(address)


def spot_of(values: Mapping[str, Any]) -> Spot:
    """Return the address and the phase of an exchange."""
    return canonical(values["address"] or ""), values["phase"] or 0


def alternates_of(values: Mapping[str, Any]) -> tuple[Spot, ...]:
    """Return where an exchange sends what no binding takes."""
    if values["alternateAddress"] is None:
        return ()
    return ((canonical(values["alternateAddress"]), values["alternatePhase"] or 0),)


def add_ways(ways: Ways, spot: Spot, further: Iterable[Spot]) -> bool:
    """Add where the messages of an exchange can go; false if they could come back to it, and then nothing is added."""
    for target in further:
        if spot in _reached(ways, target):
            return False
        ways.setdefault(spot, set()).add(target)
    return True


def _reached(ways: Ways, start: Spot) -> set[Spot]:
    seen = {start}
    waiting = [start]
    while waiting:
        for target in ways.get(waiting.pop(), ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen
