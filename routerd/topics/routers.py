"""The other routers: who is in reach, who is known to hear us, and what may be done without those who are not.

That a router was not heard for a while is no agreement about anything. So two clocks run. A host shows deliveries of an
ingress only while that has answered one of its hellos within the age. An ingress goes on without a host after the
lease, which is longer. Then the host shows nothing of it any more.
"""

from routerd.topics.names import Place
from routerd.topics.settings import NodeConfig

_HELLOS_REMEMBERED = 64


class Router:
    """What is known of another router."""

    __slots__ = (
        *("contact_until", "echoed_at", "has_restarted", "heard_at", "heard_hello", "hellos", "is_in_reach"),
        *("is_older_noted", "is_up", "place", "sent_hello"),
    )

    def __init__(self, router: str, heard_at: float) -> None:
        self.place = Place(router, 0)
        """Its present life; 0 before it was heard."""
        self.is_in_reach = False
        """The network has a path to it."""
        self.is_up = False
        """It is in reach and was heard."""
        self.is_older_noted = False
        """It was remarked that frames of an earlier life come."""
        self.heard_at = heard_at
        self.echoed_at = float("-inf")
        self.contact_until = float("-inf")
        """When the last contact before the present one ended. It stays what it was when the router has restarted, since
        then it has forgotten what it had not told.
        """
        self.has_restarted = False
        self.sent_hello = 0
        self.heard_hello = 0
        self.hellos: dict[int, float] = {}

    @property
    def incarnation(self) -> int:
        """The number of its present life."""
        return self.place.incarnation


class Routers:
    """All routers that this one has to reckon with."""

    def __init__(self, config: NodeConfig, now: float) -> None:
        self.me = Place(config.router_id, config.incarnation)
        self.known: dict[str, Router] = {}
        self._config = config
        self._boot = now
        # The directory has come from a router that was up before; or nothing is older than this one.
        self._is_seasoned = config.is_first_start
        self._has_census = config.is_first_start

    def begin_anew(self, now: float) -> None:
        """Count from now on what is counted from our start: nobody could be heard before."""
        self._boot = now

    # --- who is there

    def learn(self, router: str, now: float) -> Router | None:
        """Return what is known of a router, which exists; None if there are too many."""
        known = self.known.get(router)
        if known is None and router != self.me.router and len(self.known) < self._config.routers_max:
            # Unheard of since our start: it may show deliveries since then.
            known = self.known[router] = Router(router, self._boot if not self._has_census else now)
        return known

    def is_up(self, place: Place) -> bool:
        """Return whether a router in that life is in reach."""
        known = self.known.get(place.router)
        return known is not None and known.is_up and known.incarnation == place.incarnation

    def is_over(self, place: Place) -> bool:
        """Return whether a router is known to have begun another life since."""
        known = self.known.get(place.router)
        present = self.me if place.router == self.me.router else known.place if known is not None else place
        return place.incarnation < present.incarnation

    def is_here(self, place: Place) -> bool:
        """Return whether that is this router, or is in reach."""
        return place == self.me or self.is_up(place)

    def up(self) -> list[str]:
        """Return the routers in reach."""
        return [id for id, each in self.known.items() if each.is_up]

    def places(self) -> list[Place]:
        """Return the routers in reach, with their lives."""
        return [each.place for each in self.known.values() if each.is_up]

    def silent(self, now: float) -> list[str]:
        """Return the routers that count as in reach, and have not been heard for too long."""
        oldest = now - self._config.hello_max_age_s
        return [id for id, each in self.known.items() if each.is_up and each.heard_at < oldest]

    def forget_old(self, now: float) -> list[str]:
        """Forget routers that were not heard for longer than anything is kept; return them."""
        oldest = now - 2 * self._config.longest_timeout_s
        gone = [id for id, each in self.known.items() if not each.is_in_reach and each.heard_at < oldest]
        for id in gone:
            del self.known[id]
        return gone

    def contact_until(self, router: str) -> float:
        """Return up to when a router would have told us of all that it knew, before the present contact."""
        known = self.known.get(router)
        return known.contact_until if known is not None else float("-inf")

    def echoed_at(self, router: str) -> float:
        """Return when we said the last hello that a router in reach is known to have heard."""
        known = self.known.get(router)
        return known.echoed_at if known is not None else float("-inf")

    def go_down(self, router: Router) -> None:
        """A router is out of reach, or has restarted."""
        router.is_up = False
        router.echoed_at = float("-inf")
        if not router.has_restarted:
            router.contact_until = router.heard_at

    # --- who hears us

    def next_hello(self, router: Router, now: float) -> int:
        """Return the number of a hello that is sent now."""
        router.sent_hello += 1
        router.hellos[router.sent_hello] = now
        router.hellos.pop(router.sent_hello - _HELLOS_REMEMBERED, None)
        return router.sent_hello

    def echoed(self, router: Router, hello: int) -> None:
        """Note which of our hellos a router had heard when it sent its own."""
        router.echoed_at = max(router.echoed_at, router.hellos.get(hello, router.echoed_at))

    def is_alive(self, place: Place, now: float) -> bool:
        """Return whether a router has answered lately, so that it counts on us."""
        if place == self.me:
            return True
        known = self.known.get(place.router)
        return known is not None and self.is_up(place) and now - known.echoed_at <= self._config.hello_max_age_s

    # --- going on without others

    def lease_has_run(self, since: float, now: float) -> bool:
        """Return whether all that are out of reach show nothing any more of a publisher that is here since then."""
        lease = self._config.lease_s
        if not self.has_census(now) and now - max(self._boot, since) <= lease:
            return False
        return all(each.is_up or now - max(each.heard_at, since) > lease for each in self.known.values())

    def has_census(self, now: float) -> bool:
        """Return whether all routers are known that may have deliveries."""
        return self._has_census or now - self._boot > self._config.longest_timeout_s

    def grace_is_over(self, now: float) -> bool:
        """Return whether all subscriptions are known that publishers have to wait for."""
        return self._is_seasoned or now - self._boot > self._config.grace

    def are_met(self, now: float) -> bool:
        """Return whether the routers of the network have had time to come into reach."""
        return now - self._boot >= self._config.meeting_s

    def season(self, census: list[str], now: float) -> bool:
        """Take over the directory of a router that was up before; return whether that is news."""
        for router in census:
            self.learn(router, now)
        is_news = not self._is_seasoned
        self._is_seasoned = self._has_census = True
        return is_news

    def out_of_reach_longer_than(self, seconds: float, now: float) -> bool:
        """Return whether a router was not heard for so long."""
        return any(not each.is_up and now - each.heard_at > seconds for each in self.known.values())
