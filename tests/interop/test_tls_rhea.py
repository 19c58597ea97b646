"""rhea over TLS through a router."""

from collections.abc import Iterator

import pytest

from tests.interop.certificates import CLIENT_SUBJECT, Authority, absence
from tests.interop.conftest import StartPeer
from tests.interop.scenarios import in_order
from tests.interop.tls_routers import profile, running
from tests.system.routers import RunningRouter, listener

pytestmark = pytest.mark.skipif(absence() is not None, reason=str(absence()))


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def router(ca: Authority) -> Iterator[RunningRouter]:
    other = ca.issue(hosts="DNS:elsewhere.example")
    profiles = [profile(ca=ca.certificate, own=ca.issue()), profile("other", own=other)]
    listeners = [
        listener("tls", sslProfile="tls", requireSsl="yes"),
        listener("wrong", sslProfile="other", requireSsl="yes"),
    ]
    with running(*profiles, *listeners) as router:
        yield router


def test_rhea_sends_to_rhea_over_tls(start_peer: StartPeer, router: RunningRouter, ca: Authority) -> None:
    own = ca.issue(CLIENT_SUBJECT, hosts="")
    files = {"ca": str(ca.certificate), "cert": str(own.certificate), "key": str(own.key)}
    options = {"port": router.port_of("tls"), "messages": 20, "size": 100_000, "address": "rhea", **files}
    receiver = start_peer("rhea", "client", "receive", **options)
    receiver.wait_for("attached")
    told, seen = start_peer("rhea", "client", "send", **options).finish(), receiver.finish()
    assert [fact["state"] for fact in in_order(told, "outcome")] == ["accepted"] * 20
    assert [fact["octets"] for fact in in_order(seen, "received")] == [100_000] * 20


def test_rhea_does_not_trust_a_certificate_for_another_host(
    start_peer: StartPeer, router: RunningRouter, ca: Authority
) -> None:
    told = start_peer("rhea", "client", "open", port=router.port_of("wrong"), ca=str(ca.certificate)).finish()
    assert told[-1]["opened"] is False
