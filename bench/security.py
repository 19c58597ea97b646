"""What TLS costs: the same messages and connections at a listener with it and at one without.

Each repetition measures in clear text and over TLS 1.3, one after the other, so that both see the same machine; a ratio
is the median of the ratios of the repetitions. Router and clients are both encrypting and decrypting.
"""

import argparse
import contextlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.load_runs import Held, LoadFailed, routerbench
from bench.report import Row
from bench.router import QUICK, THOROUGH, Effort, allow_many_files
from bench.router_process import RouterProcess

LARGE = 65_536
IDLE_CONNECTIONS = 1_000

_LISTENERS = (
    # Name, credit for producers, whether it is TLS that is spoken there.
    ("clear", 1000, False),
    ("tls", 1000, True),
    ("narrowclear", 100, False),
    ("narrowtls", 100, True),
)


@dataclass(frozen=True, slots=True)
class Bench:
    """The arguments of a case: the router, the file with its certificate's authority, and how much to measure."""

    effort: Effort
    router: RouterProcess
    authority: str

    def measure(self, case: str, target: float, listeners: tuple[str, str], options: Sequence[str] = ()) -> list[Row]:
        """Return the rates of messages in clear text and over TLS, their ratio, and what the router takes for each."""
        rates: list[tuple[float, float]] = []
        cpu_us: list[tuple[float, float]] = []
        for _ in range(self.effort.repetitions):
            found = [self._run(listener, options) for listener in listeners]
            rates.append((found[0][0], found[1][0]))
            cpu_us.append((found[0][1], found[1][1]))
        return [
            Row(f"{case}: clear text", statistics.median(clear for clear, _ in rates), "messages/s"),
            Row(f"{case}: TLS", statistics.median(tls for _, tls in rates), "messages/s"),
            Row(f"{case}: ratio", statistics.median(tls / clear for clear, tls in rates), "of clear text", target),
            # That of the router: other work on the machine changes the rates, and this hardly.
            Row(f"{case}: CPU, clear text", statistics.median(clear for clear, _ in cpu_us), "us a message"),
            Row(f"{case}: CPU, TLS", statistics.median(tls for _, tls in cpu_us), "us a message"),
        ]

    def options(self, listener: str) -> tuple[str, ...]:
        """Return what routerbench has to know of a listener."""
        return ("--ca", self.authority) if listener.endswith("tls") else ()

    def _run(self, listener: str, options: Sequence[str]) -> tuple[float, float]:
        before_s = self.router.cpu_s()
        arguments = (*options, *self.options(listener), *self.effort.span)
        figures = routerbench(self.router.places[listener], *arguments)
        messages = figures["received"] + figures["warmup"]["received"]
        return figures["received_per_s"], (self.router.cpu_s() - before_s) / messages * 1e6


def tls(bench: Bench) -> list[Row]:
    """One sender to one receiver, with bodies of 100 octets and of 64 KiB."""
    small = bench.measure("TLS 1.3, 100 B bodies", 0.6, ("clear", "tls"))
    size = ("--size", str(LARGE), "--credit", "100")
    return small + bench.measure("TLS 1.3, 64 KiB bodies", 0.35, ("narrowclear", "narrowtls"), size)


def idle(bench: Bench) -> list[Row]:
    """Memory of an idle connection."""
    rows = []
    for listener, words in (("clear", "clear text"), ("tls", "TLS")):
        # Of a router that has had no others: it would use again what they left.
        with _router(bench.authority) as router:
            before = router.memory_bytes()
            held = Held(router.places[listener], IDLE_CONNECTIONS, options=bench.options(listener))
            try:
                bytes_each = (router.memory_bytes() - before) / IDLE_CONNECTIONS
            finally:
                held.release()
        rows.append(Row(f"idle connection, {words}", bytes_each, "bytes"))
    return rows


CASES: dict[str, Callable[[Bench], list[Row]]] = {"tls": tls, "idle": idle}


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the options of this benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench security", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short repetition, for development")
    parser.add_argument("--case", action="append", choices=CASES, help="only this one; may be given again")
    return parser.parse_args(arguments)


def run(options: argparse.Namespace | None = None) -> list[Row]:
    """Measure every case, or those that were asked for."""
    options = options or parse([])
    with tempfile.TemporaryDirectory(prefix="bench-security-") as folder, allow_many_files():
        authority = make_certificate(Path(folder))
        with _router(authority) as router:
            bench = Bench(QUICK if options.quick else THOROUGH, router, authority)
            return [row for case in options.case or CASES for row in _rows_of(case, bench)]


def _rows_of(case: str, bench: Bench) -> list[Row]:
    try:
        return CASES[case](bench)
    except LoadFailed as error:
        # The other cases are worth having all the same.
        print(f"{case}: {error}", file=sys.stderr)
        return []


def make_certificate(folder: Path) -> str:
    """Make a certificate, with its key behind it, that is its own authority; return the file."""
    key, certificate = folder / "router.key", folder / "router.crt"
    kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    names = ("-subj", "/CN=bench", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2")
    command = ["openssl", "req", "-x509", *kind, *names, "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    certificate.write_text(certificate.read_text() + key.read_text())
    return str(certificate)


def _router(certificate: str) -> contextlib.AbstractContextManager[RouterProcess]:
    return secured_router(certificate, *(listener_text(*one) for one in _LISTENERS))


@contextlib.contextmanager
def secured_router(certificate: str, *listeners: str) -> Iterator[RouterProcess]:
    """Start a router with a certificate and these listeners."""
    profile = f"sslProfile {{\n    name: bench\n    certFile: {certificate}\n}}\n"
    router = "router {\n    mode: standalone\n    id: Bench\n}\nlog {\n    module: DEFAULT\n    enable: notice+\n}\n"
    with RouterProcess("--in-process", configuration="".join((router, profile, *listeners))) as started:
        yield started


def listener_text(name: str, credit: int, is_tls: bool, more: str = "") -> str:
    """Return the section of a listener; with TLS it uses the certificate."""
    secured = "    sslProfile: bench\n    requireSsl: yes\n" if is_tls else ""
    plain = f"    name: {name}\n    host: 127.0.0.1\n    port: 0\n    linkCapacity: {credit}\n"
    return f"listener {{\n{plain}{secured}{more}}}\n"
