"""The settings of one router for its mesh, and the intervals of the protocol."""

from dataclasses import dataclass

ANNOUNCE_WAIT_S = 0.02
"""A change that is no loss waits so long for others: a router that starts finds its neighbours one after the other."""
ANNOUNCE_GAP_S = 0.25
ANNOUNCE_BURST = 4
"""The mean time between two announcements of a router's links, and how many may come at once.

Each makes every router of the mesh ask for the links, so a trunk that comes and goes must not make one each time. A
failure rarely takes more than a few trunks, and none of these has to wait.
"""
MAU_WAIT_S = 0.02
MAU_GAP_S = 0.1
MAU_BURST = 4
"""How long a change of addresses waits for others, the mean time between two announcements of them, and how many may
come that close: a consumer that comes when another has just gone would be missed for all of the gap.
"""
MAR_WAIT_S = 0.02
"""How long what was announced may be under way before it is asked for."""
HELLO_ANSWER_GAP_S = 0.1
"""The time between two greetings on a trunk that are sent since the neighbour has not heard of us."""
ASK_AGAIN_S = 0.25
ASK_TIMES = 6
"""After how long a question without an answer is repeated, twice as long each time, and how often it is asked in all;
then the next announcement makes another. While paths change, questions and answers are lost on ways that are no more.
"""
ANSWERED_S = 1.0
"""After how long a question is repeated that had an answer, but not the one that was announced."""
MISSED_WAIT_S = 0.1
MISSED_GAP_S = 1.0
"""A router that is asked for addresses announces itself again so soon, since others may have missed them, too; and the
time between two such announcements.
"""
SPREAD_STEPS = 64
"""Into how many parts the time is cut in which the routers of a mesh announce themselves after a change."""
DOUBT_S = 3.0
"""For how long a router must tell to have come less far than it is known before it is believed."""
TICK_S = 1.0
"""The time between two looks at what grows old."""
ASK_AT_AGE = 0.75
"""A router that has been silent for this part of the age at which its links are void is asked for them.

Two announcements in a row may have been lost on their way, and then it would be cut off until the next one.
"""
STALE_TICKS = 3
"""A router that nothing is known of is forgotten at so many looks."""
FLOOD_MEMORY_S = 0.5
FLOODS_REMEMBERED = 8192
"""How long, and how many, messages to all routers are remembered; routers repeat them after seconds at the earliest."""
PLACES_REMEMBERED = 8192
"""How many addresses of control messages have not to be taken apart again."""
PLACE_LENGTH_MAX = 2048
"""Characters of such an address: the id of a router may have half of them."""
COMPUTE_GAP_S = 0.02
COMPUTE_GAP_A_ROUTER_S = 0.0001
"""The time between two computations of paths in a mesh that is not small: so long, or for each router so long."""
ORIGINS_GAP_S = 0.05
ORIGINS_REST_S = 1e-5
ORIGINS_REST_MAX_S = 5.0
"""The time between two computations of the paths of other routers, and how much longer it is after many of their trees
had to be computed, by the square of how many. A single change hardly counts, and is followed at once; a large mesh that
starts changes all the time, and would have all of them computed again and again.
"""
SMALL_MESH = 64
"""Up to so many routers, paths are computed at once."""
TREES_AT_ONCE = 32
RESUME_SKIP = 1000
"""How far the sequences of a resumed router go ahead: its neighbours may know more than its checkpoint."""
RESUME_WAIT_S = 0.25
"""A resumed router announces itself after so long, when its trunks have been opened again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeshConfig:
    """One router's part in the routing protocol."""

    router_id: str
    """Unique in the mesh, and without a slash: it is part of addresses."""
    hello_interval_s: float = 1.0
    hello_max_age_s: float = 3.0
    """A neighbour that was not heard for so long is lost."""
    ra_interval_s: float = 30.0
    ra_interval_flux_s: float = 4.0
    """Between two announcements, while the topology has changed within twice this time."""
    remote_ls_max_age_s: float = 60.0
    """The links of a router that announced nothing for so long are void."""
    routers_max: int = 2048
    """Routers that may be known, besides this one."""
    peers_max: int = 1024
    """Neighbours that one router may have."""
    addresses_per_router_max: int = 1_000_000
    key_length_max: int = 4096
