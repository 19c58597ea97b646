"""A flow, as forwarding knows it while messages of it come."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from routerd.core.annotations.router_annotations import RouterAnnotations


class Flow:
    """The messages of one address with the same inlet, the same outlet and the same ingress router."""

    annotations: "RouterAnnotations | None"
    following: "Flow | None"
    register: Any

    def __init__(self, register: Any, key: str, egress_number: int, index: int) -> None:
        self.register = register
        self.key = key
        self.egress_number = egress_number
        # The index of its names in the register, and of its sums.
        self.index = index
        self.annotations = None
        # The next flow in the ring of the inlet.
        self.following = None
