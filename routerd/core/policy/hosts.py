"""Hosts that connections may come from: addresses and ranges (10.2)."""

from bisect import bisect_right
from collections.abc import Iterable
from ipaddress import IPv6Address, ip_address

from routerd.core.policy.settings import HostRange


def host_number(text: str) -> tuple[int, int] | None:
    """Return version and number of an address, or None for invalid text; IPv4 inside IPv6 counts as IPv4."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return 4, int(address.ipv4_mapped)
    return address.version, int(address)


def host_of(peer_name: str) -> str:
    """Return the address in `address:port` or `[address]:port`, in its shortest form."""
    host = peer_name.rpartition(":")[0].strip("[]")
    try:
        address = ip_address(host)
    except ValueError:
        return host
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


class HostRules:
    """Ranges of addresses, with a search in logarithmic time."""

    def __init__(self, ranges: Iterable[HostRange], *, from_any_host: bool = False) -> None:
        self._allows_any = from_any_host
        self._lowest: dict[int, list[int]] = {}
        self._highest: dict[int, list[int]] = {}
        for one in sorted(ranges, key=lambda each: (each.version, each.lowest)):
            lowest = self._lowest.setdefault(one.version, [])
            highest = self._highest.setdefault(one.version, [])
            if highest and one.lowest <= highest[-1]:
                highest[-1] = max(highest[-1], one.highest)
            else:
                lowest.append(one.lowest)
                highest.append(one.highest)

    def allow(self, host: str) -> bool:
        """Whether a host may connect."""
        if self._allows_any:
            return True
        found = host_number(host)
        if found is None:
            return False
        version, number = found
        place = bisect_right(self._lowest.get(version, []), number) - 1
        return place >= 0 and number <= self._highest[version][place]
