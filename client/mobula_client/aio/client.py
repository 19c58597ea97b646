"""A client: one connection to one of several routers, replaced whenever it is lost."""

import asyncio
import logging
import ssl
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self, TypeVar

from mobula_client.aio.face import LinkFace
from mobula_client.aio.publisher import Publisher
from mobula_client.aio.receiver import Receiver
from mobula_client.aio.requester import Requester
from mobula_client.aio.sender import Sender
from mobula_client.aio.subscriber import Subscriber
from mobula_client.aio.transport import Transport
from mobula_client.authentication import sasl_for
from mobula_client.engine import ConnectionConfig, Source, Target
from mobula_client.errors import (
    AuthenticationFailed,
    ClientClosed,
    ConnectionFailed,
    NoRouterReached,
    UsageError,
)
from mobula_client.exactly_once import (
    Guarantee,
    LastingLink,
    MemoryStore,
    PublishingLink,
    Store,
    SubscribingLink,
)
from mobula_client.links import Endpoint, ReceivingLink, RecoverableLink, SendingLink
from mobula_client.routers import Router
from mobula_client.settings import Settings
from mobula_client.tls import Tls, context_of

_LOG = logging.getLogger(__name__)
_NONCE_OCTETS = 18
_NAME_OCTETS = 6
_CLOSE_WITHIN_S = 5.0
MESSAGE_OCTETS_MAX = 64 * 1024 * 1024
"""The largest message that a receiver takes, unless it says another size."""
TIMEOUT_S = 24 * 3600
"""How long a subscription or a publisher is remembered by routers without a link, unless it says so."""

F = TypeVar("F", bound=LinkFace[Any])


