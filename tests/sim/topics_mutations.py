"""The rules of the protocol that close a hole, each with a mutation of the real code that leaves it out."""

from collections.abc import Callable
from typing import Any

from routerd.topics.claims import HybridClock
from routerd.topics.directory import Directory
from routerd.topics.host import Host
from routerd.topics.ingress import Ingress
from routerd.topics.membership import Membership
from routerd.topics.messages import IsSettled
from routerd.topics.names import Place
from routerd.topics.progress import Progress
from routerd.topics.publishers import Publisher
from routerd.topics.questions import Questions
from routerd.topics.ranges import Acknowledged, Ranges
from routerd.topics.records import new_entry
from routerd.topics.routers import Routers
from routerd.topics.streams import ReceiveStream
from routerd.topics.subscribers import Subscribers
from routerd.topics.subscriptions import Subscriptions
from routerd.topics.tags import key_of, publisher_key
from routerd.topics.topic import Topic

Patch = Callable[[type, str, Any], None]
"""`monkeypatch.setattr`."""


def acknowledges_early(patch: Patch) -> None:
    """A host acknowledges what its subscribers have not decided."""
    patch(Subscribers, "have_all_decided", lambda self, record: True)


def is_always_sure(patch: Patch) -> None:
    """What is announced counts as not answered yet, though its router may have gone on without us."""
    patch(Membership, "_may_be_answered", lambda self, subscription: False)


def repairs_no_gaps(patch: Patch) -> None:
    """A host does not ask for what it has missed."""
    patch(ReceiveStream, "missing", lambda self, holds: Ranges())


def keeps_a_lost_role(patch: Patch) -> None:
    """An ingress stays what it is when its publisher is attached elsewhere."""
    patch(Ingress, "lose", lambda self, key: None)


def believes_records_before_the_map(patch: Patch) -> None:
    """What the publisher's map lacks counts as unsettled where there is a record of it."""
    original = Ingress._take_map

    def take_map(self: Ingress, publisher: Publisher, before: Publisher | None, unsettled: Any) -> None:
        original(self, publisher, before, unsettled)
        for record in list(self._subscribers.records()):
            own_tag = record.tag[9:]
            if key_of(record.tag) == publisher.key and own_tag not in publisher.entries:
                entry = new_entry(publisher.key, own_tag, record.tag, self._port.now)
                entry.is_from_map = True
                entry.payload = record.payload
                publisher.add(entry)

    patch(Ingress, "_take_map", take_map)


def ignores_versions(patch: Patch) -> None:
    """An acknowledgement counts for subscribers that came to the host later."""
    original = Acknowledged.at_least
    patch(Acknowledged, "at_least", lambda self, version: original(self, 0))


def ignores_subscriptions_that_are_not_ready(patch: Patch) -> None:
    """An ingress does not wait for a subscription that was announced, and not answered."""

    def required_versions(self: Subscriptions) -> Any:
        ready = [each for each in self if each.is_ready]
        if not all(each.is_listed for each in ready):
            return None
        return {host: max(each.since for each in ready if each.host == host) for host in {each.host for each in ready}}

    patch(Subscriptions, "required_versions", required_versions)


def forgets_closed_publishers(patch: Patch) -> None:
    """Nothing follows from it that a publisher has closed."""
    patch(Topic, "_take_closed", lambda self, key, claim: None)
    patch(Questions, "_check_poll", lambda self, question, tag: None)


def takes_copies_of_older_claims(patch: Patch) -> None:
    """A host takes copies of an ingress that its publisher has left."""
    patch(Host, "_is_fenced", staticmethod(lambda claim, publisher: False))


def is_done_before_all_know(patch: Patch) -> None:
    """Subscribers are told `settled` before all routers know."""
    patch(Progress, "known_everywhere", lambda self: self.settling_numbers)


def waits_for_no_lease(patch: Patch) -> None:
    """An ingress goes on at once without a router that is out of reach."""
    patch(Routers, "lease_has_run", lambda self, since, now: True)


def counts_the_lease_from_before_the_claim(patch: Patch) -> None:
    """The lease is counted from when a router was heard last, even if the publisher came later."""
    original = Routers.lease_has_run
    patch(Routers, "lease_has_run", lambda self, since, now: original(self, float("-inf"), now))


def knows_all_routers_at_its_start(patch: Patch) -> None:
    """A router that has just started does not reckon with routers that it has not heard of."""
    patch(Routers, "has_census", lambda self, now: True)


def shows_everything(patch: Patch) -> None:
    """Records are shown although nobody knows where their publisher is."""
    patch(Subscribers, "may_show", lambda self, publisher: publisher is not None)


def shows_without_the_publisher(patch: Patch) -> None:
    """Records are shown while their publisher is not attached at their ingress."""
    patch(
        Subscribers,
        "may_show",
        lambda self, publisher: (
            publisher is not None and self._port.routers.is_alive(publisher.ingress, self._port.now)
        ),
    )


