"""What stands in texts: lists, ports, URLs."""

import pytest

from routerd.config import FailoverUrl
from routerd.config.values import failover_urls, members_of, port_number, system_port
from routerd.management import ValueRefused


def no_service(_name: str) -> int:
    raise OSError("no such service")


def test_members_stand_between_commas_or_blanks() -> None:
    assert members_of(" a b, c ,,", ",") == ("a b", "c")
    assert members_of("  a\tb  c ", " ") == ("a", "b", "c")


@pytest.mark.parametrize(
    ("text", "port"), [("5672", 5672), (" 1 ", 1), ("0", 0), ("65535", 65535), ("amqp", 5672), ("AMQPS", 5671)]
)
def test_a_port_is_a_number_or_a_known_name(text: str, port: int) -> None:
    assert port_number(text, no_service) == port


def test_other_names_are_the_systems() -> None:
    assert port_number("http", {"http": 80}.__getitem__) == 80


def test_the_system_has_no_port_for_nonsense() -> None:
    with pytest.raises(OSError, match="not found"):
        system_port("no-such-service")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("70000", "port 70000 is out of range (0 to 65535)"),
        ("nonsense", "'nonsense' is neither a number nor the name of a service"),
        ("", "'' is neither a number nor the name of a service"),
    ],
)
def test_what_is_no_port_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueRefused) as refused:
        port_number(text, no_service)
    assert str(refused.value) == reason


def test_urls_may_leave_out_scheme_and_port() -> None:
    assert failover_urls(" a , amqp://b : 1,[::1], amqp+ws://[fe80::2]:2 ,") == (
        FailoverUrl("a", 5672),
        FailoverUrl("b", 1, "amqp"),
        FailoverUrl("::1", 5672),
        FailoverUrl("fe80::2", 2, "amqp+ws"),
    )


@pytest.mark.parametrize("text", ["a:b:c", "://a", "amqp://", "a/b", "[a", "a]:1", "amqp://[]:1"])
def test_what_is_no_url_is_refused(text: str) -> None:
    with pytest.raises(ValueRefused) as refused:
        failover_urls(text)
    assert str(refused.value) == f"'{text}' is not a URL"
