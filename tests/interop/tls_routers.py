"""Routers with TLS for tests, and what clients of other people's make of them."""

import re
import socket
import ssl
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import proton

from tests.interop.certificates import Authority, Identity
from tests.system.routers import IN_PROCESS, RunningRouter, listener, section
from tests.waiting import WITHIN_S

TLS_HEADER = b"AMQP\x02\x01\x00\x00"
AMQP_HEADER = b"AMQP\x00\x01\x00\x00"
SASL_HEADER = b"AMQP\x03\x01\x00\x00"


def profile(name: str = "tls", *, ca: Path | None = None, own: Identity | None = None, **attributes: object) -> str:
    """Return the section of a profile."""
    files: dict[str, object] = {} if ca is None else {"caCertFile": ca}
    if own is not None:
        files |= {"certFile": own.certificate, "privateKeyFile": own.key}
    return section("sslProfile", name=name, **files | attributes)


def router_text(*sections: str, router_id: str = "R", mode: str = "standalone") -> str:
    """Return a configuration."""
    router = section("router", mode=mode, id=router_id, managementAccess="change", managementFileDir="/")
    return "\n".join([router, section("log", module="DEFAULT", enable="info+", outputFile="stderr"), *sections, ""])


@contextmanager
def running(*sections: str, router_id: str = "R", mode: str = "standalone") -> Iterator[RunningRouter]:
    """Start a router in one process, and see to its end."""
    with tempfile.TemporaryDirectory() as folder:
        router = RunningRouter(Path(folder), IN_PROCESS, router_text(*sections, router_id=router_id, mode=mode))
        try:
            yield router
        finally:
            router.close()


@contextmanager
def tls_router(ca: Authority, own: Identity, *, more: str = "", **of_listener: object) -> Iterator[RunningRouter]:
    """Start a router whose listener `tls` has a profile; `plain` has none."""
    secured = listener("tls", sslProfile="tls", **of_listener)
    with running(profile(ca=ca.certificate, own=own), secured, listener("plain"), *([more] if more else [])) as router:
        yield router


def proton_domain(ca: Authority, own: Identity | None = None) -> proton.SSLDomain:
    """Return what a proton client trusts and shows."""
    domain = proton.SSLDomain(proton.SSLDomain.MODE_CLIENT)
    domain.set_trusted_ca_db(str(ca.certificate))
    domain.set_peer_authentication(proton.SSLDomain.VERIFY_PEER_NAME)
    if own is not None:
        domain.set_credentials(str(own.certificate), str(own.key), None)
    return domain


def s_client(port: int, *arguments: str, given: bytes = b"") -> str:
    """Connect with `openssl s_client`, and return all that it says."""
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-servername", "localhost", *arguments]
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=WITHIN_S)
    return done.stdout.decode(errors="replace")


def negotiated(port: int, *arguments: str) -> str | None:
    """Return the version of TLS that `openssl s_client` gets, None if it gets none."""
    found = re.search(r"Protocol version: (\S+)", s_client(port, "-brief", *arguments))
    return None if found is None else found[1]


def client_context(ca: Authority, own: Identity | None = None) -> ssl.SSLContext:
    """Return what a client of Python's own trusts and shows."""
    context = ssl.create_default_context(cafile=str(ca.certificate))
    if own is not None:
        context.load_cert_chain(own.certificate, own.key)
    return context


@contextmanager
def secured(port: int, context: ssl.SSLContext, opening: bytes = b"") -> Iterator[ssl.SSLSocket]:
    """Connect with TLS, which an exchange of this header may come before."""
    with socket.create_connection(("127.0.0.1", port), timeout=WITHIN_S) as plain:
        if opening:
            plain.sendall(opening)
            assert plain.recv(len(opening), socket.MSG_WAITALL) == opening
        with context.wrap_socket(plain, server_hostname="localhost") as encrypted:
            yield encrypted


def answer_to(port: int, octets: bytes) -> bytes:
    """Return all that a port answers to these octets, to the end of the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=WITHIN_S) as client:
        client.sendall(octets)
        found = b""
        while some := client.recv(4096):
            found += some
        return found
