"""Answers to attaches, and the numbers and names of links."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from routerd.wire import Error, FrameTooLarge

if TYPE_CHECKING:
    from routerd.core.observer import Observer
    from routerd.wire.link import Link
    from routerd.wire.receiver import Receiver


class Attaching:
    """Completes or refuses links that peers attach."""

    def __init__(
        self, observer: "Observer", token: Callable[[], str], worker: int, workers: int, cuts_for_large: bool = False
    ) -> None:
        self._observer = observer
        self.token = token
        # The numbers of links of different workers differ by this, so that no two are the same.
        self._workers = workers
        self._last_link = worker + 1 - workers
        # A message that is too large cuts connections as in qdrouterd.
        self._cuts_for_large = cuts_for_large
        # The router is about to end: it takes no links any more.
        self.is_draining = False

    def complete(self, link: "Link", source: Any, target: Any, is_second: bool = False) -> bool:
        """Answer an attach; return whether that was possible. A producer gets mode second if `is_second`."""
        mode = link.rcv_settle_mode if link.is_sender else int(is_second)
        size = 0 if link.is_sender else link.session.connection.context.max_message_size
        try:
            link.attach(source=source, target=target, rcv_settle_mode=mode, max_message_size=size)
        except FrameTooLarge as error:
            # A peer's attach may fit into our frames while the answer does not fit into the peer's.
            self.refuse(link, Error(condition="amqp:frame-size-too-small", description=str(error)))
            return False
        if size:
            receiver: Any = link
            self.limit(receiver)
        return True

    def limit(self, link: "Receiver") -> None:
        """Note a link whose messages policy limits."""
        link.is_size_for_close = self._cuts_for_large

    def unlimit(self, link: "Link") -> None:
        """Send on what an interior router does not take, if that is to cut the connection to it."""
        if self._cuts_for_large:
            link.remote_max_message_size = 0

    def refuse(self, link: "Link", error: Error) -> None:
        """Refuse a link."""
        link.refuse(error)
        self._observer.link_refused(link, error)

    def refuse_without_reason(self, link: "Link", error: Error) -> None:
        """Refuse a link as a qdrouterd does that tells its peer no reason; the observer gets it."""
        link.refuse()
        self._observer.link_refused(link, error)

    def take_number(self) -> int:
        """Return the number for a new link."""
        self._last_link += self._workers
        return self._last_link

    def link_name(self) -> str:
        """Return the name for a link that this router attaches at another router."""
        return f"qdlink.{self.token()}"
