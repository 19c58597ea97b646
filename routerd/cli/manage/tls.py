"""TLS around the socket to a router; in a separate module, since `ssl` is slow to import."""

import socket
import ssl

from routerd.cli.manage.bus import Bus
from routerd.cli.manage.failures import Unreachable, WrongUse
from routerd.cli.manage.stream import SocketStream, TlsOptions


class TlsStream(SocketStream):
    """A stream with TLS; what the router says of ours may come when the handshake is over on our side."""

    def __init__(self, sock: ssl.SSLSocket, bus: Bus) -> None:
        super().__init__(sock)
        self._bus = bus

    def receive(self, timeout_s: float) -> bytes:
        """Return what has come, nothing at the end; TimeoutError if nothing comes in time."""
        try:
            return super().receive(timeout_s)
        except ssl.SSLError as error:
            if error.reason is None or "ALERT" not in error.reason:
                raise
            raise failure(self._bus, error) from error


def secured(sock: socket.socket, bus: Bus, options: TlsOptions) -> TlsStream:
    """Return a stream with TLS on a socket, the router's certificate being checked; Unreachable if that fails."""
    try:
        return TlsStream(context(options).wrap_socket(sock, server_hostname=bus.host), bus)
    except OSError as error:
        sock.close()
        raise failure(bus, error) from error
    except WrongUse:
        sock.close()
        raise


def context(options: TlsOptions) -> ssl.SSLContext:
    """Return the context that the options ask for; WrongUse if a file cannot be read."""
    for option, file in (
        ("--ssl-trustfile", options.trustfile),
        ("--ssl-certificate", options.certificate),
        ("--ssl-key", options.key),
    ):
        if file is not None:
            _check_readable(option, file)
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = options.is_name_checked
    if options.trustfile:
        made.load_verify_locations(options.trustfile)
    else:
        made.load_default_certs()
    if options.certificate:
        made.load_cert_chain(options.certificate, options.key, options.password)
    return made


def _check_readable(option: str, file: str) -> None:
    try:
        with open(file, "rb") as found:
            found.read(1)
    except OSError as error:
        raise WrongUse(f"{option} {file}: {error.strerror}") from error


def failure(bus: Bus, error: OSError) -> Unreachable:
    """Return what to tell of TLS that was not established."""
    if isinstance(error, ssl.SSLCertVerificationError):
        hint = "--ssl-trustfile names the authority that signed it"
        if error.verify_code in (62, 64):
            hint = "-b has to name the router as its certificate does, or --ssl-disable-peer-name-verify be given"
        return Unreachable(bus.where, f"its certificate is not trusted: {error.verify_message.rstrip('.')}", hint)
    if isinstance(error, ssl.SSLError):
        reason = (error.reason or str(error)).replace("_", " ").lower()
        if "certificate required" in reason:
            return Unreachable(bus.where, "it wants to see a certificate", "--ssl-certificate and --ssl-key show one")
        if error.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNEXPECTED_EOF_WHILE_READING"):
            return Unreachable(
                bus.where, f"what listens there does not speak TLS ({reason})", "amqp:// connects without TLS"
            )
        return Unreachable(bus.where, f"TLS failed: {reason}")
    if isinstance(error, TimeoutError):
        return Unreachable(bus.where, "no answer to TLS", "amqp:// connects without TLS")
    return Unreachable(bus.where, f"TLS failed: {error.strerror or error}", "amqp:// connects without TLS")
