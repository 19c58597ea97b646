"""`sslProfile` at a worker."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from routerd.config import ChangeRefused, ConnectorConfig, ListenerConfig, SslProfileConfig
from routerd.io.entities.running import Running, Step, Workplace, done
from routerd.io.tls import TlsProfile, TlsProfileBroken, check_use


class SslProfiles(Running[SslProfileConfig]):
    """Profiles that listeners and connectors name."""

    def prepare(self, config: SslProfileConfig, worker: Workplace, named: Mapping[str, Any]) -> Step:
        """Read the files of a profile."""
        with _refusing_broken_profiles():
            profile = TlsProfile(config)
        return Step(lambda: done(worker.call(worker.profiles.add, profile)))

    async def remove(self, config: SslProfileConfig, worker: Workplace) -> None:
        """Do without a profile that nothing names any more."""
        await done(worker.call(worker.profiles.remove, config.name))


def check_named_profile(named: Mapping[str, Any], user: ListenerConfig | ConnectorConfig) -> None:
    """See to it that the profile that a listener or connector names can be used for it. Raises ChangeRefused."""
    profile = named.get("sslProfile")
    if profile is not None:
        with _refusing_broken_profiles():
            check_use(TlsProfile(profile), user)


@contextmanager
def _refusing_broken_profiles() -> Iterator[None]:
    try:
        yield
    except TlsProfileBroken as error:
        raise ChangeRefused(str(error)) from error
