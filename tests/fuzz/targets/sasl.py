"""The SASL layer, both roles and every mechanism: right tokens, nearly right ones, and octets that are no frames."""

from collections import deque
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import scramp
import scramp.utils

from routerd.wire.sasl import (
    SCRAM_MECHANISMS,
    AnonymousClient,
    AnonymousServer,
    AuthenticationUnavailable,
    ExternalClient,
    ExternalServer,
    GssapiClient,
    GssapiServer,
    Pending,
    PlainClient,
    PlainServer,
    SaslClient,
    SaslCode,
    SaslLimits,
    SaslRelay,
    SaslServer,
    ScramClient,
    ScramCredentials,
    ScramServer,
)
from routerd.wire.sasl.scram_credentials import ScramDecoys
from tests.fuzz import octets as o
from tests.fuzz.broken import check
from tests.fuzz.choices import Choices
from tests.fuzz.peer import Peer
from tests.fuzz.play import SMALL, Play, Step, play
from tests.unit.wire.gss_context import SEAL, MadeUpContext

USER, PASSWORD = "user", "pencil"
CLIENT_NONCE, SERVER_NONCE = "c" * 18, "s" * 18
SALT = b"0123456789abcdef"
ITERATIONS = 4096
MOST_STEPS = 20
_derive = lru_cache(maxsize=100)(scramp.utils.hashlib.pbkdf2_hmac)


def _derive_once(function: Any, password: bytes, salt: bytes, iterations: Any) -> bytes:
    return _derive(function().name, password, salt, int(iterations))


# Derived anew for each exchange, the keys would take nearly all of the time.
scramp.utils.pbkdf2_hmac_hashlib = _derive_once
LIMITS = SaslLimits(steps=4, token_size_bytes=400)
CREDENTIALS = {name: ScramCredentials.derive(name, PASSWORD, salt=SALT) for name in SCRAM_MECHANISMS}
DECOYS = ScramDecoys(b"k" * 32)
IDENTITIES = frozenset({USER, "anonymous", "certificate", "other"})


def _tokens(name: str) -> list[bytes]:
    """Return what a right client and a right server say to each other, the client first."""
    stored = scramp.ScramMechanism(name).make_auth_info(PASSWORD, ITERATIONS, SALT)
    client = scramp.ScramClient([name], USER, PASSWORD, c_nonce=CLIENT_NONCE)
    server = scramp.ScramMechanism(name).make_server(lambda _: stored, s_nonce=SERVER_NONCE)
    said = [client.get_client_first()]
    server.set_client_first(said[-1])
    said.append(server.get_server_first())
    client.set_server_first(said[-1])
    said.append(client.get_client_final())
    server.set_client_final(said[-1])
    said.append(server.get_server_final())
    return [each.encode() for each in said]


