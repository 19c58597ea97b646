"""A kind of entity that can be configured: one class has everything that others need.

A kind is a module in `kinds` and a row of `catalogue.TABLE`. From the row, files are read and requests to management
are answered, `docs/` is written, and workers have what is configured. docs/adding-an-entity.md adds one.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from routerd.config.entity import Entity
from routerd.config.remote_hosts import Resolve, resolve_host
from routerd.config.schema.model import EntityType, ValueType
from routerd.core import Router, RouterMode

C = TypeVar("C")

Other = tuple[str, Mapping[str, Any]]
"""The identity and the values of another entity."""
CHANGES = ("CREATE", "UPDATE", "DELETE")
"""The operations that change the configuration while the router runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The surroundings of sections that are read: a whole file, or the one entity of a request."""

    mode: RouterMode
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    """The variables that may contain passwords."""
    resolve: Resolve = resolve_host
    """Finds the addresses of named hosts."""
    new_suffix: Callable[[], str] = str
    """Makes ids of routers unique."""
    policy: Mapping[str, Any] = field(default_factory=dict)
    """The attributes of the section `policy`, as far as they are known."""
    sections: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """The attributes of all sections of the file by the names of sections; none for a request."""


class Configurable(ABC, Generic[C]):
    """A kind of entity. `C` is the frozen class that its sections become; one section is one of these."""

    type: ClassVar[EntityType]
    """The schema: attributes, operations, description."""
    example: ClassVar[str]
    """Sections for docs/configuration.md, which a test reads."""
    notes: ClassVar[str] = ""
    """The text of docs/configuration.md below the attributes."""
    inner_types: ClassVar[Mapping[str, EntityType]] = {}
    """Types that stand within an attribute, by the word in `notes` that the rows of their attributes replace."""
    change_notes: ClassVar[str] = ""
    """The text of docs/management.md on changes at run time."""
    references: ClassVar[Mapping[str, str]] = {}
    """Attributes that name entities of another kind, with the section of that kind. Named entities have to exist."""
    goes_with: ClassVar[tuple[str, ...]] = ()
    """Of these, the attributes whose entity takes this one with it when it is deleted."""
    files: ClassVar[tuple[str, ...]] = ()
    """Attributes that name files, beside those of type path: requests may name files of one folder only."""
    passwords: ClassVar[tuple[str, ...]] = ()
    """Attributes that can name the place of a password."""
    fixed: ClassVar[tuple[str, ...]] = ()
    """Attributes that distinguish entities. An update may repeat them unchanged."""
    always_exists: ClassVar[bool] = False
    """Whether a router has such an entity even without a section."""
    lets_in: ClassVar[bool] = False
    """Whether it lets connections in. Entities of other kinds take effect first."""
    is_replaced_at_once: ClassVar[bool] = False
    """Whether a worker replaces the old entity by the new one in one step. Otherwise it removes the old one first."""

    # --- from sections to configurations

    def repeated(self, entities: Sequence[Entity]) -> list[Entity]:
        """Return sections that are passed over, as an earlier one says the same; warn at each."""
        return []

    @abstractmethod
    def read(self, entity: Entity, reading: Reading) -> C | None:
        """Return the configuration of a section, and note its errors at the entity; None if it cannot be compared."""

    def compare(self, found: Sequence[tuple[Entity, C]], reading: Reading) -> None:
        """Note errors of entities in relation to each other."""

    def parse(self, entities: Iterable[Entity], reading: Reading) -> tuple[C, ...]:
        """Return the configurations of sections; without errors, there is one for each."""
        read = [(entity, self.read(entity, reading)) for entity in entities]
        found = [(entity, one) for entity, one in read if one is not None]
        self.compare(found, reading)
        return tuple(one for _, one in found)

    def settled(self, values: Mapping[str, Any], config: C) -> dict[str, Any]:
        """Return values of attributes that mean the same in every process: no relative path, no environment."""
        return dict(values)

    def shown(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return values as requests see them, and give them back."""
        return values

    # --- names

    @property
    def section(self) -> str:
        """The name of the kind in a file."""
        assert self.type.section is not None, "a kind has a section"
        return self.type.section

    @property
    def is_changeable(self) -> bool:
        """Whether requests can change anything while the router runs."""
        return any(one in self.type.operations for one in CHANGES)

    @property
    def file_attributes(self) -> tuple[str, ...]:
        """The attributes that name files or folders."""
        settable = (one for one in self.type.attributes.values() if one.is_settable)
        paths = (one.name for one in settable if one.type is ValueType.PATH)
        return tuple(dict.fromkeys((*paths, *self.files)))

    def names_file(self, attribute: str, text: str) -> bool:
        """Return whether an attribute for a file names one, and not something else."""
        return True

    def identity(self, values: Mapping[str, Any], name: str | None) -> str:
        """Return the identity in management of an entity that has no number."""
        return f"{self.type.name}/{name}"

    def unique_text(self, values: Mapping[str, Any]) -> str | None:
        """Return the text that no two entities of the kind share, beside name and identity; None for none."""
        return None

    def implied(self, given: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        """Return the values of entities that a router has without a section, in addition to the given ones."""
        return ({},) if self.always_exists and not given else ()

    # --- changes at run time

    def admit(self, identity: str, values: Mapping[str, Any], others: Iterable[Other], reading: Reading) -> None:
        """Check that an entity can exist beside the others of its kind; raises ChangeRefused."""

    # --- at a worker, in its loop; kinds that need more than the router have a row in `routerd.io`

    def apply(self, router: Router, config: C) -> None:
        """Change the router of a worker by an entity."""

    def remove(self, router: Router, config: C) -> None:
        """Remove an entity from the router of a worker."""
