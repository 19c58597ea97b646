"""SASL and TLS: what the peer is offered and shown, and whom the driver does not trust."""

import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oslo_config import cfg
from oslo_messaging import MessageDeliveryFailure, MessagingTimeout, Target, TransportURL

from oslo_messaging_amqp1.driver import AMQPDriver
from oslo_messaging_amqp1.errors import InvalidOption
from oslo_messaging_amqp1.security import security_properties, trusted_by_the_system
from oslo_messaging_amqp1.settings import read_settings
from oslo_messaging_amqp1.url import Host
from tests.peer import Peer, Script, running
from tests.sasl import HEADER, Sasl

T = Target(topic="T")
Drivers = Callable[..., AMQPDriver]


def url(peer: Peer, user: str = "") -> str:
    return f"amqp://{user}{'@' if user else ''}127.0.0.1:{peer.port}"


def test_without_user_and_options_there_is_no_sasl(drivers: Drivers) -> None:
    sasl = Sasl(["PLAIN"])
    with running(Script(sasl=sasl)) as peer, pytest.raises(MessageDeliveryFailure):
        drivers(url(peer)).send(T, {}, {}, timeout=60, retry=0)
    assert set(sasl.headers) == {b"AMQP\x00\x01\x00\x00"}


def test_a_user_of_the_url_is_shown_by_plain(drivers: Drivers) -> None:
    sasl = Sasl(["PLAIN"])
    with running(Script(sasl=sasl)) as peer:
        drivers(url(peer, "me:secret")).send(T, {}, {}, timeout=60)
    assert (sasl.headers, sasl.answers) == ([HEADER], [("PLAIN", b"\0me\0secret")])


def test_sasl_default_realm_is_appended(drivers: Drivers) -> None:
    sasl = Sasl(["PLAIN"])
    with running(Script(sasl=sasl)) as peer:
        drivers(url(peer, "me:secret"), sasl_default_realm="realm").send(T, {}, {}, timeout=60)
    assert sasl.answers == [("PLAIN", b"\0me@realm\0secret")]


def test_sasl_mechanisms_are_what_may_be_used(drivers: Drivers) -> None:
    sasl = Sasl(["PLAIN", "ANONYMOUS"])
    with running(Script(sasl=sasl)) as peer:
        drivers(url(peer, "me:secret"), sasl_mechanisms="anonymous").send(T, {}, {}, timeout=60)
    assert [mechanism for mechanism, _ in sasl.answers] == ["ANONYMOUS"]


def test_a_mechanism_that_is_not_allowed_is_not_used(drivers: Drivers) -> None:
    sasl = Sasl(["PLAIN"])
    with running(Script(sasl=sasl)) as peer, pytest.raises(MessageDeliveryFailure):
        drivers(url(peer, "me:secret"), sasl_mechanisms="SCRAM-SHA-256").send(T, {}, {}, timeout=60, retry=0)
    assert sasl.answers == []


def test_a_refused_user_is_logged_and_named_in_the_exception(
    drivers: Drivers, caplog: pytest.LogCaptureFixture
) -> None:
    with running(Script(sasl=Sasl(["PLAIN"], accepts=False))) as peer:
        driver = drivers(url(peer, "me:secret"))
        with pytest.raises(MessageDeliveryFailure, match="amqp:unauthorized-access"):
            driver.send(T, {}, {}, timeout=60, retry=0)
        errors = [one.message for one in caplog.records if one.levelname == "ERROR" and "oslo" in one.name]
        assert errors[0].startswith(f"Cannot connect to 127.0.0.1:{peer.port} as user me: amqp:unauthorized-access")
        assert "secret" not in caplog.text
        with pytest.raises(MessagingTimeout, match=r"the last failure was: .*: amqp:unauthorized-access"):
            driver.send(T, {}, {}, timeout=0.3)


def properties(conf: cfg.ConfigOpts, vhost: str | None = None, host: Host | None = None, **given: Any) -> Any:
    for name, value in given.items():
        conf.set_override(name, value, "oslo_messaging_amqp")
    settings = read_settings(conf, TransportURL.parse(conf, "amqp://h"))
    return security_properties(settings, host or Host("h", 1), vhost)


def test_without_options_there_is_no_security(conf: cfg.ConfigOpts) -> None:
    assert properties(conf) == {}


def test_the_configuration_of_the_sasl_library_is_handed_on(conf: cfg.ConfigOpts) -> None:
    assert properties(
        conf, sasl_config_dir="/d", sasl_config_name="n", sasl_mechanisms="plain external", host=Host("h", 1, "u", "p")
    ) == {
        "x-username": "u",
        "x-password": "p",
        "x-sasl-mechs": "PLAIN EXTERNAL",
        "x-sasl-config-dir": "/d",
        "x-sasl-config-name": "n",
    }


def test_ssl_alone_trusts_whom_the_system_trusts(conf: cfg.ConfigOpts, monkeypatch: pytest.MonkeyPatch) -> None:
    assert properties(conf, ssl=True) == {
        "x-ssl": True,
        "x-ssl-ca-file": trusted_by_the_system(),
        "x-ssl-verify-mode": "verify-peer",
        "x-ssl-peer-name": "h",
    }
    monkeypatch.setattr("oslo_messaging_amqp1.security.trusted_by_the_system", lambda: None)
    with pytest.raises(InvalidOption, match="ssl_ca_file: must be given"):
        properties(conf, ssl=True)