HELLO, WHO = b"a token of the initiator", b"a token of the acceptor"
NO_LAYER = SEAL + b"\x01\0\0\0"
TO_SERVER = {name: _tokens(name)[::2] for name in SCRAM_MECHANISMS} | {"GSSAPI": [HELLO, b"", NO_LAYER]}
TO_CLIENT = {name: _tokens(name)[1::2] for name in SCRAM_MECHANISMS} | {"GSSAPI": [WHO, NO_LAYER]}
PROOF_TO_SERVER = {name: said[-1:] for name, said in TO_SERVER.items()} | {"GSSAPI": [HELLO, NO_LAYER[:-3]]}
PROOF_TO_CLIENT = {name: said[-1:] for name, said in TO_CLIENT.items()} | {"GSSAPI": [WHO, SEAL]}
"""What has to have been received before anybody is believed."""
PLAIN_TOKENS = (
    *(b"\0user\0pencil", b"\0user\0wrong", b"other\0user\0pencil", b"nobody\0user\0pencil"),
    *(b"\0away\0x", b"x\0y", b"\0\0\0", b"\xff\0a\0b"),
)
SERVER_TOKENS: dict[str, tuple[bytes, ...]] = {
    **{
        name: (*TO_SERVER[name], b"n,,n=nobody,r=" + b"n" * 20, b"y,,n=user,r=x", b"") for name in SCRAM_MECHANISMS
    },
    "PLAIN": PLAIN_TOKENS,
    "EXTERNAL": (b"", b"other", b"nobody", b"a\0b", b"\xff"),
    "ANONYMOUS": (b"trace", b"", b"\xff" * 300),
    "GSSAPI": (
        *(*TO_SERVER["GSSAPI"], NO_LAYER + b"user", NO_LAYER + b"user@REALM", NO_LAYER + b"other"),
        *(NO_LAYER + b"nobody", NO_LAYER + b"\xff", SEAL + b"\x06\0\x10\0", SEAL, b"\x01\0\0\0", WHO),
    ),
}
CLIENT_TOKENS: dict[str, tuple[bytes, ...]] = {
    **{
        name: (
            *said,
            said[0].replace(b"i=4096", b"i=1000000000"),
            said[0].replace(b"i=4096", b"i=-1"),
            said[0].replace(b"i=4096", b"i=x"),
            b"e=other-error",
            b"v=" + b"A" * 28,
            b"",
        )
        for name, said in TO_CLIENT.items()
        if name in SCRAM_MECHANISMS
    },
    "PLAIN": (b"",),
    "EXTERNAL": (b"",),
    "ANONYMOUS": (b"",),
    "GSSAPI": (*TO_CLIENT["GSSAPI"], SEAL + b"\x07\0\x10\0", SEAL + b"\x06\0\x10\0", SEAL, b"\x01\0\0\0", HELLO, b""),
}
NAMES = tuple(SERVER_TOKENS)


def _check_password(name: str, password: str) -> bool:
    if name == "away":
        raise AuthenticationUnavailable("the data base is away")
    return (name, password) == (USER, PASSWORD)


def _may_act(name: str, wanted: str) -> bool:
    return wanted == "other"


Later = deque[Callable[[], Any]]
"""Makes the frames that are waited for."""


class _Late:
    """A mechanism all of whose answers come later."""

    def __init__(self, inner: Any, later: Later, answer: Callable[[Any], Any]) -> None:
        self.name = inner.name
        self._inner, self._later, self._answer = inner, later, answer

    def start(self, hostname: str | None) -> "_Late":
        return _Late(_Named(self.name, self._inner.start(hostname)), self._later, self._answer)

    def step(self, response: bytes | None) -> Pending:
        try:
            step = self._inner.step(response)
        except AuthenticationUnavailable as error:
            step = error.failure
        self._later.append(lambda: self._answer(step))
        return Pending()


class _Named:
    def __init__(self, name: str, mechanism: Any) -> None:
        self.name, self.step = name, mechanism.step


class LateServer(SaslServer):
    """A server whose offer, answers and refusals all come later."""

    def __init__(self, mechanisms: list[Any]) -> None:
        self._later: Later = deque()
        late = [_Late(one, self._later, self.answer) for one in mechanisms]
        super().__init__(lambda: self._later.append(lambda: self.offer(late)), limits=LIMITS, hold_back=self._keep)

    def go_on(self, connection: Any, now: float) -> None:
        """Say what was kept."""
        while self._later:
            connection.send_sasl(self._later.popleft()(), now)

    def _keep(self, failure: Any) -> bool:
        self._later.append(lambda: self.answer(failure))
        return True


class _LateSaying:
    """A mechanism of a client all of whose responses come later."""

    def __init__(self, inner: Any, later: Later, answer: Callable[[Any], Any]) -> None:
        self.name = inner.name
        self._inner, self._later, self._answer = inner, later, answer

    def start(self, hostname: str | None) -> "_LateSaying":
        self._steps = self._inner.start(hostname)
        self.finish = self._steps.finish
        return self

    def initial_response(self) -> Pending:
        return self._keep(self._steps.initial_response())

    def respond(self, challenge: bytes) -> Pending:
        return self._keep(self._steps.respond(challenge))

    def _keep(self, response: bytes | None) -> Pending:
        self._later.append(lambda: self._answer(response))
        return Pending()


