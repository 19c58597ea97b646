"""Certificates for tests, made with the openssl command."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

WITHIN_S = 20.0
CLIENT_SUBJECT = "/C=US/ST=NC/L=Raleigh/O=Org/OU=Dev/CN=client"
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")


def openssl(*arguments: str, cwd: Path | None = None, given: bytes = b"") -> bytes:
    """Run the command to its end, and return its output."""
    done = subprocess.run(["openssl", *arguments], cwd=cwd, input=given, capture_output=True, timeout=WITHIN_S)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout


def absence() -> str | None:
    """Return why no certificates can be made here, or None."""
    return None if shutil.which("openssl") else "the openssl command is not installed"


@dataclass(frozen=True, slots=True)
class Identity:
    """A certificate and its key."""

    certificate: Path
    key: Path

    @property
    def der(self) -> bytes:
        """The certificate as DER."""
        return openssl("x509", "-in", str(self.certificate), "-outform", "DER")


class Authority:
    """Who signs certificates; its own is in `certificate`."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._name = name
        self._count = 0
        self.certificate = folder / f"{name}.crt"
        self._key = folder / f"{name}.key"
        about = ("-subj", f"/CN={name}", "-days", "30", "-nodes")
        openssl("req", "-x509", *_KEY, *about, "-keyout", str(self._key), "-out", str(self.certificate))

    def issue(
        self,
        subject: str = "/CN=localhost",
        *,
        hosts: str = "DNS:localhost,IP:127.0.0.1",
        days: int = 30,
        password: str | None = None,
    ) -> Identity:
        """Return a new certificate that this authority has signed; one of -1 days has expired."""
        self._count += 1
        stem = self._folder / f"{self._name}-{self._count}"
        request, extensions = stem.with_suffix(".csr"), stem.with_suffix(".ext")
        found = Identity(stem.with_suffix(".crt"), stem.with_suffix(".key"))
        secret = ("-nodes",) if password is None else ("-passout", f"pass:{password}")
        openssl("req", *_KEY, *secret, "-subj", subject, "-keyout", str(found.key), "-out", str(request), "-utf8")
        extensions.write_text(f"subjectAltName={hosts}\n" if hosts else "")
        signer = ("-CA", str(self.certificate), "-CAkey", str(self._key), "-CAcreateserial")
        files = ("-in", str(request), "-extfile", str(extensions), "-out", str(found.certificate))
        openssl("x509", "-req", *signer, *files, "-days", str(days))
        return found
