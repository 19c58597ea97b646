"""What a client is told of routers, logins and waits."""

import ssl
from pathlib import Path

import pytest
from routerd.wire.sasl_frames import SaslMechanisms

from mobula_client import Backoff, UsageError
from mobula_client.authentication import sasl_for
from mobula_client.connecting import settings_for
from mobula_client.engine import Symbol
from mobula_client.routers import Router, parse_router, parse_routers
from mobula_client.tls import Tls, context_of


@pytest.mark.parametrize(
    ("url", "router"),
    [
        ("amqp://a", Router("a", 5672)),
        ("amqps://a", Router("a", 5671, True)),
        ("a:99", Router("a", 99)),
        ("amqp://me:p%40ss@a:99/", Router("a", 99, False, "me", "p@ss")),
        ("amqp://[::1]:99", Router("::1", 99)),
    ],
)
def test_a_url_names_host_port_and_user(url: str, router: Router) -> None:
    assert parse_router(url) == router


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("http://a", "the scheme 'http' is not amqp or amqps"),
        ("amqp://", "needs a host"),
        ("amqp://a:nan", "is not a number from 0 to 65535"),
        ("amqp://a:70000", "is not a number from 0 to 65535"),
        ("amqp://a/queue", "addresses are given to senders and receivers"),
    ],
)
def test_a_url_that_is_wrong_says_why(url: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse_router(url)


def test_several_routers_are_a_list_or_separated_by_commas() -> None:
    assert parse_routers("a, b:1") == parse_routers(["a", "b:1"]) == (Router("a", 5672), Router("b", 1))
    with pytest.raises(UsageError, match="at least one router"):
        parse_routers([])


def test_a_password_is_not_printed() -> None:
    router = parse_router("amqp://me:secret@a")
    assert "secret" not in repr(router) + str(router)


def test_waits_grow_up_to_a_limit_with_jitter() -> None:
    backoff = Backoff(first_s=1, most_s=5, factor=2, jitter=0.5)
    assert [backoff.wait_s(failures, lambda: 0.0) for failures in (1, 2, 3, 4, 10_000)] == [1, 2, 4, 5, 5]
    assert [backoff.wait_s(failures, lambda: 1.0) for failures in (1, 2, 3, 4)] == [0.5, 1, 2, 2.5]


@pytest.mark.parametrize("wrong", [{"first_s": 0}, {"first_s": 20}, {"factor": 0.5}, {"jitter": 2}])
def test_a_backoff_that_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Backoff(**wrong)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"mechanisms": ["PLANE"]}, "choose from SCRAM"),
        ({"mechanisms": []}, "choose from SCRAM"),
        ({"connect_within_s": 0}, "connect_within_s is 0"),
        ({"idle_timeout_s": -1}, "or 0 for no heartbeats"),
    ],
)
def test_settings_are_checked_at_once(wrong: dict[str, object], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        settings_for("a", **wrong)  # type: ignore[arg-type]


def test_a_client_without_a_name_gets_one_that_nobody_else_has() -> None:
    assert settings_for("a").container_id != settings_for("a").container_id
    assert settings_for("a", container_id="till").container_id == "till"


def chosen(url: str, offered: tuple[str, ...], mechanisms: tuple[str, ...] | None = None, **more: bool) -> str | None:
    """Return the mechanism that a client chooses of an offer."""
    sasl = sasl_for(parse_router(url), mechanisms, lambda: "n" * 24, **more)
    sasl.receive(SaslMechanisms(sasl_server_mechanisms=tuple(map(Symbol, offered))))
    return sasl.mechanism


ALL = ("ANONYMOUS", "PLAIN", "EXTERNAL", "SCRAM-SHA-1", "SCRAM-SHA-256")


def test_the_best_mechanism_that_fits_is_chosen() -> None:
    assert chosen("amqp://a", ALL) == "ANONYMOUS"
    assert chosen("amqps://a", ALL) == "ANONYMOUS"
    assert chosen("amqps://a", ALL, has_certificate=True) == "EXTERNAL"
    assert chosen("amqp://me:pw@a", ALL) == "SCRAM-SHA-256"
    assert chosen("amqps://me:pw@a", ("PLAIN", "ANONYMOUS")) == "PLAIN"
    assert chosen("amqp://me:pw@a", ALL, ("PLAIN",)) == "PLAIN"


def test_a_password_is_not_sent_in_plain_text_unless_it_is_asked_for() -> None:
    with pytest.raises(Exception, match="ready to use: SCRAM"):
        chosen("amqp://me:pw@a", ("PLAIN", "ANONYMOUS"))


def test_a_login_that_cannot_be_made_says_why() -> None:
    with pytest.raises(UsageError, match="needs user and password"):
        sasl_for(parse_router("amqp://a"), ("PLAIN",), lambda: "n" * 24)
    with pytest.raises(UsageError, match="PLAIN needs a name and a password"):
        sasl_for(parse_router("amqp://me:@a"), ("PLAIN",), lambda: "n" * 24)


def test_tls_uses_files_or_a_context(tmp_path: Path) -> None:
    context = ssl.create_default_context()
    assert context_of(context) is context
    assert context_of(None).check_hostname
    assert not context_of(Tls(is_hostname_checked=False)).check_hostname
    missing = tmp_path / "missing.pem"
    with pytest.raises(UsageError, match=r"missing\.pem"):
        context_of(Tls(ca_file=missing))
