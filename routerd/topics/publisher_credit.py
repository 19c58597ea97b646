"""The credit of publishers: what is unsettled has limits, and nothing is dropped to keep them."""

from collections.abc import Mapping

from routerd.topics.directory import Directory
from routerd.topics.effects import RESOURCE_LIMIT_EXCEEDED, Grant
from routerd.topics.errors import Refused
from routerd.topics.messages import MapsAnswered
from routerd.topics.names import ClientName, Place
from routerd.topics.port import Port
from routerd.topics.publishers import Publisher
from routerd.topics.settings import CREDIT_WINDOW, MAP_MAX, MAPS_ASKED_KEPT
from routerd.topics.tags import publisher_key


class PublisherCredit:
    """What the publishers of one topic here may have unsettled.

    A subscriber with an unsettled map has to keep there what it has decided until all others have decided, too. Routers
    share what such a map has room for. If each filled it alone, subscribers could wait for each other without end.
    While no subscriber has a map, only credit is shared so. What has come counts again before one with a map comes.
    """

    def __init__(self, port: Port, publishers: Mapping[bytes, Publisher], directory: Directory) -> None:
        self._port = port
        self._publishers = publishers
        self._directory = directory
        self._used: dict[Place, int] = {}
        self._asked: dict[str, tuple[int, float]] = {}
        """By router that has a subscriber with a map to come: its last question, and when it came."""
        self._unanswered: dict[str, bool] = {}
        """Routers whose question waits until maps have room for what is under way, and whether they were told so."""

    @property
    def used(self) -> int:
        """What maps must have room for: the credit of the publishers here, and what they have under way if that counts.
        """
        credit = sum(each.credit for each in self._publishers.values())
        return credit + self._held if self._must_fit_maps() else credit

    @property
    def _held(self) -> int:
        return sum(each.held for each in self._publishers.values())

    def note_used(self, place: Place, used: int) -> None:
        """A router has told how much its publishers use."""
        if used or place in self._used:
            self._used[place] = used

    def forget_places(self, router: str, but: Place | None) -> None:
        """A router has begun another life, or is no more."""
        for place in [each for each in self._used if each.router == router and each != but]:
            del self._used[place]
        self._asked.pop(router, None)
        self._unanswered.pop(router, None)

    # --- subscribers with maps that are to come

    def expect_maps(self, router: str, question: int) -> None:
        """A router has asked to have no more under way than a map has room for."""
        self._asked[router] = (question, self._port.now)
        self._unanswered[router] = False

    def answers(self) -> list[tuple[str, MapsAnswered]]:
        """Return what routers that have asked are to be told now."""
        if not self._unanswered:
            return []
        do_fit = self._do_maps_fit()
        news = [router for router, was_told in self._unanswered.items() if do_fit or not was_told]
        self._unanswered = {} if do_fit else dict.fromkeys(self._unanswered, True)
        return [(router, MapsAnswered(self._asked[router][0], do_fit)) for router in news]

    def _do_maps_fit(self) -> bool:
        if not self._held:
            # Credit that idle publishers have is not waited for.
            return True
        least = self._least()
        return self.used <= max(least, self._left(least))

    def _must_fit_maps(self) -> bool:
        """Return whether what is under way has to fit into the unsettled map of a subscriber.

        Before a router knows which subscriptions there are, one may have a map.
        """
        if self._directory.subscriptions.have_maps or not self._port.routers.grace_is_over(self._port.now):
            return True
        # The subscription is known soon after the answer. If it does not come to that, the question is void.
        since = self._port.now - MAPS_ASKED_KEPT * self._port.config.confirm_wait_s
        return any(at >= since for _, at in self._asked.values())

    # --- granting

    def grant(self) -> None:
        """Grant what there is room for."""
        settings = self._port.settings
        publishers = self._publishers.values()
        if sum(each.octets for each in publishers) >= settings.unsettled_octets_max:
            return
        limit = settings.unsettled_max
        room = limit - self._held - sum(each.credit for each in publishers)
        if settings.is_exactly_once:
            share = self._share()
            limit, room = min(limit, share), min(room, share - self.used)
        attached = [(each, each.link) for each in publishers if each.link is not None and not each.is_ending]
        share = min(CREDIT_WINDOW, max(1, limit // max(1, len(attached))))
        for publisher, link in attached:
            most = min(share, settings.unsettled_per_publisher_max - publisher.held)
            # One delivery is always allowed, or publishers that are idle would keep others from going on.
            least = 1 if publisher.held + publisher.credit == 0 else 0
            more = min(max(room, least), most - publisher.credit)
            # A flow for each delivery would double the frames on the link.
            if more > 0 and (publisher.credit == 0 or more * 2 >= share):
                publisher.credit += more
                room -= more
                self._port.emit(Grant(link, more))

    def _share(self) -> int:
        """Return this router's share of a map.

        A router that alone has publishers of the topic gets all, save the least that every router may use. When another
        one gets publishers, it uses no more than that until all know, and then what is left, up to an equal share.
        """
        places = self._port.routers.places()
        least = self._least()
        others = {each.ingress for each in self._directory.publishers.values() if not each.is_closed}
        if others.isdisjoint(places):
            most = MAP_MAX
        elif all(each.notice for each in self._publishers.values()):
            most = least
        else:
            most = MAP_MAX // (1 + len(places))
        return max(least, min(most, self._left(least)))

    def _least(self) -> int:
        """Return how much of a map every router may use."""
        return max(1, MAP_MAX // (4 * (1 + len(self._port.routers.places()))))

    def _left(self, least: int) -> int:
        """Return what the other routers leave of a map."""
        return MAP_MAX - sum(max(least, self._used.get(place, 0)) for place in self._port.routers.places())

    def check_room(self, unsettled: Mapping[bytes, float], name: ClientName) -> None:
        """Raise Refused if a publisher brings too much, or there are too many of them."""
        settings = self._port.settings
        if len(unsettled) > settings.unsettled_per_publisher_max:
            reason = f"{len(unsettled)} unsettled deliveries are more than {settings.unsettled_per_publisher_max}"
            raise Refused(RESOURCE_LIMIT_EXCEEDED, reason)
        if publisher_key(name) not in self._publishers and len(self._publishers) >= settings.publishers_max:
            raise Refused(RESOURCE_LIMIT_EXCEEDED, f"{settings.publishers_max} publishers are attached")