class Client:
    """Opens links, and keeps them over lost connections. `connect` makes one."""

    def __init__(self, settings: Settings, run: Callable[[Callable[[], None]], None] | None = None) -> None:
        """`run` has a function called in the loop of this client, from other threads."""
        self.settings = settings
        self._run = run
        self._loop = asyncio.get_running_loop()
        self._links: dict[str, RecoverableLink] = {}
        self._transport: Transport | None = None
        self._router = settings.routers[0]
        self._keeper: asyncio.Task[None] | None = None
        self._tls: ssl.SSLContext | None = None
        self._end: ConnectionFailed | ClientClosed | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    # --- the connection

    @property
    def router(self) -> str | None:
        """The router that we are connected to, or None."""
        return None if self._transport is None else str(self._router)

    @property
    def container_id(self) -> str:
        """Our name to the routers."""
        return self.settings.container_id

    async def start(self) -> None:
        """Connect for the first time. Raises NoRouterReached or AuthenticationFailed."""
        await self._connect(self.settings.connect_within_s, is_first=True)
        self._keeper = self._loop.create_task(self._keep_connected())

    async def close(self) -> None:
        """Close the connection in order. Links that are open end with ClientClosed."""
        if self._end is None:
            self._end = ClientClosed("the client was closed")
        if self._keeper is not None:
            self._keeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeper
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.close()
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(transport.gone), _CLOSE_WITHIN_S)
            await transport.abort()
        self._finish_links(self._end)

    async def _keep_connected(self) -> None:
        while self._transport is not None:
            reason = await asyncio.shield(self._transport.over)
            self._transport = None
            _LOG.info("%s: connection to %s lost: %s", self.container_id, self._router, reason)
            # A herd of clients does not come back all at once.
            await asyncio.sleep(self._wait_s(1))
            try:
                await self._connect(self.settings.reconnect_within_s, is_first=False)
            except ConnectionFailed as error:
                self._end = error
                self._finish_links(error)

    async def _connect(self, within_s: float | None, *, is_first: bool) -> None:
        failures: dict[str, str] = {}
        try:
            async with asyncio.timeout(within_s):
                await self._try_all(failures, is_first)
        except TimeoutError:
            raise NoRouterReached(within_s or 0.0, list(failures.items())) from None

    async def _try_all(self, failures: dict[str, str], is_first: bool) -> None:
        routers = self.settings.routers
        first = routers.index(self._router)
        rounds = 0
        while True:
            for router in (*routers[first:], *routers[:first]):
                try:
                    self._transport = await self._dial(router)
                    self._router = router
                    _LOG.info("%s: connected to %s", self.container_id, router)
                    return
                except AuthenticationFailed as error:
                    # A router that runs and refuses us is no passing trouble, unless it let us in before.
                    if is_first:
                        raise
                    failures[str(router)] = str(error)
                except (OSError, ConnectionFailed) as error:
                    failures[str(router)] = str(error) or type(error).__name__
                _LOG.info("%s: no connection to %s: %s", self.container_id, router, failures[str(router)])
            rounds += 1
            await asyncio.sleep(self._wait_s(rounds))

    async def _dial(self, router: Router) -> Transport:
        settings = self.settings
        config = ConnectionConfig(
            container_id=settings.container_id,
            hostname=settings.hostname or router.host,
            max_frame_size=settings.max_frame_size,
            idle_timeout_s=settings.idle_timeout_s,
            properties=settings.properties,
        )
        has_certificate = isinstance(settings.tls, Tls) and settings.tls.certificate_file is not None
        sasl = sasl_for(router, settings.mechanisms, self._nonce, has_certificate)
        transport = Transport(self._loop)
        transport.endpoint = Endpoint(str(router), config, sasl, self._links, transport)
        if router.is_tls and self._tls is None:
            self._tls = context_of(settings.tls)
        try:
            async with asyncio.timeout(settings.attempt_within_s):
                await self._loop.create_connection(
                    lambda: transport,
                    router.host,
                    router.port,
                    ssl=self._tls if router.is_tls else None,
                    server_hostname=router.host if router.is_tls else None,
                )
                await transport.ready
        except BaseException:
            await transport.abort()
            raise
        return transport

    # --- links

    async def open_sender(
        self, address: str | None = None, *, name: str | None = None, resends: bool = True, settled: bool = False
    ) -> Sender:
        """Attach a sender to an address; without one, each message has its own.

        With `resends`, what has no outcome is sent again after a lost connection: at least once. Without, its outcome
        is unknown then: at most once. `settled` allows settled messages only.
        """
        link = SendingLink(
            name or self._new_name("sender"),
            self._wait_s,
            target=Target(address=address),
            snd_settle_mode=1 if settled else 2,
            resends=resends,
        )
        return await self._open(Sender(link), "sender")

    async def open_receiver(
        self,
        address: str | None,
        *,
        name: str | None = None,
        window: int = 100,
        accepts_at_once: bool = False,
        is_dynamic: bool = False,
        max_message_size: int = MESSAGE_OCTETS_MAX,
        filters: dict[str, object] | None = None,
    ) -> Receiver:
        """Attach a receiver to an address; with `is_dynamic`, the router names one.

        `window` is how many messages may be under way or undecided; 0 leaves credit to `Receiver.grant`. Messages are
        accepted by the application, or with `accepts_at_once` as soon as it has them.
        """
        source = Source(address=address, dynamic=is_dynamic, filter=filters)
        return await self._open(
            Receiver(self._receiving(name, source, window, accepts_at_once, max_message_size)), "receiver"
        )

    async def open_requester(self, address: str) -> Requester:
        """Attach what requests to an address need: a sender, and a receiver for replies."""
        replies = self._receiving(None, Source(dynamic=True), 100, True, MESSAGE_OCTETS_MAX)
        requester = Requester(await self.open_sender(address, resends=False), replies)
        self._add(replies, "receiver")
        await requester.wait_ready()
        return requester

    async def open_publisher(
        self,
        address: str,
        *,
        store: Store | None = None,
        name: str | None = None,
        guarantee: Guarantee = Guarantee.EXACTLY_ONCE,
        window: int = 500,
        timeout_s: int = TIMEOUT_S,
    ) -> Publisher:
        """Attach a publisher. Its name is the address unless another one is given.

        `window` is how many messages may be sent and undecided. Routers remember the publisher for `timeout_s` seconds
        without a link.
        """
        link = PublishingLink(
            name or address,
            self._wait_s,
            store=self._store(store),
            address=address,
            guarantee=guarantee,
            window=window,
            timeout_s=timeout_s,
        )
        return await self._open(Publisher(link), "sender")

    async def open_subscriber(
        self,
        address: str,
        *,
        store: Store | None = None,
        name: str | None = None,
        guarantee: Guarantee = Guarantee.EXACTLY_ONCE,
        window: int = 100,
        timeout_s: int = TIMEOUT_S,
        max_message_size: int = MESSAGE_OCTETS_MAX,
    ) -> Subscriber:
        """Attach a subscriber. It gets what is published after this returns, also while it has no link.

        Its name is the address unless another one is given. Routers remember it for `timeout_s` seconds without a link.
        """
        link: LastingLink
        if guarantee is Guarantee.EXACTLY_ONCE:
            store = self._store(store)
            link = SubscribingLink(
                name or address,
                self._wait_s,
                store=store,
                address=address,
                timeout_s=timeout_s,
                window=window,
                max_message_size=max_message_size,
            )
        else:
            link = LastingLink(
                name or address,
                self._wait_s,
                address=address,
                timeout_s=timeout_s,
                window=window,
                max_message_size=max_message_size,
            )
        return await self._open(Subscriber(link, store), "receiver")

    # --- inside

    def _receiving(
        self, name: str | None, source: Source, window: int, accepts_at_once: bool, max_message_size: int
    ) -> ReceivingLink:
        return ReceivingLink(
            name or self._new_name("receiver"),
            self._wait_s,
            source=source,
            window=window,
            accepts_at_once=accepts_at_once,
            max_message_size=max_message_size,
        )

    def _store(self, store: Store | None) -> Store:
        if store is None:
            return MemoryStore(token=self.settings.token)
        if store.is_durable:
            if not self.settings.is_container_given:
                raise UsageError(
                    "a durable store needs the same container-id after a restart: connect(..., container_id='till-3')"
                )
            store.bind(self.container_id)
        return store

    async def _open(self, face: F, role: str) -> F:
        self._add(face.link, role)
        try:
            await face.wait_ready()
        except asyncio.CancelledError:
            face.link.close()
            raise
        return face

    def _add(self, link: RecoverableLink, role: str) -> None:
        if self._end is not None:
            raise self._end
        key = f"{role} {link.name}"
        known = self._links.get(key)
        if known is not None and known.end is None:
            raise UsageError(f"this client has a {role} with the name {link.name!r}; give another name")
        if self._run is not None:
            link.run = self._run
        self._links[key] = link
        for gone in [one for one, each in self._links.items() if each.end is not None]:
            del self._links[gone]
        if self._transport is not None:
            self._transport.endpoint.add(link)
            self._transport.flush_soon()

    def _finish_links(self, error: ConnectionFailed | ClientClosed) -> None:
        links, self._links = list(self._links.values()), {}
        for link in links:
            link.finish(error)

    def _new_name(self, role: str) -> str:
        return f"{role}-{self.settings.token(_NAME_OCTETS).hex()}"

    def _nonce(self) -> str:
        return b64encode(self.settings.token(_NONCE_OCTETS)).decode()

    def _wait_s(self, failures: int) -> float:
        return self.settings.backoff.wait_s(failures, self.settings.random)
