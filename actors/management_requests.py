"""Requests of a connection actor's clients, to a management actor that may not be there yet, or die under them.

A request is held until the actor answers. The credit of `routerd.io.ManagementEndpoint` bounds how many are held. After
`HOLD_S` the client is answered with 503. So is a client whose change was in work when the actor died, at once: nobody
knows whether the change was made.
"""

import asyncio

from actors.errors import CallFailed, PeerAbsent
from actors.peers import Management
from routerd.io import ManagementAway, is_repeatable, module_log

HOLD_S = 30.0
"""How long a request waits for an actor that is not there."""
ASK_AGAIN_S = 0.25

_log = module_log("AGENT")


class ManagementRequests:
    """Has requests answered. To be used in one event loop."""

    def __init__(self, management: Management) -> None:
        self._management = management

    async def answer(self, request: bytes) -> bytes | None:
        """Return the answer to a request, both as messages; None for one that asks for none. Raises ManagementAway."""
        clock = asyncio.get_running_loop()
        until = clock.time() + HOLD_S
        while True:
            try:
                return await self._management.answer(request)
            except CallFailed as failure:
                was_made = not isinstance(failure, PeerAbsent)
                if was_made and not is_repeatable(request):
                    raise ManagementAway(
                        f"{failure}; whether the change was made is not known: read it before you ask again"
                    ) from failure
                if clock.time() >= until:
                    raise ManagementAway(
                        f"{failure}; nothing was done within {HOLD_S:g} s: ask again in some seconds"
                    ) from failure
                _log.debug("A request waits for the management actor: %s", failure)
            await asyncio.sleep(ASK_AGAIN_S)
