"""What the router makes of what an authentication service says of a peer."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from routerd.config import AuthServiceConfig
from routerd.io.auth.auth_service import GRANTED_MAX, ServiceExchange, read_grants
from routerd.wire import Array, Connection, ConnectionConfig, Handler, Open, Symbol
from routerd.wire.sasl import AnonymousServer, Failure, SaslCode, SaslServer, Success
from tests.waiting import eventually_beside

SERVICE = AuthServiceConfig(name="identity", host="127.0.0.1", port=1)


class Asked:
    """The peer whose exchange it is: it chooses ANONYMOUS, and remembers what it is told."""

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.grants: Any = None
        self.refusal: str | None = None

    def offer(self, mechanisms: list[Any]) -> None:
        mechanisms[0].start(None).step(None)

    def answer(self, step: Any) -> None:
        self.answers.append(step)

    def give_up(self, reason: str) -> None:
        self.answers.append(reason)

    def grant(self, grants: Any) -> str | None:
        self.grants = grants
        return self.refusal


class Service(Handler):
    """The service's end; its open has these properties, and offers these capabilities."""

    def __init__(self, properties: dict[Any, Any] | None, capabilities: tuple[str, ...], *, asks: bool = True) -> None:
        self._said = {"properties": properties, "offered_capabilities": capabilities}
        sasl = SaslServer([AnonymousServer()]) if asks else None
        self.connection = Connection(ConnectionConfig(container_id="service"), self, is_client=False, sasl=sasl)
        self.connection.start(0.0)

    def on_opened(self, connection: Connection, performative: Open) -> None:
        connection.open(replace(connection.config, **self._said))


class Socket:
    """Carries octets to the service and back, in memory."""

    def __init__(self, exchange: ServiceExchange, service: Service) -> None:
        self._exchange, self._service = exchange, service
        self.is_closed = False

    def write(self, octets: bytes) -> None:
        self._service.connection.receive_data(bytes(octets), 0.0)
        asyncio.get_running_loop().call_soon(self._answer)

    def _answer(self) -> None:
        octets = bytes(self._service.connection.data_to_send(0.0))
        if octets and not self.is_closed:
            self._exchange.data_received(octets)

    def close(self) -> None:
        self.is_closed = True

    abort = close


def told(
    properties: dict[str, Any] | None,
    *,
    capabilities: tuple[str, ...] = (),
    refusal: str | None = None,
    asks: bool = True,
) -> Asked:
    """What a peer is told whose service opens like that."""

    async def exchange() -> Asked:
        asked = Asked()
        asked.refusal = refusal
        one = ServiceExchange(SERVICE, "router", asked)
        symbols = None if properties is None else {Symbol(key): value for key, value in properties.items()}
        one.connection_made(Socket(one, Service(symbols, capabilities, asks=asks)))  # type: ignore[arg-type]
        await eventually_beside(lambda: asked.answers, "there is an answer")
        return asked

    return asyncio.run(exchange())


@pytest.fixture
def warnings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is logged as a warning."""
    lines: list[str] = []
    monkeypatch.setattr("routerd.io.auth.auth_service._log.warning", lambda text, *more: lines.append(text % more))
    return lines


ALICE = {"authenticated-identity": {"sub": "alice"}}
ORDERS = Array("string", ["send", "recv"])


@pytest.mark.parametrize("capabilities", [(), ("ADDRESS-AUTHZ",), ("OTHER",)])
def test_a_grant_counts_whatever_the_service_offers(capabilities: tuple[str, ...]) -> None:
    asked = told({**ALICE, "address-authz": {"orders": ORDERS}}, capabilities=capabilities)
    assert asked.answers == [Success("alice")]
    assert asked.grants == {"orders": ("send", "recv")}
    assert told(ALICE, capabilities=capabilities).grants is None


@pytest.mark.parametrize(
    ("found", "grants", "fault"),
    [
        (None, {}, "address-authz is None, and no map"),
        ("orders", {}, "address-authz is 'orders', and no map"),
        ([], {}, "address-authz is a list, and no map"),
        ({}, {}, None),
        ({"a": []}, {"a": ()}, None),
        ({"a": ["send"], Symbol("b"): ("recv",)}, {"a": ("send",), "b": ("recv",)}, None),
        ({"a": Array("symbol", [Symbol("sender"), Symbol("recv-all")])}, {"a": ("send", "recv")}, None),
        ({"a": ["sen", "", "SEND", "recv"]}, {"a": ("recv",)}, "'sen' of 'a' is neither send nor recv"),
        ({"a": [5, None]}, {"a": ()}, "5 of 'a' is neither send nor recv"),
        ({"a": "send"}, {}, "'send' of 'a' is not a list of rights"),
        ({"a": {"send": True}, "b": ["send"]}, {"b": ("send",)}, "a map of 'a' is not a list of rights"),
        ({5: ["send"], "b": ["send"]}, {"b": ("send",)}, "5 is not an address"),
    ],
)
def test_what_of_a_grant_is_not_understood_grants_nothing(
    found: Any, grants: dict[str, tuple[str, ...]], fault: str | None, warnings: list[str]
) -> None:
    asked = told({**ALICE, "address-authz": found})
    assert (asked.answers, asked.grants) == ([Success("alice")], grants)
    assert [line.partition(" places: ")[2] for line in warnings] == ([] if fault is None else [fault])


def test_only_so_many_addresses_are_granted() -> None:
    grants, faults = read_grants({str(number): ["send"] for number in range(GRANTED_MAX + 2)})
    assert (len(grants), faults) == (
        GRANTED_MAX,
        [f"'{number}' is beyond {GRANTED_MAX} addresses" for number in (GRANTED_MAX, GRANTED_MAX + 1)],
    )


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (None, "is None"),
        ({}, "is None"),
        ({"authenticated-identity": None}, "is None"),
        ({"authenticated-identity": "alice"}, "is 'alice'"),
        ({"authenticated-identity": {}}, "is a map"),
        ({"authenticated-identity": {"sub": 5}}, "is a map"),
        ({"authenticated-identity": {"sub": ""}}, "is a map"),
    ],
)
def test_a_peer_whom_the_service_does_not_name_has_no_name(
    found: dict[str, Any] | None, shown: str, warnings: list[str]
) -> None:
    asked = told(found)
    assert (asked.answers, asked.grants) == ([Success("")], None)
    [line] = warnings
    assert line == (
        f"The authentication service identity names no user: authenticated-identity {shown} instead of a map with sub."
        " The peer has no name"
    )


def test_grants_that_cannot_be_kept_let_nobody_in() -> None:
    [failure] = told({**ALICE, "address-authz": {}}, refusal="that is not possible").answers
    assert (type(failure), failure.code, failure.reason) == (Failure, SaslCode.SYS, "that is not possible")


def test_a_service_that_leaves_out_who_the_peer_is_lets_nobody_in() -> None:
    [reason] = told(ALICE, asks=False).answers
    assert isinstance(reason, str)
    assert reason.startswith("the authentication service identity is not there: ")


