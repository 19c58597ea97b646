"""The links of clients, and of endpoints inside the router, which are for addresses: consumers and producers."""

from collections.abc import Callable
from typing import Any, cast

from routerd.core.address import Address
from routerd.core.addresses import UPLINK
from routerd.core.edges import Edges
from routerd.core.inlet import Inlet
from routerd.core.naming import phase_of
from routerd.core.observer import Observer
from routerd.core.outlet import Outlet
from routerd.core.passage import section
from routerd.core.peer import Peer
from routerd.core.policy.gate import Gate
from routerd.core.policy.message_guard import is_management, read_only_guard
from routerd.core.settings import Distribution, RouterSettings
from routerd.core.treatment import Treatment
from routerd.core.uplink import DOWNLINK
from routerd.wire import Attach, Coordinator, Error, LinkState, Source, Target
from routerd.wire.link import Link
from routerd.wire.receiver import Receiver
from routerd.wire.sender import Sender

ADDRESS_MAX = 4096
"""Characters of an address: a link between siblings has it three times in its attach, which is one frame."""

_UNAVAILABLE = Error(condition="amqp:not-found", description="Node not found")
_NO_SOURCE = Error(condition="amqp:invalid-field", description="a receiver needs a source with an address, or dynamic")
_NO_TARGET = Error(condition="amqp:invalid-field", description="a sender needs a target")
_TOO_LONG = Error(
    condition="amqp:invalid-field", description=f"an address has {ADDRESS_MAX} characters at most"
)
_NOT_TEXT = Error(condition="amqp:invalid-field", description="an address has to be a string")
_NO_COORDINATOR = Error(
    condition="amqp:precondition-failed",
    description="there is no transaction coordinator behind this router",
)
_OWN = ("M", "L")
"""The classes of addresses that are no other router's."""
_DOWN = Treatment(Distribution.BALANCED)
_ATTACH_RCVD = LinkState.ATTACH_RCVD
_SETTLED = 1
_SECOND = 1


