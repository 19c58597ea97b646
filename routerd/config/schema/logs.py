"""The log."""

from routerd.config.schema.foundations import OPERATIONAL_ENTITY
from routerd.config.schema.model import INTEGER, Attribute, EntityType, Purpose

LOG_LEVELS = ("trace", "debug", "info", "notice", "warning", "error", "critical")
LOG_MODULES = (
    *("ROUTER", "ROUTER_CORE", "ROUTER_HELLO", "ROUTER_LS", "ROUTER_MA", "MESSAGE", "SERVER", "AGENT", "AUTHSERVICE"),
    *("CONTAINER", "ERROR", "POLICY", "HTTP", "CONN_MGR", "PYTHON", "PROTOCOL", "DEFAULT"),
)

LOG_STATS = EntityType(
    name="logStats",
    description="How much one module of the router has written to the log.",
    purpose=Purpose.OPERATIONAL,
    base=OPERATIONAL_ENTITY,
    own_attributes=tuple(
        Attribute(f"{level}Count", INTEGER, f"Lines of level {level}.", is_graph=True) for level in LOG_LEVELS
    ),
)
