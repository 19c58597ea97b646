"""The log."""

from routerd.config.schema.foundations import CONFIGURATION_ENTITY, OPERATIONAL_ENTITY
from routerd.config.schema.model import BOOLEAN, ENUM, INTEGER, STRING, UPDATE, Attribute, EntityType, Kind

LOG_LEVELS = ("trace", "debug", "info", "notice", "warning", "error", "critical")
LOG_MODULES = (
    *("ROUTER", "ROUTER_CORE", "ROUTER_HELLO", "ROUTER_LS", "ROUTER_MA", "MESSAGE", "SERVER", "AGENT", "AUTHSERVICE"),
    *("CONTAINER", "ERROR", "POLICY", "HTTP", "CONN_MGR", "PYTHON", "PROTOCOL", "DEFAULT"),
)

LOG = EntityType(
    name="log",
    description="What one module of the router writes to the log, and where to.",
    kind=Kind.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="log",
    own_operations=("UPDATE",),
    is_supported=True,
    own_attributes=(
        Attribute(
            "module",
            ENUM,
            "The module. What is not set for a module is as for DEFAULT.",
            tags=LOG_MODULES,
            is_required=True,
        ),
        Attribute(
            "enable",
            STRING,
            "The levels that are written, such as `warning+ trace`: `+` is that level and all above it.",
            UPDATE,
            separator=",",
        ),
        Attribute("includeTimestamp", BOOLEAN, "Whether a line begins with the time.", UPDATE, old_name="timestamp"),
        Attribute(
            "includeSource",
            BOOLEAN,
            "Whether a line ends with the place in the source code.",
            UPDATE,
            old_name="source",
        ),
        Attribute(
            "outputFile",
            STRING,
            "`stderr`, `stdout`, `syslog` or the name of a file to append to.",
            UPDATE,
            old_name="output",
        ),
    ),
)

LOG_STATS = EntityType(
    name="logStats",
    description="How much one module of the router has written to the log.",
    kind=Kind.OPERATIONAL,
    base=OPERATIONAL_ENTITY,
    own_attributes=tuple(
        Attribute(f"{level}Count", INTEGER, f"Lines of level {level}.", is_graph=True) for level in LOG_LEVELS
    ),
)
