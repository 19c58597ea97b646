"""The address by which a link is routed, in any part of its terminus."""

from dataclasses import replace
from typing import Any

from routerd.core.directory.link_routes import ADDRESS_PROPERTY, COORDINATOR
from routerd.wire import Coordinator, Source, Symbol, Target

_NEVER = "never"


def routed_address(terminus: Any) -> str:
    """Return the address of a terminus that link routes are checked for; empty if there cannot be one."""
    if isinstance(terminus, Coordinator):
        return COORDINATOR
    if not isinstance(terminus, (Source, Target)):
        return ""
    address = (terminus.dynamic_node_properties or {}).get(ADDRESS_PROPERTY) if terminus.dynamic else terminus.address
    # A symbol is text, too; compiled code takes the plain type only.
    return str(address) if isinstance(address, str) else ""


def with_address(terminus: Any, address: str) -> Any:
    """Return a copy of a terminus with another address for its routing."""
    if isinstance(terminus, Coordinator):
        return terminus
    if not terminus.dynamic:
        return replace(terminus, address=address)
    properties = dict(terminus.dynamic_node_properties or {})
    properties[Symbol(ADDRESS_PROPERTY)] = address
    return replace(terminus, dynamic_node_properties=properties)


def is_resumable(terminus: Any) -> bool:
    """Whether a terminus outlives its link, so that the link can be resumed."""
    return isinstance(terminus, (Source, Target)) and (terminus.timeout > 0 or terminus.expiry_policy == _NEVER)
