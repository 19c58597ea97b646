"""The process, and what stands by itself."""

from routerd.config.schema.foundations import CONFIGURATION_ENTITY, OPERATIONAL_ENTITY
from routerd.config.schema.model import INTEGER, STRING, Attribute, EntityType, Purpose

ALLOCATOR = EntityType(
    name="allocator",
    description="A pool of objects of one kind.",
    purpose=Purpose.OPERATIONAL,
    base=OPERATIONAL_ENTITY,
    own_attributes=(
        Attribute("typeName", STRING, "The kind of object."),
        Attribute("typeSize", INTEGER, "The size of one.", unit="octets"),
        Attribute("transferBatchSize", INTEGER, "Objects that are moved at a time."),
        Attribute("localFreeListMax", INTEGER, "Free objects that a thread keeps at most.", is_graph=True),
        Attribute("globalFreeListMax", INTEGER, "Free objects that are kept at most.", is_graph=True),
        Attribute("totalAllocFromHeap", INTEGER, "Objects that were made.", is_graph=True),
        Attribute("totalFreeToHeap", INTEGER, "Objects that were given up.", is_graph=True),
        Attribute("heldByThreads", INTEGER, "Objects that are in use or kept by threads.", is_graph=True),
        Attribute("batchesRebalancedToThreads", INTEGER, "Batches that were moved to threads.", is_graph=True),
        Attribute("batchesRebalancedToGlobal", INTEGER, "Batches that were moved back from threads.", is_graph=True),
    ),
)

CONSOLE = EntityType(
    name="console",
    description="A proxy program for a console in the browser; a listener with `http` has taken its place.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="console",
    is_singleton=True,
    is_deprecated=True,
    own_attributes=(
        Attribute("listener", STRING, "The listener that the proxy connects to."),
        Attribute("wsport", INTEGER, "The port of the proxy.", default=5673, least=0, most=65535),
        Attribute("proxy", STRING, "The program.", is_required=True),
        Attribute("home", STRING, "The folder with the console.", is_required=True),
        Attribute("args", STRING, "What the program is started with."),
    ),
)
