"""How many messages a peer may send over a link: a window that is renewed when half of it is used."""

import logging

from .links import ReceivingLink

_log = logging.getLogger(__name__)


class Credit:
    """The window of one link, and how often it was used up before it was renewed."""

    def __init__(self, window: int, what: str) -> None:
        self._window = window
        self._what = what
        self.stalls = 0

    def begin(self, link: ReceivingLink) -> None:
        """Grant the whole window."""
        link.grant(self._window)

    def one_came(self, link: ReceivingLink) -> None:
        """Take note of a message."""
        if link.credit <= 0:
            self.stalls += 1
            _log.debug("No credit is left for %s: the peer has to wait, stall %d", self._what, self.stalls)

    def renew(self, link: ReceivingLink) -> None:
        """Grant the used credit if it is half of the window or more; called when a message was dealt with."""
        left = link.credit
        if left <= (self._window + 1) // 2 and left < self._window:
            link.grant(self._window - left)
