"""`router`: its name, and its place in the network."""

import os
import secrets
import string
from collections.abc import Mapping
from typing import Any

from routerd.config.configurable import Configurable, Reading
from routerd.config.entity import Entity
from routerd.config.schema.foundations import CONFIGURATION_ENTITY
from routerd.config.schema.model import BOOLEAN, CREATE, ENUM, INTEGER, PATH, STRING, Attribute, EntityType, Purpose
from routerd.core import Distribution, ManagementAccess, RouterMode, RouterSettings

ROUTER = EntityType(
    name="router",
    description="The router as a whole: its name, its place in the network, and what it counts.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="router",
    is_singleton=True,
    is_supported=True,
    own_attributes=(
        Attribute(
            "id",
            STRING,
            "The router's name, unlike that of any other router of the network; made up when not given.",
            CREATE,
        ),
        Attribute(
            "mode",
            ENUM,
            "The router's place: by itself, one of a network, or a leaf at its rim.",
            CREATE,
            "standalone",
            tags=("standalone", "interior", "edge"),
        ),
        Attribute("area", STRING, "Always 0.", default=0),
        Attribute("version", STRING, "The version of the router's software."),
        Attribute("hostName", STRING, "The host that the router runs on."),
        Attribute(
            "helloIntervalSeconds",
            INTEGER,
            "Time between two greetings to the neighbours.",
            CREATE,
            1,
            old_name="helloInterval",
            unit="s",
            least=1,
        ),
        Attribute(
            "helloMaxAgeSeconds",
            INTEGER,
            "A neighbour that was not heard for so long is lost.",
            CREATE,
            3,
            old_name="helloMaxAge",
            unit="s",
            least=1,
        ),
        Attribute(
            "raIntervalSeconds",
            INTEGER,
            "Time between two announcements to the network while it is stable.",
            CREATE,
            30,
            old_name="raInterval",
            unit="s",
            least=1,
        ),
        Attribute(
            "raIntervalFluxSeconds",
            INTEGER,
            "Time between two announcements while the network changes.",
            CREATE,
            4,
            old_name="raIntervalFlux",
            unit="s",
            least=1,
        ),
        Attribute(
            "remoteLsMaxAgeSeconds",
            INTEGER,
            "A router that announced nothing for so long is forgotten.",
            CREATE,
            60,
            old_name="remoteLsMaxAge",
            unit="s",
            least=1,
        ),
        Attribute(
            "workerThreads",
            INTEGER,
            "Taken for old files' sake, without effect: connection_actors of routerd is the number of processes.",
            CREATE,
            4,
            least=1,
        ),
        Attribute(
            "debugDumpFile",
            PATH,
            "Taken for old files' sake; nothing is written there.",
            CREATE,
            old_name="debugDump",
        ),
        Attribute(
            "saslConfigDir",
            PATH,
            "The folder with the SASL configuration.",
            CREATE,
            old_name="saslConfigPath",
        ),
        Attribute(
            "saslConfigName", STRING, "The name of the SASL configuration there, without `.conf`.", CREATE, "qdrouterd"
        ),
        Attribute(
            "allowResumableLinkRoute",
            BOOLEAN,
            "Whether a routed link may be one that is to be resumed later.",
            CREATE,
            True,
        ),
        Attribute(
            "forgetOfLostProducers",
            BOOLEAN,
            "Whether a client's messages that wait unsettled are forgotten when its link ends, and not sent.",
            CREATE,
            False,
        ),
        Attribute(
            "managementAccess",
            ENUM,
            "What requests to management may do: only read; change what policy allows its users to change, and nothing"
            " where there is no policy; or change anything where there is no policy.",
            CREATE,
            "policy",
            tags=("read", "policy", "change"),
        ),
        Attribute(
            "managementFileDir",
            PATH,
            "The folder that has every file which requests to management may name; none when not given.",
            CREATE,
        ),
        Attribute(
            "topicGraceSeconds",
            INTEGER,
            "How long topics accept no message after a start, if no other router tells which subscriptions there are;"
            " 10 s for a standalone router and 60 s for others when not given. Only this router has the attribute.",
            CREATE,
            unit="s",
            least=0,
            most=7 * 86_400,
        ),
        Attribute("timestampsInUTC", BOOLEAN, "Whether the log has the time in UTC instead of local time.", CREATE),
        Attribute("timestampFormat", STRING, "The form of the time in the log, as strftime has it.", CREATE),
        Attribute(
            "allowUnsettledMulticast",
            BOOLEAN,
            "Taken for old files' sake; it changes nothing.",
            CREATE,
            False,
            is_deprecated=True,
        ),
        Attribute(
            "defaultDistribution",
            ENUM,
            "What becomes of messages to an address that no `address` section covers.",
            CREATE,
            "balanced",
            tags=("multicast", "closest", "balanced", "unavailable"),
        ),
        Attribute("metadata", STRING, "Any text; it is shown with the router.", CREATE),
        Attribute("addrCount", INTEGER, "Addresses known now.", is_graph=True),
        Attribute("linkCount", INTEGER, "Links attached now.", is_graph=True),
        Attribute("blockedLinkCount", INTEGER, "Links without credit for 10 s now.", is_graph=True),
        Attribute("nodeCount", INTEGER, "Other routers of the network that are known now.", is_graph=True),
        Attribute("linkRouteCount", INTEGER, "Configured link routes.", is_graph=True),
        Attribute("autoLinkCount", INTEGER, "Configured auto links.", is_graph=True),
        Attribute("connectionCount", INTEGER, "Connections open now.", is_graph=True),
        Attribute("presettledDeliveries", INTEGER, "Deliveries that arrived settled.", is_graph=True),
        Attribute(
            "droppedPresettledDeliveries",
            INTEGER,
            "Settled deliveries, and copies of multicast ones, that were dropped at links of any kind.",
            is_graph=True,
        ),
        Attribute("acceptedDeliveries", INTEGER, "Deliveries that were accepted.", is_graph=True),
        Attribute("rejectedDeliveries", INTEGER, "Deliveries that were rejected.", is_graph=True),
        Attribute("releasedDeliveries", INTEGER, "Deliveries that were released.", is_graph=True),
        Attribute("modifiedDeliveries", INTEGER, "Deliveries that were modified.", is_graph=True),
        Attribute(
            "deliveriesDelayed1Sec", INTEGER, "Deliveries settled after more than 1 s, up to 10 s.", is_graph=True
        ),
        Attribute("deliveriesDelayed10Sec", INTEGER, "Deliveries settled after more than 10 s.", is_graph=True),
        Attribute(
            "deliveriesStuck", INTEGER, "Deliveries that have been under way for more than 10 s now.", is_graph=True
        ),
        Attribute("deliveriesIngress", INTEGER, "Deliveries received, except from interior routers.", is_graph=True),
        Attribute("deliveriesEgress", INTEGER, "Deliveries sent, except to interior routers.", is_graph=True),
        Attribute("deliveriesTransit", INTEGER, "Deliveries sent on to other routers.", is_graph=True),
        Attribute(
            "deliveriesIngressRouteContainer", INTEGER, "Deliveries received from route containers.", is_graph=True
        ),
        Attribute("deliveriesEgressRouteContainer", INTEGER, "Deliveries sent to route containers.", is_graph=True),
        Attribute(
            "deliveriesRedirectedToFallback", INTEGER, "Deliveries sent to a fallback destination.", is_graph=True
        ),
        Attribute("uptimeSeconds", INTEGER, "Time since the router started.", unit="s", is_graph=True),
        Attribute(
            "memoryUsage",
            INTEGER,
            "Resident memory of the processes that have its connections.",
            unit="octets",
            is_graph=True,
        ),
    ),
)
"""`forgetOfLostProducers`, `managementAccess`, `managementFileDir` and `topicGraceSeconds` are Mobula's own."""

