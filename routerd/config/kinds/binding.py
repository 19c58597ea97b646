"""`binding`: which messages of an exchange go to one address."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from routerd.config.configurable import Configurable, Reading
from routerd.config.entity import Entity
from routerd.config.kinds.exchange import NO_ADDRESS, Spot, Ways, add_ways, alternates_of, spot_of
from routerd.config.schema.foundations import CONFIGURATION_ENTITY
from routerd.config.schema.model import CREATE, INTEGER, STRING, Attribute, EntityType, Purpose
from routerd.core import PHASE_MAX, BindingSettings, MatchMethod, canonical, key_fault

BINDING = EntityType(
    name="router.config.binding",
    description="Which messages of an exchange go to one address.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="binding",
    own_operations=("CREATE", "DELETE"),
    is_experimental=True,
    is_numbered=True,
    is_supported=True,
    own_attributes=(
        Attribute("exchangeName", STRING, "The name of the exchange.", CREATE, is_required=True),
        Attribute("bindingKey", STRING, "What the subject must match; any does when not given.", CREATE),
        Attribute("nextHopAddress", STRING, "The address.", CREATE, is_required=True),
        Attribute("nextHopPhase", INTEGER, "Its phase.", CREATE, least=0, most=PHASE_MAX),
        Attribute("matchedCount", INTEGER, "Messages that matched."),
    ),
)

ANY_KEY = "#"
"""The key of a binding that says none."""
LEADS_BACK = "leads back to the exchange"

_KEYS = ("words with `.` between them", "`*` for one word", "`#` for any number of them")
_KEYS_OF_MQTT = ("words with `/` between them", "`+` for one word", "`#` as the last word for any number of them")


class BindingKind(Configurable[BindingSettings]):
    """Bindings of exchanges."""

    type = BINDING
    example = """exchange {
    name: nova
    address: nova
}
binding {
    exchangeName: nova
    bindingKey: compute.*
    nextHopAddress: nova.compute
}
"""
    notes = """The key is held against the subject of a message, by the rules of the exchange's `matchMethod`:

| `matchMethod` | words stand between | one word | any number of words |
|---|---|---|---|
| `amqp` | `.` | `*` | `#` |
| `mqtt` | `/` | `+` | `#`, as the last word only |

A message without a subject matches no key. Next hops that lead back to their exchange are refused."""
    change_notes = "It counts for the next message."
    references: ClassVar = {"exchangeName": "exchange"}
    goes_with = ("exchangeName",)

    def read(self, entity: Entity, reading: Reading) -> BindingSettings | None:
        """Return what a section says."""
        values = entity.values
        exchange, next_hop = values["exchangeName"], values["nextHopAddress"]
        key = key_of(values)
        method = _methods(reading).get(exchange)
        fault = fault_of_key(values, method or MatchMethod.AMQP.value)
        if fault is not None:
            entity.refuse("bindingKey", fault, *(_KEYS if method != "mqtt" else _KEYS_OF_MQTT))
        if next_hop is not None and not canonical(next_hop):
            entity.refuse("nextHopAddress", NO_ADDRESS, "an address")
        if exchange is None or next_hop is None:
            return None
        return BindingSettings(
            name=values["name"] or entity.label,
            exchange=exchange,
            key=key,
            next_hop=next_hop,
            phase=values["nextHopPhase"] or 0,
        )

    def compare(self, found: Sequence[tuple[Entity, BindingSettings]], reading: Reading) -> None:
        """Note which bindings say the same, and which lead back."""
        lines: dict[str, int | None] = {}
        exchanges = reading.sections.get("exchange", ())
        spots = {one["name"]: spot_of(one) for one in exchanges}
        ways = ways_of(exchanges, ())
        for entity, settings in found:
            text = self.unique_text(entity.values)
            if text in lines:
                reason = f"Next hop for key already exists: the binding of line {lines[text]} says the same"
                entity.refuse("nextHopAddress", reason, "one binding for each exchange, key and next hop")
            lines.setdefault(text, entity.line)
            spot = spots.get(settings.exchange)
            if spot is not None and not add_ways(ways, spot, (next_hop_of(entity.values),)):
                entity.refuse("nextHopAddress", LEADS_BACK, "an address that leads elsewhere")

    def unique_text(self, values: Mapping[str, Any]) -> str:
        """Return exchange, key and next hop."""
        address, phase = next_hop_of(values)
        return "\0".join((values["exchangeName"] or "", key_of(values), str(phase), address))


def key_of(values: Mapping[str, Any]) -> str:
    """Return the key of a binding."""
    key: str | None = values["bindingKey"]
    return ANY_KEY if key is None else key


def fault_of_key(values: Mapping[str, Any], method: str) -> str | None:
    """Return what is wrong with the key of a binding by the `matchMethod` of its exchange; None for nothing."""
    return key_fault(key_of(values), MatchMethod(method))


def next_hop_of(values: Mapping[str, Any]) -> Spot:
    """Return where a binding has messages sent."""
    return canonical(values["nextHopAddress"] or ""), values["nextHopPhase"] or 0


def ways_of(exchanges: Iterable[Mapping[str, Any]], bindings: Iterable[Mapping[str, Any]]) -> Ways:
    """Return where the messages of exchanges can go by what is configured."""
    ways: Ways = {}
    spots: dict[str, Spot] = {}
    for one in exchanges:
        spots[one["name"]] = spot_of(one)
        add_ways(ways, spot_of(one), alternates_of(one))
    for one in bindings:
        spot = spots.get(one["exchangeName"])
        if spot is not None:
            add_ways(ways, spot, (next_hop_of(one),))
    return ways


def _methods(reading: Reading) -> Mapping[str, str]:
    return {one["name"]: one["matchMethod"] for one in reading.sections.get("exchange", ())}
