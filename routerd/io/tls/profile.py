"""What TLS connections are made with: contexts from the files of a profile, made again when these change."""

import json
import os
import re
import ssl
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from routerd.config import SslProfileConfig
from routerd.io.logs import module_log
from routerd.io.tls.peer_identity import (
    CertificateMalformed,
    expiry_of_certificate,
    is_uid_format,
    subject_text,
    user_of_certificate,
)
from routerd.management import Certificate

_VERSIONS = {
    "TLSv1": (ssl.TLSVersion.TLSv1, ssl.OP_NO_TLSv1),
    "TLSv1.1": (ssl.TLSVersion.TLSv1_1, ssl.OP_NO_TLSv1_1),
    "TLSv1.2": (ssl.TLSVersion.TLSv1_2, ssl.OP_NO_TLSv1_2),
    "TLSv1.3": (ssl.TLSVersion.TLSv1_3, ssl.OP_NO_TLSv1_3),
}
_CERTIFICATES = re.compile("-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
_log = module_log("SERVER")

Stamp = tuple[int, int, int] | None
"""By what a file is known to be another: inode, size and time of change; None for a file that is not there."""


class TlsProfileBroken(Exception):
    """No connection can be made with a profile; the text names the file and the reason."""

    def __init__(self, profile: str, attribute: str, what: str | None, reason: str) -> None:
        super().__init__(profile, attribute, what, reason)
        self.profile, self.attribute, self.what, self.reason = profile, attribute, what, reason

    def __str__(self) -> str:
        about = self.attribute if self.what is None else f"{self.attribute} {self.what}"
        return f"sslProfile {self.profile}: {about}: {self.reason}"


@dataclass(frozen=True, slots=True)
class _Demand:
    """A listener's demand for client certificates."""

    is_certificate_due: bool
    trusted_file: str | None
    """The file with the authorities for these certificates; None for those of the profile."""


@dataclass(slots=True)
class _Loaded:
    """The contexts that were made of the files at one time."""

    stamps: dict[str, Stamp]
    names: Mapping[str, str]
    certificate: Certificate | None = None
    """The first certificate of the profile to expire; None without any."""
    servers: dict[_Demand, ssl.SSLContext] = field(default_factory=dict)
    clients: dict[bool, ssl.SSLContext] = field(default_factory=dict)


class TlsProfile:
    """The contexts of one profile. New connections use the latest; others keep the contexts that they began with."""

    def __init__(self, config: SslProfileConfig) -> None:
        """Read the files; raises TlsProfileBroken."""
        self.config = config
        files = (config.ca_file, config.cert_file, config.key_file, config.names_file)
        self._loaded = self._load(_stamps(one for one in files if one is not None))
        self._refused: dict[str, Stamp] | None = None
        """The stamps of files that could not be used, while these files stay the same."""
        if config.uid_format is not None and not is_uid_format(config.uid_format):
            text = "sslProfile %s: Invalid format for uidFormat: %s; the user is the whole subject"
            _log.critical(text, config.name, config.uid_format)

    def server_context(self, *, demands_certificate: bool, trusted_file: str | None = None) -> ssl.SSLContext:
        """Return the context for the connections of a listener; raises TlsProfileBroken.

        If a `trusted_file` is given, client certificates must be signed by an authority in it, or be in it.
        """
        return self._server(self._loaded, _Demand(demands_certificate, trusted_file if demands_certificate else None))

    def client_context(self, *, verifies_name: bool) -> ssl.SSLContext:
        """Return the context for the connections of a connector; raises TlsProfileBroken."""
        return self._client(self._loaded, verifies_name)

    def user_of(self, certificate: bytes) -> str | None:
        """Return the user in a verified certificate."""
        try:
            return user_of_certificate(certificate, self.config.uid_format, self._loaded.names) or None
        except CertificateMalformed as error:
            _log.warning("sslProfile %s: a certificate has no user: %s", self.config.name, error)
            return None

    @property
    def certificate(self) -> Certificate | None:
        """The first of the profile's certificates to expire; None if it has none."""
        return self._loaded.certificate

    def refresh(self) -> bool:
        """Use the files if they have changed; return whether they are used now.

        Files that cannot be used are logged once, and change nothing.
        """
        stamps = _stamps(self._loaded.stamps)
        if stamps in (self._loaded.stamps, self._refused):
            return False
        try:
            loaded = self._load(stamps)
        except TlsProfileBroken as error:
            self._refused = stamps
            _log.warning("%s; the files from before are used", error)
            return False
        self._keep_demands(loaded)
        self._loaded, self._refused = loaded, None
        _log.info("sslProfile %s: its files have changed and hold for new connections", self.config.name)
        return True

    # --- loading

    def _keep_demands(self, loaded: _Loaded) -> None:
        """Renew the contexts of listeners' demands. If a file cannot be used, its listener keeps its context."""
        for demand, context in self._loaded.servers.items():
            if demand.trusted_file is not None:
                try:
                    self._server(loaded, demand)
                except TlsProfileBroken as error:
                    _log.warning("%s; listeners that name it use the files from before", error)
                    loaded.servers[demand] = context

    def _load(self, stamps: dict[str, Stamp]) -> _Loaded:
        config = self.config
        for word in config.unknown_protocols:
            raise self._broken("protocols", word, "this is not a version of TLS")
        for attribute, file in (
            ("caCertFile", config.ca_file),
            ("certFile", config.cert_file),
            ("privateKeyFile", config.key_file),
        ):
            if file is not None:
                self._check_readable(attribute, file)
        loaded = _Loaded(stamps, self._read_names())
        # One context of each kind shows errors in the files; others are made on demand.
        if config.cert_file is not None:
            self._server(loaded, _Demand(False, None))
            loaded.certificate = _first_to_expire(config.cert_file)
        if config.ca_file is not None or config.cert_file is None:
            self._client(loaded, True)
        return loaded

    def _server(self, loaded: _Loaded, demand: _Demand) -> ssl.SSLContext:
        context = loaded.servers.get(demand)
        if context is None:
            if self.config.cert_file is None:
                raise self._broken("certFile", None, "a listener needs a certificate")
            if demand.is_certificate_due and demand.trusted_file is None and self.config.ca_file is None:
                raise self._broken("caCertFile", None, "nobody is trusted to sign the certificates of clients")
            context = self._context(ssl.PROTOCOL_TLS_SERVER)
            if demand.trusted_file is None:
                self._load_authorities(context, "caCertFile", self.config.ca_file)
            else:
                loaded.stamps.setdefault(demand.trusted_file, _stamp(demand.trusted_file))
                self._check_readable("trustedCertsFile", demand.trusted_file)
                self._load_authorities(context, "trustedCertsFile", demand.trusted_file)
                # Each certificate in it is trusted as it is: one that others have signed, and a client's own.
                context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            # Every handshake is a full one, so every certificate is checked against the current files.
            context.options |= ssl.OP_NO_TICKET
            context.num_tickets = 0
            if demand.is_certificate_due:
                context.verify_mode = ssl.CERT_REQUIRED
            loaded.servers[demand] = context
        return context

    def _client(self, loaded: _Loaded, verifies_name: bool) -> ssl.SSLContext:
        context = loaded.clients.get(verifies_name)
        if context is None:
            context = self._context(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = verifies_name
            if self.config.ca_file is None:
                context.load_default_certs()
            self._load_authorities(context, "caCertFile", self.config.ca_file)
            loaded.clients[verifies_name] = context
        return context

    def _context(self, kind: int) -> ssl.SSLContext:
        config = self.config
        context = ssl.SSLContext(kind)
        context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
        _limit_versions(context, config.protocols)
        if config.ciphers is not None:
            try:
                context.set_ciphers(config.ciphers)
            except ssl.SSLError as error:
                raise self._broken("ciphers", config.ciphers, "this names no cipher that OpenSSL has") from error
        if config.cert_file is not None:
            self._load_certificate(context, config.cert_file)
        return context

    def _load_authorities(self, context: ssl.SSLContext, attribute: str, file: str | None) -> None:
        if file is None:
            return
        try:
            context.load_verify_locations(file)
        except ssl.SSLError as error:
            raise self._broken(attribute, file, "this has no certificate in PEM form") from error
        except OSError as error:
            raise self._broken(attribute, file, error.strerror or str(error)) from error

    def _load_certificate(self, context: ssl.SSLContext, file: str) -> None:
        config = self.config
        key_file = config.key_file or file
        password = config.password or ""
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
        except ssl.SSLError as error:
            raise self._broken("certFile", file, "this has no certificate in PEM form") from error
        try:
            # A password comes from here, never from a terminal.
            context.load_cert_chain(file, config.key_file, lambda: password)
        except (ssl.SSLError, ValueError) as error:
            attribute = "certFile" if config.key_file is None else "privateKeyFile"
            raise self._broken(attribute, key_file, self._key_fault(error, file, key_file)) from error
        except OSError as error:
            raise self._broken("certFile", file, error.strerror or str(error)) from error

    def _key_fault(self, error: Exception, file: str, key_file: str) -> str:
        if isinstance(error, ssl.SSLError) and error.reason == "KEY_VALUES_MISMATCH":
            return f"this is not the private key of certificate {file}"
        if isinstance(error, ssl.SSLError) and error.reason in ("EE_KEY_TOO_SMALL", "CA_MD_TOO_WEAK"):
            return f"too weak: {error.reason.replace('_', ' ').lower()}"
        with open(key_file, encoding="latin-1") as text:
            is_encrypted = "ENCRYPTED" in text.read()
        if not is_encrypted:
            return "this has no private key in PEM form"
        return "the password is wrong" if self.config.password else "the private key needs a password"

    def _check_readable(self, attribute: str, file: str) -> None:
        try:
            with open(file, "rb") as found:
                found.read(1)
        except OSError as error:
            raise self._broken(attribute, file, error.strerror or str(error)) from error

    def _read_names(self) -> Mapping[str, str]:
        file = self.config.names_file
        if file is None:
            return {}
        self._check_readable("uidNameMappingFile", file)
        try:
            with open(file, encoding="utf-8") as text:
                names = json.load(text)
        except ValueError as error:
            raise self._broken("uidNameMappingFile", file, f"this is not JSON: {error}") from error
        except RecursionError as error:
            raise self._broken("uidNameMappingFile", file, "this is not a map of names") from error
        if not isinstance(names, dict) or not all(isinstance(name, str) for name in names.values()):
            raise self._broken("uidNameMappingFile", file, "this is not a map of names")
        return names

    def _broken(self, attribute: str, what: str | None, reason: str) -> TlsProfileBroken:
        return TlsProfileBroken(self.config.name, attribute, what, reason)


def _limit_versions(context: ssl.SSLContext, protocols: tuple[str, ...]) -> None:
    with warnings.catch_warnings():
        # The operator has asked for old versions.
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = _VERSIONS[protocols[0]][0]
        context.maximum_version = _VERSIONS[protocols[-1]][0]
        between = tuple(_VERSIONS)[tuple(_VERSIONS).index(protocols[0]) : tuple(_VERSIONS).index(protocols[-1])]
        for name in between:
            if name not in protocols:
                context.options |= _VERSIONS[name][1]


def _first_to_expire(file: str) -> Certificate | None:
    """Return the first certificate of a PEM file to expire."""
    with open(file, encoding="latin-1") as text:
        found = _CERTIFICATES.findall(text.read())
    try:
        octets = map(ssl.PEM_cert_to_DER_cert, found)
        return min((Certificate(expiry_of_certificate(one), subject_text(one)) for one in octets), default=None)
    except (CertificateMalformed, ValueError) as error:
        _log.warning("It is not known when the certificates of %s expire: %s", file, error)
        return None


def _stamps(files: Iterable[str]) -> dict[str, Stamp]:
    return {file: _stamp(file) for file in files}


def _stamp(file: str) -> Stamp:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
