"""TLS at a listener, held against proton, openssl and Python's own: who gets in, with what, and who does not."""

import contextlib
import json
import os
import random
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.free_ports import free_port
from tests.interop.certificates import CLIENT_SUBJECT, Authority, Identity, absence
from tests.interop.tls_routers import (
    AMQP_HEADER,
    SASL_HEADER,
    TLS_HEADER,
    answer_to,
    client_context,
    negotiated,
    profile,
    proton_domain,
    router_text,
    running,
    s_client,
    secured,
    tls_router,
)
from tests.system.launched import ROOT, environment, run
from tests.system.management_client import ManagementClient
from tests.system.proton_client import ProtonClient
from tests.system.routers import RunningRouter, listener
from tests.waiting import WITHIN_S, eventually

pytestmark = pytest.mark.skipif(absence() is not None, reason=str(absence()))


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """An authority that the router does not trust."""
    return Authority(tmp_path_factory.mktemp("stranger"), "stranger")


@pytest.fixture(scope="module")
def server(ca: Authority) -> Identity:
    return ca.issue()


@pytest.fixture(scope="module")
def router(ca: Authority, server: Identity) -> Iterator[RunningRouter]:
    """Listeners of all sorts."""
    sections = [
        profile(ca=ca.certificate, own=server),
        profile("only-1.2", own=server, protocols="TLSv1.2"),
        profile("only-1.3", own=server, protocols="TLSv1.3"),
        profile("one-cipher", own=server, protocols="TLSv1.2", ciphers="ECDHE-ECDSA-AES128-GCM-SHA256"),
        listener("may", sslProfile="tls"),
        listener("must", sslProfile="tls", requireSsl="yes"),
        listener("known", sslProfile="tls", requireSsl="yes", saslMechanisms="EXTERNAL ANONYMOUS"),
        listener("hasty", sslProfile="tls", requireSsl="yes", initialHandshakeTimeoutSeconds=1),
        *(listener(name, sslProfile=name) for name in ("only-1.2", "only-1.3", "one-cipher")),
        listener("plain"),
    ]
    with running(*sections) as router:
        yield router


def half_a_handshake(ca: Authority) -> bytes:
    """The first octets of a client's handshake."""
    outgoing = ssl.MemoryBIO()
    client = client_context(ca).wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()[:100]


@pytest.fixture(scope="module", autouse=True)
def stalled(router: RunningRouter, ca: Authority) -> Iterator[socket.socket]:
    """A peer that stops in the midst of its handshake while the tests go on."""
    with socket.create_connection(("127.0.0.1", router.port_of("may")), timeout=WITHIN_S) as client:
        client.sendall(half_a_handshake(ca))
        yield client


def test_a_proton_client_sends_and_receives_over_tls(router: RunningRouter, ca: Authority) -> None:
    domain = proton_domain(ca)
    with ProtonClient(router.port_of("must"), tls=domain) as one, ProtonClient(router.port_of("plain")) as other:
        there, back = other.consumer("there"), one.consumer("back")
        assert [one.producer("there").send("to plain").outcome(), other.producer("back").send("to TLS").outcome()] == [
            "accepted",
            "accepted",
        ]
        assert [there.take().body, back.take().body] == ["to plain", "to TLS"]
        assert one.ssl is not None
        assert one.ssl.protocol_name() == "TLSv1.3"


def test_management_tells_how_a_connection_is_encrypted(router: RunningRouter, ca: Authority) -> None:
    told = {}
    with (
        ProtonClient(router.port_of("may"), tls=proton_domain(ca), container_id="tls"),
        ProtonClient(router.port_of("may"), container_id="plain"),
        ManagementClient(router.port_of("plain")) as management,
    ):
        names = ("container", "isEncrypted", "ssl", "sslProto", "sslCipher", "sslSsf")
        for row in management.query("connection", *names):
            told[row.pop("container")] = row
    encrypted = {"isEncrypted": True, "ssl": True, "sslProto": "TLSv1.3"}
    assert told["tls"] == encrypted | {"sslCipher": "TLS_AES_256_GCM_SHA384", "sslSsf": 256}
    nothing = {"isEncrypted": False, "ssl": False, "sslProto": None, "sslCipher": None, "sslSsf": 0}
    assert told["plain"] == nothing


