"""What is configured of addresses: how they are treated, and which of them are exchanges or topics."""

from typing import TYPE_CHECKING

from routerd.core.directory.topics import Topics
from routerd.core.settings import AddressSettings, Distribution

if TYPE_CHECKING:
    from routerd.core.annotations.router_annotations import AnnotationReader
    from routerd.core.directory.directory import Directory
    from routerd.core.roles.demand import Demand


class ConfiguredAddresses:
    """Takes the configuration of addresses, for addresses that come into use from now on."""

    topics: Topics
    """Is told which addresses are topics."""

    def __init__(self, directory: "Directory", reader: "AnnotationReader", demand: "Demand") -> None:
        self._directory = directory
        self._reader = reader
        self._demand = demand
        self.topics = Topics()

    def add(self, settings: AddressSettings) -> None:
        """Configure the addresses of a pattern; raises DuplicatePattern."""
        self._directory.treatments.add(settings)
        self._look_up_again()
        if settings.topic is not None:
            self.topics.add(settings.pattern, settings.topic)

    def remove(self, pattern: str) -> None:
        """Remove the settings of a pattern; raises UnknownPattern."""
        self._directory.treatments.remove(pattern)
        self._look_up_again()
        self.topics.remove(pattern)

    def treat_as_exchange(self, key: str, is_exchange: bool) -> None:
        """Have all consumers of an exchange's address get its messages, or treat the address as any other."""
        directory = self._directory
        known = directory.treatments.exchanges
        if is_exchange:
            known.add(key)
        else:
            known.discard(key)
        address = directory.addresses.get(key)
        if address is not None:
            usual = directory.treatment_of_key(key).distribution
            self._demand.spread(address, Distribution.MULTICAST if is_exchange else usual)

    def _look_up_again(self) -> None:
        """Forget which addresses messages named, and how these were treated."""
        self._directory.naming.forget()
        self._reader.forget_keys()
