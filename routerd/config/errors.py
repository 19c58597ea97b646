"""What is wrong with a configuration, or a change of it, in words that say where and what would be right."""

from collections.abc import Sequence

from routerd.config.schema.values import closest, shown

CHOICES_LISTED = 10
"""What would be right is listed beside what was probably meant if it is no more than so much."""


class ConfigRejected(Exception):
    """A configuration that no router is started with."""


_CHECKED_LATER = ("openProperties",)
"""Attributes that qdrouterd checks after it has read the file."""


class ConfigError(ConfigRejected):
    """One thing that is wrong."""

    def __init__(
        self,
        file: str,
        line: int | None,
        entity: str | None,
        attribute: str | None,
        value: object,
        reason: str,
        allowed: tuple[str, ...] = (),
        meant: str | None = None,
        type_name: str | None = None,
    ) -> None:
        super().__init__(file, line, entity, attribute, value, reason, allowed, meant, type_name)
        self.file = file
        self.line = line
        self.entity = entity
        """The name of the section."""
        self.attribute = attribute
        self.value = value
        self.reason = reason
        self.allowed = allowed
        """What would be right instead."""
        self.meant = meant
        """Which of these was probably meant."""
        self.type_name = type_name
        """The full name of the type, if the schema says so."""

    def __str__(self) -> str:
        parts = [f"Cannot load configuration file {self.file}"]
        if self.line is not None:
            parts.append(f"line {self.line}")
        if self.entity is not None:
            parts.append(f"{self.entity}.{self.attribute}" if self.attribute else self.entity)
        return in_one_line(": ".join([*parts, self.reason]) + self._given() + self._right())

    @property
    def old_sentence(self) -> str:
        """What qdrouterd says of it, which scripts look for."""
        if self.attribute in _CHECKED_LATER:
            return in_one_line(f"Python: ValidationError: {self.reason}")
        reason = self.reason
        if self.type_name is not None:
            reason = f"{self.type_name}: " + reason.replace(f"entity '{self.type_name}'", f"entity '{self.entity}'")
        return in_one_line(f"Python: Exception: Cannot load configuration file {self.file}: {reason}")

    def _given(self) -> str:
        if self.value is None or isinstance(self.value, dict | list):
            return ""
        given = shown(self.value)
        return "" if given in self.reason or given.strip("'") in self.reason.split() else f" (got {given})"

    def _right(self) -> str:
        meant = "" if self.meant is None else f"; did you mean '{self.meant}'?"
        is_listed = bool(self.allowed) and (self.meant is None or len(self.allowed) <= CHOICES_LISTED)
        return f"{meant}; allowed: {', '.join(self.allowed)}" if is_listed else meant


class ConfigErrors(ConfigRejected):
    """Everything that is wrong with a configuration, one line each."""

    def __init__(self, errors: Sequence[ConfigError], warnings: Sequence[str] = ()) -> None:
        super().__init__(tuple(errors), tuple(warnings))
        self.errors = tuple(errors)
        self.warnings = tuple(warnings)
        """What is not wrong, and should be seen to, too."""

    def __str__(self) -> str:
        return "\n".join(map(str, self.errors))

class ChangeRefused(Exception):
    """A change that the router cannot make, and has not made anywhere; the text says why."""


class PolicyRefused(ChangeRefused):
    """A change of policy that the router cannot make. Clients are told with the status that qdrouterd has for it."""


class ChangeForbidden(ChangeRefused):
    """A change that would have the router use what requests to management may not name."""


def in_one_line(text: str) -> str:
    """Return a text with everything that is not to be printed as its escape sequence."""
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def meant_among(given: object, choices: tuple[str, ...]) -> str | None:
    """Return the choice that a wrong word is close to."""
    return closest(given, choices) if isinstance(given, str) else None
