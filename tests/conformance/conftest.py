"""What several of the conformance tests begin with."""

import pytest

from routerd.wire.sasl import AnonymousServer, SaslServer


@pytest.fixture
def sasl_server() -> SaslServer:
    """The server's side of a SASL exchange that lets everybody in."""
    return SaslServer([AnonymousServer()])
