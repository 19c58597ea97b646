"""`address`: how messages to some addresses are treated."""

from collections.abc import Mapping, Sequence
from typing import Any

from routerd.config.configurable import Configurable, Reading
from routerd.config.entity import Entity
from routerd.config.schema.foundations import CONFIGURATION_ENTITY
from routerd.config.schema.model import BOOLEAN, CREATE, ENUM, INTEGER, STRING, Attribute, EntityType, Purpose
from routerd.core import (
    PHASE_MAX,
    AddressSettings,
    Distribution,
    DuplicatePattern,
    InvalidPattern,
    PatternTree,
    Router,
    TopicRules,
)

UNSETTLED_MAX = 10_000
UNSETTLED_OCTETS_MAX = 256 << 20
SUBSCRIPTION_TIMEOUT_S = 3600

ADDRESS = EntityType(
    name="router.config.address",
    description="How messages to some addresses are treated.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="address",
    own_operations=("CREATE", "DELETE"),
    is_supported=True,
    is_numbered=True,
    own_attributes=(
        Attribute(
            "prefix",
            STRING,
            "The addresses that are this one, or that begin with it and a `.` or `/`.",
            CREATE,
        ),
        Attribute(
            "pattern",
            STRING,
            "The addresses that match: `*` is one word, `#` any number of them, between `.` or `/`.",
            CREATE,
        ),
        Attribute(
            "distribution",
            ENUM,
            "Who gets a message: all consumers, the closest, the least busy, or nobody ever.",
            CREATE,
            "balanced",
            tags=("multicast", "closest", "balanced", "unavailable"),
        ),
        Attribute(
            "waypoint",
            BOOLEAN,
            "Whether messages pass through a broker: short for phases 0 and 1.",
            CREATE,
            False,
        ),
        Attribute("ingressPhase", INTEGER, "The phase that producers send to.", CREATE, least=0, most=PHASE_MAX),
        Attribute("egressPhase", INTEGER, "The phase that consumers receive from.", CREATE, least=0, most=PHASE_MAX),
        Attribute(
            "priority",
            INTEGER,
            "The priority of all messages to these addresses, whatever they say.",
            CREATE,
            least=0,
            most=9,
        ),
        Attribute(
            "resendReleased",
            BOOLEAN,
            "Whether a message that a consumer releases goes to another one. Only this router has the attribute.",
            CREATE,
            False,
        ),
        Attribute(
            "enableFallback",
            BOOLEAN,
            "Whether a fallback destination gets what nobody else can.",
            CREATE,
            False,
        ),
        Attribute(
            "delivery",
            ENUM,
            "Makes the addresses topics: each subscription gets each message at least once, or exactly once. Only this"
            " router has the attribute, and those that follow.",
            CREATE,
            tags=("at-least-once", "exactly-once"),
        ),
        Attribute(
            "maxUnsettled",
            INTEGER,
            "Messages that the publishers of one topic may have unsettled at one router.",
            CREATE,
            UNSETTLED_MAX,
            least=1,
            most=1_000_000,
        ),
        Attribute(
            "maxUnsettledOctets",
            INTEGER,
            "Octets of these messages.",
            CREATE,
            UNSETTLED_OCTETS_MAX,
            unit="octets",
            least=1 << 16,
            most=1 << 40,
        ),
        Attribute(
            "subscriptionTimeout",
            INTEGER,
            "The longest time that a subscriber of a topic may be away; then its subscription ends.",
            CREATE,
            SUBSCRIPTION_TIMEOUT_S,
            unit="s",
            least=1,
            most=7 * 86_400,
        ),
    ),
)

_NO_WORDS = "names no address"
_WORDS = "words with `.` or `/` between them"
_ONE_OF_BOTH = "one of them; two addresses need two sections"


class AddressKind(Configurable[AddressSettings]):
    """Treatments of addresses."""

    type = ADDRESS
    example = """address {
    prefix: news
    distribution: multicast
}
address {
    pattern: orders.*.urgent/#
    distribution: closest
    priority: 8
}
address {
    prefix: prices
    distribution: multicast
    delivery: exactly-once
    subscriptionTimeout: 600
}
"""
    notes = """Each section has either `prefix` or `pattern`; a prefix `p` is the pattern `p/#`. Words stand
between `.` or `/`, which are the same here. `*` is one word, `#` any number of words. Of the patterns that match an
address the most exact counts: word by word, a plain word comes before `*`, and that before `#`. Of sections with the
same pattern the first one counts, and there is a warning for each of the others.

`delivery` makes the addresses topics ([exactly-once.md](exactly-once.md)): with `distribution: multicast`, and without
phases, a fallback destination and `resendReleased`. An edge router leaves topics to its interior router."""
    change_notes = "Addresses that are in use keep their treatment."

    def read(self, entity: Entity, reading: Reading) -> AddressSettings | None:
        """Return what a section says."""
        attribute, pattern = _pattern(entity)
        if pattern is None:
            return None
        try:
            PatternTree[None]().add(pattern, None)
        except InvalidPattern:
            entity.refuse(attribute, _NO_WORDS, _WORDS)
            return None
        return _settings(entity, pattern)

    def repeated(self, entities: Sequence[Entity]) -> list[Entity]:
        """Return the sections whose pattern an earlier one has; that one counts, as in the router of old."""
        patterns: PatternTree[int | None] = PatternTree()
        found = []
        for entity in entities:
            pattern = pattern_of(entity.values)
            if entity.values["pattern"] is not None and entity.values["prefix"] is not None:
                # It is refused when it is read.
                continue
            try:
                patterns.add(pattern, entity.line)
            except DuplicatePattern:
                line = patterns.remove(pattern)
                patterns.add(pattern, line)
                attribute = "prefix" if entity.values["pattern"] is None else "pattern"
                reason = f"Already exists: Duplicate pattern '{pattern}'; the section of line {line} counts"
                entity.warn(attribute, reason)
                found.append(entity)
            except InvalidPattern:
                # So is this.
                continue
        return found

    def unique_text(self, values: Mapping[str, Any]) -> str:
        """Return the pattern."""
        return pattern_of(values)

    def apply(self, router: Router, config: AddressSettings) -> None:
        """Treat addresses that come into use from now on by these settings."""
        router.configured_addresses.add(config)

    def remove(self, router: Router, config: AddressSettings) -> None:
        """Treat addresses that come into use from now on as if the pattern were not configured."""
        router.configured_addresses.remove(config.pattern)


