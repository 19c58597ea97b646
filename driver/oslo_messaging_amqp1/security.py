"""The settings of pyngus for SASL and TLS, for a connection to one host."""

import ssl
from typing import Any

from .errors import InvalidOption
from .settings import Settings
from .url import Host


def security_properties(settings: Settings, host: Host, vhost: str | None) -> dict[str, Any]:
    """Return the security part of a connection's properties; empty is neither SASL nor TLS."""
    return {**_sasl(settings, host), **(_tls(settings, host, vhost) if settings.is_tls else {})}


def _sasl(settings: Settings, host: Host) -> dict[str, Any]:
    given = {
        "x-username": host.user,
        "x-password": host.password,
        "x-sasl-mechs": settings.sasl_mechanisms.upper(),
        "x-sasl-config-dir": settings.sasl_config_dir,
        "x-sasl-config-name": settings.sasl_config_name,
    }
    return {name: value for name, value in given.items() if value}


def _tls(settings: Settings, host: Host, vhost: str | None) -> dict[str, Any]:
    authorities = settings.ssl_ca_file or trusted_by_the_system()
    if not authorities:
        raise InvalidOption("ssl_ca_file", "must be given, since this system has no certificates that it trusts")
    # pyngus would not verify anything if the authorities were missing, so the mode is always named.
    properties: dict[str, Any] = {"x-ssl": True, "x-ssl-ca-file": authorities}
    name = vhost if settings.ssl_verify_vhost else host.name
    if name:
        properties |= {"x-ssl-verify-mode": "verify-peer", "x-ssl-peer-name": name}
    else:
        properties["x-ssl-verify-mode"] = "verify-cert"
    if settings.ssl_cert_file:
        key = settings.ssl_key_file or settings.ssl_cert_file
        properties["x-ssl-identity"] = (settings.ssl_cert_file, key, settings.ssl_key_password)
    return properties


def trusted_by_the_system() -> str | None:
    """Return the file or folder of the certificates that the system trusts."""
    paths = ssl.get_default_verify_paths()
    return paths.cafile or paths.capath
