"""The SASL layer (5.3), in both roles: objects take the peer's SASL frames and return frames to send."""

from routerd.wire.sasl.anonymous import AnonymousClient, AnonymousServer
from routerd.wire.sasl.authorization import Authorize
from routerd.wire.sasl.claims import claimed_name
from routerd.wire.sasl.client import SaslClient
from routerd.wire.sasl.exchange import (
    AuthenticationUnavailable,
    Challenge,
    ClientMechanism,
    ClientMechanismFactory,
    Failure,
    NoCommonMechanism,
    Pending,
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
from routerd.wire.sasl.gssapi import GssapiClient, GssapiServer, SecurityContext
from routerd.wire.sasl.plain import PlainClient, PlainServer
from routerd.wire.sasl.relay import RelayEnd, SaslRelay
from routerd.wire.sasl.scram import SCRAM_MECHANISMS, ScramClient, ScramServer
from routerd.wire.sasl.scram_credentials import ScramCredentials, ScramDecoys, prepared
from routerd.wire.sasl.server import Mechanisms, SaslServer

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
    "GssapiClient",
    "GssapiServer",
    "Mechanisms",
    "NoCommonMechanism",
    "Pending",
    "PlainClient",
    "PlainServer",
    "RelayEnd",
    "SaslClient",
    "SaslCode",
    "SaslFailed",
    "SaslFrame",
    "SaslLimits",
    "SaslRelay",
    "SaslServer",
    "ScramClient",
    "ScramCredentials",
    "ScramDecoys",
    "ScramServer",
    "SecurityContext",
    "ServerMechanism",
    "ServerMechanismFactory",
    "Step",
    "Success",
    "claimed_name",
    "prepared",
]
