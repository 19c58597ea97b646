"""Steps of a connector's login that take their time, in threads: what a peer asks for never holds up the loop."""

from collections.abc import Callable
from dataclasses import dataclass, field

from routerd.io.auth.threads import AuthenticationThreads
from routerd.wire.sasl import ClientMechanism, ClientMechanismFactory, Failure, Pending, SaslFailed

Said = bytes | Failure
"""What a client comes to say: a response, or why there is none."""
OnSaid = Callable[[Said], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginThreads:
    """Where one connection of a connector has its steps taken; `on_said` takes what comes of each."""

    threads: AuthenticationThreads = field(repr=False)
    on_said: OnSaid = field(repr=False)
    is_over: Callable[[], bool] = field(repr=False)
    """Whether nobody waits for it any more."""

    def take(self, step: Callable[[], bytes | Pending]) -> Pending:
        """Have a step taken; its answer comes later."""

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
    """A mechanism whose answers to challenges are made in a thread."""

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
        """Have a challenge answered."""
        return self.login.take(lambda: self.inner.respond(challenge))

    def finish(self, additional_data: bytes | None) -> None:
        """Hold the end against what was proved."""
        self.inner.finish(additional_data)
