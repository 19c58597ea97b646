"""`sslProfile`: certificates and settings of TLS."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from routerd.config.configurable import Configurable, Reading
from routerd.config.entity import Entity
from routerd.config.errors import meant_among
from routerd.config.passwords import FILE, PASSWORDS_ALLOWED, is_plain, password_of
from routerd.config.schema.foundations import CONFIGURATION_ENTITY
from routerd.config.schema.model import CREATE, PATH, STRING, Attribute, EntityType, Purpose
from routerd.config.schema.values import ValueRefused, shown
from routerd.config.values import members_of

UID_LETTERS = "cslonu125"
"""What a uidFormat may have (9.5)."""

UID_LETTERS_MAX = 7

PROTOCOLS = ("TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3")

DEFAULT_PROTOCOLS = ("TLSv1.2", "TLSv1.3")

SSL_PROFILE = EntityType(
    name="sslProfile",
    description="Certificates and settings of TLS that listeners and connectors name.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="sslProfile",
    own_operations=("CREATE", "DELETE"),
    is_referential=True,
    is_supported=True,
    own_attributes=(
        Attribute("ciphers", STRING, "The cipher suites, as OpenSSL lists them.", CREATE),
        Attribute("protocols", STRING, "The versions of TLS.", CREATE, separator=" "),
        Attribute("caCertFile", PATH, "The certificates of authorities that are trusted.", CREATE, old_name="certDb"),
        Attribute("certFile", PATH, "The router's certificate.", CREATE),
        Attribute("privateKeyFile", PATH, "The private key of the certificate.", CREATE, old_name="keyFile"),
        Attribute("passwordFile", PATH, "The file with the password of the key.", CREATE, is_deprecated=True),
        Attribute(
            "password",
            STRING,
            "The password of the key, or `env:NAME`, `file:PATH`, `pass:TEXT` or `literal:TEXT`.",
            CREATE,
            is_hidden=True,
        ),
        Attribute("uidFormat", STRING, "Which fields of a client's certificate are its user name.", CREATE),
        Attribute(
            "uidNameMappingFile",
            STRING,
            "The file that gives such user names other names.",
            CREATE,
            old_name="displayNameFile",
        ),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SslProfileConfig:
    """Certificates and settings that listeners and connectors name; the files are looked at when the profile is used.

    Their names are absolute: the actors of a router have working directories of their own.
    """

    name: str
    ca_file: str | None = None
    """The certificates of authorities that are trusted; None for those of the system."""
    cert_file: str | None = None
    key_file: str | None = None
    """None where the file of the certificate has the key, too."""
    password: str | None = field(default=None, repr=False)
    """Of the private key."""
    ciphers: str | None = None
    """As OpenSSL lists them; for TLS 1.3 it has its own."""
    protocols: tuple[str, ...] = DEFAULT_PROTOCOLS
    unknown_protocols: tuple[str, ...] = ()
    """Words among the protocols that are none: no connection can be made then."""
    uid_format: str | None = None
    """Which parts of a peer's certificate make its user; None for the whole subject."""
    names_file: str | None = None
    """Gives such users other names."""

    @property
    def identity(self) -> str:
        """What management calls the profile (4.1)."""
        return f"sslProfile/{self.name}"


FILES = ("caCertFile", "certFile", "privateKeyFile", "uidNameMappingFile")
NO_NAME = ""
"""Stands in for the name of a profile that has none."""
_LITERAL, _PASSWORD = ("literal:", "pass:")


