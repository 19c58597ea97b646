"""What is recorded of the router's decisions."""

from routerd.config.schema.foundations import CONFIGURATION_ENTITY
from routerd.config.schema.model import (
    CREATE,
    ENUM,
    INTEGER,
    OWN_PREFIX,
    PATH,
    STRING,
    UPDATE,
    Attribute,
    EntityType,
    Kind,
)

_SET = CREATE | UPDATE

RECORD = EntityType(
    name="record",
    prefix=OWN_PREFIX,
    description="What is recorded of the router's decisions, as Parquet files that `routeranalyze` studies.",
    kind=Kind.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="record",
    own_operations=("UPDATE",),
    is_singleton=True,
    is_supported=True,
    own_attributes=(
        Attribute(
            "level",
            ENUM,
            "How much is recorded: nothing, sums and events, one decision in `sample` besides, or every decision.",
            _SET,
            "off",
            tags=("off", "flows", "sampled", "all"),
        ),
        Attribute("sample", INTEGER, "Of so many decisions one is recorded.", _SET, 100, least=1, most=1_000_000),
        Attribute("directory", PATH, "The folder that the files go to. Routers may have one in common.", _SET),
        Attribute("rotateSeconds", INTEGER, "How old a file gets.", _SET, 60, unit="s", least=1, most=3600),
        Attribute("rotateMegabytes", INTEGER, "How large a file gets.", _SET, 64, unit="MiB", least=1, most=4096),
        Attribute(
            "retentionHours", INTEGER, "Older files are deleted; 0 for never.", _SET, 168, unit="h", least=0
        ),
        Attribute(
            "retentionMegabytes",
            INTEGER,
            "Of the router's files that are more in all, the oldest are deleted; 0 for any number.",
            _SET,
            10_240,
            unit="MiB",
            least=0,
        ),
        Attribute("status", STRING, "Whether it is `off` or `recording`, or why nothing is written at the moment."),
        Attribute("rowsWritten", INTEGER, "Rows of complete files.", is_graph=True),
        Attribute("rowsLost", INTEGER, "Rows that could not be kept.", is_graph=True),
        Attribute("rowsPending", INTEGER, "Rows of files that are not complete.", is_graph=True),
        Attribute("filesWritten", INTEGER, "Complete files.", is_graph=True),
        Attribute("filesDeleted", INTEGER, "Files whose time was over.", is_graph=True),
        Attribute("octetsWritten", INTEGER, "Size of the complete files.", unit="octets", is_graph=True),
        Attribute("errorCount", INTEGER, "How often writing failed.", is_graph=True),
    ),
)

RECORD_COUNTERS = {
    "rowsWritten": "rows_written",
    "rowsLost": "rows_lost",
    "rowsPending": "rows_pending",
    "filesWritten": "files_written",
    "filesDeleted": "files_deleted",
    "octetsWritten": "octets_written",
    "errorCount": "errors",
}
"""From attributes to the counters of `WorkerRow.recording`."""
