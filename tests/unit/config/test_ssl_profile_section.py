"""Sections `sslProfile`: what they come to, what is wrong with them, and who names them."""

from pathlib import Path

import pytest

from routerd.config import SslProfileConfig, effect_of, parse_config, resolved
from routerd.core import RouterMode
from routerd.management import ChangeRefused, ConfiguredEntity, check_entity, find_entity_type
from tests.unit.config.reading import errors_in, listener, read, section

FULL = (
    "name: p",
    "caCertFile: /ca.crt",
    "certFile: /own.crt",
    "privateKeyFile: /own.key",
    "password: env:SECRET",
    "ciphers: ECDHE+AESGCM",
    "protocols: TLSv1.3 TLSv1.2",
    "uidFormat: n2",
    "uidNameMappingFile: /names.json",
)


def profile(*lines: str) -> SslProfileConfig:
    """What one section says."""
    [found] = read(section("sslProfile", "name: p", *lines)).ssl_profiles
    return found


def test_every_attribute_is_taken() -> None:
    config = parse_config(section("sslProfile", *FULL), "r.conf", environment={"SECRET": "hunter2"})
    assert config.ssl_profiles == (
        SslProfileConfig(
            name="p",
            ca_file="/ca.crt",
            cert_file="/own.crt",
            key_file="/own.key",
            password="hunter2",
            ciphers="ECDHE+AESGCM",
            protocols=("TLSv1.2", "TLSv1.3"),
            uid_format="n2",
            names_file="/names.json",
        ),
    )
    assert "hunter2" not in repr(config)
    assert config.ssl_profiles[0].identity == "sslProfile/p"


def test_without_protocols_it_is_those_that_are_safe() -> None:
    assert profile().protocols == ("TLSv1.2", "TLSv1.3")


def test_old_names_are_taken() -> None:
    found = profile("certDb: /ca", "certFile: /crt", "keyFile: /key", "displayNameFile: /names")
    assert (found.ca_file, found.key_file, found.names_file) == ("/ca", "/key", "/names")


def test_files_have_names_that_hold_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = read(section("sslProfile", "name: p", "certFile: own.crt"))
    assert config.ssl_profiles[0].cert_file == f"{tmp_path}/own.crt"
    [values] = [values for name, values in config.sections if name == "sslProfile"]
    assert values["certFile"] == f"{tmp_path}/own.crt"


@pytest.mark.parametrize(
    ("lines", "password"),
    [
        (("password: hunter2",), "hunter2"),
        (("password: pass:hunter2",), "hunter2"),
        (("password: literal:pass:x",), "pass:x"),
        (("password: file:FILE",), "first"),
        (("passwordFile: FILE",), "first"),
        (("password: pass:x", "passwordFile: FILE"), "x"),
        ((), None),
    ],
)
def test_a_password_is_found_in_each_form(tmp_path: Path, lines: tuple[str, ...], password: str | None) -> None:
    place = tmp_path / "password"
    place.write_text("first\nsecond\n")
    config = read(section("sslProfile", "name: p", *(line.replace("FILE", str(place)) for line in lines)))
    assert config.ssl_profiles[0].password == password
    [values] = [values for name, values in config.sections if name == "sslProfile"]
    assert values["password"] == (None if password is None else f"pass:{password}")


WRONG = [
    ((), "line 1: sslProfile.name: Missing required attribute 'name'; allowed: what listeners and connectors call it"),
    (
        ("name: p", "privateKeyFile: /k"),
        "line 3: sslProfile.privateKeyFile: a private key is of no use without its certificate (got '/k');"
        " allowed: certFile as well",
    ),
    (
        ("name: p", "protocols: TLSv1.2 TLSv12"),
        "line 3: sslProfile.protocols: 'TLSv12' is not a version of TLS: no connection can be made with the profile"
        " (got 'TLSv1.2 TLSv12'); did you mean 'TLSv1.2'?; allowed: TLSv1, TLSv1.1, TLSv1.2, TLSv1.3",
    ),
    (
        ("name: p", "passwordFile: /nowhere"),
        "line 3: sslProfile.passwordFile: Unable to open password file '/nowhere', error: No such file or directory;"
        " allowed: env:NAME, file:PATH, pass:TEXT, the password itself, literal:TEXT",
    ),
]


