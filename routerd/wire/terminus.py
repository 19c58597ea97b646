"""The two termini of a link (3.5): source and target, and the coordinator in place of a target (4.5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from routerd.wire.outcomes import Outcome
from routerd.wire.types import Composite, FieldType, Symbol

SESSION_END = Symbol("session-end")
EXPIRY_POLICIES = frozenset({Symbol("link-detach"), SESSION_END, Symbol("connection-close"), Symbol("never")})
DURABILITIES = range(3)
"""None, configuration, unsettled state (3.5.5)."""


@dataclass(slots=True, kw_only=True, repr=False)
class Source(Composite):
    """The source of a link's messages (3.5.3)."""

    CODE: ClassVar[int] = 0x28
    address: Annotated[Any, FieldType.ANY] = None
    durable: Annotated[int, FieldType.UINT, DURABILITIES] = 0
    expiry_policy: Annotated[str, FieldType.SYMBOL, EXPIRY_POLICIES] = SESSION_END
    timeout: Annotated[int, FieldType.UINT] = 0
    dynamic: Annotated[bool, FieldType.BOOLEAN] = False
    dynamic_node_properties: Annotated[Mapping[Any, Any] | None, FieldType.MAP] = None
    distribution_mode: Annotated[str | None, FieldType.SYMBOL] = None
    filter: Annotated[Mapping[Any, Any] | None, FieldType.MAP] = None
    default_outcome: Annotated[Outcome | None, FieldType.OUTCOME] = None
    outcomes: Annotated[tuple[str, ...], FieldType.SYMBOLS] = ()
    capabilities: Annotated[tuple[str, ...], FieldType.SYMBOLS] = ()


@dataclass(slots=True, kw_only=True, repr=False)
class Target(Composite):
    """The target of a link's messages (3.5.4)."""

    CODE: ClassVar[int] = 0x29
    address: Annotated[Any, FieldType.ANY] = None
    durable: Annotated[int, FieldType.UINT, DURABILITIES] = 0
    expiry_policy: Annotated[str, FieldType.SYMBOL, EXPIRY_POLICIES] = SESSION_END
    timeout: Annotated[int, FieldType.UINT] = 0
    dynamic: Annotated[bool, FieldType.BOOLEAN] = False
    dynamic_node_properties: Annotated[Mapping[Any, Any] | None, FieldType.MAP] = None
    capabilities: Annotated[tuple[str, ...], FieldType.SYMBOLS] = ()


@dataclass(slots=True, kw_only=True, repr=False)
class Coordinator(Composite):
    """The target of a link on which transactions are declared and discharged (4.5.1)."""

    CODE: ClassVar[int] = 0x30
    capabilities: Annotated[tuple[str, ...], FieldType.SYMBOLS] = ()
