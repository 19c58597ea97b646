"""The five composite types of SASL frames (5.3.3). Secrets are not part of their repr."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from routerd.wire.types import Composite, FieldType

SASL_CODES = range(5)
"""Ok, auth, sys, sys-perm, sys-temp (5.3.3.6)."""


@dataclass(slots=True, kw_only=True, repr=False)
class SaslMechanisms(Composite):
    """The mechanisms that the server offers, in order of preference (5.3.3.1)."""

    CODE: ClassVar[int] = 0x40
    sasl_server_mechanisms: Annotated[tuple[str, ...], FieldType.SYMBOLS]


@dataclass(slots=True, kw_only=True, repr=False)
class SaslInit(Composite):
    """The client's choice of mechanism (5.3.3.2)."""

    CODE: ClassVar[int] = 0x41
    mechanism: Annotated[str, FieldType.SYMBOL]
    initial_response: Annotated[bytes | None, FieldType.BINARY] = field(default=None, repr=False)
    hostname: Annotated[str | None, FieldType.STRING] = None


@dataclass(slots=True, kw_only=True, repr=False)
class SaslChallenge(Composite):
    """A challenge of the server (5.3.3.3)."""

    CODE: ClassVar[int] = 0x42
    challenge: Annotated[bytes, FieldType.BINARY] = field(repr=False)


@dataclass(slots=True, kw_only=True, repr=False)
class SaslResponse(Composite):
    """A response of the client (5.3.3.4)."""

    CODE: ClassVar[int] = 0x43
    response: Annotated[bytes, FieldType.BINARY] = field(repr=False)


@dataclass(slots=True, kw_only=True, repr=False)
class SaslOutcome(Composite):
    """The outcome of the exchange (5.3.3.5)."""

    CODE: ClassVar[int] = 0x44
    code: Annotated[int, FieldType.UBYTE, SASL_CODES]
    additional_data: Annotated[bytes | None, FieldType.BINARY] = field(default=None, repr=False)
