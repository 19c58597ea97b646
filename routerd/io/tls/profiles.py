"""The profiles of a worker by name, and the contexts that they make."""

import ssl
from collections.abc import Iterable

from routerd.config import ConnectorConfig, ListenerConfig, SslProfileConfig
from routerd.io.tls.profile import TlsProfile, TlsProfileBroken
from routerd.management import Certificate

EXTERNAL = "EXTERNAL"


class TlsProfiles:
    """The profiles that listeners and connectors name."""

    def __init__(self, configs: Iterable[SslProfileConfig] = ()) -> None:
        self._configs = {config.name: config for config in configs}
        self._profiles: dict[str, TlsProfile] = {}

    def add(self, profile: TlsProfile) -> None:
        """Add a profile; one of the same name is replaced."""
        self._configs[profile.config.name] = profile.config
        self._profiles[profile.config.name] = profile

    def remove(self, name: str) -> None:
        """Remove a profile; connections that were made with it stay."""
        self._configs.pop(name, None)
        self._profiles.pop(name, None)

    def get(self, name: str) -> TlsProfile:
        """Return a profile; raises TlsProfileBroken if it is missing or cannot be used."""
        profile = self._profiles.get(name)
        if profile is None:
            config = self._configs.get(name)
            if config is None:
                raise TlsProfileBroken(name, "name", None, "there is no such profile")
            profile = self._profiles[name] = TlsProfile(config)
        return profile

    def certificates(self) -> dict[str, Certificate]:
        """Return the certificates that expire first, by the names of the profiles in use."""
        found = ((name, profile.certificate) for name, profile in self._profiles.items())
        return {name: one for name, one in found if one is not None}

    def refresh(self) -> None:
        """Reload files that have changed."""
        for profile in self._profiles.values():
            profile.refresh()


def server_context(profile: TlsProfile, listener: ListenerConfig) -> ssl.SSLContext:
    """Return the context for the connections of a listener; raises TlsProfileBroken."""
    # 9.1: a listener that names EXTERNAL requires a certificate of everyone who uses TLS.
    # HTTP knows no SASL: there, a certificate is how a peer that must authenticate does so (8).
    proves_by_certificate = listener.takes_http and listener.authenticate_peer and profile.config.ca_file is not None
    is_certificate_due = proves_by_certificate or EXTERNAL in (listener.sasl_mechanisms or ())
    return profile.server_context(demands_certificate=is_certificate_due, trusted_file=listener.trusted_file)


def check_use(profile: TlsProfile, user: ListenerConfig | ConnectorConfig) -> None:
    """Check that a listener or connector can use a profile; raises TlsProfileBroken."""
    if isinstance(user, ListenerConfig):
        server_context(profile, user)
    else:
        profile.client_context(verifies_name=user.verify_hostname)


def check_profiles(
    configs: Iterable[SslProfileConfig], users: Iterable[ListenerConfig | ConnectorConfig]
) -> list[TlsProfileBroken]:
    """Return the reasons why profiles cannot be used, alone or by the entities that name them; each reason once."""
    profiles: dict[str, TlsProfile] = {}
    broken: dict[str, TlsProfileBroken] = {}
    for config in configs:
        try:
            profiles[config.name] = TlsProfile(config)
        except TlsProfileBroken as error:
            broken[str(error)] = error
    for user in users:
        if user.ssl_profile in profiles:
            try:
                check_use(profiles[user.ssl_profile], user)
            except TlsProfileBroken as error:
                broken[str(error)] = error
    return list(broken.values())
