"""The states of connections, sessions and links, and the tables of their moves (2.4.6, 2.5.5, 2.6).

Only the tables move a state. A move without a row is an error: `StateError` for a caller, and a violation for a peer.
Transfers, flows and dispositions move no state.
"""

from enum import StrEnum


class ConnectionState(StrEnum):
    """The states of a connection, by their names in 2.4.6."""

    START = "start"
    HDR_RCVD = "header received"
    HDR_SENT = "header sent"
    HDR_EXCH = "headers exchanged"
    OPEN_PIPE = "open sent before the peer's header"
    OC_PIPE = "open and close sent before the peer's header"
    OPEN_RCVD = "open received"
    OPEN_SENT = "open sent"
    CLOSE_PIPE = "close sent before the peer's open"
    OPENED = "opened"
    CLOSE_RCVD = "close received"
    CLOSE_SENT = "close sent"
    DISCARDING = "discarding"
    END = "ended"


class ConnectionMove(StrEnum):
    """The moves of a connection."""

    SEND_HEADER = "send the header"
    RECV_HEADER = "receive a header"
    SEND_OPEN = "open"
    RECV_OPEN = "receive an open"
    SEND_CLOSE = "close"
    SEND_CLOSE_ERROR = "close with an error"
    RECV_CLOSE = "receive a close"


CONNECTION_TRANSITIONS = {
    (ConnectionState.START, ConnectionMove.SEND_HEADER): ConnectionState.HDR_SENT,
    (ConnectionState.START, ConnectionMove.RECV_HEADER): ConnectionState.HDR_RCVD,
    (ConnectionState.HDR_RCVD, ConnectionMove.SEND_HEADER): ConnectionState.HDR_EXCH,
    (ConnectionState.HDR_SENT, ConnectionMove.RECV_HEADER): ConnectionState.HDR_EXCH,
    (ConnectionState.HDR_SENT, ConnectionMove.SEND_OPEN): ConnectionState.OPEN_PIPE,
    (ConnectionState.HDR_EXCH, ConnectionMove.SEND_OPEN): ConnectionState.OPEN_SENT,
    (ConnectionState.HDR_EXCH, ConnectionMove.RECV_OPEN): ConnectionState.OPEN_RCVD,
    (ConnectionState.OPEN_PIPE, ConnectionMove.RECV_HEADER): ConnectionState.OPEN_SENT,
    (ConnectionState.OPEN_PIPE, ConnectionMove.SEND_CLOSE): ConnectionState.OC_PIPE,
    (ConnectionState.OPEN_PIPE, ConnectionMove.SEND_CLOSE_ERROR): ConnectionState.OC_PIPE,
    (ConnectionState.OC_PIPE, ConnectionMove.RECV_HEADER): ConnectionState.CLOSE_PIPE,
    (ConnectionState.OPEN_RCVD, ConnectionMove.SEND_OPEN): ConnectionState.OPENED,
    (ConnectionState.OPEN_SENT, ConnectionMove.RECV_OPEN): ConnectionState.OPENED,
    (ConnectionState.OPEN_SENT, ConnectionMove.SEND_CLOSE): ConnectionState.CLOSE_PIPE,
    (ConnectionState.OPEN_SENT, ConnectionMove.SEND_CLOSE_ERROR): ConnectionState.CLOSE_PIPE,
    (ConnectionState.CLOSE_PIPE, ConnectionMove.RECV_OPEN): ConnectionState.CLOSE_SENT,
    (ConnectionState.OPENED, ConnectionMove.RECV_CLOSE): ConnectionState.CLOSE_RCVD,
    (ConnectionState.OPENED, ConnectionMove.SEND_CLOSE): ConnectionState.CLOSE_SENT,
    (ConnectionState.OPENED, ConnectionMove.SEND_CLOSE_ERROR): ConnectionState.DISCARDING,
    (ConnectionState.CLOSE_RCVD, ConnectionMove.SEND_CLOSE): ConnectionState.END,
    (ConnectionState.CLOSE_SENT, ConnectionMove.RECV_CLOSE): ConnectionState.END,
    (ConnectionState.DISCARDING, ConnectionMove.RECV_CLOSE): ConnectionState.END,
}


class SessionState(StrEnum):
    """The progress of the two endpoints of a session."""

    UNMAPPED = "unmapped"
    BEGIN_SENT = "begin sent"
    BEGIN_RCVD = "begin received"
    MAPPED = "mapped"
    END_SENT = "end sent"
    END_RCVD = "end received"
    DISCARDING = "discarding"


class SessionMove(StrEnum):
    """The moves of a session."""

    SEND_BEGIN = "send begin"
    RECV_BEGIN = "receive begin"
    SEND_END = "send end"
    SEND_END_ERROR = "send end with an error"
    RECV_END = "receive end"


SESSION_TRANSITIONS = {
    (SessionState.UNMAPPED, SessionMove.SEND_BEGIN): SessionState.BEGIN_SENT,
    (SessionState.UNMAPPED, SessionMove.RECV_BEGIN): SessionState.BEGIN_RCVD,
    (SessionState.BEGIN_SENT, SessionMove.RECV_BEGIN): SessionState.MAPPED,
    (SessionState.BEGIN_RCVD, SessionMove.SEND_BEGIN): SessionState.MAPPED,
    (SessionState.MAPPED, SessionMove.SEND_END): SessionState.END_SENT,
    (SessionState.MAPPED, SessionMove.SEND_END_ERROR): SessionState.DISCARDING,
    (SessionState.MAPPED, SessionMove.RECV_END): SessionState.END_RCVD,
    (SessionState.END_RCVD, SessionMove.SEND_END): SessionState.UNMAPPED,
    (SessionState.END_SENT, SessionMove.RECV_END): SessionState.UNMAPPED,
    (SessionState.DISCARDING, SessionMove.RECV_END): SessionState.UNMAPPED,
}


class LinkState(StrEnum):
    """The progress of the two endpoints of a link."""

    DETACHED = "detached"
    ATTACH_SENT = "attach sent"
    ATTACH_RCVD = "attach received"
    ATTACHED = "attached"
    DETACH_PIPE = "detach sent before the peer attached"
    DETACH_SENT = "detach sent"
    DETACH_RCVD = "detach received"


class LinkMove(StrEnum):
    """The moves of a link."""

    SEND_ATTACH = "send attach"
    RECV_ATTACH = "receive attach"
    SEND_DETACH = "send detach"
    RECV_DETACH = "receive detach"


LINK_TRANSITIONS = {
    (LinkState.DETACHED, LinkMove.SEND_ATTACH): LinkState.ATTACH_SENT,
    (LinkState.DETACHED, LinkMove.RECV_ATTACH): LinkState.ATTACH_RCVD,
    (LinkState.ATTACH_SENT, LinkMove.RECV_ATTACH): LinkState.ATTACHED,
    (LinkState.ATTACH_RCVD, LinkMove.SEND_ATTACH): LinkState.ATTACHED,
    (LinkState.ATTACH_SENT, LinkMove.SEND_DETACH): LinkState.DETACH_PIPE,
    (LinkState.DETACH_PIPE, LinkMove.RECV_ATTACH): LinkState.DETACH_SENT,
    (LinkState.ATTACHED, LinkMove.SEND_DETACH): LinkState.DETACH_SENT,
    (LinkState.ATTACHED, LinkMove.RECV_DETACH): LinkState.DETACH_RCVD,
    (LinkState.DETACH_SENT, LinkMove.RECV_DETACH): LinkState.DETACHED,
    (LinkState.DETACH_RCVD, LinkMove.SEND_DETACH): LinkState.DETACHED,
}
