"""The errors of topics: what other routers and clients did wrong, and what our caller did."""


class TopicError(Exception):
    """The root of everything that routerd.topics raises on purpose."""


class MalformedTopicMessage(TopicError):
    """Another router sent octets that are no message of this protocol. Nothing of them was taken."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnsupportedTopicVersion(MalformedTopicMessage):
    """Another router speaks a version of the protocol that we don't know."""

    def __init__(self, version: int, known: int) -> None:
        super().__init__(f"version {version} of the protocol, and only {known} is known")
        self.version = version


class InvalidSetting(TopicError):
    """Our caller gives a topic or a node settings that can't be kept to."""

    def __init__(self, name: str, value: float, reason: str) -> None:
        super().__init__(f"{name} is {value}, {reason}")
        self.name = name
        self.value = value


class LinkInUse(TopicError):
    """Our caller attaches a link under a number that another one has."""

    def __init__(self, link: int) -> None:
        super().__init__(f"link {link} is attached already")
        self.link = link


class Refused(TopicError):
    """A client wants what it can't have; the link has to be detached with this condition."""

    def __init__(self, condition: str, reason: str) -> None:
        super().__init__(reason)
        self.condition = condition
        self.reason = reason
