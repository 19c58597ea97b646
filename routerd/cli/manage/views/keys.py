"""The parts of an address key: a letter for the class, a phase for mobile addresses, and the text."""

from typing import Any

MOBILE = "M"
CLASSES = {
    MOBILE: "mobile",
    "R": "router",
    "A": "area",
    "L": "local",
    "T": "topo",
    "C": "link-in",
    "E": "link-in",
    "D": "link-out",
    "F": "link-out",
    "H": "edge",
}
LINK_ROUTED = frozenset("CDEF")


def address_class(key: Any) -> str:
    """Return the class of an address in words."""
    return CLASSES.get(key[0], f"unknown: {key[0]}") if key else ""


def address_text(key: Any) -> str:
    """Return the text of an address."""
    return str(key)[2 if key[0] == MOBILE else 1 :] if key else ""


def address_phase(key: Any) -> str:
    """Return the phase of a mobile address, nothing for others."""
    return str(key)[1:2] if key and key[0] == MOBILE else ""
