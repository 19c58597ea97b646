"""The launcher's authority, which lets the workers of its router know each other when they are on different hosts.

It lives for as long as it takes to sign one certificate for each worker; its key is forgotten then, so nobody can sign
another. The openssl command does it, with what is secret in its standard streams and in files that are memory.
"""

import os
import secrets
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from actors.errors import AuthorityUnavailable
from routerd.io import FabricKeys, fabric_name

_WITHIN_S = 20.0
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "-")
_FORM = """[req]
distinguished_name = subject
x509_extensions = {kind}
[subject]
[authority]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[worker]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth, clientAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = DNS:{name}
"""
_AUTHORITY = "authority.fabric"
_CERTIFICATE = "-----BEGIN CERTIFICATE-----"
# For the end of the form's date; nothing that verifies them looks at it.
_DAYS = 36500


def keys_for(workers: Iterable[int]) -> dict[int, FabricKeys]:
    """Return what each worker is to have; raises AuthorityUnavailable."""
    token = secrets.token_urlsafe(32)
    made = _request("authority", _AUTHORITY)
    key, certificate = _parts(made)
    keys = {}
    with _in_memory(certificate) as signer, _in_memory(key) as signer_key:
        for worker in workers:
            signed_by = ("-CA", _path(signer), "-CAkey", _path(signer_key))
            chain = _request("worker", fabric_name(worker), *signed_by, files=(signer, signer_key))
            keys[worker] = FabricKeys(token=token, authority=certificate, chain=chain)
    return keys


def token_for(workers: Iterable[int]) -> dict[int, FabricKeys]:
    """Return the same for workers that never leave the launcher's host."""
    token = secrets.token_urlsafe(32)
    return {worker: FabricKeys(token=token) for worker in workers}


def _request(kind: str, name: str, *arguments: str, files: tuple[int, ...] = ()) -> str:
    """Return a new key and the certificate for it."""
    with _in_memory(_FORM.format(kind=kind, name=name)) as form:
        about = ("-subj", f"/CN={name}", "-days", str(_DAYS), "-batch", "-config", _path(form))
        command = ["openssl", "req", "-x509", *_KEY, *about, *arguments]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_WITHIN_S, pass_fds=(form, *files)
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise AuthorityUnavailable(str(error)) from error
    if done.returncode:
        raise AuthorityUnavailable(done.stderr.decode(errors="replace").strip())
    return done.stdout.decode()


def _parts(made: str) -> tuple[str, str]:
    key, _, certificate = made.partition(_CERTIFICATE)
    return key, f"{_CERTIFICATE}{certificate}"


def _path(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"


@contextmanager
def _in_memory(text: str) -> Iterator[int]:
    """Yield the descriptor of a file that is nowhere but in memory."""
    descriptor = os.memfd_create("fabric", os.MFD_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
        yield descriptor
    finally:
        os.close(descriptor)
