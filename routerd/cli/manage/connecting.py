"""The options that both tools connect by, with the names that qdstat gave them, and the connection they make."""

import argparse
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from routerd.cli.manage.bus import DEFAULT_HOST, Bus, parse_bus
from routerd.cli.manage.client import ManagementClient
from routerd.cli.manage.credentials import Credentials, sasl_client
from routerd.cli.manage.dialing import connect
from routerd.cli.manage.failures import WrongUse
from routerd.cli.manage.node import node_address
from routerd.cli.manage.stream import TlsOptions

DEFAULT_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A management node, and how to get there."""

    bus: Bus
    address: str
    tls: TlsOptions
    credentials: Credentials
    timeout_s: float = DEFAULT_TIMEOUT_S


def add_target_options(parser: argparse.ArgumentParser) -> "argparse._MutuallyExclusiveGroup":
    """Add the options that say which router is asked."""
    group = parser.add_argument_group("which router", "the one that is connected to, unless another is named")
    targets = group.add_mutually_exclusive_group()
    targets.add_argument("-r", "--router", metavar="ROUTER-ID", help="the interior router of this id")
    targets.add_argument("-d", "--edge-router", metavar="EDGE-ROUTER-ID", help="the edge router of this id")
    return targets


def add_connection_options(parser: argparse.ArgumentParser, program: str) -> None:
    """Add the options of the connection."""
    group = parser.add_argument_group("connection")
    add = group.add_argument
    add(
        *("-b", "--bus"),
        default=DEFAULT_HOST,
        metavar="URL",
        help="where to connect: [amqp[s]://][user:password@]host[:port][/address] [%(default)s]",
    )
    add(
        *("-t", "--timeout"),
        type=_seconds,
        default=DEFAULT_TIMEOUT_S,
        metavar="SECS",
        help="how long to wait for the connection, and for each answer [%(default)g]",
    )
    add("--ssl-certificate", metavar="FILE", help="our certificate, as PEM; connects with TLS")
    add("--ssl-key", metavar="FILE", help="its private key, as PEM, where that is a file of its own")
    add("--ssl-trustfile", metavar="FILE", help="the authorities to trust, as PEM; connects with TLS")
    add("--ssl-password", metavar="PASSWORD", help="of the private key; asked for if needed")
    add("--ssl-password-file", metavar="FILE", help="a file with that password, which no list of processes shows")
    add(
        "--ssl-disable-peer-name-verify",
        action="store_true",
        help="do not ask that the router's certificate names its host; not for production",
    )
    add(
        "--sasl-mechanisms",
        metavar="MECHANISMS",
        help="the ones to log in by, separated by blanks or commas, the best first; without options of TLS and SASL "
        f"{program} does not log in at all",
    )
    add("--sasl-username", metavar="NAME", help="who logs in")
    add("--sasl-password", metavar="PASSWORD", help="the password of that name; asked for if needed")
    add("--sasl-password-file", metavar="FILE", help="a file with that password, which no list of processes shows")


def place_of(options: argparse.Namespace) -> Place:
    """Return where the options lead; WrongUse if they make no sense."""
    bus = parse_bus(options.bus, is_tls=bool(options.ssl_certificate or options.ssl_trustfile))
    username = options.sasl_username or bus.username
    mechanisms = tuple((options.sasl_mechanisms or "").replace(",", " ").split())
    return Place(
        bus=bus,
        address=bus.path or node_address(router=options.router, edge=options.edge_router),
        tls=TlsOptions(
            certificate=options.ssl_certificate,
            key=options.ssl_key,
            trustfile=options.ssl_trustfile,
            password=_password(options.ssl_password, options.ssl_password_file),
            is_name_checked=not options.ssl_disable_peer_name_verify,
        ),
        credentials=Credentials(
            mechanisms=mechanisms,
            username=username,
            password=_login_password(options, bus, username, mechanisms),
            has_certificate=bool(options.ssl_certificate),
            is_tls=bus.is_tls,
        ),
        timeout_s=options.timeout,
    )


def open_client(place: Place, program: str) -> ManagementClient:
    """Return an open connection to a router; ToolFailed says why there is none."""
    sasl = sasl_client(place.credentials, place.bus.host)
    client = ManagementClient(
        connect(place.bus, place.tls, place.timeout_s),
        place.bus.where,
        hostname=place.bus.host,
        container_id=f"{program}-{os.getpid()}-{time.time_ns():x}",
        sasl=sasl,
        timeout_s=place.timeout_s,
        clock=time.monotonic,
    )
    try:
        client.open()
    except BaseException:
        client.close()
        raise
    return client


def _login_password(
    options: argparse.Namespace, bus: Bus, username: str | None, mechanisms: tuple[str, ...]
) -> str | None:
    password = _password(options.sasl_password, options.sasl_password_file) or bus.password
    needs_none = mechanisms and set(mechanisms) <= {"ANONYMOUS", "EXTERNAL"}
    if password is None and username and not needs_none and sys.stdin.isatty():
        from getpass import getpass

        password = getpass(f"Password of {username}: ")
    return password


def _password(given: str | None, file: str | None) -> str | None:
    if file is None:
        return given
    try:
        return Path(file).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUse(f"the password in {file} cannot be read: {getattr(error, 'strerror', error)}") from None


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < 1e6:
        raise ValueError(text)
    return seconds


_seconds.__name__ = "time"
