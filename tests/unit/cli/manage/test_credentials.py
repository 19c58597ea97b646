"""Which mechanisms log in."""

import pytest

from routerd.cli.manage.credentials import Credentials, sasl_client
from routerd.cli.manage.failures import WrongUse
from routerd.wire import Symbol
from routerd.wire.sasl import SaslClient, SaslFrame
from routerd.wire.sasl_frames import SaslInit, SaslMechanisms

EVERYTHING = ("PLAIN", "ANONYMOUS", "SCRAM-SHA-1", "SCRAM-SHA-256", "EXTERNAL")


def chosen(credentials: Credentials, offered: tuple[str, ...] = EVERYTHING) -> str | None:
    client = sasl_client(credentials, "h")
    if client is None:
        return None
    assert isinstance(client, SaslClient)
    frame: SaslFrame = SaslMechanisms(sasl_server_mechanisms=tuple(map(Symbol, offered)))
    [answer] = client.receive(frame)
    assert isinstance(answer, SaslInit)
    return str(answer.mechanism)


def test_without_options_nobody_logs_in() -> None:
    assert chosen(Credentials()) is None


def test_the_strongest_mechanism_that_is_offered_is_used() -> None:
    ann = Credentials(username="ann", password="secret")
    assert chosen(ann) == "SCRAM-SHA-256"
    assert chosen(ann, ("PLAIN", "ANONYMOUS")) == "PLAIN"
    assert chosen(Credentials(is_tls=True)) == "ANONYMOUS"
    assert chosen(Credentials(is_tls=True, has_certificate=True)) == "EXTERNAL"


def test_mechanisms_that_are_named_go_in_their_order() -> None:
    named = Credentials(username="ann", password="secret", mechanisms=("PLAIN", "SCRAM-SHA-1"))
    assert chosen(named) == "PLAIN"
    assert chosen(Credentials(mechanisms=("ANONYMOUS",))) == "ANONYMOUS"


@pytest.mark.parametrize(
    ("credentials", "complaint"),
    [
        (Credentials(mechanisms=("PLAN",)), "the SASL mechanism PLAN is not known; did you mean PLAIN?"),
        (
            Credentials(mechanisms=("PLAIN",)),
            "PLAIN needs --sasl-username, and --sasl-password or --sasl-password-file",
        ),
        (
            Credentials(username="ann"),
            "SCRAM-SHA-512 needs --sasl-username, and --sasl-password or --sasl-password-file",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(credentials: Credentials, complaint: str) -> None:
    with pytest.raises(WrongUse) as caught:
        sasl_client(credentials, "h")
    assert str(caught.value) == complaint
