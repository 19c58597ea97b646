"""The configuration of a connection: the fields of its open, and limits for its peer."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from routerd.wire.errors import ValueRangeError
from routerd.wire.limits import CodecLimits
from routerd.wire.performatives import Open

MIN_MAX_FRAME_SIZE = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionConfig:
    """The local side of a connection."""

    container_id: str
    """Our container-id; links are identified by the container-ids of both ends."""
    hostname: str | None = None
    """The host that a client requests, for virtual hosting."""
    max_frame_size: int = 65_536
    """Largest frame that we accept, in octets; the open has it."""
    send_frame_size: int = 65_536
    """Largest frame that we send, in octets, even if the peer accepts larger ones."""
    sasl_frame_size: int = MIN_MAX_FRAME_SIZE
    """Largest SASL frame in either direction, in octets. The 512 of 5.3.1 are too few for Kerberos tickets."""
    channel_max: int = 32_767
    """Highest channel number that we accept: the number of sessions less one."""
    handle_max: int = 65_535
    """Highest link handle we accept on a session."""
    incoming_window: int = 2_048
    """Transfer frames that a session may have under way to us, unprocessed."""
    idle_timeout_s: float = 0.0
    """Seconds without a frame until the peer counts as lost; the open has half of it. 0 is for ever."""
    shortest_idle_timeout_s: float = 0.1
    """Shortest idle time-out that we keep; a peer that asks for less is refused. 0 refuses none."""
    unsettled_per_session: int = 1_000_000
    """Incoming deliveries that a session may leave unsettled."""
    link_names_max: int = 100_000
    """Links that a peer may have on one connection, over all its sessions."""
    takes_long_tags: bool = False
    """Whether only the message is rejected that has a delivery-tag of more than 32 octets; 2.8.7 forbids such tags."""
    limits: CodecLimits = field(default_factory=CodecLimits)
    """Limits for decoding."""
    offered_capabilities: tuple[str, ...] = ()
    """Extensions that we support."""
    desired_capabilities: tuple[str, ...] = ()
    """Extensions that we use if the peer supports them."""
    outgoing_locales: tuple[str, ...] = ()
    """Locales of the texts that we send."""
    incoming_locales: tuple[str, ...] = ()
    """Locales of the texts that we want, best first."""
    properties: Mapping[object, object] | None = None
    """The properties map of our open."""

    def __post_init__(self) -> None:
        for name, value, low, high in (
            ("max_frame_size", self.max_frame_size, MIN_MAX_FRAME_SIZE, 0xFFFFFFFF),
            ("send_frame_size", self.send_frame_size, MIN_MAX_FRAME_SIZE, 0xFFFFFFFF),
            ("sasl_frame_size", self.sasl_frame_size, MIN_MAX_FRAME_SIZE, 0xFFFFFFFF),
            ("channel_max", self.channel_max, 0, 0xFFFF),
            ("handle_max", self.handle_max, 0, 0xFFFFFFFF),
            ("incoming_window", self.incoming_window, 1, 0x7FFFFFFF),
            ("unsettled_per_session", self.unsettled_per_session, 1, 0x7FFFFFFF),
            ("link_names_max", self.link_names_max, 1, 0x7FFFFFFF),
        ):
            if not low <= value <= high:
                raise ValueRangeError(f"{name} is {value}, and must be {low} to {high}")
        for name, seconds in (
            ("idle_timeout_s", self.idle_timeout_s),
            ("shortest_idle_timeout_s", self.shortest_idle_timeout_s),
        ):
            if seconds < 0:
                raise ValueRangeError(f"{name} is {seconds}, and must not be negative")

    def open_performative(self) -> Open:
        """Return the open performative of this configuration."""
        return Open(
            container_id=self.container_id,
            hostname=self.hostname,
            max_frame_size=self.max_frame_size,
            channel_max=self.channel_max,
            # Half of the enforced time-out, so that a frame under way is never late (2.4.5).
            idle_time_out=round(self.idle_timeout_s * 500) or None,
            outgoing_locales=self.outgoing_locales,
            incoming_locales=self.incoming_locales,
            offered_capabilities=self.offered_capabilities,
            desired_capabilities=self.desired_capabilities,
            properties=self.properties,
        )
