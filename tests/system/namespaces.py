"""Two hosts for routers, as network namespaces, with a cable between that can be pulled."""

import os

from bench.namespaces import inside, ip, why_not

__all__ = ["Cable", "inside", "ip", "why_not"]


class Cable:
    """Two namespaces, and the one connection between them."""

    ADDRESSES = ("10.213.0.1", "10.213.0.2")

    def __init__(self) -> None:
        self.names = tuple(f"mesh-{os.getpid()}-{end}" for end in "ab")
        for name in self.names:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        ip("-n", self.names[0], "link", "add", "end", "type", "veth", "peer", "name", "end", "netns", self.names[1])
        for name, address in zip(self.names, self.ADDRESSES, strict=True):
            ip("-n", name, "address", "add", f"{address}/24", "dev", "end")
        self.plug()

    def pull(self) -> None:
        """Part the two, without a word to either."""
        ip("-n", self.names[0], "link", "set", "end", "down")

    def plug(self) -> None:
        """Join them."""
        for name in self.names:
            ip("-n", name, "link", "set", "end", "up")

    def close(self) -> None:
        """Remove the namespaces."""
        for name in self.names:
            ip("netns", "delete", name)