@pytest.mark.parametrize(("lines", "complaint"), WRONG)
def test_what_is_wrong_is_told(lines: tuple[str, ...], complaint: str) -> None:
    assert errors_in(section("sslProfile", *lines)) == [complaint]


def test_a_profile_that_cannot_be_used_is_warned_of_and_stops_no_start() -> None:
    lines = ("protocols: TLSv1.2 TLSv7", "passwordFile: /nowhere", "certFile: /c")
    config = read(section("sslProfile", "name: p", *lines))
    [found] = config.ssl_profiles
    assert (found.protocols, found.unknown_protocols, found.password) == (("TLSv1.2",), ("TLSv7",), None)
    assert config.warnings == (
        "r.conf: line 3: sslProfile.protocols: 'TLSv7' is not a version of TLS: no connection can be made with the"
        " profile",
        "r.conf: line 4: Attribute 'passwordFile' of entity 'sslProfile' has been deprecated",
        "r.conf: line 4: sslProfile.passwordFile:"
        " Unable to open password file '/nowhere', error: No such file or directory",
    )


def test_what_is_odd_is_warned_of() -> None:
    lines = ("name: p", "protocols: TLSv1.1 TLSv1.3", "uidFormat: nx", "password: pass:x")
    assert read(section("sslProfile", *lines)).warnings == (
        "r.conf: line 3: sslProfile.protocols: TLSv1.1 is not safe any more, and systems may be set to refuse it",
        "r.conf: line 4: sslProfile.uidFormat: 'nx' is not up to 7 of c, s, l, o, n, u, 1, 2, 5:"
        " the user is the whole subject",
        "r.conf: line 5: sslProfile.password: It is unsafe to provide plain text passwords in the config file",
    )


def test_listeners_and_connectors_name_a_profile_that_there_is() -> None:
    text = section("sslProfile", "name: clients", "certFile: /c")
    named = section("listener", "sslProfile: clients", "requireSsl: yes", "port: 1")
    to = section("connector", "sslProfile: clients", "verifyHostname: no", "port: 2")
    config = read(named + text + to)
    assert (config.listeners[0].ssl_profile, config.listeners[0].require_ssl) == ("clients", True)
    assert (config.connectors[0].ssl_profile, config.connectors[0].verify_hostname) == ("clients", False)
    for kind in ("listener", "connector"):
        assert errors_in(text + section(kind, "sslProfile: client", "port: 3")) == [
            f"line 6: {kind}.sslProfile: there is no sslProfile with the name 'client'; did you mean 'clients'?;"
            " allowed: clients"
        ]


def test_a_listener_without_a_profile_is_as_before() -> None:
    assert (listener("port: 1").ssl_profile, listener("port: 1").require_ssl) == (None, False)


def test_at_run_time_it_is_the_same() -> None:
    kind = find_entity_type("sslProfile")
    assert kind is not None
    given = {"certFile": "/c", "password": "env:SECRET"}
    entity = ConfiguredEntity(type=kind, identity="x", name="p", values=check_entity(kind, given).values)
    found = resolved(entity, RouterMode.STANDALONE, {"SECRET": "hunter2"})
    assert effect_of(found, RouterMode.STANDALONE, {}) == SslProfileConfig(
        name="p", cert_file="/c", password="hunter2"
    )
    assert "hunter2" not in repr(found)
    with pytest.raises(ChangeRefused, match="Failed to find a password in the environment variable 'SECRET'"):
        resolved(entity, RouterMode.STANDALONE, {})
