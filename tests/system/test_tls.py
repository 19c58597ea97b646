"""TLS at a router with several connection actors: at start, created at run time, and after the death of an actor."""

import shutil
import signal
from pathlib import Path

import pytest

from bench.free_ports import free_port
from tests.interop.certificates import Authority, absence
from tests.interop.tls_routers import profile, proton_domain
from tests.system.conftest import Connect, Manage, Start
from tests.system.routers import THREE_ACTORS, configuration, listener
from tests.waiting import eventually

pytestmark = [
    pytest.mark.skipif(absence() is not None, reason=str(absence())),
    pytest.mark.parametrize("form", [THREE_ACTORS], indirect=True, ids=["ray-3"], scope="session"),
]


def test_all_actors_have_the_profiles(
    start: Start, connect_to: Connect, manage_at: Manage, tmp_path: Path
) -> None:
    ca = Authority(tmp_path)
    own, late = ca.issue(), ca.issue(password="secret")
    place = tmp_path / "late.crt"
    shutil.copy(late.certificate, place)
    domain = proton_domain(ca)
    sections = (profile(own=own), listener("tls", sslProfile="tls", requireSsl="yes"), listener("plain"))
    router = start(configuration(*sections))
    management = manage_at(router.port_of("plain"))
    port = free_port()
    files = {"certFile": str(place), "privateKeyFile": str(late.key), "password": "pass:secret"}
    broken = management.create("sslProfile", "late", **files | {"password": "pass:wrong"})
    reason = f"sslProfile late: privateKeyFile {late.key}: the password is wrong"
    assert (broken.status, broken.description) == (400, reason)
    assert management.create("sslProfile", "late", **files).status == 201
    told = management.create("listener", "more", host="127.0.0.1", port=str(port), sslProfile="late", requireSsl=True)
    assert told.status == 201

    def exchange(address: str) -> None:
        consumer = connect_to(router.port_of("tls"), tls=domain).consumer(address)
        for number in range(6):
            # The connections are spread over the actors.
            producer = connect_to(port, tls=domain).producer(address)
            assert producer.send(f"{address} {number}").outcome() == "accepted"
        assert consumer.wait_for(6) == [f"{address} {number}" for number in range(6)]

    exchange("before")
    before = router.actors()
    victim = before["connection.1"]
    victim.signal(signal.SIGKILL)
    eventually(lambda: router.actors()["connection.1"] != victim, "the actor is started again")
    # The connection of before may have been one of the victim's.
    management = manage_at(router.port_of("plain"))
    eventually(lambda: len(management.query("connectionActor")) == THREE_ACTORS.actors, "all actors are there")
    exchange("after")
    assert {row["isEncrypted"] for row in management.query("connection") if row["container"].startswith("client")} == {
        True
    }
    in_use = f"sslProfile 'late' is in use by {told.body['identity']}"
    assert management.delete("sslProfile", "late").description == in_use
    assert "secret" not in router.log()