def test_routerstat_shows_how_its_own_connection_is_encrypted(router: RunningRouter, ca: Authority) -> None:
    command = (sys.executable, "-m", "routerd.cli.routerstat", "-c", "-b", f"amqps://localhost:{router.port_of('must')}")
    done = subprocess.run(
        [*command, "--ssl-trustfile", str(ca.certificate)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
    )
    assert (done.returncode, "TLSv1.3(TLS_AES_256_GCM_SHA384)" in done.stdout) == (0, True), done.stderr


def test_the_first_octets_decide_where_tls_is_not_required(router: RunningRouter, ca: Authority) -> None:
    port = router.port_of("may")
    with secured(port, client_context(ca)) as encrypted:
        encrypted.sendall(AMQP_HEADER)
        assert encrypted.recv(8) == AMQP_HEADER
    with secured(port, client_context(ca), opening=TLS_HEADER) as encrypted:
        encrypted.sendall(AMQP_HEADER)
        assert encrypted.recv(8) == AMQP_HEADER
    for header in (AMQP_HEADER, SASL_HEADER):
        with socket.create_connection(("127.0.0.1", port), timeout=WITHIN_S) as plain:
            for octet in header:
                plain.sendall(bytes([octet]))
            assert plain.recv(8, socket.MSG_WAITALL) == header
    # A version that there is not, no AMQP at all (2.2), and HTTP.
    assert answer_to(port, b"AMQP\x02\x01\x01\x00") == TLS_HEADER
    assert answer_to(port, b"MQTT\x00\x01\x01\x00") == SASL_HEADER
    assert answer_to(port, b"GET / HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 400 ")


def test_nothing_but_tls_is_answered_where_it_is_required(router: RunningRouter, ca: Authority) -> None:
    port = router.port_of("must")
    octets = (AMQP_HEADER, SASL_HEADER, b"AMQP\x02\x01\x01\x00", b"GET / HTTP/1.1\r\n\r\n")
    assert [answer_to(port, one) for one in octets] == [TLS_HEADER] * 4
    for opening in (b"", TLS_HEADER):
        with secured(port, client_context(ca), opening=opening) as encrypted:
            encrypted.sendall(AMQP_HEADER)
            assert encrypted.recv(8) == AMQP_HEADER


def test_versions_and_ciphers_are_those_of_the_profile(router: RunningRouter) -> None:
    weak = ("-cipher", "DEFAULT@SECLEVEL=0")
    port = router.port_of("must")
    assert negotiated(port) == "TLSv1.3"
    assert negotiated(port, "-tls1_2") == "TLSv1.2"
    assert negotiated(port, "-tls1_1", *weak) is None
    assert negotiated(port, "-tls1", *weak) is None
    assert negotiated(router.port_of("only-1.2")) == "TLSv1.2"
    assert negotiated(router.port_of("only-1.2"), "-tls1_3") is None
    assert negotiated(router.port_of("only-1.3")) == "TLSv1.3"
    assert negotiated(router.port_of("only-1.3"), "-tls1_2") is None
    assert "ECDHE-ECDSA-AES128-GCM-SHA256" in s_client(router.port_of("one-cipher"), "-brief")
    others = ("-tls1_2", "-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384")
    assert negotiated(router.port_of("one-cipher"), *others) is None


def test_renegotiation_is_refused(router: RunningRouter) -> None:
    # `R` in a line of its own has it renegotiate.
    told = s_client(router.port_of("must"), "-tls1_2", given=b"R\n")
    assert ("RENEGOTIATING" in told, "no renegotiation" in told) == (True, True), told


def test_there_is_no_compression_and_no_session_to_resume(router: RunningRouter) -> None:
    told = s_client(router.port_of("must"), "-tls1_2")
    assert "Compression: NONE" in told
    assert "TLS session ticket:" not in told
    assert "New Session Ticket" not in s_client(router.port_of("must"), "-tls1_3", "-msg")


@pytest.mark.parametrize(
    ("who", "is_let_in"), [("good", True), ("none", False), ("expired", False), ("stranger", False)]
)
def test_where_external_is_offered_a_client_shows_a_certificate_that_is_trusted(
    router: RunningRouter, ca: Authority, stranger: Authority, who: str, is_let_in: bool
) -> None:
    own = {
        "good": lambda: ca.issue(CLIENT_SUBJECT, hosts=""),
        "none": lambda: None,
        "expired": lambda: ca.issue(CLIENT_SUBJECT, hosts="", days=-1),
        "stranger": lambda: stranger.issue(CLIENT_SUBJECT, hosts=""),
    }[who]()
    try:
        with secured(router.port_of("known"), client_context(ca, own)) as encrypted:
            encrypted.sendall(SASL_HEADER)
            answer = encrypted.recv(8)
    except (ssl.SSLError, ConnectionError):
        answer = b""
    assert answer == (SASL_HEADER if is_let_in else b"")


@pytest.mark.parametrize(
    ("hosts", "days", "fault"),
    [
        ("DNS:elsewhere.example", 30, "hostname mismatch"),
        ("DNS:localhost", -1, "has expired"),
    ],
)
def test_routerstat_does_not_trust_a_wrong_certificate(
    ca: Authority, tmp_path: Path, hosts: str, days: int, fault: str
) -> None:
    with tls_router(ca, ca.issue(hosts=hosts, days=days)) as router:
        command = (sys.executable, "-m", "routerd.cli.routerstat", "-g")
        place = ("-b", f"amqps://localhost:{router.port_of('tls')}", "--ssl-trustfile", str(ca.certificate))
        done = subprocess.run(
            [*command, *place], cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=WITHIN_S
        )
    assert (done.returncode, fault in done.stderr.lower()) == (1, True), done.stderr


def test_a_handshake_may_come_octet_by_octet(router: RunningRouter, ca: Authority) -> None:
    context = client_context(ca)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
    with socket.create_connection(("127.0.0.1", router.port_of("must")), timeout=WITHIN_S) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            try:
                client.do_handshake()
                break
            except ssl.SSLWantReadError:
                for octet in outgoing.read():
                    sock.sendall(bytes([octet]))
                incoming.write(sock.recv(1))
        client.write(AMQP_HEADER)
        for octet in outgoing.read():
            sock.sendall(bytes([octet]))
        answer = b""
        while len(answer) < 8:
            incoming.write(sock.recv(1))
            try:
                answer += client.read(8)
            except ssl.SSLWantReadError:
                continue
    assert answer == AMQP_HEADER


@pytest.mark.parametrize("stops_behind", [0, 3, 100])
def test_a_peer_that_stops_before_the_end_of_the_handshake_is_cut(
    router: RunningRouter, ca: Authority, stops_behind: int
) -> None:
    begun = time.monotonic()
    assert answer_to(router.port_of("hasty"), half_a_handshake(ca)[:stops_behind]) == b""
    assert 0.5 < time.monotonic() - begun < WITHIN_S / 2


def test_a_handshake_has_a_bounded_number_of_octets(router: RunningRouter) -> None:
    # A first message that says to be 131 390 octets long, as far as that is not too much, in records of 16 KiB.
    message = b"\x01" + (131_390).to_bytes(3) + b"\x03\x03" + bytes(131_200)
    place = ("127.0.0.1", router.port_of("must"))
    with socket.create_connection(place, timeout=WITHIN_S) as client, contextlib.suppress(OSError):
        for at in range(0, len(message), 1 << 14):
            piece = message[at : at + (1 << 14)]
            client.sendall(b"\x16\x03\x01" + len(piece).to_bytes(2) + piece)
        while client.recv(100):
            pass
    assert "TLS failed: the handshake has more than 131072 octets" in router.log()


def test_what_is_no_record_ends_the_handshake(router: RunningRouter) -> None:
    answer = answer_to(router.port_of("must"), b"\x16\x03\x01\xff\xff" + bytes(100))
    # An alert, or nothing.
    assert answer[:1] in (b"\x15", b"")


def test_any_octets_leave_the_listener_as_it_was(router: RunningRouter, ca: Authority) -> None:
    chance = random.Random(5)
    hello = half_a_handshake(ca)
    for name in ("may", "must", "known"):
        for _ in range(20):
            damaged = bytearray(hello)
            for _ in range(chance.randrange(1, 8)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            begun = chance.choice([b"", b"\x16", b"\x16\x03\x01", TLS_HEADER, TLS_HEADER[:6], bytes(damaged)])
            place = ("127.0.0.1", router.port_of(name))
            with socket.create_connection(place, timeout=WITHIN_S) as client, contextlib.suppress(OSError):
                client.sendall(begun + chance.randbytes(chance.randrange(600)))
        with ProtonClient(router.port_of("may"), tls=proton_domain(ca)) as client:
            assert client.is_open
    assert "given up" not in router.log()


def test_both_ends_say_goodbye(router: RunningRouter, ca: Authority) -> None:
    with secured(router.port_of("must"), client_context(ca)) as encrypted:
        # A version that there is not: the router answers and closes. With no close_notify this would be an error.
        encrypted.suppress_ragged_eofs = False
        encrypted.sendall(b"AMQP\x00\x09\x09\x09")
        received = b""
        while some := encrypted.recv(100):
            received += some
        assert received == SASL_HEADER
    with secured(router.port_of("must"), client_context(ca)) as encrypted:
        encrypted.sendall(AMQP_HEADER)
        assert encrypted.recv(8) == AMQP_HEADER
        # Ours first, then the router's.
        encrypted.unwrap().close()


def test_a_truncated_stream_is_no_more_than_a_connection_that_is_lost(router: RunningRouter, ca: Authority) -> None:
    with secured(router.port_of("must"), client_context(ca)) as encrypted:
        encrypted.sendall(AMQP_HEADER)
        assert encrypted.recv(8) == AMQP_HEADER
        encrypted.shutdown(socket.SHUT_RDWR)
    with ProtonClient(router.port_of("must"), tls=proton_domain(ca)) as client:
        assert client.is_open


def test_octets_that_are_not_tls_end_a_connection_that_has_it(router: RunningRouter, ca: Authority) -> None:
    with secured(router.port_of("must"), client_context(ca)) as encrypted:
        encrypted.sendall(AMQP_HEADER)
        assert encrypted.recv(8) == AMQP_HEADER
        with socket.socket(fileno=os.dup(encrypted.fileno())) as below:
            below.sendall(b"\x17\x03\x03\x00\x20" + bytes(32))
        with pytest.raises((ssl.SSLError, ConnectionError)):
            encrypted.recv(100)


def test_a_consumer_that_stops_reading_holds_nothing_up_and_gets_everything(
    router: RunningRouter, ca: Authority
) -> None:
    port, domain = router.port_of("must"), proton_domain(ca)
    bodies = [bytes([number]) * 65_536 for number in range(200)]
    with ProtonClient(port, tls=domain) as one, ProtonClient(port, tls=domain) as two:
        consumer, other = two.consumer("slow", credit=1000), one.consumer("other")
        producer = one.producer("slow")
        # Its thread reads nothing while others have the lock; far more is sent than its connection may have waiting.
        with two.lock:
            sent = [producer.send(body) for body in bodies]
            assert one.producer("other").send("not held up").outcome() == "accepted"
            assert other.take().body == "not held up"
        assert consumer.wait_for(len(bodies)) == bodies
        assert {one.outcome() for one in sent} == {"accepted"}


def replace_with(place: Identity, other: Identity) -> None:
    """Put another certificate and key in the place of one, the key first, as no tool does it at once."""
    for old, new in ((place.key, other.key), (place.certificate, other.certificate)):
        copy = old.with_suffix(".new")
        shutil.copy(new, copy)
        copy.replace(old)


def serial_of(port: int, ca: Authority) -> str:
    with secured(port, client_context(ca)) as encrypted:
        found = encrypted.getpeercert()
    assert found is not None
    return str(found["serialNumber"])


def test_a_certificate_that_is_replaced_holds_for_new_connections_and_closes_none(
    ca: Authority, tmp_path: Path
) -> None:
    first, second = ca.issue(), ca.issue()
    own = Identity(tmp_path / "own.crt", tmp_path / "own.key")
    shutil.copy(first.certificate, own.certificate)
    shutil.copy(first.key, own.key)
    with tls_router(ca, own) as router:
        port = router.port_of("tls")
        with ProtonClient(port, tls=proton_domain(ca)) as client:
            before = serial_of(port, ca)
            replace_with(own, second)
            eventually(lambda: serial_of(port, ca) != before, "the new certificate is shown")
            after = serial_of(port, ca)
            # What cannot be used changes nothing, and is said once.
            own.certificate.write_text("nonsense")
            eventually(lambda: "has no certificate in PEM form" in router.log(), "the broken file is noticed")
            assert serial_of(port, ca) == after
            replace_with(own, first)
            eventually(lambda: serial_of(port, ca) == before, "the file is used again")
            assert router.log().count("has no certificate in PEM form; the files from before are used") == 1
            consumer = client.consumer("through")
            assert client.producer("through").send("all of it").outcome() == "accepted"
            assert consumer.take().body == "all of it"


def test_clients_are_revoked_by_another_file_of_authorities(ca: Authority, stranger: Authority, tmp_path: Path) -> None:
    trusted = tmp_path / "trusted.crt"
    shutil.copy(ca.certificate, trusted)
    own, client = ca.issue(), client_context(ca, ca.issue(CLIENT_SUBJECT, hosts=""))

    def is_let_in(port: int) -> bool:
        try:
            with secured(port, client) as encrypted:
                encrypted.sendall(SASL_HEADER)
                return encrypted.recv(8) == SASL_HEADER
        except (ssl.SSLError, ConnectionError):
            return False

    tls = listener("tls", sslProfile="tls", requireSsl="yes", saslMechanisms="EXTERNAL ANONYMOUS")
    with running(profile(ca=trusted, own=own), tls) as router:
        port = router.port_of("tls")
        with secured(port, client) as kept:
            kept.sendall(SASL_HEADER)
            assert kept.recv(8) == SASL_HEADER
            shutil.copy(stranger.certificate, trusted)
            eventually(lambda: not is_let_in(port), "the client is not trusted any more")
            shutil.copy(ca.certificate, trusted)
            eventually(lambda: is_let_in(port), "the client is trusted again")


@pytest.mark.parametrize("fault", ["missing", "mismatched", "locked"])
def test_a_profile_that_cannot_be_used_stops_a_strict_start_and_its_file_is_named(
    ca: Authority, server: Identity, tmp_path: Path, fault: str
) -> None:
    other, locked = ca.issue(), ca.issue(password="secret")
    attributes, complaint = {
        "missing": ({"certFile": "/nowhere"}, "certFile /nowhere: No such file or directory"),
        "mismatched": (
            {"privateKeyFile": other.key},
            f"privateKeyFile {other.key}: this is not the private key of certificate {server.certificate}",
        ),
        "locked": (
            {"certFile": locked.certificate, "privateKeyFile": locked.key, "password": "pass:wr0ng"},
            f"privateKeyFile {locked.key}: the password is wrong",
        ),
    }[fault]
    conf = tmp_path / "router.conf"
    text = router_text(profile(ca=ca.certificate, own=server, **attributes), listener(sslProfile="tls"))
    conf.write_text(text)
    line = text[: text.index(f"{complaint.split()[0]}: ")].count("\n") + 1
    for arguments in (("--check", "--strict"), ("--in-process", "--strict")):
        done = run("-c", str(conf), *arguments)
        said = f"{conf}: line {line}: sslProfile tls: {complaint}"
        assert (done.returncode, said in done.stderr) == (1, True), done.stderr
        assert "wr0ng" not in done.stderr


def test_the_password_of_a_key_is_found_in_each_form(ca: Authority, tmp_path: Path) -> None:
    locked = ca.issue(password="secret")
    place = tmp_path / "password"
    place.write_text("secret\nmore\n")
    forms = ({"password": "pass:secret"}, {"password": "literal:secret"}, {"password": "secret"})
    files = ({"password": f"file:{place}"}, {"passwordFile": str(place)}, {"password": "env:KEY_PASSWORD"})
    conf = tmp_path / "router.conf"
    conf.write_text(router_text(*(profile(f"p{n}", own=locked, **one) for n, one in enumerate((*forms, *files)))))
    done = subprocess.run(
        [sys.executable, "-m", "routerd.cli.routerd", "-c", str(conf), "--check"],
        cwd=ROOT,
        env=environment() | {"KEY_PASSWORD": "secret"},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
    )
    assert (done.returncode, done.stdout) == (0, f"{conf}: no errors\n"), done.stderr
    assert done.stderr.count("It is unsafe to provide plain text passwords in the config file") == 3


def end_of(certificate: Path) -> int:
    """Return when a certificate ends, as OpenSSL's own tool says it."""
    command = ["openssl", "x509", "-in", str(certificate), "-noout", "-enddate"]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=WITHIN_S)
    return int(ssl.cert_time_to_seconds(told.stdout.strip().removeprefix("notAfter=")))


def test_profiles_are_created_used_and_deleted_at_run_time(ca: Authority, server: Identity, tmp_path: Path) -> None:
    files = {"caCertFile": str(ca.certificate), "certFile": str(server.certificate)}
    locked = ca.issue(password="secret")
    with running(listener("plain")) as router, ManagementClient(router.port) as management:
        port = free_port()
        place = {"host": "127.0.0.1", "port": str(port), "sslProfile": "late", "requireSsl": True}
        identity = f"listener/127.0.0.1:{port}:clients"
        told = management.create("listener", "clients", **place)
        assert (told.status, told.description) == (400, "sslProfile: there is no sslProfile with the name 'late'")
        told = management.create("sslProfile", "late", **files, privateKeyFile="/nowhere")
        assert (told.status, told.description) == (
            400,
            "sslProfile late: privateKeyFile /nowhere: No such file or directory",
        )
        own = {"certFile": str(locked.certificate), "privateKeyFile": str(locked.key), "password": "pass:secret"}
        created = management.create("sslProfile", "late", **files | own)
        assert (created.status, created.body["identity"]) == (201, "sslProfile/late")
        assert "secret" not in json.dumps(created.body)
        assert "secret" not in json.dumps(management.query("sslProfile"))
        [row] = management.query("certificate", "profile", "expiry")
        assert row == {"profile": "late", "expiry": end_of(locked.certificate)}
        assert management.create("listener", "clients", **place).status == 201
        with ProtonClient(port, tls=proton_domain(ca)) as client:
            told = management.delete("sslProfile", "late")
            assert (told.status, told.description) == (400, f"sslProfile 'late' is in use by {identity}")
            assert management.delete("listener", "clients").status == 204
            assert management.delete("sslProfile", "late").status == 204
            # Nothing is closed by that.
            consumer = client.consumer("through")
            assert client.producer("through").send("still there").outcome() == "accepted"
            assert consumer.take().body == "still there"
        assert management.query("sslProfile") == []


@pytest.mark.parametrize("fault", [{"caCertFile": "/nowhere"}, {"protocols": "TLSv1.2 TLSv7"}, {"name": "other"}])
def test_a_profile_that_cannot_be_used_keeps_out_only_who_needs_it(
    ca: Authority, server: Identity, fault: dict[str, object]
) -> None:
    with running(
        profile(ca=ca.certificate, own=server),
        profile(**{"name": "broken", "own": server} | fault),  # type: ignore[arg-type]
        listener("whole", sslProfile="tls", requireSsl="yes"),
        listener("refused", sslProfile="broken", requireSsl="yes"),
    ) as router:
        with secured(router.port_of("whole"), client_context(ca), TLS_HEADER):
            assert router.log().count("broken") >= 1
        with pytest.raises((ssl.SSLError, ConnectionError, EOFError)), secured(
            router.port_of("refused"), client_context(ca)
        ):
            pass
        assert re.search(r"CONN_MGR \(error\) .*(sslProfile broken|the name 'broken')", router.log())


def test_routerbench_measures_over_tls(router: RunningRouter, ca: Authority) -> None:
    command = (sys.executable, "-m", "routerd.cli.routerbench", "--json", "--quiet", "--count", "200")
    place = ("--connect", f"localhost:{router.port_of('must')}", "--ca", str(ca.certificate))
    done = subprocess.run(
        [*command, *place], cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=WITHIN_S
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["received"] == 200


def test_a_peer_that_stops_is_cut_also_where_no_time_is_configured(
    router: RunningRouter, stalled: socket.socket
) -> None:
    assert stalled.recv(100) == b""
    assert re.search(r"\[C\d+\] Connection from \S+ \(to \S+\) failed: no end of the handshake in 10 s", router.log())


@pytest.mark.parametrize(
    ("attributes", "user"),
    [
        ({"uidFormat": "n", "uidNameMappingFile": "NAMES"}, "somebody"),
        ({"uidFormat": "x"}, "CN=client,OU=Dev,O=Org,L=Raleigh,ST=NC,C=US"),
    ],
)
def test_a_client_is_who_its_certificate_says(
    ca: Authority, server: Identity, tmp_path: Path, attributes: dict[str, str], user: str
) -> None:
    names = tmp_path / "names.json"
    names.write_text('{"client": "somebody"}')
    given = {name: value.replace("NAMES", str(names)) for name, value in attributes.items()}
    own = ca.issue(CLIENT_SUBJECT, hosts="")
    strict = listener("tls", sslProfile="tls", requireSsl="yes", saslMechanisms="EXTERNAL", authenticatePeer="yes")
    with running(profile(ca=ca.certificate, own=server, **given), strict) as router:
        command = (sys.executable, "-m", "routerd.cli.routermanage", "-b", f"amqps://localhost:{router.port}")
        files = ("--ssl-certificate", str(own.certificate), "--ssl-key", str(own.key))
        trust = ("--ssl-trustfile", str(ca.certificate), "--sasl-mechanisms", "EXTERNAL")
        done = subprocess.run(
            [*command, *files, *trust, "QUERY", "--type=connection", "user", "sasl", "isAuthenticated"],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [{"user": user, "sasl": "EXTERNAL", "isAuthenticated": True}]
