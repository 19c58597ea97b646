"""Hosts that the users of a group may connect from: addresses, ranges of them, and names (10.2)."""

import socket
from collections.abc import Callable

from routerd.config.schema.values import ValueRefused, shown
from routerd.core import HostRange, host_number

HOSTS_ALLOWED = ("*", "addresses", "names of hosts", "ranges such as 10.0.0.1-10.0.0.9, with commas between them")

Resolve = Callable[[str], list[str]]
"""Returns the addresses of a host by its name; OSError if there are none."""


def resolve_host(name: str) -> list[str]:
    """Return the addresses that the system has for the name of a host."""
    return [str(place[4][0]) for place in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)]


def resolve_if_possible(name: str) -> list[str]:
    """Return the one address of a host; without one, an address that nobody connects from."""
    try:
        found = list(dict.fromkeys(resolve_host(name)))
    except (OSError, UnicodeError):
        found = []
    return found if len(found) == 1 else ["::"]


def host_range(text: str, resolve: Resolve) -> HostRange:
    """Return what one member of the list says; raises ValueRefused."""
    low, dash, high = (part.strip() for part in text.partition("-"))
    lowest = host_number(low)
    if dash and (lowest or host_number(high)):
        return _range(text, lowest, host_number(high))
    if lowest is None:
        lowest = _number_of(text, resolve)
    version, number = lowest
    return HostRange(version, number, number)


def _range(text: str, lowest: tuple[int, int] | None, highest: tuple[int, int] | None) -> HostRange:
    if lowest is None or highest is None:
        raise ValueRefused(f"{shown(text)} is not a range of addresses")
    if lowest[0] != highest[0]:
        raise ValueRefused(f"{shown(text)} is a range from one family of addresses to the other")
    if lowest[1] > highest[1]:
        raise ValueRefused(f"{shown(text)} is a range that ends before it begins")
    return HostRange(lowest[0], lowest[1], highest[1])


def _number_of(name: str, resolve: Resolve) -> tuple[int, int]:
    try:
        found = {host_number(one) for one in resolve(name)}
    except (OSError, UnicodeError):
        raise ValueRefused(f"{shown(name)} is neither an address nor the name of a host that can be found") from None
    if len(found) != 1 or None in found:
        raise ValueRefused(f"{shown(name)} is the name of {len(found)} addresses, and has to be of one")
    [number] = found
    assert number is not None
    return number
