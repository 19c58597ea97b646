"""A second place for the configuration, which needs little of it: all other holders may die at once."""

from collections.abc import Callable
from typing import Any

from routerd.io.backing.managed_worker import StaleConfiguration
from routerd.management import Change, Configuration


class ConfigurationCopy:
    """Answers like `ManagedWorker`, for the configuration only."""

    def __init__(
        self, configuration: Configuration, follow: Callable[[Configuration, Configuration], None] | None = None
    ) -> None:
        """`follow` is called with the former configuration and the new one, for what this process takes of it."""
        self._configuration = configuration
        self._follow = follow
        self._prepared: Change | None = None

    def ask(self, what: str, *arguments: Any) -> Configuration | None:
        """Return the configuration, or take another one."""
        match what:
            case "configuration":
                return self._configuration
            case "prepare":
                self._prepare(*arguments)
            case "commit":
                self._commit()
            case "give_up":
                self._prepared = None
            case "configure":
                self._configure(*arguments)
        return None

    def _prepare(self, change: Change) -> None:
        if change.base != self._configuration.version:
            raise StaleConfiguration(f"version {self._configuration.version} is kept, not {change.base}")
        self._prepared = change

    def _commit(self) -> None:
        change, self._prepared = self._prepared, None
        if change is None:
            raise StaleConfiguration("no change has been prepared")
        self._take(self._configuration.changed(change))

    def _configure(self, configuration: Configuration) -> None:
        if configuration.version > self._configuration.version:
            self._take(configuration)

    def _take(self, configuration: Configuration) -> None:
        before, self._configuration = self._configuration, configuration
        if self._follow is not None:
            self._follow(before, configuration)
