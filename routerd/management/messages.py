"""Requests and answers of the management protocol, without their encoding."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asks."""

    properties: Mapping[Any, Any] = field(default_factory=dict)
    """The application-properties."""
    body: Any = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request."""

    status: int
    description: str
    body: Any = None
