"""The SASL layer of an engine peer, from its options."""

import secrets
from typing import Any

from routerd.wire.sasl import (
    AnonymousClient,
    AnonymousServer,
    ClientMechanismFactory,
    PlainClient,
    PlainServer,
    SaslClient,
    SaslServer,
    ScramClient,
    ScramCredentials,
    ScramDecoys,
    ScramServer,
    ServerMechanismFactory,
)

HOST = "localhost"


def nonce() -> str:
    return secrets.token_urlsafe(18)


def client_side(options: dict[str, Any]) -> SaslClient | None:
    """Return the layer of a client, None without a mechanism."""
    mechanism = options["mechanism"]
    if not mechanism:
        return None
    return SaslClient([client_mechanism(mechanism, options["user"], options["password"])], hostname=HOST)


def client_mechanism(name: str, user: str, password: str) -> ClientMechanismFactory:
    if name == "ANONYMOUS":
        return AnonymousClient()
    return PlainClient(user, password) if name == "PLAIN" else ScramClient(name, user, password, nonce)


def server_side(options: dict[str, Any]) -> SaslServer | None:
    """Return the layer of a server, None if it offers no mechanism."""
    mechanisms = [server_mechanism(name, options) for name in options["mechanisms"]]
    return SaslServer(mechanisms) if mechanisms else None


def server_mechanism(name: str, options: dict[str, Any]) -> ServerMechanismFactory:
    users: dict[str, str] = options["users"]
    if name == "ANONYMOUS":
        return AnonymousServer()
    if name == "PLAIN":
        return PlainServer(lambda user, password: users.get(user) == password)
    stored = {user: verifier(name, password, options["impostor"]) for user, password in users.items()}
    return ScramServer(
        name, stored.get, ScramDecoys(secrets.token_bytes(16)), nonce, proof_in_outcome=options["proof_in_outcome"]
    )


def verifier(name: str, password: str, is_impostor: bool) -> ScramCredentials:
    """Return what is stored for a password; an impostor cannot prove that it has it."""
    genuine = ScramCredentials.derive(name, password, salt=secrets.token_bytes(16))
    if not is_impostor:
        return genuine
    invented = secrets.token_bytes(len(genuine.server_key))
    return ScramCredentials(genuine.salt, genuine.stored_key, invented, genuine.iterations)
