"""Where the fabric of a worker listens, as its siblings are told by the address table; and which of two connects."""

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FabricEndpoint:
    """The places of one worker."""

    node: str = ""
    """The node that it is on; its Unix socket is for others there."""
    path: str = ""
    """Of the Unix socket; empty for a worker that is alone."""
    host: str = ""
    port: int = 0
    """For those on other nodes; 0 where there is no port."""

    def text(self) -> str:
        """Return the text by which siblings learn of it."""
        return self.path if not self.node else json.dumps([self.node, self.path, self.host, self.port])

    @staticmethod
    def of(text: str) -> "FabricEndpoint":
        """Return the endpoint from a sibling's text."""
        return FabricEndpoint(*json.loads(text)) if text.startswith("[") else FabricEndpoint(path=text)

    def is_near(self, other: "FabricEndpoint") -> bool:
        """Whether the two are on one node."""
        return self.node == other.node

    def connects_to(self, other: "FabricEndpoint", *, is_higher: bool) -> bool:
        """Whether this worker connects, and not the other; `is_higher` if its number is.

        The worker without a port connects to the one with a port. If both have one, or are on one node, the one with
        the higher number connects.
        """
        if self.is_near(other) or (self.port and other.port):
            return is_higher
        return other.port != 0
