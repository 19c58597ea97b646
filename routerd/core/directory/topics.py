"""Topics: addresses whose links go to a host inside the router."""

from routerd.core.settings import TopicRules


class Topics:
    """Is told which addresses are topics. This base class hosts none."""

    def add(self, pattern: str, rules: TopicRules) -> None:
        """Make the addresses of a pattern topics."""

    def remove(self, pattern: str) -> None:
        """Make them ordinary addresses again."""
