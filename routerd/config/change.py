"""A change of what is configured, as the workers are told of it."""

from dataclasses import dataclass

from routerd.config.configured import ConfiguredEntity


@dataclass(frozen=True, slots=True)
class Change:
    """From one version of the configuration to the next."""

    base: int
    """The version that it is for."""
    added: tuple[ConfiguredEntity, ...] = ()
    removed: tuple[str, ...] = ()
    """Identities; one that is among the added, too, is replaced."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """All that is configured, in one version."""

    version: int
    entities: tuple[ConfiguredEntity, ...]

    def changed(self, change: Change) -> "Configuration":
        """Return the next version; what is replaced keeps its place."""
        added = {entity.identity: entity for entity in change.added}
        kept = [
            added.pop(entity.identity, entity)
            for entity in self.entities
            if entity.identity not in change.removed or entity.identity in added
        ]
        return Configuration(self.version + 1, (*kept, *added.values()))

    def change_to(self, other: "Configuration") -> Change:
        """Return what has to be done to have another configuration."""
        here = {entity.identity: entity for entity in self.entities}
        there = {entity.identity: entity for entity in other.entities}
        return Change(
            self.version,
            tuple(entity for identity, entity in there.items() if here.get(identity) != entity),
            tuple(identity for identity, entity in here.items() if there.get(identity) != entity),
        )
