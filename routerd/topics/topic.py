"""One topic of a router: its directory, its subscribers and records, its publishers, and what routers tell about it."""

from collections.abc import Callable
from typing import Any

from routerd.topics import messages as told
from routerd.topics.admission import Admission
from routerd.topics.attaching import PublisherAttach, SubscriberAttach
from routerd.topics.claims import Claim
from routerd.topics.directory import Directory, KnownPublisher
from routerd.topics.effects import RESOURCE_DELETED, RESOURCE_LIMIT_EXCEEDED, STOLEN, Outcome, Rejection
from routerd.topics.errors import Refused
from routerd.topics.host import Host
from routerd.topics.ingress import LINE_PART, Ingress
from routerd.topics.membership import Membership
from routerd.topics.messages import CopyHead, Operation
from routerd.topics.names import ClientName, Place
from routerd.topics.port import Port
from routerd.topics.publishers import Publisher
from routerd.topics.questions import Questions
from routerd.topics.records import Copy, Entry, Record
from routerd.topics.subscribers import Session, Subscribers
from routerd.topics.subscriptions import Homes, Member, Subscription
from routerd.topics.tags import key_of, publisher_key


class Topic:
    """The parts of a topic, and what goes from one to another."""

    def __init__(self, port: Port, first_number: int, homes: Homes) -> None:
        self.directory = Directory(port.settings, homes)
        self.subscribers = Subscribers(port, self.directory)
        self.host = Host(port, self.directory, self.subscribers)
        self.ingress = Ingress(port, self.directory, self.host, self.subscribers, first_number)
        self.questions = Questions(port, self.directory, self.subscribers, self.ingress)
        self.membership = Membership(port, self.directory, self.host, self.subscribers, self.questions)
        self.admission = Admission(port, self.ingress.credit)
        self.settings = port.settings
        self.refused = 0
        """Links that were refused, or detached since their clients did what is not allowed."""
        self._port = port
        self.host.version = first_number
        self._created_at = port.now
        self._take: dict[type, Callable[[Place, Any], None]] = {
            told.SubscriptionKnown: self._on_subscription,
            told.SubscriptionEnded: self._on_subscription_ended,
            told.ConfirmAsked: self._on_confirm_asked,
            told.Confirmed: self._on_confirmed,
            told.MapsAsked: self._on_maps_asked,
            told.MapsAnswered: self._on_maps_answered,
            told.ListBegun: self._on_list,
            told.MemberTold: self._on_member,
            told.MemberGone: self._on_member_gone,
            told.PublisherKnown: self._on_publisher,
            told.PublisherSeen: self._on_publisher_seen,
            told.DropLine: self._on_drop_line,
            told.Horizon: self._on_horizon,
            told.StreamAt: self._on_stream,
            told.PublisherSet: self._on_set,
            told.Numbered: self._on_numbered,
            told.SettledUnnumbered: self._on_settled_unnumbered,
            told.Settled: self._on_settled,
            told.Done: self._on_done,
            told.Void: self._on_void,
            told.Acknowledged: self._on_acknowledged,
            told.Knows: self._on_knows,
            told.Missing: self._on_missing,
            told.SettledAsked: self._on_question,
            told.IsSettled: self._on_answer,
            told.RecordAsked: self._on_poll,
            told.RecordAnswered: self._on_poll_answer,
        }

    # --- publishers

    def attach_publisher(self, link: int, attach: PublisherAttach) -> Publisher:
        """Take a publisher; raises Refused."""
        self.ingress.credit.check_room(attach.unsettled, attach.name)
        known = self.directory.publishers.get(publisher_key(attach.name))
        claim = self._port.claim(attach.attaches)
        if known is not None and self._is_late(known.claim, claim):
            raise Refused(STOLEN, "the link was attached elsewhere since")
        self.ingress.attach(attach.name, link, attach.unsettled, claim, attach.may_return)
        return self.ingress.publishers[publisher_key(attach.name)]

    @staticmethod
    def _is_late(known: Claim, claim: Claim) -> bool:
        """Return whether an attach comes after a later one of the same client."""
        return known > claim

    def detach_publisher(self, publisher: Publisher, *, is_closed: bool) -> None:
        """The publisher's link is gone, for ever if it was closed."""
        self.ingress.leave(publisher)
        is_over = is_closed if publisher.may_return else not publisher.entries
        if is_over:
            self.ingress.end(publisher)

    # --- subscribers

    def attach_subscriber(self, link: int, attach: SubscriberAttach) -> None:
        """Take a subscriber, or have it wait for room in maps; raises Refused."""
        if self.admission.must_wait(attach, self.directory.subscriptions.get(attach.name)):
            self._check_room(attach)
            self.admission.wait(link, attach)
            self.ingress.heed_credit()
        else:
            self._take_subscriber(link, attach)

    def has_link(self, link: int, name: ClientName) -> bool:
        """Return whether a subscriber was taken, or waits."""
        session = self.subscribers.sessions.get(name)
        return (session is not None and session.link == link) or link in self.admission

    def detach_subscriber(self, link: int, session: Session | None, *, is_closed: bool) -> None:
        """The subscriber's link is gone, for ever if it was closed."""
        if session is None:
            self.admission.forget(link)
        else:
            self.membership.detach(session, is_closed=is_closed)

    def _check_room(self, attach: SubscriberAttach) -> None:
        settings = self._port.settings
        if len(attach.unsettled) > settings.records_max:
            raise Refused(RESOURCE_LIMIT_EXCEEDED, f"{len(attach.unsettled)} unsettled deliveries are too many")
        count = len(self.directory.subscriptions) + len(self.admission)
        if count >= settings.subscribers_max and attach.name not in self.directory.subscriptions:
            raise Refused(RESOURCE_LIMIT_EXCEEDED, f"{settings.subscribers_max} subscriptions exist")

    def _take_subscriber(self, link: int, attach: SubscriberAttach) -> None:
        port, name = self._port, attach.name
        self._check_room(attach)
        known = self.directory.subscriptions.get(name)
        self._check_epoch(name, attach.epoch, known)
        claim = port.claim(attach.attaches)
        if known is not None and self._is_late(known.claim, claim):
            raise Refused(STOLEN, "the link was attached elsewhere since")
        epoch = attach.epoch
        if epoch is None and known is not None and known.is_ready:
            epoch = known.epoch
        subscription = Subscription(
            *(name, epoch or claim, claim, port.me, epoch is not None),
            *(min(attach.timeout_s, port.settings.subscription_timeout_s), attach.is_durable, attach.has_map),
        )
        if not self.host.is_hosting:
            self.host.host()
            self.ingress.refill()
        self.membership.attach(link, attach.credit, attach.unsettled, subscription)

    def _admit(self) -> bool:
        """Take the subscribers that have waited for room in maps; return whether there was one."""
        for router, answer in self.ingress.credit.answers():
            if router == self._port.me.router:
                self.admission.take_answer(router, answer)
            else:
                self._port.send(router, answer)
        ready = self.admission.take_ready()
        for waiting in ready:
            try:
                self._take_subscriber(waiting.link, waiting.attach)
            except Refused as refused:
                self.refused += 1
                self._port.detach(waiting.link, refused.condition, refused.reason)
        return bool(ready)

    def _check_epoch(self, name: ClientName, epoch: Claim | None, known: Subscription | None) -> None:
        if epoch is None or (known is not None and known.epoch == epoch):
            return
        is_superseded = known is not None and known.epoch > epoch
        if is_superseded or self.membership.is_beyond_horizon(epoch):
            self.membership.end(name, epoch, "something was accepted without knowing it")
        if self.directory.has_ended(name, epoch):
            raise Refused(RESOURCE_DELETED, "the subscription has ended")

    def decide(self, session: Session, tag: bytes, outcome: Outcome, rejection: Rejection | None) -> None:
        """Take the outcome of a subscriber."""
        record = self.subscribers.decide(session, tag, outcome, rejection)
        if record is not None:
            self.host.note(record)

    def accept(self, session: Session, records: list[Record]) -> None:
        """Take that a subscriber has accepted deliveries as they were given to it."""
        for record in self.subscribers.accept(session, records):
            self.host.note(record)

    def waits_for(self, entry: Entry) -> tuple[ClientName, ...]:
        """Return the subscriptions that a delivery of a publisher here waits for; of other hosts, all."""
        record = self.subscribers.record(entry.tag)
        undecided = self.subscribers.undecided(record) if record is not None else []
        waiting = self.ingress.progress.places_without(entry.number)
        return tuple(
            each.name
            for each in self.directory.subscriptions
            if (each.name in undecided if each.host == self._port.me else each.host in waiting)
        )

    def end_subscription(self, name: ClientName, reason: str) -> bool:
        """End a subscription for an operator; return whether there is one."""
        subscription = self.directory.subscriptions.get(name)
        if subscription is not None:
            self.membership.end(name, subscription.epoch, reason)
        return subscription is not None

    # --- other routers

    def take(self, place: Place, operation: Operation) -> None:
        """Take what a router in reach tells."""
        self._take[type(operation)](place, operation)

    def take_copies(self, head: CopyHead, payloads: list[object], sizes: list[int]) -> None:
        """Take messages from their ingress."""
        self.host.take_copies(
            head.ingress, head.claim, head.numbers.numbers(), head.tags, head.ages_ms, payloads, sizes
        )

    def sync(self, router: str) -> None:
        """Tell a router everything that it may have missed."""
        port = self._port
        self.membership.sync(router)
        self.admission.sync(router)
        for known in self.directory.publishers.values():
            if known.claim.attaches >= 0 and known.key not in self.ingress.publishers:
                port.send(router, _told(known))
        for key, line in self.directory.drop_lines().items():
            port.send(router, told.DropLine(key, max(0, int((port.now - line) * 1000))))
        port.send(router, told.Horizon(self.directory.horizon))
        self.ingress.telling.sync(router)
        for place in port.routers.places():
            if place.router == router:
                self.host.note_all(place)

    def lose_router(self, router: str) -> None:
        """A router is out of reach."""
        self.membership.lose_router(router)
        self.admission.lose_router(router)

    def meet(self, place: Place) -> None:
        """A router is in reach, perhaps in another life."""
        self._forget_places(place.router, but=place)
        self._end_those_of_earlier_lives()
        self.ingress.change()

    def forget_router(self, router: str) -> None:
        """A router has not been heard for longer than anything is kept."""
        self._forget_places(router)

    def _forget_places(self, router: str, but: Place | None = None) -> None:
        self.directory.subscriptions.forget_places(router, but)
        self.ingress.telling.forget_places(router, but)
        self.host.forget_places(router, but)

    # --- directory

    def _on_subscription(self, place: Place, it: told.SubscriptionKnown) -> None:
        timeout_s = it.timeout_ms / 1000
        known = Subscription(it.name, it.epoch, it.claim, it.host, it.is_ready, timeout_s, it.is_durable, it.has_map)
        self.membership.learn(known, place.router, has_waited=it.has_waited)

    def _on_subscription_ended(self, place: Place, it: told.SubscriptionEnded) -> None:
        self.membership.end(it.name, it.epoch, "another router has ended it", place.router)

    def _on_confirm_asked(self, place: Place, it: told.ConfirmAsked) -> None:
        self._port.send(place.router, told.Confirmed(it.name, it.epoch))

    def _on_confirmed(self, place: Place, it: told.Confirmed) -> None:
        subscription = self.directory.subscriptions.get(it.name)
        if subscription is not None and subscription.epoch == it.epoch:
            self.membership.confirm(it.name, place.router)

    def _on_maps_asked(self, place: Place, it: told.MapsAsked) -> None:
        self.ingress.credit.expect_maps(place.router, it.question)
        # What is under way counts from now on.
        self.ingress.telling.cast_stream()

    def _on_maps_answered(self, place: Place, it: told.MapsAnswered) -> None:
        self.admission.take_answer(place.router, it)

    def _on_list(self, place: Place, _: told.ListBegun) -> None:
        self.directory.subscriptions.begin_list(place)
        self.ingress.change()

    def _on_member(self, place: Place, it: told.MemberTold) -> None:
        member = Member(it.claim, it.since, it.is_attached)
        self.directory.subscriptions.enlist(place, it.name, member)
        self.ingress.change()

    def _on_member_gone(self, place: Place, it: told.MemberGone) -> None:
        self.directory.subscriptions.strike(place, it.name)
        self.ingress.change()

    def _on_publisher(self, place: Place, it: told.PublisherKnown) -> None:
        self.learn_publisher(
            it.name, it.claim, it.ingress, place.router, may_return=it.may_return, is_closed=it.is_closed
        )

    def learn_publisher(
        self, name: ClientName, claim: Claim, ingress: Place, source: str, *, may_return: bool, is_closed: bool
    ) -> bool:
        """Take over where a publisher is; return whether the claim is not older than what is known."""
        known = self.directory.publisher(name)
        if known.claim > claim:
            here = self._port.me if known.key in self.ingress.publishers else known.ingress
            self._port.send(source, _told(known)._replace(ingress=here))
            return False
        if known.claim == claim and (known.is_closed or not is_closed):
            return True
        if known.claim != claim:
            known.claim, known.ingress, known.may_return = claim, ingress, may_return
            known.is_attached = False
            known.heard_at = self._port.now
            if ingress != self._port.me:
                self.ingress.lose(known.key)
                # It counts on hearing what is under way here before it hears that all know of it.
                self.ingress.telling.cast_stream()
            self.host.begin_anew(known.key, [])
        known.is_closed = is_closed or self._has_died_with_its_router(known)
        self._port.cast(_told(known)._replace(ingress=ingress), but=source)
        if known.is_closed:
            self._take_closed(known.key, claim)
        return True

    def _has_died_with_its_router(self, known: KnownPublisher) -> bool:
        """Return whether a publisher that does not return was at a router that has begun another life."""
        return not known.may_return and self._port.routers.is_over(known.ingress)

    def _end_those_of_earlier_lives(self) -> None:
        for known in self.directory.publishers.values():
            if not known.is_closed and self._has_died_with_its_router(known):
                known.is_closed = True
                self._port.cast(_told(known))
                self._take_closed(known.key, known.claim)

    def _take_closed(self, key: bytes, claim: Claim) -> None:
        """A publisher has nothing unsettled: settle what turns up of it."""
        self.host.drop_all_of(key, claim)

    def _on_publisher_seen(self, place: Place, it: told.PublisherSeen) -> None:
        # Deliveries that came before in this turn are sent first, while the old state of the publisher still holds.
        self.subscribers.show_news()
        known = self.directory.publishers.get(it.key)
        if known is not None and known.claim == it.claim and known.ingress == place:
            known.is_attached = it.is_attached

    def _on_drop_line(self, place: Place, it: told.DropLine) -> None:
        self.ingress.drop_line(it.key, self._port.now - it.age_ms / 1000, but=place.router)

    def _on_horizon(self, _: Place, it: told.Horizon) -> None:
        self.directory.raise_horizon(it.stamp, self._port.now)

    # --- the streams of other ingresses

    def _on_stream(self, place: Place, it: told.StreamAt) -> None:
        self.host.learn(place, it.base, it.next)
        self.ingress.credit.note_used(place, it.used)
        self.ingress.heed_credit()

    def _on_set(self, place: Place, it: told.PublisherSet) -> None:
        if not self.learn_publisher(
            it.name, it.claim, place, place.router, may_return=it.may_return, is_closed=False
        ):
            return
        key = publisher_key(it.name)
        known = self.directory.publishers[key]
        if known.claim != it.claim or known.ingress != place:
            return
        known.is_attached = it.is_attached
        order = [tag for tag, _ in it.unsettled]
        if it.notice:
            self.host.set_map_order(key, order)
        self.host.take_set(place, key, it)
        self.host.drain(place)

    def _on_numbered(self, place: Place, it: told.Numbered) -> None:
        self.host.offer(place, Copy(it.number, it.claim, it.tag, self._port.now - it.age_ms / 1000))
        self.host.drain(place)

    def _on_settled_unnumbered(self, place: Place, it: told.SettledUnnumbered) -> None:
        known = self.directory.publishers.get(key_of(it.tag))
        if known is not None and known.ingress == place and known.claim == it.claim:
            self.host.settle_unnumbered(place, it.claim, it.tag, it.number)

    def _on_settled(self, place: Place, it: told.Settled) -> None:
        self.subscribers.show_news()
        self.host.settle(place, it.numbers)
        self.host.drain(place)

    def _on_done(self, place: Place, it: told.Done) -> None:
        self.host.finish(place, it.numbers)
        self.host.drain(place)

    def _on_void(self, place: Place, it: told.Void) -> None:
        self.host.void(place, it.numbers)

    # --- our stream

    def _on_acknowledged(self, place: Place, it: told.Acknowledged) -> None:
        self.ingress.acknowledge(place, it)

    def _on_knows(self, place: Place, it: told.Knows) -> None:
        self.ingress.progress.know(place, it.numbers)

    def _on_missing(self, place: Place, it: told.Missing) -> None:
        self.ingress.telling.repeat(place.router, it.numbers)

    # --- questions

    def _on_question(self, place: Place, it: told.SettledAsked) -> None:
        self.questions.answer(place.router, it.question, it.tag)

    def _on_answer(self, _: Place, it: told.IsSettled) -> None:
        self.questions.settled(it.question)

    def _on_poll(self, place: Place, it: told.RecordAsked) -> None:
        self.questions.answer_poll(place.router, it)

    def _on_poll_answer(self, place: Place, it: told.RecordAnswered) -> None:
        self.questions.take_poll(place, it)

    # --- time

    def tick(self) -> None:
        """Look at everything that grows old."""
        self.membership.tick()
        self.refused += self.admission.refuse_late()
        self.ingress.tick()
        self._drop_forsaken()
        self.questions.give_up_old(self.ingress.drop_line)
        self.questions.ask_all()
        self.ingress.telling.cast_stream()
        self._forget()

    def _drop_forsaken(self) -> None:
        """Drop what is held of publishers whose ingress was out of reach for their time-out."""
        now, timeout_s = self._port.now, self._port.settings.publisher_timeout_s
        for key, known in self.directory.publishers.items():
            is_here = known.ingress == self._port.me and key in self.ingress.publishers
            if is_here or self._port.routers.is_up(known.ingress):
                known.heard_at = now
            elif now - known.heard_at > timeout_s and self.subscribers.publications.get(key):
                self.ingress.drop_line(key, known.heard_at + LINE_PART * timeout_s)
                self.host.drop_all_of(key, known.claim)
                self.subscribers.publications.pop(key)

    def _forget(self) -> None:
        longest = 2 * self._port.config.longest_timeout_s
        for key in self.directory.forget_before(self._port.now - longest, self._port.now - longest):
            self.host.drop_all_of(key, Claim(1 << 63, 0, 0, ""))
            self.subscribers.publications.pop(key, None)

    def is_forgettable(self) -> bool:
        """Return whether nobody would miss the topic."""
        last = max(self._created_at, self.directory.accepted_at)
        is_old = self._port.now - last > 2 * self._port.config.longest_timeout_s
        return is_old and self.directory.is_empty and not self.ingress.publishers

    # --- the end of a turn

    def flush(self) -> None:
        """Bring everything that this turn has changed to its ends."""
        self._admit()
        self.subscribers.catch_up_all()
        if self.membership.has_changed:
            self.membership.has_changed = False
            self.ingress.change()
        self._acknowledge()
        self.ingress.evaluate()
        self.ingress.finish()
        for publisher in self.ingress.ended():
            known = self.directory.publishers[publisher.key]
            known.is_closed = True
            self._port.cast(_told(known))
            self._take_closed(known.key, known.claim)
        if self.ingress.has_accepted:
            self.ingress.has_accepted = False
            self.directory.raise_horizon(self._port.stamp(), self._port.now)
            self._port.cast(told.Horizon(self.directory.horizon))
        self.host.ask_for_missing(self._port.routers.places(), self._port.now, self._port.config.hello_interval_s)
        self.ingress.flush()
        for place, known_settled in self.host.reports():
            if self._port.routers.is_up(place):
                self._port.send(place.router, known_settled)
        if self._admit():
            self.flush()

    def _acknowledge(self) -> None:
        for place, report in self.host.acknowledgements():
            if place == self._port.me:
                self.ingress.acknowledge(place, report)
            elif self._port.routers.is_up(place):
                self._port.send(place.router, report)


def _told(known: KnownPublisher) -> told.PublisherKnown:
    """Return what routers tell each other of a publisher."""
    return told.PublisherKnown(known.name, known.claim, known.ingress, known.may_return, known.is_closed)
