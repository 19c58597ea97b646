"""`autoLink`: a link that the router attaches to a container by itself."""

from collections.abc import Mapping
from typing import Any

from routerd.config.configurable import Configurable, Reading
from routerd.config.entity import Entity
from routerd.config.kinds.container_attributes import check_one_place
from routerd.config.schema.foundations import CONFIGURATION_ENTITY
from routerd.config.schema.model import BOOLEAN, CREATE, ENUM, INTEGER, STRING, Attribute, EntityType, Purpose
from routerd.core import PHASE_MAX, AutoLinkSettings, LinkDirection, Router, canonical

AUTO_LINK = EntityType(
    name="router.config.autoLink",
    description="A link that the router attaches to a container, whenever it is connected.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="autoLink",
    own_operations=("CREATE", "DELETE"),
    is_supported=True,
    is_numbered=True,
    own_attributes=(
        Attribute("address", STRING, "The address here.", CREATE, is_required=True, old_name="addr"),
        Attribute(
            "direction",
            ENUM,
            "`in` for messages from the container, `out` for messages to it.",
            CREATE,
            tags=("in", "out"),
            is_required=True,
            old_name="dir",
        ),
        Attribute(
            "phase",
            INTEGER,
            "The phase of the address; 1 for `in` and 0 for `out` when not given.",
            CREATE,
            least=0,
            most=PHASE_MAX,
        ),
        Attribute("containerId", STRING, "The container-id of the container.", CREATE),
        Attribute("connection", STRING, "The name of the connector or listener that the container is at.", CREATE),
        Attribute("externalAddress", STRING, "The address at the container.", CREATE, old_name="externalAddr"),
        Attribute("fallback", BOOLEAN, "Whether the container is the fallback destination.", CREATE, False),
        Attribute("linkRef", STRING, "The identity of the link."),
        Attribute(
            "operStatus",
            ENUM,
            "How the link fares.",
            tags=("inactive", "attaching", "failed", "active", "quiescing", "idle"),
        ),
        Attribute("lastError", STRING, "What the container said when it refused the link."),
    ),
)

_PLACES = ("_local/", "_topo/", "_edge/")
"""What addresses begin with that no other router sends to."""


class AutoLinkKind(Configurable[AutoLinkSettings]):
    """Links that the router attaches to containers."""

    type = AUTO_LINK
    example = """# A broker with a queue that all messages to `orders` pass through.
connector {
    name: broker
    host: broker.example.com
    port: 5672
    role: route-container
}
address {
    prefix: orders
    waypoint: yes
}
autoLink {
    address: orders
    direction: out
    connection: broker
}
autoLink {
    address: orders
    direction: in
    connection: broker
}
"""
    notes = """The router attaches one link on each connection to the container. The container is known by
`connection`, which is the name of a listener or connector with role `route-container`, or by `containerId`. With
neither, no link is attached. `phase` is 1 for `in` and 0 for `out` when not given, and 0 for a fallback destination.
See [brokers.md](brokers.md)."""
    change_notes = (
        "When it goes, messages that are under way on its link may settle for 10 s before the link is detached."
    )

    def read(self, entity: Entity, reading: Reading) -> AutoLinkSettings | None:
        """Return what a section says."""
        values = entity.values
        check_one_place(entity)
        address, direction = values["address"], values["direction"]
        if address is None or direction is None:
            return None
        if not is_for_auto_links(address):
            entity.refuse("address", "is the address of a place", "an address that can be anywhere")
        return AutoLinkSettings(
            name=values["name"] or entity.label,
            address=address,
            direction=LinkDirection(direction),
            phase=auto_link_phase(values),
            external_address=values["externalAddress"] or None,
            is_fallback=values["fallback"],
            container_id=values["containerId"],
            connection=values["connection"],
        )

    def apply(self, router: Router, config: AutoLinkSettings) -> None:
        """Have the link attached wherever the container is connected."""
        router.auto_links.add(config)

    def remove(self, router: Router, config: AutoLinkSettings) -> None:
        """Have the link detached."""
        router.auto_links.remove(config.name)


def auto_link_phase(values: Mapping[str, Any]) -> int:
    """Return the phase of an auto-link's address."""
    phase: int | None = values["phase"]
    if phase is not None:
        return phase
    return 1 if values["direction"] == "in" and not values["fallback"] else 0


def is_for_auto_links(address: str) -> bool:
    """Whether an address can be that of an auto-link."""
    text = canonical(address)
    return text != "" and not text.startswith(_PLACES)
