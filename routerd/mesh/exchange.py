"""Messages of other routers, and the answers to them (3.4 to 3.6, 3.9)."""

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Any

from routerd.mesh.errors import MalformedControl, UnsupportedVersion
from routerd.mesh.knowledge import Knowledge
from routerd.mesh.messages import (
    MOBILE_ENGINE,
    NEIGHBOUR_ENGINE,
    ROUTER_ENGINE,
    Control,
    ControlMessage,
    Hello,
    LinkStateRequest,
    LinkStateUpdate,
    MobileAddressRequest,
    MobileAddressUpdate,
    RouterAdvertisement,
)
from routerd.mesh.mobile_addresses import NO_HINT
from routerd.mesh.node import Node
from routerd.mesh.settings import DOUBT_S, MAR_WAIT_S

_Read = Callable[[object], Control]
_Take = Callable[[int, Any, float], None]


class Exchange:
    """Takes the messages for this router."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._outbox = knowledge.outbox
        self._questions = knowledge.questions
        # Whether another router has missed an announcement of ours.
        self.is_missed = False
        self._told_links: Mapping[str, int] | None = None
        self._told_seq = 0
        self._told: dict[str, Any] = {}
        self._takers: dict[tuple[str, str], tuple[_Read, _Take]] = {
            (NEIGHBOUR_ENGINE, Hello.OPCODE): (Hello.from_body, self._hello),
            (ROUTER_ENGINE, RouterAdvertisement.OPCODE): (RouterAdvertisement.from_body, self._advertisement),
            (ROUTER_ENGINE, LinkStateRequest.OPCODE): (LinkStateRequest.from_body, self._link_state_request),
            (ROUTER_ENGINE, LinkStateUpdate.OPCODE): (LinkStateUpdate.from_body, self._link_state_update),
            (MOBILE_ENGINE, MobileAddressRequest.OPCODE): (MobileAddressRequest.from_body, self._mobile_request),
            (MOBILE_ENGINE, MobileAddressUpdate.OPCODE): (MobileAddressUpdate.from_body, self._mobile_update),
        }

    def take(self, trunk: int, endpoint: str, message: ControlMessage, now: float) -> None:
        """Take a message to an endpoint of the routing protocol."""
        taker = self._takers.get((endpoint, message.opcode))
        if taker is None:
            text = f"a control message {message.opcode[:40]!r} to {message.to[:80]!r} is not understood"
            self._outbox.remark("debug", text, "unknown", endpoint, message.opcode)
            return
        read, take = taker
        try:
            control = read(message.body)
        except UnsupportedVersion as error:
            self._outbox.remark("warning", str(error), "version", error.router)
        except MalformedControl as error:
            text = f"a malformed {message.opcode} came on trunk {trunk}: {error}"
            self._outbox.remark("warning", text, "malformed", trunk, message.opcode)
        else:
            if control.id != self._knowledge.id or isinstance(control, Hello):
                take(trunk, control, now)

    def _hello(self, trunk: int, hello: Hello, now: float) -> None:
        knowledge = self._knowledge
        if hello.id == knowledge.id:
            if hello.instance != knowledge.instance:
                text = f"another router has the id {hello.id}, too; it is at the other end of trunk {trunk}"
                self._outbox.remark("warning", text, "duplicate", hello.instance)
            else:
                self._outbox.remark("warning", f"trunk {trunk} leads to this router itself", "own", trunk)
            return
        has_heard_us = knowledge.id in hello.seen
        if (has_heard_us or hello.id in knowledge.states.nodes) and not knowledge.meet(hello.id, hello.instance, now):
            return
        if knowledge.neighbours.hear(trunk, hello.id, has_heard_us, now):
            knowledge.review_links(now)

    def _advertisement(self, trunk: int, told: RouterAdvertisement, now: float) -> None:
        node = self._knowledge.meet(told.id, told.instance, now)
        if node is None:
            return
        node.last_seen = now
        self._doubt(node, told, now)
        if told.ls_seq > node.ls_seq:
            self._questions.want_links(node, told.ls_seq, now)
        node.is_mobile_known = True
        if told.mobile_seq > node.mobile_seq:
            # The changes themselves may still be under way; what is not known at all is asked for at once.
            self._questions.want_addresses(node, told.mobile_seq, now, now + MAR_WAIT_S * bool(node.mobile_seq))

    def _doubt(self, node: Node, told: RouterAdvertisement, now: float) -> None:
        """Ask again for what a router keeps telling to have come less far than it is known.

        An advertisement may have been overtaken on its way. But if one after the other says so, what is known is of an
        earlier instance, and came when the new one was known already.
        """
        remote = self._knowledge.remote
        # An engine that took over may have addresses that its checkpoint does not contain.
        is_more_known = told.mobile_seq < node.mobile_seq or (told.mobile_seq == 0 and bool(remote.of(node.id)))
        if told.ls_seq >= node.ls_seq and not is_more_known:
            node.doubted = inf
            return
        node.doubted = min(node.doubted, now)
        if now < node.doubted + DOUBT_S:
            return
        node.doubted = inf
        text = f"what is known of router {told.id} is ahead of it, and asked for again"
        self._outbox.remark("debug", text, "doubted", told.id)
        if told.ls_seq < node.ls_seq:
            node.ls_seq = node.ls_wanted = 0
        if is_more_known:
            node.mobile_seq = node.mobile_wanted = 0
            if told.mobile_seq == 0:
                # A router that never had addresses does not answer.
                self._knowledge.map(node.id, *remote.replace(node.id, ())[:2])

    def _link_state_request(self, trunk: int, asked: LinkStateRequest, now: float) -> None:
        knowledge = self._knowledge
        if asked.id in knowledge.states.nodes or knowledge.learn(asked.id, 0, now):
            self._outbox.answer(trunk, asked.id, ROUTER_ENGINE, LinkStateUpdate.OPCODE, self._own_links())

    def _own_links(self) -> dict[str, Any]:
        """Return the body of the message with our links, the same for all requesters."""
        own = self._knowledge.own
        if self._told_links is not own.announced or self._told_seq != own.ls_seq:
            self._told_links, self._told_seq = own.announced, own.ls_seq
            update = LinkStateUpdate(self._knowledge.id, self._knowledge.instance, own.ls_seq, own.announced)
            self._told = update.to_body()
        return self._told

    def _link_state_update(self, trunk: int, told: LinkStateUpdate, now: float) -> None:
        if told.about:
            text = f"router {told.id} told the links of {told.about}, which only that one may tell"
            self._outbox.remark("warning", text, "about", told.id)
            return
        limit = self._knowledge.config.peers_max
        if len(told.peers) > limit:
            text = f"router {told.id} has {len(told.peers)} neighbours, and no more than {limit} may be"
            self._outbox.remark("warning", text, "peers_max", told.id)
            return
        knowledge = self._knowledge
        node = knowledge.states.nodes.get(told.id) or knowledge.learn(told.id, told.instance, now)
        # One of another instance may be from before a restart, and then would stand in the way of what comes next.
        if node is None or (node.instance and told.instance not in (0, node.instance)):
            return
        if node.ls_question.is_repeated and node.mobile_question.is_owed:
            # What was asked with it may have been lost with it; who has no news of addresses says nothing.
            self._questions.ask_addresses(node, now)
        node.ls_question.answered(now)
        node.last_seen = now
        if told.ls_seq <= node.ls_seq:
            return
        for router in told.peers:
            if router not in knowledge.states.nodes and router != knowledge.id:
                knowledge.learn(router, 0, now)
        node.instance = node.instance or told.instance
        knowledge.states.store(node, told.ls_seq, told.peers, now)
        if not node.lacks_links:
            node.ls_question.drop()
        if not node.is_mobile_known:
            self._questions.ask_addresses(node, now)

    def _mobile_request(self, trunk: int, asked: MobileAddressRequest, now: float) -> None:
        knowledge = self._knowledge
        addresses = knowledge.addresses
        is_answered = addresses.is_known and asked.have_seq < addresses.mobile_seq
        if is_answered and asked.id in knowledge.states.nodes:
            opcode = MobileAddressUpdate.OPCODE
            self._outbox.answer(trunk, asked.id, MOBILE_ENGINE, opcode, addresses.absolute())
            # What it has missed, others may have missed as well: those behind a router that did not pass it on.
            self.is_missed = True

    def _mobile_update(self, trunk: int, told: MobileAddressUpdate, now: float) -> None:
        node = self._knowledge.states.nodes.get(told.id)
        if node is None:
            text = f"router {told.id} told addresses before it was known; they will be asked for"
            self._outbox.remark("debug", text, "early", told.id)
        elif told.exist is not None:
            node.mobile_question.answered(now)
            if told.mobile_seq >= node.mobile_seq:
                self._enter(node, told, *self._knowledge.remote.replace(told.id, _hinted(told.exist, told.hints)))
        elif told.mobile_seq == node.mobile_seq + 1:
            added = _hinted(told.add or (), told.hints)
            self._enter(node, told, *self._knowledge.remote.change(told.id, added, told.delete or ()))
        elif told.mobile_seq > node.mobile_seq:
            # A message in between is missing, so a later one proves nothing.
            self._questions.want_addresses(node, told.mobile_seq, now, now)

    def _enter(
        self,
        node: Node,
        told: MobileAddressUpdate,
        added: dict[str, int],
        removed: tuple[str, ...],
        refused: int,
    ) -> None:
        node.mobile_seq = told.mobile_seq
        node.is_mobile_known = True
        if not node.lacks_addresses:
            node.mobile_question.drop()
        self._knowledge.map(node.id, added, removed)
        if refused:
            text = f"{refused} addresses of router {node.id} are ignored: they are no such keys, too long, or too many"
            self._outbox.remark("warning", text, "keys", node.id)


def _hinted(keys: tuple[str, ...], hints: tuple[int, ...] | None) -> Iterable[tuple[str, int]]:
    return zip(keys, hints, strict=True) if hints is not None else ((key, NO_HINT) for key in keys)