ID_MAX = 127
_LETTERS = string.ascii_letters + string.digits
_ID_ALLOWED = ("a word such as Router.A, of at most 127 characters, without blanks and `/`",)


def random_suffix() -> str:
    """Return what tells the routers of one network apart that have no ids of their own (12)."""
    return "".join(secrets.choice(_LETTERS) for _ in range(15))


class RouterKind(Configurable[RouterSettings]):
    """The router itself."""

    type = ROUTER
    example = """router {
    id: Router.A
    defaultDistribution: balanced
    metadata: Rack 4
}
"""
    notes = """There is one such section. Without it the router is by itself and makes up its name at each start.

A message that waits for credit of its consumer is sent, though its producer's link has ended meanwhile. With
`forgetOfLostProducers: yes` an unsettled one is forgotten, so that a producer that sends it again makes no duplicate.

`managementAccess` says what requests to management may do. `policy`, the default, is what the policy of vhosts allows;
without `enableVhostPolicy: yes` in the section `policy`, requests may only read. `change` allows everybody to change
everything where there is no such policy. `read` allows nobody to change anything, whatever policy says.

`managementFileDir` is the folder that has every file which requests may name: passwords as `file:PATH`, files of an
`sslProfile`, of a log, and of records. Links and `..` are followed before that is looked at. `/` is all files.
[security.md](security.md#what-management-can-make-the-router-do) says what requests can do."""
    always_exists = True

    def read(self, entity: Entity, reading: Reading) -> RouterSettings:
        """Return what the section says; addresses, and whether there is a policy, are for other sections to say."""
        values = entity.values
        mode = RouterMode(values["mode"])
        _check_id(entity)
        _check_times(entity)
        return RouterSettings(
            id=values["id"] if values["id"] is not None else f"{mode.value.capitalize()}_{reading.new_suffix()}",
            mode=mode,
            default_distribution=Distribution(values["defaultDistribution"]),
            metadata=values["metadata"],
            hello_interval_s=values["helloIntervalSeconds"],
            hello_max_age_s=values["helloMaxAgeSeconds"],
            ra_interval_s=values["raIntervalSeconds"],
            ra_interval_flux_s=values["raIntervalFluxSeconds"],
            remote_ls_max_age_s=values["remoteLsMaxAgeSeconds"],
            sasl_config_dir=values["saslConfigDir"],
            sasl_config_name=values["saslConfigName"],
            allows_resumable_link_routes=values["allowResumableLinkRoute"],
            forgets_of_lost_producers=values["forgetOfLostProducers"],
            management_access=ManagementAccess(values["managementAccess"]),
            topic_grace_s=values["topicGraceSeconds"],
            management_file_dir=_management_file_dir(entity),
        )

    def identity(self, values: Mapping[str, Any], name: str | None) -> str:
        """Return the id of the router."""
        return f"router/{values['id']}"