class Clients(Edges):
    """Enters consumers and producers at the addresses that their termini name."""

    def __init__(
        self,
        settings: RouterSettings,
        observer: Observer,
        worker: int,
        workers: int,
        token: Callable[[], str],
        is_alone: bool,
    ) -> None:
        Edges.__init__(self, settings, observer, worker, workers, token)
        # Whether there is no other worker that has to know of a consumer.
        self.is_alone = is_alone
        # Holds what begins against policy; None where none is configured.
        self.gate: Gate | None = None
        # Whether clients may not change other routers: these do not know from whom a request comes.
        self.guards_requests = not (settings.has_policy or settings.allows_management_changes)

    # --- attaches

    def consumer_attached(self, peer: Peer, link: Link, performative: Attach) -> None:
        """Enter a consumer, and answer it as soon as all workers know of it; or refuse it."""
        source = performative.source
        if not isinstance(source, Source):
            self.refuse(link, _NO_SOURCE)
            return
        if source.dynamic:
            source.address = self._space.reply_address(self._token())
        address = self._address_of(peer, source, False)
        if isinstance(address, Error):
            self.refuse(link, address)
            return
        if address is None:
            self.refuse(link, _NO_SOURCE)
            return
        source.filter = None  # none is applied (3.5.3)
        outlet = Outlet(self.take_link_number(), peer, cast(Sender, link), address)
        link.context = outlet
        outlet.source = source
        peer.outlets[outlet] = None
        address.add(outlet)
        if peer.is_fair:
            address.take_turns()
        if peer.is_edge:
            self.let_pass_large(outlet)
        self._changed[address.key] = None
        self.consumers_changed(address)
        if address.local_count == 1:
            link.session.connection.work += len(address.inlets) >> 3
            self.consumers_came(address)
            if self.recorder is not None and address.remote_count == 0:
                self.recorder.events.address_added(address.key, self.now)
        if self.is_alone:
            self.answer(outlet)
        else:
            self._awaiting.append((self._sequence + 1, outlet))

    def answer(self, outlet: Outlet) -> None:
        """Answer a consumer that every worker knows of, unless it has gone."""
        link = outlet.link
        if link.state is not _ATTACH_RCVD or link.context is not outlet or not link.session.is_open:
            return
        if not self.complete(link, outlet.source, link.remote_target):
            return
        outlet.source = None
        outlet.is_open = link.is_attached
        outlet.address.note_credit()
        outlet.note_flow(self.now)
        self.observer.link_attached(outlet)
        if self.recorder is not None:
            self.recorder.events.consumer_attached(outlet, self.now)
        # Credit, and the wish to have it drained, may have come before the answer.
        self.serve_outlet(outlet)
        self._answer_drain(outlet)

    def producer_attached(self, peer: Peer, link: Link, performative: Attach) -> None:
        """Answer a producer, and give it credit if its messages have anywhere to go; or refuse it."""
        target = performative.target
        if isinstance(target, Coordinator):
            self.refuse(link, _NO_COORDINATOR)
            return
        if not isinstance(target, Target):
            self.refuse(link, _NO_TARGET)
            return
        if target.dynamic:
            target.address = f"amqp:/_$temp.{self._token()}"
        address = self._address_of(peer, target, True)
        if isinstance(address, Error):
            self.refuse(link, address)
            return
        is_second = link.rcv_settle_mode == _SECOND and address is not None and _settle_second(address)
        if not self.complete(link, link.remote_source, target, is_second):
            if address is not None:
                self.forget_if_idle(address)
            return
        inlet = Inlet(self.take_link_number(), peer, cast(Receiver, link), address)
        if peer.grant is not None and self.gate is not None:
            inlet.guard = self.gate.guard_for(peer, None if address is None else target.address)
        elif self.guards_requests and address is not None and self._asks_others(peer, address.key, target.address):
            inlet.guard = read_only_guard(target.address)
        if peer.is_edge and peer.trunk is not None:
            inlet.join(peer.trunk)
            inlet.is_withheld = address is not None
        link.context = inlet
        peer.inlets[inlet] = None
        inlet.is_open = link.is_attached
        if address is not None:
            self.producers_changed(address)
            self.edge_sends(peer, address)
            self._mark_entries(inlet, address, peer.tenant, target.address)
            address.enter(inlet)
            if address.missing or address.ways:
                self.refresh(address)
        self.observer.link_attached(inlet)
        if self.recorder is not None:
            self.recorder.events.producer_attached(inlet, self.now)
        inlet.top_up()

    def _asks_others(self, peer: Peer, key: str, text: str) -> bool:
        """Return whether a client sends to the management of another router."""
        # That of this router looks at its own settings.
        is_client = peer.is_external and not (peer.is_router or peer.is_edge)
        return is_client and (key == UPLINK or key[:1] not in _OWN) and is_management(text)

    def _mark_entries(self, inlet: Inlet, address: Address, tenant: str, text: str) -> None:
        """Prepare what messages of a link are marked with when they leave for another router."""
        phase = phase_of(address.key)
        # Nobody else knows of tenants: their addresses are written out.
        to = address.key[2:] if tenant and address.key[:1] == "M" else text
        inlet.entry, inlet.entry_count = self.passages.entry(to, phase)
        inlet.entry_section = section(inlet.entry, inlet.entry_count)

    # --- addresses

    def _address_of(self, peer: Peer, terminus: Any, is_producer: bool) -> "Address | Error | None":
        """Return the address of a terminus, made if it is new; None if it names none."""
        text = terminus.address
        if text is None or text == "":
            return None
        if not isinstance(text, str):
            return _NOT_TEXT
        if type(text) is not str:
            # A symbol is text, too; compiled code takes the plain type only.
            text = terminus.address = str(text)
        if peer.is_edge and DOWNLINK in terminus.capabilities and not (self.is_edge or is_producer):
            return _TOO_LONG if len(text) >= ADDRESS_MAX else self.address_with(f"H{text}", _DOWN)
        treatment = self._naming.treatment(text, peer.tenant)
        key = self._naming.terminus_key(text, peer.tenant, treatment, terminus.capabilities, is_producer)
        if len(key) > ADDRESS_MAX:
            return _TOO_LONG
        if treatment.distribution is Distribution.UNAVAILABLE and not self._is_provided(peer, key):
            return _UNAVAILABLE
        return self.address_with(key, treatment) if key else None

    def _is_provided(self, peer: Peer, key: str) -> bool:
        # What is closed to clients can be opened by endpoints inside the router, of this worker or a sibling.
        return (
            peer.is_inner or key in self.addresses or self.remote_consumers(key) > 0 or self.network.reaches(key)
        )

    def destination(self, inlet: Inlet, to: str) -> "Address | Error | None":
        """Return the address of a message by its `to`: one that somebody uses, or None."""
        key = self._naming.destination_key(to, inlet.peer.tenant)
        if not isinstance(key, str):
            return key
        if self.guards_requests and key[:1] != "M" and inlet.guard is None and self._asks_others(inlet.peer, key, to):
            # Few of those who say where each message goes ever ask: only theirs are looked at from now on.
            inlet.guard = read_only_guard(None)
        address = self.addresses.get(key)
        if address is None:
            address = self.passing_address(key)
            if address is None:
                return self.fallback()
        elif self.is_edge and key[:1] == "M" and not address.has_outlet(False):
            return self.fallback()
        if address.missing or address.ways:
            self._attach_for_message(address)
        return address


def _settle_second(address: Address) -> bool:
    """Whether all consumers of an address are clients of this worker, and each settles after the producer."""
    if address.is_multicast or address.ways or not address.outlets:
        return False
    for outlet in address.outlets:
        link = outlet.link
        if outlet.is_fabric or link.rcv_settle_mode != _SECOND or link.snd_settle_mode == _SETTLED:
            return False
    return address.remote_count == 0