class Authority:
    """Makes certificates, all signed by itself."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._openssl("req", "-x509", "-subj", "/CN=authority", *self._new_key("ca"), "-out", self.file("ca.crt"))

    def file(self, name: str) -> str:
        return str(self.folder / name)

    def _new_key(self, name: str, password: str | None = None) -> tuple[str, ...]:
        kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-keyout", self.file(f"{name}.key"))
        return (*kind, *(("-passout", f"pass:{password}") if password else ("-nodes",)))

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)

    def issue(self, name: str, subject: str, password: str | None = None) -> None:
        key = self._new_key(name, password)
        self._openssl("req", "-subj", f"/CN={subject}", *key, "-out", self.file(f"{name}.csr"))
        names = self.folder / f"{name}.names"
        names.write_text(f"subjectAltName = {'IP' if subject[0].isdigit() else 'DNS'}:{subject}\n")
        signing = ("-CA", self.file("ca.crt"), "-CAkey", self.file("ca.key"), "-CAcreateserial", "-days", "2")
        files = ("-in", self.file(f"{name}.csr"), "-out", self.file(f"{name}.crt"), "-extfile", str(names))
        self._openssl("x509", "-req", *files, *signing)

    def server(self, name: str, wants_client: bool = False) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file(f"{name}.crt"), self.file(f"{name}.key"))
        if wants_client:
            context.load_verify_locations(self.file("ca.crt"))
            context.verify_mode = ssl.CERT_REQUIRED
        return context


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    made = Authority(tmp_path_factory.mktemp("authority"))
    made.issue("localhost", "localhost")
    made.issue("vhost", "vhost.example")
    made.issue("client", "client", password="sesame")
    other = Authority(tmp_path_factory.mktemp("other"))
    other.issue("localhost", "localhost")
    made.other = other  # type: ignore[attr-defined]
    return made


def connects(driver: AMQPDriver) -> bool:
    try:
        driver.send(T, {}, {}, timeout=60, retry=0)
    except MessageDeliveryFailure:
        return False
    return True


def test_ssl_ca_file_turns_tls_on_and_the_host_is_verified(drivers: Drivers, authority: Authority) -> None:
    with running(Script(tls=authority.server("localhost"))) as peer:
        assert connects(drivers(f"amqp://localhost:{peer.port}", ssl_ca_file=authority.file("ca.crt")))
        assert len(peer.arrived) == 1


@pytest.mark.parametrize("name", ["vhost", "other"])
def test_a_server_of_another_name_or_authority_is_not_trusted(
    drivers: Drivers, authority: Authority, name: str
) -> None:
    context = authority.other.server("localhost") if name == "other" else authority.server(name)  # type: ignore[attr-defined]
    with running(Script(tls=context)) as peer:
        assert not connects(drivers(f"amqp://localhost:{peer.port}", ssl_ca_file=authority.file("ca.crt")))
        assert peer.opens == []


def test_a_failure_of_tls_is_called_so(drivers: Drivers, authority: Authority) -> None:
    with running(Script(tls=authority.server("vhost"))) as peer:
        driver = drivers(f"amqp://localhost:{peer.port}", ssl_ca_file=authority.file("ca.crt"))
        with pytest.raises(MessageDeliveryFailure, match=r"TLS failed: .*certificate verify failed"):
            driver.send(T, {}, {}, timeout=60, retry=0)


def test_ssl_verify_vhost_looks_for_the_virtual_host(drivers: Drivers, authority: Authority) -> None:
    options = {"ssl_ca_file": authority.file("ca.crt"), "ssl_verify_vhost": True}
    with running(Script(tls=authority.server("vhost"))) as peer:
        assert connects(drivers(f"amqp://localhost:{peer.port}/vhost.example", **options))
        assert not connects(drivers(f"amqp://localhost:{peer.port}/localhost", **options))
        assert connects(drivers(f"amqp://localhost:{peer.port}", **options)), "no name is looked for"


def test_a_client_certificate_is_shown(drivers: Drivers, authority: Authority) -> None:
    options = {
        "ssl_ca_file": authority.file("ca.crt"),
        "ssl_cert_file": authority.file("client.crt"),
        "ssl_key_file": authority.file("client.key"),
    }
    with running(Script(tls=authority.server("localhost", wants_client=True))) as peer:
        assert not connects(drivers(f"amqp://localhost:{peer.port}", ssl_ca_file=authority.file("ca.crt")))
        assert connects(drivers(f"amqp://localhost:{peer.port}", ssl_key_password="sesame", **options))
        assert len(peer.arrived) == 1


def test_a_wrong_key_password_is_named(drivers: Drivers, authority: Authority) -> None:
    options = {"ssl_cert_file": authority.file("client.crt"), "ssl_key_file": authority.file("client.key")}
    with running() as peer:
        driver = drivers(f"amqp://localhost:{peer.port}", ssl_key_password="wrong", **options)
        with pytest.raises(MessageDeliveryFailure, match="TLS or SASL cannot be set up as the options say"):
            driver.send(T, {}, {}, timeout=60, retry=0)


def test_a_trace_does_not_show_the_password() -> None:
    code = (
        "import sys; from oslo_config import cfg; from oslo_messaging import Target, TransportURL\n"
        "from oslo_messaging_amqp1.driver import AMQPDriver\n"
        "conf = cfg.ConfigOpts(); conf([])\n"
        "driver = AMQPDriver(conf, TransportURL.parse(conf, sys.argv[1])); driver.send(Target(topic='T'), {}, {})\n"
        "driver.cleanup()\n"
    )
    with running(Script(sasl=Sasl(["PLAIN"]))) as peer:
        command = [sys.executable, "-W", "ignore", "-c", code, f"{url(peer, 'me:secret')}/?trace=1"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    shown = done.stdout + done.stderr
    assert "@open(16)" in shown
    assert "secret" not in shown
