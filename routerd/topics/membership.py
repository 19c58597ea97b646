"""The subscriptions of a topic: how they begin, move and end, and how this router lists its own ones to others."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from routerd.topics import messages as told
from routerd.topics.claims import Claim
from routerd.topics.directory import Directory
from routerd.topics.effects import RESOURCE_DELETED, STOLEN, AnswerSubscriber, Outcome
from routerd.topics.host import Host
from routerd.topics.names import ClientName
from routerd.topics.port import Port
from routerd.topics.questions import Questions
from routerd.topics.subscribers import Session, Subscribers
from routerd.topics.subscriptions import Member, Subscription


@dataclass(slots=True)
class Confirmation:
    """The first attach of a subscription, which is answered when all routers in reach know of it."""

    session: Session
    unsettled: Mapping[bytes, Outcome | None]
    waits_for: dict[str, None]
    since: float
    confirmed: set[str] = field(default_factory=set)


class Membership:
    """The subscriptions of one topic."""

    def __init__(
        self, port: Port, directory: Directory, host: Host, subscribers: Subscribers, questions: Questions
    ) -> None:
        self.has_changed = False
        """Ingresses have to look again at what all subscriptions have."""
        self.expired = 0
        self._port = port
        self._directory = directory
        self._host = host
        self._subscribers = subscribers
        self._questions = questions
        self._subscriptions = directory.subscriptions
        self._confirming: dict[ClientName, Confirmation] = {}
        self._unsure: dict[ClientName, Claim] = {}
        """Subscriptions by epoch that were announced here when something may have been accepted after their answer."""

    # --- attaching

    def attach(
        self, link: int, credit: int, unsettled: Mapping[bytes, Outcome | None], subscription: Subscription
    ) -> None:
        """Take a subscriber here; its claim is the latest."""
        name = subscription.name
        if (old := self._subscribers.sessions.get(name)) is not None:
            self._port.detach(old.link, STOLEN, "attached again")
        self._confirming.pop(name, None)
        self._subscriptions.put(subscription)
        self._subscribers.add(name)
        session = self._subscribers.attach(name, link, credit)
        self._enter_list(name, subscription.claim)
        self._port.cast(_known(subscription))
        if subscription.is_ready:
            self._answer(session, subscription, unsettled)
            return
        waits_for = dict.fromkeys(self._port.routers.up())
        self._confirming[name] = Confirmation(session, unsettled, waits_for, self._port.now)
        self._port.cast(told.ConfirmAsked(name, subscription.epoch))
        self._check_confirmed(name)

    def _enter_list(self, name: ClientName, claim: Claim) -> None:
        self._host.version += 1
        self._tell_list(name, claim, self._host.version, is_attached=True)
        self._host.note_all()
        self.has_changed = True

    def _tell_list(self, name: ClientName, claim: Claim, since: int, *, is_attached: bool) -> None:
        self._subscriptions.enlist(self._port.me, name, Member(claim, since, is_attached))
        self._port.cast(told.MemberTold(name, claim, since, is_attached))

    def _answer(self, session: Session, subscription: Subscription, unsettled: Mapping[bytes, Outcome | None]) -> None:
        is_resumed = subscription.epoch != subscription.claim
        stamp = self._port.stamp()
        self._port.emit(AnswerSubscriber(session.link, subscription.epoch, is_resumed, stamp))
        self._subscribers.match(session, unsettled, self._questions.numbers)
        self._questions.ask_of(session)
        self._host.note_all()
        self._subscribers.show_all(session)

    # --- confirming

    def confirm(self, name: ClientName, router: str) -> None:
        """A router knows of a new subscription."""
        if (confirmation := self._confirming.get(name)) is not None:
            confirmation.confirmed.add(router)
            self._wait_no_longer(name, confirmation, router)

    def lose_router(self, router: str) -> None:
        """A router is out of reach, so it is not waited for."""
        for name, confirmation in list(self._confirming.items()):
            confirmation.confirmed.discard(router)
            self._wait_no_longer(name, confirmation, router)

    def _wait_no_longer(self, name: ClientName, confirmation: Confirmation, router: str) -> None:
        confirmation.waits_for.pop(router, None)
        self._check_confirmed(name)

    def _check_confirmed(self, name: ClientName) -> None:
        confirmation = self._confirming[name]
        is_late = self._port.now - confirmation.since >= self._port.config.confirm_wait_s
        if (confirmation.waits_for and not is_late) or not self._port.routers.are_met(self._port.now):
            return
        del self._confirming[name]
        if confirmation.waits_for:
            self._port.note(f"subscription {name} is not confirmed by {', '.join(confirmation.waits_for)}")
        self._subscriptions.make_ready(name)
        subscription = self._subscriptions[name]
        for router in self._port.routers.up():
            self._port.send(router, _known(subscription, has_waited=router in confirmation.confirmed))
        self._answer(confirmation.session, subscription, confirmation.unsettled)

    # --- what others tell

    def learn(self, subscription: Subscription, source: str, *, has_waited: bool) -> None:
        """Take over what a router knows of a subscription, or tell it what we know."""
        self._learn(subscription, source)
        if subscription.is_ready and source == subscription.host.router:
            self._be_sure(subscription, has_waited=has_waited)

    def _learn(self, subscription: Subscription, source: str) -> None:
        name = subscription.name
        if self._directory.has_ended(name, subscription.epoch):
            self._port.send(source, told.SubscriptionEnded(name, subscription.epoch))
            return
        known = self._subscriptions.get(name)
        if known is not None and known.order >= subscription.order:
            if known.order == subscription.order:
                if subscription.is_ready and not known.is_ready:
                    self._subscriptions.make_ready(name)
            else:
                self._port.send(source, _known(known))
            return
        if known is None and subscription.is_ready and self.is_beyond_horizon(subscription.epoch):
            self.end(name, subscription.epoch, "something was accepted without knowing it")
            return
        if known is None and len(self._subscriptions) >= self._port.settings.subscribers_max:
            self.end(name, subscription.epoch, f"{self._port.settings.subscribers_max} subscriptions exist")
            return
        if known is None and not subscription.is_ready and self._may_be_answered(subscription):
            self._unsure[name] = subscription.epoch
        self._subscriptions.put(subscription)
        self._port.cast(_known(subscription), but=source)
        if subscription.host != self._port.me and self._subscriptions.has_member(self._port.me, name):
            self._leave_list(name, STOLEN, "attached at another router")
        self.has_changed = True

    def _may_be_answered(self, subscription: Subscription) -> bool:
        """Return whether something may have been accepted here after the answer to what is only announced now.

        That is after we said the last hello that its host had heard before the announcement. The host waits for us only
        while it hears us.
        """
        return self._directory.accepted_at > self._port.routers.echoed_at(subscription.host.router)

    def _be_sure(self, subscription: Subscription, *, has_waited: bool) -> None:
        """The host has said whether it had our confirmation when it answered. Otherwise something may be missing."""
        if self._unsure.get(subscription.name) != subscription.epoch:
            return
        del self._unsure[subscription.name]
        if not has_waited:
            self.end(subscription.name, subscription.epoch, "something was accepted without knowing it")

    def is_beyond_horizon(self, epoch: Claim) -> bool:
        """Return whether something may have been accepted without a subscription that was not known here.

        Had we been in contact with the router where it began, we would know it. Times are ours, since clocks differ.
        """
        return self._directory.accepted_at > self._port.routers.contact_until(epoch.router)

    # --- ending

    def end(self, name: ClientName, epoch: Claim, reason: str, source: str = "") -> None:
        """End a subscription for all routers, and tell its subscriber."""
        if not self._directory.end(name, epoch, self._port.now):
            return
        if self._unsure.get(name) == epoch:
            del self._unsure[name]
        if self._subscriptions.has_member(self._port.me, name) and name not in self._subscriptions:
            self._leave_list(name, RESOURCE_DELETED, f"the subscription has ended: {reason}")
        if not source:
            self._port.note(f"subscription {name} has ended: {reason}")
        self._port.cast(told.SubscriptionEnded(name, epoch), but=source)
        self.has_changed = True

    def _leave_list(self, name: ClientName, condition: str, description: str) -> None:
        session = self._subscribers.sessions.get(name)
        if session is not None:
            self._port.detach(session.link, condition, description)
        self._confirming.pop(name, None)
        self._subscriptions.strike(self._port.me, name)
        self._host.version += 1
        self._port.cast(told.MemberGone(name))
        self._subscribers.remove(name)
        if self._port.me not in self._subscriptions.versions():
            self._host.unhost()
        self._host.note_all()

    def detach(self, session: Session, *, is_closed: bool) -> None:
        """A subscriber's link is gone."""
        name = session.name
        self._subscribers.sessions.pop(name, None)
        subscription = self._subscriptions[name]
        confirmation = self._confirming.pop(name, None)
        if is_closed or not subscription.is_durable or confirmation is not None:
            self.end(name, subscription.epoch, "closed" if is_closed else "detached")
            return
        self._tell_list(name, subscription.claim, subscription.since, is_attached=False)

    # --- time and other routers

    def tick(self) -> None:
        """Look at who has been away too long, and who waits for a confirmation."""
        for name in list(self._confirming):
            self._check_confirmed(name)
        away, now = self._subscriptions.away, self._port.now
        absent = {each.name: each for each in self._subscriptions.absent(self._port.routers.is_here)}
        for name in [each for each in away if each not in absent]:
            del away[name]
        for name, each in absent.items():
            if now - away.setdefault(name, now) > each.timeout_s:
                self.expired += 1
                self.end(name, each.epoch, "the subscriber was away too long")

    def sync(self, router: str) -> None:
        """Tell a router everything that it may have missed."""
        for name, epoch in self._directory.endings():
            self._port.send(router, told.SubscriptionEnded(name, epoch))
        for subscription in self._subscriptions:
            self._port.send(router, _known(subscription))
        self._port.send(router, told.ListBegun())
        for name, member in self._subscriptions.members(self._port.me).items():
            self._port.send(router, told.MemberTold(name, member.claim, member.since, member.is_attached))
        for name, confirmation in self._confirming.items():
            confirmation.waits_for[router] = None
            self._port.send(router, told.ConfirmAsked(name, self._subscriptions[name].epoch))


def _known(subscription: Subscription, *, has_waited: bool = False) -> told.SubscriptionKnown:
    return told.SubscriptionKnown(
        *(subscription.name, subscription.epoch, subscription.claim, subscription.host, subscription.is_ready),
        *(round(subscription.timeout_s * 1000), subscription.is_durable, subscription.has_map, has_waited),
    )
