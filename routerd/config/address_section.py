"""`address` sections."""

from collections.abc import Iterable

from routerd.config.entities import Entity
from routerd.core import AddressSettings, Distribution, DuplicatePattern, InvalidPattern, PatternTree

_NO_WORDS = "names no address"
_WORDS = "words with `.` or `/` between them"
_ONE_OF_BOTH = "one of them; two addresses need two sections"


def address_settings(entities: Iterable[Entity]) -> tuple[AddressSettings, ...]:
    """Return what the sections say; what is wrong with them is noted at them."""
    settings = []
    patterns: PatternTree[int | None] = PatternTree()
    for entity in entities:
        attribute, pattern = _pattern(entity)
        if pattern is None:
            continue
        try:
            patterns.add(pattern, entity.line)
        except DuplicatePattern:
            line = patterns.remove(pattern)
            patterns.add(pattern, line)
            reason = f"Already exists: Duplicate pattern '{pattern}', the same as in line {line}"
            entity.refuse(attribute, reason, "one section for each pattern")
        except InvalidPattern:
            entity.refuse(attribute, _NO_WORDS, _WORDS)
        else:
            settings.append(_settings(entity, pattern))
    return tuple(settings)


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
        name=entity.values["name"],
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
