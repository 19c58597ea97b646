"""The credit of publishers: what is unsettled has limits, and nothing is dropped to keep them."""

from collections.abc import Mapping

from routerd.topics.directory import Directory
from routerd.topics.effects import RESOURCE_LIMIT_EXCEEDED, Grant
from routerd.topics.errors import Refused
from routerd.topics.names import ClientName, Place
from routerd.topics.port import Port
from routerd.topics.publishers import Publisher
from routerd.topics.settings import CREDIT_WINDOW, MAP_MAX
from routerd.topics.tags import publisher_key


class PublisherCredit:
    """What the publishers of one topic here may have unsettled."""

    def __init__(self, port: Port, publishers: Mapping[bytes, Publisher], directory: Directory) -> None:
        self._port = port
        self._publishers = publishers
        self._directory = directory
        self._used: dict[Place, int] = {}

    @property
    def used(self) -> int:
        """What the publishers here have under way, or credit for."""
        return sum(each.held + each.credit for each in self._publishers.values())

    def note_used(self, place: Place, used: int) -> None:
        """A router has told how much its publishers use."""
        if used or place in self._used:
            self._used[place] = used

    def forget_places(self, router: str, but: Place | None) -> None:
        """A router has begun another life, or is no more."""
        for place in [each for each in self._used if each.router == router and each != but]:
            del self._used[place]

    def grant(self) -> None:
        """Grant what there is room for."""
        settings = self._port.settings
        publishers = self._publishers.values()
        if sum(each.octets for each in publishers) >= settings.unsettled_octets_max:
            return
        limit = self._limit()
        room = limit - self.used
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

    def _limit(self) -> int:
        """Return how much all publishers here may have unsettled.

        A subscriber that has decided has to keep the delivery in its map until all others have decided, too. Routers
        share what a map has room for. If each filled it alone, subscribers could wait for each other without end.
        """
        settings = self._port.settings
        if not settings.is_exactly_once:
            return settings.unsettled_max
        return min(settings.unsettled_max, self._share())

    def _share(self) -> int:
        """Return this router's share of a map.

        A router that alone has publishers of the topic gets all, save the least that every router may use. When another
        one gets publishers, it uses no more than that until all know, and then what is left, up to an equal share.
        """
        places = self._port.routers.places()
        least = max(1, MAP_MAX // (4 * (1 + len(places))))
        others = {each.ingress for each in self._directory.publishers.values() if not each.is_closed}
        if others.isdisjoint(places):
            most = MAP_MAX
        elif all(each.notice for each in self._publishers.values()):
            most = least
        else:
            most = MAP_MAX // (1 + len(places))
        left = MAP_MAX - sum(max(least, self._used.get(place, 0)) for place in places)
        return max(least, min(most, left))

    def check_room(self, unsettled: Mapping[bytes, float], name: ClientName) -> None:
        """Raise Refused if a publisher brings too much, or there are too many of them."""
        settings = self._port.settings
        if len(unsettled) > settings.unsettled_per_publisher_max:
            reason = f"{len(unsettled)} unsettled deliveries are more than {settings.unsettled_per_publisher_max}"
            raise Refused(RESOURCE_LIMIT_EXCEEDED, reason)
        if publisher_key(name) not in self._publishers and len(self._publishers) >= settings.publishers_max:
            raise Refused(RESOURCE_LIMIT_EXCEEDED, f"{settings.publishers_max} publishers are attached")
