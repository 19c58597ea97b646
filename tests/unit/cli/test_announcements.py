"""What the log says of a configuration, and when a router is ready."""

from collections.abc import Callable

import pytest

from routerd.cli import announcements
from routerd.cli.announcements import announce_configuration
from routerd.config import ListenerConfig
from tests.unit.config.reading import read, section


class Notices:
    """Keeps what is said."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def notice(self, text: str, *values: object) -> None:
        self.texts.append(text % values)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    notices = Notices()
    monkeypatch.setattr(announcements, "_server_log", notices)
    return notices.texts


def consoles(said: list[str]) -> list[str]:
    return [text.partition(" at ")[2] for text in said if text.startswith("The console is at ")]


def test_the_console_is_said_where_it_is(said: list[str]) -> None:
    announcements.announce_readiness(
        ["127.0.0.1:5672 (clients)", "127.0.0.1:40001 (web)", "0.0.0.0:8443 (outside)", "127.0.0.1:8080"],
        (
            ListenerConfig(name="clients", host="127.0.0.1", port=5672),
            ListenerConfig(name="web", host="127.0.0.1", port=0, takes_http=True),
            ListenerConfig(name="outside", host="0.0.0.0", port=8443, takes_http=True, ssl_profile="web"),
            ListenerConfig(host="127.0.0.1", port=8080, takes_http=True),
        ),
        1,
    )
    assert consoles(said) == ["http://127.0.0.1:40001/", "https://localhost:8443/", "http://127.0.0.1:8080/"]


@pytest.mark.parametrize(
    "listener",
    [
        ListenerConfig(name="web", host="", port=1, takes_http=True, websockets=False),
        ListenerConfig(name="web", host="", port=1, takes_http=True, http_root="/srv/www"),
        ListenerConfig(name="web", host="", port=1),
    ],
    ids=["no WebSocket", "other files", "no HTTP"],
)
def test_where_there_is_none_nothing_is_said(said: list[str], listener: ListenerConfig) -> None:
    announcements.announce_readiness([":1 (web)"], [listener], 1)
    assert consoles(said) == []
    assert "Listening on :1 (web)" in said


LOGS = {
    "CONN_MGR": announcements._connections_log,
    "POLICY": announcements._policy_log,
    "ROUTER": announcements._router_log,
    "SERVER": announcements._server_log,
}


def teller(lines: list[str], start: str) -> Callable[..., None]:
    return lambda text, *values: lines.append(f"{start} {text % values}")


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    written: list[str] = []
    for name, log in LOGS.items():
        for level in ("info", "warning", "error"):
            monkeypatch.setattr(log, level, teller(written, f"{name} ({level})"))
    return written


def told(lines: list[str], *starts: str) -> list[str]:
    return [one for one in lines if one.startswith(starts) and "uncompiled" not in one]


def test_what_keeps_connections_from_being_made_is_an_error_and_all_else_a_warning(lines: list[str]) -> None:
    secret = section("connector", "saslUsername: ann", "saslPassword: file:/nowhere/secret")
    plain = section("connector", "port: 5673", "saslUsername: ann", "saslPassword: pass:x", "webSocketPath: /a")
    announce_configuration(read(secret + plain))
    assert told(lines, "ROUTER (warning)", "CONN_MGR (error)") == [
        "CONN_MGR (error) r.conf: line 3: connector.saslPassword:"
        " Unable to open password file '/nowhere/secret', error: No such file or directory",
        "ROUTER (warning) r.conf: line 8: connector.saslPassword:"
        " It is unsafe to provide plain text passwords in the config file",
        "ROUTER (warning) r.conf: line 9: connector.webSocketPath: it is of use with websockets: yes only",
    ]
    assert told(lines, "CONN_MGR (info)") == [
        "CONN_MGR (info) Configured Connector: 127.0.0.1:amqp proto=any, role=normal",
        "CONN_MGR (info) Configured Connector: 127.0.0.1:5673 proto=any, role=normal",
    ]