class LateClient(SaslClient):
    """A client whose mechanisms say everything later."""

    def __init__(self, mechanisms: list[Any]) -> None:
        self._later: Later = deque()
        late = [_LateSaying(one, self._later, self.answer) for one in mechanisms]
        super().__init__(late, hostname="host", limits=LIMITS)

    def go_on(self, connection: Any, now: float) -> None:
        """Say what was kept."""
        while self._later:
            connection.send_sasl(self._later.popleft()(), now)


class LateRelay(SaslRelay):
    """A relay whose end chooses and responds later."""

    def __init__(self, mechanism: str) -> None:
        self._later: Later = deque()
        self._mechanism = mechanism
        super().__init__(self, hostname="host", limits=LIMITS)

    def go_on(self, connection: Any, now: float) -> None:
        """Say what was kept."""
        while self._later:
            frames = self._later.popleft()
            if not self.done:
                connection.send_sasl(frames(), now)

    def offered(self, mechanisms: tuple[str, ...]) -> None:
        """Choose."""
        self._later.append(lambda: self.choose(self._mechanism, b"initial"))

    def challenged(self, challenge: bytes) -> None:
        """Respond."""
        check(len(challenge) <= LIMITS.token_size_bytes, "a token beyond the limit was passed on")
        self._later.append(lambda: self.respond(challenge))

    def decided(self, code: SaslCode, additional_data: bytes | None) -> None:
        """Hear the end."""
        check(self.outcome is code and self.done, "told of an end that is none")


def server(offered: tuple[str, ...], *, proof_in_outcome: bool, is_late: bool = False) -> SaslServer:
    """Return a server that offers some mechanisms."""
    every: dict[str, Any] = {
        name: ScramServer(
            name, _credentials(name), DECOYS, nonce=lambda: SERVER_NONCE, proof_in_outcome=proof_in_outcome
        )
        for name in SCRAM_MECHANISMS
    }
    every["PLAIN"] = PlainServer(_check_password, _may_act)
    every["EXTERNAL"] = ExternalServer("certificate", _may_act)
    every["ANONYMOUS"] = AnonymousServer()
    every["GSSAPI"] = GssapiServer(lambda: MadeUpContext([WHO], [HELLO], USER), _may_act)
    mechanisms = [every[name] for name in offered]
    return LateServer(mechanisms) if is_late else SaslServer(mechanisms, limits=LIMITS)


def _credentials(mechanism: str) -> Any:
    return lambda user: CREDENTIALS[mechanism] if user == USER else None


def client(ready: tuple[str, ...], *, is_late: bool = False) -> SaslClient:
    """Return a client that is ready to use some mechanisms."""
    every: dict[str, Any] = {
        name: ScramClient(name, USER, PASSWORD, nonce=lambda: CLIENT_NONCE, iterations_max=5000)
        for name in SCRAM_MECHANISMS
    }
    every["PLAIN"] = PlainClient(USER, PASSWORD)
    every["EXTERNAL"] = ExternalClient()
    every["ANONYMOUS"] = AnonymousClient()
    every["GSSAPI"] = GssapiClient(lambda: MadeUpContext([HELLO], [WHO]))
    mechanisms = [every[name] for name in ready]
    return LateClient(mechanisms) if is_late else SaslClient(mechanisms, hostname="host", limits=LIMITS)


def run(data: bytes) -> None:
    """Compose an exchange from the octets and play it."""
    choices = Choices(data)
    options = choices.octet()
    is_client = options & 1 == 1
    some = NAMES if options & 2 else (NAMES[(options >> 4) % len(NAMES)],)
    steps = _compose(choices, is_client, NAMES[(options >> 4) % len(NAMES)])
    is_late = options & 4 == 4

    def make() -> Any:
        if not is_client:
            return server(some, proof_in_outcome=options & 8 == 0, is_late=is_late)
        if is_late and options & 8 == 0:
            return LateRelay(some[0])
        return client(some, is_late=is_late)

    played = play(SMALL, steps, b"", is_client=is_client, sasl=make)
    _check_authentication(played, b"".join([step.octets for step in steps]), is_client)