def _management_file_dir(entity: Entity) -> str | None:
    folder: str | None = entity.values["managementFileDir"]
    if folder is None:
        return None
    if not folder:
        entity.refuse("managementFileDir", "has no name", "the name of a folder")
    elif not os.path.isdir(folder):
        entity.warn("managementFileDir", "the folder does not exist: management requests cannot name files yet")
    return os.path.abspath(folder)


def _check_id(entity: Entity) -> None:
    router_id = entity.values["id"]
    if router_id is None:
        return
    wrong = next((one for one in router_id if one.isspace() or not one.isprintable() or one == "/"), None)
    if not router_id:
        entity.refuse("id", "is empty", *_ID_ALLOWED)
    elif len(router_id) > ID_MAX:
        entity.refuse("id", f"Router ID exceeds the maximum allowed length ({ID_MAX} characters)", *_ID_ALLOWED)
    elif wrong is not None:
        reason = f"Router id attribute containing character {wrong!r} in id {router_id!r} is disallowed."
        entity.refuse("id", f"AttributeError: {reason}", *_ID_ALLOWED)


def _check_times(entity: Entity) -> None:
    values = entity.values
    if values["helloMaxAgeSeconds"] <= values["helloIntervalSeconds"]:
        reason = f"every neighbour would be lost between two greetings, {values['helloIntervalSeconds']} s apart"
        at = "helloMaxAgeSeconds" if "helloMaxAgeSeconds" in entity.given else "helloIntervalSeconds"
        entity.refuse(at, reason, "helloMaxAgeSeconds above helloIntervalSeconds")
