"""Exceptions beside MessagingTimeout, MessageDeliveryFailure and MessageUndeliverable of oslo.messaging."""

from oslo_config import cfg
from oslo_messaging import exceptions
from oslo_messaging._drivers.base import TransportDriverError
from oslo_messaging.transport import InvalidTransportURL


class InvalidOption(exceptions.ConfigurationError, ValueError):
    """An option of the configuration has a value that the driver cannot work with."""

    def __init__(self, name: str, reason: object) -> None:
        super().__init__(f"[oslo_messaging_amqp] {name}: {reason}")
        self.name = name


class InvalidURLOption(InvalidTransportURL, ValueError):
    """An option in the query of the transport URL has a value that the driver cannot work with."""

    def __init__(self, url: str, name: str, reason: object) -> None:
        super().__init__(url, f"Option {name} of the transport URL: {reason}")
        self.name = name


class UnknownURLOption(InvalidTransportURL, cfg.NoSuchOptError):
    """The query of the transport URL names an option that there is not."""

    def __init__(self, url: str, name: str) -> None:
        cfg.NoSuchOptError.__init__(self, name, cfg.OptGroup("oslo_messaging_amqp"))
        self.url = url

    def __str__(self) -> str:
        return f"The transport URL names an option {self.opt_name} that is not in [oslo_messaging_amqp]"


class InvalidURL(InvalidTransportURL):
    """The transport URL names a host or port that cannot be connected to."""


class SubscriptionRefused(TransportDriverError):
    """The peer refused the link of a listener."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"The peer refuses a subscription to {address}: {reason}")
        self.address = address


class Undecodable(Exception):
    """A message is not in the form that its sender should have sent."""


class ShuttingDown(exceptions.MessageDeliveryFailure):
    """The transport was cleaned up before the message was sent."""

    def __init__(self) -> None:
        super().__init__("Shutting down: the transport was cleaned up")