class SslProfileKind(Configurable[SslProfileConfig]):
    """Profiles of TLS."""

    type = SSL_PROFILE
    example = """sslProfile {
    name: clients
    certFile: /etc/routerd/router.crt
    privateKeyFile: /etc/routerd/router.key
}
sslProfile {
    name: routers
    caCertFile: /etc/routerd/authorities.crt
    certFile: /etc/routerd/router.crt
    privateKeyFile: /etc/routerd/router.key
    protocols: TLSv1.3
    uidFormat: n
}
listener {
    port: amqps
    sslProfile: clients
    requireSsl: yes
}
# Whoever connects here shows a certificate of one of the authorities.
listener {
    port: 20671
    sslProfile: routers
    requireSsl: yes
    saslMechanisms: EXTERNAL
    authenticatePeer: yes
}
connector {
    host: other.example.com
    port: 20671
    sslProfile: routers
    saslMechanisms: EXTERNAL
}
"""
    notes = f"""Each has a `name`. A listener needs `certFile`; a connector without `caCertFile` trusts whom the
system trusts. `privateKeyFile` can be left out where `certFile` has the key, too. The password of a key is written as
for connectors, or as `literal:TEXT`. `protocols` are of {", ".join(f"`{one}`" for one in PROTOCOLS)}, with blanks
between them; without them it is {" and ".join(f"`{one}`" for one in DEFAULT_PROTOCOLS)}. `ciphers` hold up to TLS 1.2.

`uidFormat` has up to {UID_LETTERS_MAX} letters: `c` country, `s` state, `l` locality, `o` organisation, `u` unit, `n`
common name, `1`, `2` and `5` the SHA-1, SHA-256 and SHA-512 fingerprints. The user of a certificate is these parts with
`;` between them, or the whole subject. `uidNameMappingFile` is a JSON object from such users to others.

A profile cannot be used if a file is missing or wrong, or if a word among `protocols` is not a version of TLS.
Such a profile does not stop the start. The log has an error, and connections that need the profile are refused until
its files are right. `--strict` refuses such a configuration. Files that change are used for new connections.
[security.md](security.md) says more."""
    change_notes = "It stays as long as another entity names it."
    files = ("uidNameMappingFile",)
    passwords = ("password",)

    def read(self, entity: Entity, reading: Reading) -> SslProfileConfig:
        """Return what a section says."""
        values = entity.values
        if not values["name"]:
            entity.refuse("name", "Missing required attribute 'name'", "what listeners and connectors call it")
        if values["privateKeyFile"] is not None and values["certFile"] is None:
            entity.tolerate("privateKeyFile", "a private key is of no use without its certificate", "certFile as well")
        protocols, unknown = _protocols(entity)
        files = {one: None if values[one] is None else os.path.abspath(values[one]) for one in FILES}
        return SslProfileConfig(
            name=values["name"] or NO_NAME,
            ca_file=files["caCertFile"],
            cert_file=files["certFile"],
            key_file=files["privateKeyFile"],
            password=_password(entity, reading.environment),
            ciphers=values["ciphers"],
            protocols=protocols,
            unknown_protocols=unknown,
            uid_format=_uid_format(entity),
            names_file=files["uidNameMappingFile"],
        )

    def settled(self, values: Mapping[str, Any], config: SslProfileConfig) -> dict[str, Any]:
        """Return the values with absolute names of files, and the password itself."""
        files = zip(FILES, (config.ca_file, config.cert_file, config.key_file, config.names_file), strict=True)
        password = None if config.password is None else f"{_PASSWORD}{config.password}"
        return {**values, **dict(files), "password": password, "passwordFile": None}


def _password(entity: Entity, environment: Mapping[str, str]) -> str | None:
    text: str | None = entity.values["password"]
    file: str | None = entity.values["passwordFile"]
    attribute = "password"
    if text is None and file is not None:
        attribute, text = "passwordFile", FILE + file
    if text is None:
        return None
    if is_plain(text):
        entity.warn(attribute, "It is unsafe to provide plain text passwords in the config file")
    if text.startswith(_LITERAL):
        return text.removeprefix(_LITERAL)
    try:
        return password_of(text, environment)
    except ValueRefused as refused:
        object_to = entity.tolerate if text.startswith(FILE) else entity.refuse
        object_to(attribute, str(refused), *PASSWORDS_ALLOWED, "literal:TEXT")
        return None


def _protocols(entity: Entity) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the versions of TLS, and the words that are none."""
    names = members_of(entity.values["protocols"] or "", " ")
    unknown = tuple(one for one in names if one not in PROTOCOLS)
    for name in unknown:
        reason = f"{shown(name)} is not a version of TLS: no connection can be made with the profile"
        entity.tolerate("protocols", reason, *PROTOCOLS, meant=meant_among(name, PROTOCOLS))
    for name in names:
        if name in PROTOCOLS and name not in DEFAULT_PROTOCOLS:
            entity.warn("protocols", f"{name} is not safe any more, and systems may be set to refuse it")
    return tuple(one for one in PROTOCOLS if one in names) or DEFAULT_PROTOCOLS, unknown


def _uid_format(entity: Entity) -> str | None:
    text: str | None = entity.values["uidFormat"]
    if text is not None and (len(text) > UID_LETTERS_MAX or set(text) - set(UID_LETTERS)):
        allowed = f"up to {UID_LETTERS_MAX} of {', '.join(UID_LETTERS)}"
        entity.warn("uidFormat", f"{shown(text)} is not {allowed}: the user is the whole subject")
    return text or None
