"""Subscribers with unsettled maps that wait until no more is under way than such a map has room for.

While no subscriber of a topic has a map, its publishers may have far more unsettled. One map could fill up
with messages of one publisher, another one with those of another publisher. They would wait for each other without end.
"""

from dataclasses import dataclass

from routerd.topics import messages as told
from routerd.topics.attaching import SubscriberAttach
from routerd.topics.effects import RESOURCE_LIMIT_EXCEEDED, STOLEN
from routerd.topics.port import Port
from routerd.topics.publisher_credit import PublisherCredit
from routerd.topics.subscriptions import Subscription


@dataclass(slots=True)
class Waiting:
    """A link that is not taken yet."""

    link: int
    attach: SubscriberAttach
    question: int
    waits_for: dict[str, bool]
    """Routers that have not said that maps have room for what their publishers have under way, this one among them;
    and whether they have said the contrary.
    """
    since: float


class Admission:
    """The subscribers of one topic that wait here."""

    def __init__(self, port: Port, credit: PublisherCredit) -> None:
        self._port = port
        self._credit = credit
        self._waiting: dict[int, Waiting] = {}
        self._questions = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, link: int) -> bool:
        return link in self._waiting

    def must_wait(self, attach: SubscriberAttach, known: Subscription | None) -> bool:
        """Return whether publishers have to be asked before a subscriber is taken.

        One that comes back was counted before, and what is under way waits for it.
        """
        if not attach.has_map or not self._port.settings.is_exactly_once or attach.epoch is not None:
            return False
        return known is None or not known.has_map

    def wait(self, link: int, attach: SubscriberAttach) -> None:
        """Ask all routers for room, and have a subscriber wait for it."""
        for other in [each for each in self._waiting.values() if each.attach.name == attach.name]:
            del self._waiting[other.link]
            self._port.detach(other.link, STOLEN, "attached again")
        self._questions += 1
        me = self._port.me.router
        waits_for = dict.fromkeys([me, *self._port.routers.up()], False)
        self._waiting[link] = Waiting(link, attach, self._questions, waits_for, self._port.now)
        self._credit.expect_maps(me, self._questions)
        self._port.cast(told.MapsAsked(self._questions))

    def take_answer(self, router: str, answer: told.MapsAnswered) -> None:
        """A router has answered all questions up to that one."""
        for each in self._waiting.values():
            if each.question > answer.question or router not in each.waits_for:
                continue
            if answer.do_fit:
                del each.waits_for[router]
            else:
                each.waits_for[router] = True

    def lose_router(self, router: str) -> None:
        """A router is out of reach, so it is not waited for."""
        for each in self._waiting.values():
            each.waits_for.pop(router, None)

    def sync(self, router: str) -> None:
        """Ask a router that has come into reach."""
        for each in self._waiting.values():
            each.waits_for[router] = False
        if self._waiting:
            self._port.send(router, told.MapsAsked(self._questions))

    def forget(self, link: int) -> None:
        """The link is gone."""
        self._waiting.pop(link, None)

    def take_ready(self) -> list[Waiting]:
        """Return the subscribers that need wait no longer. A router that does not answer is not waited for long."""
        ready = [
            each
            for each in self._waiting.values()
            if not each.waits_for or (self._is_late(each) and not any(each.waits_for.values()))
        ]
        for each in ready:
            del self._waiting[each.link]
        return ready

    def _is_late(self, waiting: Waiting) -> bool:
        return self._port.now - waiting.since >= self._port.config.confirm_wait_s

    def refuse_late(self) -> int:
        """Refuse those that have waited too long; return how many."""
        late = [each for each in self._waiting.values() if self._is_late(each) and any(each.waits_for.values())]
        for each in late:
            del self._waiting[each.link]
            full = [router for router, is_full in each.waits_for.items() if is_full]
            reason = f"more is under way than an unsettled map has room for, at {', '.join(full)}"
            self._port.note(f"subscriber {each.attach.name} is refused: {reason}")
            self._port.detach(each.link, RESOURCE_LIMIT_EXCEEDED, f"{reason}; attach again")
        return len(late)
