"""Security contexts of a made-up kind, with no secret in them: what is proved is that the octets are the right ones."""

from routerd.wire.sasl import SaslFailed

SEAL = b"sealed "


class MadeUpContext:
    """Says `says` one after the other, wants `wants`, and is established when it has both."""

    def __init__(self, says=(), wants=(), peer="alice"):
        self._says, self._wants = list(says), list(wants)
        self.peer = peer
        self.is_established = False

    def is_peer(self, name):
        return name in (self.peer, f"{self.peer}@REALM")

    def step(self, token):
        if token is not None and (not self._wants or token != self._wants.pop(0)):
            raise SaslFailed(f"{token!r} is not a token")
        said = self._says.pop(0) if self._says else b""
        self.is_established = not self._says and not self._wants
        return said

    def wrap(self, message):
        return SEAL + message

    def unwrap(self, token):
        if not token.startswith(SEAL):
            raise SaslFailed(f"{token!r} is not sealed")
        return token.removeprefix(SEAL)


def initiator():
    """Return a client's context: three tokens in all."""
    return MadeUpContext(says=[b"hello"], wants=[b"who?"])


def acceptor():
    """Return the server's."""
    return MadeUpContext(says=[b"who?"], wants=[b"hello"])