def pattern_of(values: Mapping[str, Any]) -> str:
    """Return the pattern of an address, the same for all ways to write it; empty if it has no words."""
    pattern: str = values["pattern"] if values["pattern"] is not None else values["prefix"] or ""
    words = pattern.replace("/", ".").strip(".")
    return f"{words}.#" if words and values["pattern"] is None else words


def _pattern(entity: Entity) -> tuple[str, str | None]:
    """Return the pattern, and which attribute says it."""
    prefix: str | None = entity.values["prefix"]
    pattern: str | None = entity.values["pattern"]
    if prefix is not None and pattern is not None:
        reason = f"Cannot set both 'prefix' and 'pattern': configured address {prefix}, {pattern}"
        entity.refuse("pattern", reason, _ONE_OF_BOTH)
        return "pattern", None
    if pattern is not None:
        return "pattern", pattern
    if prefix is None:
        entity.refuse("", "Must set either 'prefix' or 'pattern'", "prefix: NAME", "pattern: NAME.*.NAME/#")
    elif words := prefix.rstrip("./"):
        return "prefix", f"{words}/#"
    else:
        entity.refuse("prefix", _NO_WORDS, _WORDS)
    return "prefix", None


def _settings(entity: Entity, pattern: str) -> AddressSettings:
    ingress, egress = _phases(entity)
    return AddressSettings(
        pattern=pattern,
        distribution=Distribution(entity.values["distribution"]),
        ingress_phase=ingress,
        egress_phase=egress,
        priority=entity.values["priority"],
        has_fallback=_fallback(entity, ingress, egress),
        resends_released=entity.values["resendReleased"],
        topic=_topic(entity, ingress, egress),
        name=entity.values["name"],
    )


def _fallback(entity: Entity, ingress: int, egress: int) -> bool:
    """Return whether there is a fallback destination: it is a phase by itself, so there can be no others."""
    has_fallback = bool(entity.values["enableFallback"])
    if has_fallback and (ingress or egress):
        entity.refuse("enableFallback", "is for addresses with phases 0 only, and the section has others", "no")
    return has_fallback


def _topic(entity: Entity, ingress: int, egress: int) -> TopicRules | None:
    values = entity.values
    if values["delivery"] is None:
        for attribute in ("maxUnsettled", "maxUnsettledOctets", "subscriptionTimeout"):
            if attribute in entity.given:
                entity.refuse(attribute, "is for topics, and the section has no 'delivery'", "delivery: exactly-once")
        return None
    if values["distribution"] != "multicast":
        entity.refuse("delivery", "is for addresses with distribution multicast only", "distribution: multicast")
    for attribute, is_given in (
        ("waypoint" if values["waypoint"] else "ingressPhase", bool(ingress or egress)),
        ("enableFallback", values["enableFallback"]),
        ("resendReleased", values["resendReleased"]),
    ):
        if is_given:
            entity.refuse(attribute, "is not for topics, and the section has 'delivery'", "no")
    return TopicRules(
        is_exactly_once=values["delivery"] == "exactly-once",
        unsettled_max=values["maxUnsettled"],
        unsettled_octets_max=values["maxUnsettledOctets"],
        subscription_timeout_s=values["subscriptionTimeout"],
    )


def _phases(entity: Entity) -> tuple[int, int]:
    ingress, egress = entity.values["ingressPhase"], entity.values["egressPhase"]
    if (ingress is None) != (egress is None):
        given, missing = ("ingressPhase", "egressPhase") if egress is None else ("egressPhase", "ingressPhase")
        entity.refuse(given, f"is given, and '{missing}' is not", "both of them", "neither")
        return 0, 0
    if not entity.values["waypoint"]:
        return ingress or 0, egress or 0
    if (ingress, egress) not in ((None, None), (0, 1)):
        entity.refuse("waypoint", "is short for ingressPhase 0 and egressPhase 1, and the section has others", "no")
    return 0, 1
