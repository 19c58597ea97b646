"""`dummy`: an entity to try tools with. It changes nothing in the router."""

from dataclasses import dataclass

from routerd.config.configurable import Configurable, Reading
from routerd.config.entity import Entity
from routerd.config.schema.foundations import ENTITY
from routerd.config.schema.model import CREATE, INTEGER, STRING, UPDATE, Attribute, EntityType, Purpose
from routerd.core import Router

DUMMY = EntityType(
    name="dummy",
    description="An entity to try tools with. It changes nothing in the router.",
    purpose=Purpose.OTHER,
    base=ENTITY,
    section="dummy",
    own_operations=("CREATE", "READ", "UPDATE", "DELETE", "CALLME"),
    is_supported=True,
    own_attributes=(
        Attribute("arg1", STRING, "Any text.", CREATE | UPDATE),
        Attribute("arg2", STRING, "Any text.", CREATE | UPDATE),
        Attribute("num1", INTEGER, "Any number.", CREATE | UPDATE),
        Attribute("num2", INTEGER, "Any number.", CREATE | UPDATE),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DummyConfig:
    """Nothing that a router needs."""

    name: str


class DummyKind(Configurable[DummyConfig]):
    """Entities that only management knows."""

    type = DUMMY
    example = """dummy {
    name: trial
    arg1: a text
    num1: 42
}
"""
    notes = "Each has a `name`. Requests create, change and delete such entities without any effect."
    change_notes = "`CALLME` of one answers with the properties of the request."
    is_replaced_at_once = True

    def read(self, entity: Entity, reading: Reading) -> DummyConfig:
        """Return what a section says."""
        if not entity.values["name"]:
            entity.refuse("name", "Missing required attribute 'name'", "what requests call it")
        return DummyConfig(name=entity.values["name"] or "")

    def apply(self, router: Router, config: DummyConfig) -> None:
        """Change nothing."""

    def remove(self, router: Router, config: DummyConfig) -> None:
        """Change nothing."""
