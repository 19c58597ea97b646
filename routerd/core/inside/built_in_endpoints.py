"""The endpoints that `--test-hooks` adds for tests of clients (14).

`sink` accepts every message and `discard` rejects it. `source` sends without end, and `source_ps` does so settled.
Links in the other direction are refused. `deny` refuses all links. `echo` answers a link by a mirror link: it attaches
to the client as the client attached to it. It completes the client's link when the client has completed the mirror, and
detaches each link when the other one is detached.
"""

from collections.abc import Callable
from typing import Any

from routerd.core.inside.inner_endpoints import InnerProducer, LoopBack
from routerd.core.inside.link_keeper import LinkKeeper
from routerd.core.router import Router
from routerd.wire import AmqpValue, Attach, Delivery, Error, Header, Link, Message, UInt

PREFIX = "org.apache.qpid.dispatch.router/test/"

_SEQUENCE_MASK = 0xFFFFFFFF


def add_built_in_endpoints(router: Router, now: float, *, is_host: bool = True) -> None:
    """Add all of them. Among several workers, one is the host of `sink`, `discard` and the sources."""
    for name, keeper in (
        ("sink", _OneWay("Sink function only accepts incoming links", refuses_consumers=True)),
        ("discard", _OneWay("Discard function only accepts incoming links", refuses_consumers=True)),
        ("source", _OneWay("Source function only accepts outgoing links", refuses_producers=True)),
        ("source_ps", _OneWay("Source function only accepts outgoing links", refuses_producers=True)),
        ("deny", _OneWay("Connectivity to the deny node is forbidden", refuses_consumers=True, refuses_producers=True)),
        ("echo", Echo(router)),
    ):
        router.keeping.keepers[f"M0{PREFIX}{name}"] = keeper
    if is_host:
        inside = LoopBack(router, now)
        inside.consume(f"{PREFIX}sink", lambda message, delivery: delivery.accept())
        inside.consume(f"{PREFIX}discard", _reject)
        inside.produce(f"{PREFIX}source", _endless(settled=False))
        inside.produce(f"{PREFIX}source_ps", _endless(settled=True))


def _reject(message: bytes, delivery: Delivery) -> None:
    delivery.reject()


def _endless(*, settled: bool) -> Callable[[InnerProducer], None]:
    sent = 0

    def use(producer: InnerProducer) -> None:
        nonlocal sent
        for _ in range(producer.credit):
            producer.send(_numbered(sent), settled=settled)
            sent = (sent + 1) & _SEQUENCE_MASK

    return use


def _numbered(number: int) -> bytes:
    return Message(
        header=Header(),
        application_properties={"sequence": UInt(number)},
        body=AmqpValue(f"Sequence: {number}"),
    ).encode()


class _OneWay(LinkKeeper):
    """Refuses links of one direction, or of both."""

    def __init__(self, reason: str, *, refuses_consumers: bool = False, refuses_producers: bool = False) -> None:
        self._refused = {True: refuses_consumers, False: refuses_producers}
        self._error = Error(condition="qd:forbidden", description=reason)

    def refusal(self, link: Link) -> Error | None:
        """Return the error for a link of a refused direction; the router is the sender on a consumer's link."""
        return self._error if self._refused[link.is_sender] else None


class Echo(LinkKeeper):
    """Answers each link by a mirror link."""

    def __init__(self, router: Router) -> None:
        self._router = router
        self._mirrors: dict[Link, Link | None] = {}

    def keeps(self, link: Link) -> bool:
        """Keep all links."""
        return True

    def attached(self, link: Link, performative: Attach) -> None:
        """Mirror a new link, or complete the link whose mirror is complete."""
        if link not in self._mirrors:
            self._mirror(link, performative)
            return
        mirrored = self._mirrors[link]
        if mirrored is None:
            link.detach()
        elif not mirrored.is_attached:
            mirrored.attach(source=performative.source, target=performative.target)

    def detached(self, link: Link, error: Error | None) -> None:
        """Detach the other link of the pair."""
        other = self._mirrors.pop(link)
        if other is not None:
            self._mirrors[other] = None
            if other.is_attached:
                other.detach(error=error)

    def _mirror(self, link: Link, performative: Attach) -> None:
        session = link.session
        name = f"echo of {link.name}"
        mirror: Any = session.receiver(name) if link.is_sender else session.sender(name)
        self._mirrors[link] = mirror
        self._mirrors[mirror] = link
        self._router.keeping.keep(mirror, self)
        mirror.attach(source=performative.source, target=performative.target)
