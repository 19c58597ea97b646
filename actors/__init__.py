"""A router on Ray: the actors that host its parts, and what starts, joins, watches and ends them.

`connection`, `address_table` and `routing_engine` are plain classes; they reach each other through the protocols of
`peers`, which other objects of theirs satisfy as well as `remote`, that calls through Ray. `start` makes actors of
them. `cluster` starts a Ray (`own_ray`) or joins one; `watch` ends what stands still, so that Ray starts it anew;
`outage` ends a router that waits for Ray in vain.
"""

from actors.errors import ActorsError, JoinFailed, RouterExists, RouterLost

__all__ = ["ActorsError", "JoinFailed", "RouterExists", "RouterLost"]
