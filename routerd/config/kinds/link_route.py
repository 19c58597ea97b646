"""`linkRoute`: addresses whose links are routed to a container."""

from collections.abc import Mapping
from typing import Any

from routerd.config.configurable import Configurable, Reading
from routerd.config.entity import Entity
from routerd.config.kinds.container_attributes import check_one_place
from routerd.config.schema.foundations import CONFIGURATION_ENTITY
from routerd.config.schema.model import CREATE, ENUM, STRING, Attribute, EntityType, Purpose
from routerd.core import LinkDirection, LinkRouteSettings, Router

LINK_ROUTE = EntityType(
    name="router.config.linkRoute",
    description="Addresses whose links are routed to a container as a whole.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="linkRoute",
    own_operations=("CREATE", "DELETE"),
    is_supported=True,
    is_numbered=True,
    own_attributes=(
        Attribute("prefix", STRING, "The addresses that are this one, or begin with it and a `.` or `/`.", CREATE),
        Attribute("pattern", STRING, "The addresses that match.", CREATE),
        Attribute("addExternalPrefix", STRING, "What the address begins with in addition, at the container.", CREATE),
        Attribute("delExternalPrefix", STRING, "What the address begins with here and not at the container.", CREATE),
        Attribute("containerId", STRING, "The container-id of the container.", CREATE),
        Attribute("connection", STRING, "The name of the connector or listener that the container is at.", CREATE),
        Attribute(
            "distribution",
            ENUM,
            "How links are shared among containers.",
            CREATE,
            "linkBalanced",
            tags=("linkBalanced",),
        ),
        Attribute(
            "direction",
            ENUM,
            "`in` for the links of senders, `out` for those of receivers.",
            CREATE,
            tags=("in", "out"),
            is_required=True,
            old_name="dir",
        ),
        Attribute("operStatus", ENUM, "Whether a container is there.", tags=("inactive", "active")),
    ),
)

_WORDS = "words with `.` or `/` between them"
_ONE_OF_BOTH = "one of them; two patterns need two sections"


class LinkRouteKind(Configurable[LinkRouteSettings]):
    """Link routes."""

    type = LINK_ROUTE
    example = """# A broker.
connector {
    name: broker
    host: broker.example.com
    port: 5672
    role: route-container
}
# Whoever sends to queues, or receives from them, has a link to the broker.
linkRoute {
    prefix: queue
    direction: in
    connection: broker
}
linkRoute {
    prefix: queue
    direction: out
    connection: broker
}
"""
    notes = """Each section has either `prefix` or `pattern`, as those of `address` have. The container is known by
`connection`, which is the name of a listener or connector with role `route-container`, or by `containerId`. With
neither, links of these addresses are refused unless another router has a container for them."""
    change_notes = "Links that are routed stay when their link route is deleted."

    def read(self, entity: Entity, reading: Reading) -> LinkRouteSettings | None:
        """Return what a section says."""
        values = entity.values
        check_one_place(entity)
        pattern = _pattern(entity)
        if pattern is None or values["direction"] is None:
            return None
        return LinkRouteSettings(
            name=values["name"] or entity.label,
            direction=LinkDirection(values["direction"]),
            pattern=pattern,
            add_prefix=values["addExternalPrefix"] or "",
            del_prefix=values["delExternalPrefix"] or "",
            container_id=values["containerId"],
            connection=values["connection"],
        )

    def apply(self, router: Router, config: LinkRouteSettings) -> None:
        """Route links by it from now on."""
        router.link_route_uses.add(config)

    def remove(self, router: Router, config: LinkRouteSettings) -> None:
        """Route no more links by it."""
        router.link_route_uses.remove(config.name)


def route_pattern_of(values: Mapping[str, Any]) -> str:
    """Return the pattern of a link route, the same for all ways to write it; empty if it has no words."""
    pattern: str = values["pattern"] if values["pattern"] is not None else values["prefix"] or ""
    words = pattern.strip("./")
    return f"{words}/#" if words and values["pattern"] is None else words


def _pattern(entity: Entity) -> str | None:
    prefix, pattern = entity.values["prefix"], entity.values["pattern"]
    if prefix is not None and pattern is not None:
        reason = f"Cannot set both 'prefix' and 'pattern': link route {prefix}, {pattern}"
        entity.refuse("pattern", reason, _ONE_OF_BOTH)
        return None
    if prefix is None and pattern is None:
        entity.refuse("", "Must set either 'prefix' or 'pattern'", "prefix: NAME", "pattern: NAME.*.NAME/#")
        return None
    found = route_pattern_of(entity.values)
    if not found:
        entity.refuse("prefix" if pattern is None else "pattern", "names no address", _WORDS)
        return None
    return found
