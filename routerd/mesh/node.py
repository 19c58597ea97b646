"""Another router, as far as it is known."""

from collections.abc import Mapping
from math import inf

from routerd.mesh.settings import ANSWERED_S, ASK_AGAIN_S, ASK_TIMES


class Question:
    """One question to one router."""

    __slots__ = ("asked", "due", "is_owed", "times")

    def __init__(self) -> None:
        self.due = inf
        self.asked = -inf
        self.is_owed = False
        """Whether it has been asked, and not been answered since."""
        self.times = 0

    @property
    def is_repeated(self) -> bool:
        """Whether it has been asked more than once, and not been answered since."""
        return self.is_owed and self.times > 1

    def is_fresh(self, now: float) -> bool:
        """Return whether the answer may still be under way."""
        return now < self.asked + ASK_AGAIN_S

    def ask(self, now: float) -> None:
        """Note that it is asked, and is to be asked again if nothing comes of it."""
        self.due = now + ASK_AGAIN_S * (1 << self.times)
        self.asked = now
        self.is_owed = True
        self.times += 1
        if self.times >= ASK_TIMES:
            self.due = inf

    def answered(self, now: float) -> None:
        """Note an answer. If it told less than is wanted, there may be nothing more yet."""
        self.is_owed = False
        if self.due < inf:
            self.due = max(self.due, now + ANSWERED_S)

    def drop(self) -> None:
        """Don't ask."""
        self.due = inf
        self.is_owed = False
        self.times = ASK_TIMES


class Node:
    """Another router."""

    __slots__ = (
        "changed",
        "doubted",
        "former",
        "id",
        "instance",
        "is_mobile_known",
        "last_seen",
        "ls_question",
        "ls_seq",
        "ls_wanted",
        "mobile_question",
        "mobile_seq",
        "mobile_wanted",
        "peers",
        "stale_ticks",
    )

    def __init__(self, router: str, instance: int, now: float) -> None:
        self.id = router
        self.instance = instance
        self.former = 0
        """Its instance before that."""
        self.peers: Mapping[str, int] = {}
        self.ls_seq = self.ls_wanted = 0
        """What is known of its link state, and what there is to know."""
        self.mobile_seq = self.mobile_wanted = 0
        """The same of its addresses."""
        self.is_mobile_known = False
        """Whether it has told what there is to know of its addresses."""
        self.last_seen = self.changed = now
        self.doubted = inf
        """Since when it tells to have come less far than it is known."""
        self.stale_ticks = 0
        self.ls_question = Question()
        self.mobile_question = Question()

    @property
    def lacks_links(self) -> bool:
        """Whether its link state is not known as far as it has told, or not at all."""
        return self.ls_seq < max(self.ls_wanted, 1)

    @property
    def lacks_addresses(self) -> bool:
        """Whether its addresses are not known as far as it has told, or it has told nothing of them."""
        return self.mobile_seq < self.mobile_wanted or (not self.is_mobile_known and self.ls_seq > 0)

    def restart(self, instance: int) -> None:
        """Begin anew with another instance; its links are cleared by LinkStates."""
        self.former, self.instance = self.instance, instance
        self.ls_wanted = self.mobile_seq = self.mobile_wanted = 0
        self.is_mobile_known = False
