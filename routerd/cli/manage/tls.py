"""TLS around the socket to a router; a module of its own since `ssl` takes its time to import."""

import socket
import ssl

from routerd.cli.manage.bus import Bus
from routerd.cli.manage.failures import Unreachable
from routerd.cli.manage.stream import TlsOptions


def wrapped(sock: socket.socket, bus: Bus, options: TlsOptions) -> ssl.SSLSocket:
    """Return the socket with TLS on it, the router's certificate being checked; Unreachable if that fails."""
    try:
        return context(options).wrap_socket(sock, server_hostname=bus.host)
    except OSError as error:
        sock.close()
        raise failure(bus, error) from error


def context(options: TlsOptions) -> ssl.SSLContext:
    """Return the context that the options ask for."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = options.is_name_checked
    if options.trustfile:
        made.load_verify_locations(options.trustfile)
    else:
        made.load_default_certs()
    if options.certificate:
        made.load_cert_chain(options.certificate, options.key, options.password)
    return made


def failure(bus: Bus, error: OSError) -> Unreachable:
    """Return what to tell of TLS that was not established."""
    if isinstance(error, ssl.SSLCertVerificationError):
        hint = "--ssl-trustfile names the authority that signed it"
        if error.verify_code in (62, 64):
            hint = "-b has to name the router as its certificate does, or --ssl-disable-peer-name-verify be given"
        return Unreachable(bus.where, f"its certificate is not trusted: {error.verify_message.rstrip('.')}", hint)
    if isinstance(error, ssl.SSLError):
        reason = (error.reason or str(error)).replace("_", " ").lower()
        if error.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNEXPECTED_EOF_WHILE_READING"):
            return Unreachable(
                bus.where, f"what listens there does not speak TLS ({reason})", "amqp:// connects without TLS"
            )
        return Unreachable(bus.where, f"TLS failed: {reason}")
    if isinstance(error, FileNotFoundError):
        return Unreachable(bus.where, "a file that --ssl-certificate, --ssl-key or --ssl-trustfile names is not there")
    if isinstance(error, TimeoutError):
        return Unreachable(bus.where, "no answer to TLS", "amqp:// connects without TLS")
    return Unreachable(bus.where, f"TLS failed: {error.strerror or error}", "amqp:// connects without TLS")
