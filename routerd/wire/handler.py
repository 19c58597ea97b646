"""The events of the engine: one method for each, called while octets are received.

Subclass `Handler` and override the methods of interest. A method may call the engine: answer an attach, send, settle,
close. `data` in `on_transfer` is the receive buffer itself. It is valid only during the call, with the payload from
`start` to `end`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.wire.amqp_error import Error
    from routerd.wire.connection import Connection
    from routerd.wire.delivery import Delivery
    from routerd.wire.delivery_batch import DeliveryBatch
    from routerd.wire.errors import RemoteError
    from routerd.wire.held_batch import HeldBatch
    from routerd.wire.link import Link
    from routerd.wire.performatives import Attach, Begin, Open
    from routerd.wire.receiver import Receiver
    from routerd.wire.session import Session


class Handler:
    """Takes the events of connections; each method does nothing until it is overridden."""

    def on_authenticated(self, connection: "Connection") -> None:
        """The SASL exchange succeeded; `connection.sasl` has the identity of the peer."""

    def on_authentication_failed(self, connection: "Connection") -> None:
        """The SASL exchange failed or was abandoned; the connection is over."""

    def on_opened(self, connection: "Connection", performative: "Open") -> None:
        """The peer opened; answer with `connection.open()` unless we opened first."""

    def on_closed(self, connection: "Connection", error: "Error | None") -> None:
        """The peer closed, or the transport ended; all sessions were reported before. The engine has answered."""

    def on_violation(self, connection: "Connection", error: "RemoteError") -> None:
        """The peer broke the protocol; the connection, session or link of `error.scope` was ended."""

    def on_session_begun(self, session: "Session", performative: "Begin") -> None:
        """The peer began a session; answer with `session.begin()` unless we began it."""

    def on_session_flow(self, session: "Session") -> None:
        """The peer's windows changed; queued octets have been sent as far as they fit."""

    def on_session_ended(self, session: "Session", error: "Error | None") -> None:
        """The session is over; its links were reported before. The engine has answered."""

    def on_link_attached(self, link: "Link", performative: "Attach") -> None:
        """The peer attached; answer with `link.attach()` or `link.refuse()` unless we attached first."""

    def on_link_flow(self, link: "Link") -> None:
        """Credit, drain or available of the link changed."""

    def on_link_detaching(self, link: "Link", closed: bool, error: "Error | None") -> None:
        """The peer detaches a link that is relayed; `link.detach` answers, and ends the link."""

    def on_link_detached(self, link: "Link", closed: bool, error: "Error | None") -> None:
        """The link is detached, by either end, a stolen name, or the end of its session. Called once for each link."""

    def on_transfer(
        self, receiver: "Receiver", delivery: "Delivery", data: bytes | bytearray, start: int, end: int
    ) -> None:
        """Octets of a message arrived; more follow while `delivery.is_partial`, none when it `is_aborted`."""

    def on_relayed(
        self,
        receiver: "Link",
        sender: "Link",
        count: int,
        batch: "DeliveryBatch | None",
        data: bytes | bytearray,
        start: int,
    ) -> None:
        """A number of messages went from one link to another by the connection's `relay`, as the application allowed.

        Unsettled ones are a batch. Their frames are contiguous and begin at data[start].
        """

    def on_held(self, held: "HeldBatch") -> None:
        """Messages came together, and the connection's `relay` keeps them together, as the application allowed."""

    def on_hold_over(self, held: "HeldBatch") -> None:
        """Make deliveries of a held batch: the peer refers to one of its messages, or its link ends."""

    def on_accepted(self, batch: "DeliveryBatch", count: int) -> None:
        """The peer accepted and settled a number of deliveries, which have just left a batch; their sender was told."""

    def on_parting(self, batch: "DeliveryBatch", delivery: "Delivery") -> None:
        """A batch with a context dissolves; this is the consumer's end of the next delivery."""

    def on_disposition(self, delivery: "Delivery") -> None:
        """The peer changed its state of a delivery (`remote_state`) or settled it (`remote_settled`)."""

    def on_output(self, connection: "Connection") -> None:
        """There is output; called once until `connection.data_to_send` is called."""
