"""The SASL layer (5.3), both roles: objects that take the peer's SASL frames and return the frames to send."""

from routerd.wire.sasl.anonymous import AnonymousClient, AnonymousServer
from routerd.wire.sasl.authorization import Authorize
from routerd.wire.sasl.client import SaslClient
from routerd.wire.sasl.exchange import (
    AuthenticationUnavailable,
    Challenge,
    ClientMechanism,
    ClientMechanismFactory,
    Failure,
    NoCommonMechanism,
    SaslCode,
    SaslFailed,
    SaslFrame,
    SaslLimits,
    ServerMechanism,
    ServerMechanismFactory,
    Step,
    Success,
)
from routerd.wire.sasl.external import ExternalClient, ExternalServer
from routerd.wire.sasl.plain import PlainClient, PlainServer
from routerd.wire.sasl.scram import SCRAM_MECHANISMS, ScramClient, ScramServer
from routerd.wire.sasl.scram_credentials import ScramCredentials, ScramDecoys
from routerd.wire.sasl.server import SaslServer

__all__ = [
    "SCRAM_MECHANISMS",
    "AnonymousClient",
    "AnonymousServer",
    "AuthenticationUnavailable",
    "Authorize",
    "Challenge",
    "ClientMechanism",
    "ClientMechanismFactory",
    "ExternalClient",
    "ExternalServer",
    "Failure",
    "NoCommonMechanism",
    "PlainClient",
    "PlainServer",
    "SaslClient",
    "SaslCode",
    "SaslFailed",
    "SaslFrame",
    "SaslLimits",
    "SaslServer",
    "ScramClient",
    "ScramCredentials",
    "ScramDecoys",
    "ScramServer",
    "ServerMechanism",
    "ServerMechanismFactory",
    "Step",
    "Success",
]
