"""The profiles of a worker by name, and the transports that are made with them."""

import ssl
from collections.abc import Iterable

from routerd.config import ConnectorConfig, ListenerConfig, SslProfileConfig
from routerd.io.tls.profile import TlsProfile, TlsProfileBroken

EXTERNAL = "EXTERNAL"


class TlsProfiles:
    """Those that listeners and connectors name."""

    def __init__(self, configs: Iterable[SslProfileConfig] = ()) -> None:
        self._configs = {config.name: config for config in configs}
        self._profiles: dict[str, TlsProfile] = {}

    def add(self, profile: TlsProfile) -> None:
        """Take a profile, in the place of one with its name."""
        self._configs[profile.config.name] = profile.config
        self._profiles[profile.config.name] = profile

    def remove(self, name: str) -> None:
        """Do without a profile; connections that were made with it stay."""
        self._configs.pop(name, None)
        self._profiles.pop(name, None)

    def get(self, name: str) -> TlsProfile:
        """Return a profile; raises TlsProfileBroken if it cannot be used, or is not there."""
        profile = self._profiles.get(name)
        if profile is None:
            config = self._configs.get(name)
            if config is None:
                raise TlsProfileBroken(name, "name", None, "there is no such profile")
            profile = self._profiles[name] = TlsProfile(config)
        return profile

    def refresh(self) -> None:
        """Use the files of today."""
        for profile in self._profiles.values():
            profile.refresh()


def server_context(profile: TlsProfile, listener: ListenerConfig) -> ssl.SSLContext:
    """Return what the connections of a listener are made with; raises TlsProfileBroken."""
    # 9.1: where EXTERNAL is named, whoever uses TLS has to show a certificate.
    is_certificate_due = EXTERNAL in (listener.sasl_mechanisms or ())
    return profile.server_context(demands_certificate=is_certificate_due, trusted_file=listener.trusted_file)


def check_use(profile: TlsProfile, user: ListenerConfig | ConnectorConfig) -> None:
    """See whether a listener or connector can have its connections made with a profile; raises TlsProfileBroken."""
    if isinstance(user, ListenerConfig):
        server_context(profile, user)
    else:
        profile.client_context(verifies_name=user.verify_hostname)


def check_profiles(
    configs: Iterable[SslProfileConfig], users: Iterable[ListenerConfig | ConnectorConfig]
) -> list[TlsProfileBroken]:
    """Return why profiles cannot be used, or not for what names them; each is told once."""
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
