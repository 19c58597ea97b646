"""The errors of the client. Each says what happened and what to do.

`ClientError` is the root. A `MessageNotAccepted` is about one message, a `LinkEnded` about one link, and a
`ConnectionFailed` about the connection to all routers.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mobula_client.engine import Error, Modified, Rejected, Released


class ClientError(Exception):
    """The root of all errors that the client raises on purpose."""


class UsageError(ClientError, ValueError):
    """A call that cannot be carried out as it is; the text says how to call instead."""


class ClientClosed(ClientError):
    """The client, or the link, was closed by this program."""


class ConnectionFailed(ClientError):
    """No router could be reached, or none let us in."""


class NoRouterReached(ConnectionFailed):
    """All routers of the list were tried, until the time was over."""

    def __init__(self, within_s: float, failures: Sequence[tuple[str, str]]) -> None:
        told = "; ".join(f"{router}: {reason}" for router, reason in failures) or "no attempt was finished"
        super().__init__(
            f"no router was reached within {within_s:g} s ({told}). Check the addresses, and that a router runs there"
        )
        self.within_s, self.failures = within_s, tuple(failures)


class AuthenticationFailed(ConnectionFailed):
    """A router refused the login, or offers no mechanism that we may use."""

    def __init__(self, router: str, reason: str) -> None:
        super().__init__(f"{router} did not let us in: {reason}. Check user, password, certificate and mechanisms")
        self.router, self.reason = router, reason


class PeerClosed(ConnectionFailed):
    """The router closed the connection, or broke the protocol."""

    def __init__(self, condition: str, description: str | None) -> None:
        super().__init__(f"the connection was closed with {condition}: {description or 'without a reason'}")
        self.condition, self.description = condition, description


class LinkEnded(ClientError):
    """The router refused the link or detached it. Open another link if the cause is gone."""

    advice = "Open the link again once the cause is gone"

    def __init__(self, link: str, condition: str, description: str | None) -> None:
        super().__init__(f"link {link!r} ended with {condition}: {description or 'without a reason'}. {self.advice}")
        self.link, self.condition, self.description = link, condition, description


class LinkStolen(LinkEnded):
    """The same link was attached elsewhere: two programs have the same container-id and link name."""

    advice = "Give each program a container-id of its own"


class SubscriptionEnded(LinkEnded):
    """The subscription has ended: it expired, or an operator deleted it. Messages may be missing from now on."""

    advice = "Messages may be missing; subscribe again, and find out from the publisher what was missed"


class OutcomesUnknown(LinkEnded):
    """The publisher was given up, by its router or by its own clock: nobody knows what became of what it had sent."""

    advice = (
        "What was sent and not decided may or may not have arrived. It is in the refusals of the store; find out what "
        "is missing and publish that again. Open the publisher again for everything else"
    )


class ExactlyOnceNotOffered(LinkEnded):
    """The address does not have exactly-once delivery."""

    advice = "Configure the address with `delivery: exactly-once`, or use guarantee=Guarantee.AT_LEAST_ONCE"


class UnsettledMapTooLarge(LinkEnded):
    """The unsettled map does not fit a frame of the router."""

    advice = "Use a smaller window, or a larger maxFrameSize at the router's listener"


class StoreFailed(ClientError):
    """The store of unsettled messages failed. Nothing was told to the router; the program may be restarted."""


class MessageNotAccepted(ClientError):
    """A message was sent, and its receiver did not accept it."""


class MessageRejected(MessageNotAccepted):
    """The receiver says that the message is invalid. Sending it again will not help."""

    def __init__(self, outcome: "Rejected") -> None:
        error: Error | None = outcome.error
        told = "without a reason" if error is None else f"{error.condition}: {error.description}"
        super().__init__(f"the message was rejected, {told}. Change the message before it is sent again")
        self.outcome = outcome
        self.condition = None if error is None else str(error.condition)
        self.description = None if error is None else error.description


class MessageReleased(MessageNotAccepted):
    """Nobody took the message; it may be sent again."""

    def __init__(self, outcome: "Released") -> None:
        super().__init__("the message was released: nobody took it. Send it again when there is a receiver")
        self.outcome = outcome


class MessageModified(MessageNotAccepted):
    """The message was not processed. `outcome` says whether delivery failed, and what to change."""

    def __init__(self, outcome: "Modified") -> None:
        super().__init__(
            f"the message was not processed (delivery-failed {bool(outcome.delivery_failed)}, undeliverable-here "
            f"{bool(outcome.undeliverable_here)}). Send it again, with message_annotations changed if there are any"
        )
        self.outcome = outcome


class OutcomeUnknown(MessageNotAccepted):
    """The connection was lost, or the receiver settled without an outcome: the message may have been processed."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the outcome of the message is unknown: {why}. Send it again if a duplicate does no harm")


class MessageTooLarge(MessageNotAccepted):
    """The message exceeds the max-message-size of the receiver."""

    def __init__(self, octets: int, most: int) -> None:
        super().__init__(f"the message has {octets} octets; the receiver takes {most} at most. Send a smaller one")
        self.octets, self.most = octets, most


class NoReply(ClientError, TimeoutError):
    """No reply came to a request within its time."""

    def __init__(self, address: str, within_s: float) -> None:
        super().__init__(f"no reply came from {address!r} within {within_s:g} s. Ask again, or wait longer")
        self.address, self.within_s = address, within_s
