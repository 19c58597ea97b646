"""Limits of what topics keep in memory."""

MESSAGE_MAX = 16 << 20
"""Octets of the largest message to a topic: every router with subscribers keeps it whole until it is settled."""
COPY_MAX = MESSAGE_MAX + (1 << 18)
"""Octets of copies that go between routers as one message, with what the protocol adds."""
