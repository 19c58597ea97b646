"""The state of a routing engine for its successor: plain values that can be pickled."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NodeCheckpoint:
    """The known state of another router."""

    id: str
    instance: int
    ls_seq: int
    mobile_seq: int
    peers: Mapping[str, int]
    addresses: int
    """Of its addresses a checksum alone, to see whether those that are handed back are the same."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of an engine, without times: clocks may differ."""

    router_id: str
    instance: int
    version: int
    """Of the routes."""
    ls_seq: int
    mobile_seq: int
    trunks: Mapping[int, tuple[str, int]]
    """The trunks that lead to neighbours: to whom, and at what cost."""
    nodes: tuple[NodeCheckpoint, ...]
