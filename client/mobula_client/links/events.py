"""What an endpoint tells a link, beside attach and detach; each method does nothing until it is overridden."""

from mobula_client.engine import Delivery


class LinkEvents:
    """Takes the events of one link."""

    def flowed(self) -> None:
        """Credit may have changed."""

    def decided(self, delivery: Delivery, now: float) -> None:
        """The peer changed its state of a delivery, or settled it."""

    def transferred(self, delivery: Delivery, octets: bytes) -> None:
        """Octets of a message arrived."""

    def finish_turn(self) -> None:
        """Do what was left until the octets of one turn were read; called where it was asked for."""

    def tick(self, now: float) -> None:
        """Do what is due, beside attaching."""
