"""What a flow is known by while messages of it come."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from routerd.core.annotations.router_annotations import RouterAnnotations


class Flow:
    """The messages of one address that came in by one link, left by another and entered the network at one router."""

    annotations: "RouterAnnotations | None"
    following: "Flow | None"
    register: Any

    def __init__(self, register: Any, key: str, egress_number: int, index: int) -> None:
        self.register = register
        self.key = key
        self.egress_number = egress_number
        # Of its names in the register, and of its sums.
        self.index = index
        self.annotations = None
        # The next one in the ring of the inlet.
        self.following = None