def believes_what_it_hears(patch: Patch) -> None:
    """A router counts as alive when it is heard, even if it does not hear us."""

    def is_alive(self: Routers, place: Place, now: float) -> bool:
        if place == self.me:
            return True
        known = self.known.get(place.router)
        return known is not None and self.is_up(place) and now - known.heard_at <= self._config.hello_max_age_s

    patch(Routers, "is_alive", is_alive)


def accepts_at_once(patch: Patch) -> None:
    """A router that has started accepts before it can know all subscriptions."""
    patch(Routers, "grace_is_over", lambda self, now: True)


def has_no_horizon(patch: Patch) -> None:
    """A subscription that was not known when something was accepted goes on."""
    patch(Membership, "is_beyond_horizon", lambda self, epoch: False)


def answers_without_an_echo(patch: Patch) -> None:
    """An ingress says that a tag is settled without asking its publisher whether it is still there."""

    def answer(self: Questions, router: str, question: int, tag: bytes) -> None:
        publisher = self._ingress.publishers.get(key_of(tag))
        if publisher is None or publisher.state_of(tag) != "none":
            return
        if router == self._port.me.router:
            self.settled(question)
        else:
            self._port.send(router, IsSettled(question))

    patch(Questions, "answer", answer)


def takes_old_answers(patch: Patch) -> None:
    """What an ingress has told of its publisher's map answers questions that were not asked."""
    original = Topic._on_set

    def on_set(self: Topic, place: Place, it: Any) -> None:
        original(self, place, it)
        have = {tag for tag, _ in (*it.unsettled, *it.settled)}
        for session in self.subscribers.sessions.values():
            for tag in list(session.placeholders):
                if key_of(tag) == publisher_key(it.name) and tag not in have and not it.notice:
                    self.subscribers.resolve(session, tag)

    patch(Topic, "_on_set", on_set)


def counts_no_attaches(patch: Patch) -> None:
    """The clocks of routers alone say which attach of a client is the later one."""
    original = HybridClock.claim
    patch(HybridClock, "claim", lambda self, attaches, now: original(self, 0, now))


def cancels_no_copies(patch: Patch) -> None:
    """What was settled becomes a record if its copy is late."""
    patch(
        ReceiveStream,
        "cancel",
        lambda self, numbers: [copy for number, copy in self.waiting.items() if number in numbers],
    )


def answers_settled_before_done(patch: Patch) -> None:
    """What the publisher has settled counts as settled before all routers know."""
    original = Publisher.state_of

    def state_of(self: Publisher, tag: bytes) -> str:
        state = original(self, tag)
        return "none" if state == "settling" else state

    patch(Publisher, "state_of", state_of)


def confirms_nothing(patch: Patch) -> None:
    """A new subscription is answered before other routers know of it."""
    original = Membership._check_confirmed

    def check_confirmed(self: Membership, name: Any) -> None:
        self._confirming[name].waits_for.clear()
        original(self, name)

    patch(Membership, "_check_confirmed", check_confirmed)


def mixes_lives_of_hosts(patch: Patch) -> None:
    """An acknowledgement of a host counts for its next life."""
    required, acknowledge = Subscriptions.required_versions, Progress.acknowledge

    def required_versions(self: Subscriptions) -> Any:
        found = required(self)
        return found and {Place(place.router, 0): version for place, version in found.items()}

    patch(Subscriptions, "required_versions", required_versions)
    patch(Progress, "forget_places", lambda self, router, but: None)
    patch(Progress, "acknowledge", lambda self, place, report: acknowledge(self, Place(place.router, 0), report))


def never_ends_publishers(patch: Patch) -> None:
    """A publisher goes on with deliveries that a host may have dropped."""
    patch(Ingress, "_end_if_too_old", lambda self, publisher: False)
    patch(Directory, "drop_line", lambda self, key: float("-inf"))


def takes_maps_piece_by_piece(patch: Patch) -> None:
    """A subscriber is sent something before its whole map was compared."""
    original = Subscribers.match

    def match(self: Subscribers, session: Any, unsettled: Any, question: Any) -> None:
        for tag, outcome in unsettled.items():
            original(self, session, {tag: outcome}, question)
            self.show_all(session)
        session.is_served = True

    patch(Subscribers, "match", match)


MUTATIONS = (
    # No run needs that ends of subscriptions are remembered, since the horizon ends what comes back; nor the place that
    # a subscriber's map sets, which a unit test shows.
    *(acknowledges_early, repairs_no_gaps, keeps_a_lost_role, believes_records_before_the_map, ignores_versions),
    *(ignores_subscriptions_that_are_not_ready, forgets_closed_publishers),
    *(takes_copies_of_older_claims, is_done_before_all_know, waits_for_no_lease),
    *(counts_the_lease_from_before_the_claim, knows_all_routers_at_its_start, shows_everything),
    *(shows_without_the_publisher, believes_what_it_hears, accepts_at_once, has_no_horizon, answers_without_an_echo),
    *(takes_old_answers, counts_no_attaches, cancels_no_copies, answers_settled_before_done, confirms_nothing),
    *(mixes_lives_of_hosts, never_ends_publishers, takes_maps_piece_by_piece, is_always_sure),
)
