"""The options of calls that both faces have."""

import ssl
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from mobula_client.backoff import Backoff
from mobula_client.exactly_once import Guarantee, Store
from mobula_client.tls import Tls


class ConnectOptions(TypedDict, total=False):
    """Options of `connect`; `Settings` says what each of them means."""

    container_id: str
    tls: Tls | ssl.SSLContext | None
    mechanisms: Sequence[str] | None
    hostname: str | None
    idle_timeout_s: float
    connect_within_s: float
    attempt_within_s: float
    reconnect_within_s: float | None
    max_frame_size: int
    backoff: Backoff
    properties: Mapping[Any, Any] | None
    random: Callable[[], float]
    token: Callable[[int], bytes]


class SenderOptions(TypedDict, total=False):
    """Options of `open_sender`."""

    name: str | None
    resends: bool
    settled: bool


class ReceiverOptions(TypedDict, total=False):
    """Options of `open_receiver`."""

    name: str | None
    window: int
    accepts_at_once: bool
    is_dynamic: bool
    max_message_size: int
    filters: dict[str, object] | None


class PublisherOptions(TypedDict, total=False):
    """Options of `open_publisher`."""

    store: Store | None
    name: str | None
    guarantee: Guarantee
    window: int
    timeout_s: int


class SubscriberOptions(TypedDict, total=False):
    """Options of `open_subscriber`."""

    store: Store | None
    name: str | None
    guarantee: Guarantee
    window: int
    timeout_s: int
    max_message_size: int