def _check_authentication(played: Play, received: bytes, is_client: bool) -> None:
    """Nobody is let in, and no server believed, without what proves them."""
    connection = played.connection
    if ("authenticated",) not in [event[:1] for event in played.application.events]:
        return
    sasl = connection.sasl
    if isinstance(sasl, SaslRelay):
        check(sasl.outcome is SaslCode.OK, "authenticated without an outcome")
    elif not is_client:
        check(sasl.identity in IDENTITIES, f"{sasl.identity!r} was let in")
        for token in PROOF_TO_SERVER.get(sasl.mechanism, ()):
            check(token in received, f"{sasl.mechanism} let in somebody without proof")
    else:
        for token in PROOF_TO_CLIENT.get(sasl.mechanism, ()):
            check(token in received, f"{sasl.mechanism} believed a server without proof")


def _compose(choices: Choices, is_client: bool, mechanism: str) -> list[Step]:
    peer = Peer(choices, answers=is_client)
    compose = _to_client if is_client else _to_server
    steps = [] if choices.octet() >= 0xE0 else [Step(octets=o.SASL_HEADER)]
    place = 0
    while choices.left and len(steps) < MOST_STEPS:
        kind = choices.octet()
        if kind < 0xD0:
            steps.append(Step(octets=compose(choices, kind, mechanism, place)))
            place += 1
        elif kind < 0xE0:
            steps.append(Step(octets=o.AMQP_HEADER + peer.open()))
        else:
            steps.append(Step(octets=peer.noise() if kind < 0xF0 else peer.frame()))
    return steps


def _token(choices: Choices, right: bytes, others: tuple[bytes, ...]) -> bytes:
    """Return the right token, another, or one with an octet changed."""
    how = choices.octet()
    if how < 0x80:
        return right
    token = choices.one_of(others)
    if how < 0xC0 or not token:
        return token
    if how < 0xE0:
        at = choices.octet() * len(token) >> 8
        return token[:at] + choices.octets(1) + token[at + 1 :]
    return choices.octets(choices.below(64)) if how < 0xF8 else b"x" * 401


def _to_server(choices: Choices, kind: int, mechanism: str, place: int) -> bytes:
    tokens = SERVER_TOKENS[mechanism]
    if place == 0 or kind >= 0xC0:
        token = o.binary(_token(choices, tokens[0], tokens)) if kind & 0x3F != 0x3F else o.NULL
        name = mechanism if kind & 7 != 7 else choices.one_of((*NAMES, "", "NONE"))
        return _framed(choices, o.INIT, o.symbol(name), token, o.string("host"))
    right = tokens[min(place, len(tokens) - 1)] if place < len(TO_SERVER.get(mechanism, ("", ""))) else b""
    return _framed(choices, o.RESPONSE, o.binary(_token(choices, right, tokens)))


def _to_client(choices: Choices, kind: int, mechanism: str, place: int) -> bytes:
    tokens = CLIENT_TOKENS[mechanism]
    if place == 0 or kind >= 0xC8:
        names = [o.symbol(name) for name in (mechanism, *NAMES[: kind & 3], "NONE")]
        return _framed(choices, o.MECHANISMS, o.array(*names) if kind & 8 else names[0])
    if (place == 1 and len(tokens) > 1) or kind >= 0xB0:
        right = tokens[1 if place > 1 and len(tokens) > 1 else 0]
        return _framed(choices, o.CHALLENGE, o.binary(_token(choices, right, tokens)))
    code = o.ubyte(0 if kind < 0x90 else choices.octet())
    proof = o.binary(_token(choices, tokens[min(1, len(tokens) - 1)], tokens)) if kind & 7 != 7 else o.NULL
    return _framed(choices, o.OUTCOME, code, proof)


def _framed(choices: Choices, code: int, *fields: bytes) -> bytes:
    bend = choices.octet()
    kept = list(fields)
    if bend >= 0xE0:
        kept[bend % len(kept)] = choices.one_of(o.SAMPLES)
    if bend & 0xF0 == 0xD0:
        code = choices.octet()
    return o.framed(o.composite(code, *kept), kind=1)
