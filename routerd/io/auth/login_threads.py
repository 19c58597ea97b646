"""Slow steps of a connector's login, in threads: a peer's challenges never delay the loop."""

from collections.abc import Callable
from dataclasses import dataclass, field

from routerd.io.auth.threads import AuthenticationThreads
from routerd.wire.sasl import ClientMechanism, ClientMechanismFactory, Failure, Pending, SaslFailed

Said = bytes | Failure
"""The result of a client's step: a response, or an error."""
OnSaid = Callable[[Said], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginThreads:
    """Takes the login steps of one connector's connection; `on_said` gets each result."""

    threads: AuthenticationThreads = field(repr=False)
    on_said: OnSaid = field(repr=False)
    is_over: Callable[[], bool] = field(repr=False)
    """Whether nobody waits for it any more."""

    def take(self, step: Callable[[], bytes | Pending]) -> Pending:
        """Take a step in a thread; its result comes later."""

        def taken() -> bytes | Pending | Failure:
            if self.is_over():
                return Failure("nobody waits for it any more")
            try:
                return step()
            except SaslFailed as error:
                return Failure(str(error))

        def answer(said: bytes | Pending | Failure) -> None:
            if not isinstance(said, Pending):
                self.on_said(said)

        self.threads.take(taken, answer)
        return Pending()


@dataclass(frozen=True, slots=True)
class RespondsInThreads:
    """A mechanism whose responses are made in a thread."""

    inner: ClientMechanismFactory
    login: LoginThreads

    @property
    def name(self) -> str:
        """The mechanism's name."""
        return self.inner.name

    def start(self, hostname: str | None) -> "_Steps":
        """Begin an exchange."""
        return _Steps(self.inner.start(hostname), self.login)


@dataclass(slots=True)
class _Steps:
    inner: ClientMechanism
    login: LoginThreads

    def initial_response(self) -> bytes | Pending | None:
        return self.inner.initial_response()

    def respond(self, challenge: bytes) -> Pending:
        """Answer a challenge."""
        return self.login.take(lambda: self.inner.respond(challenge))

    def finish(self, additional_data: bytes | None) -> None:
        """Check the server's outcome against its proof."""
        self.inner.finish(additional_data)
