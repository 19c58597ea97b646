"""The address table and its members through any history: calls that are late, lost or repeated, deaths and restarts."""

import pickle
from collections import deque
from dataclasses import dataclass
from random import Random

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from routerd.core.directory.address_table import AddressTable
from routerd.core.directory.membership import Changes, Interest, Sibling
from routerd.core.errors import FullDeltaMissing, JoinRequired, StaleMember, UnknownMember
from tests.unit.core.address_view import AddressView

WORKERS = range(3)
STEPS = ["call", "send", "apply", "note"]
KEYS = ["M0a", "M0b", "Ltemp.c", "M1d"]

indexes = st.sampled_from(WORKERS)
shifts = st.dictionaries(st.sampled_from(KEYS), st.integers(1, 2), min_size=1)
"""How far the number of consumers of a key moves on the circle of 0, 1 and 2."""


@dataclass
class Join:
    everything: Changes


class Worker:
    """One incarnation of a worker, and the calls between it and the table that are under way."""

    def __init__(self, index, incarnation):
        self.index = index
        self.incarnation = incarnation
        self.sibling = Sibling(index, incarnation, f"fabric/{incarnation}")
        self.view = AddressView(index)
        self.consumers = {}
        self.sequence = 0
        self.history = [{}]
        """What it wanted after each sequence number."""
        self.calls = deque()
        """Changes and joins; they arrive in order, as the calls of one actor to another do."""
        self.deltas = deque()
        self.acknowledgements = deque()
        self.awaited = []
        """Sequence numbers, each with the version that all must know."""
        self.has_joined = False
        self.join()

    def want(self, shifts):
        changes = {key: (self.consumers.get(key, 0) + shift) % 3 for key, shift in shifts.items()}
        self.consumers = {key: consumers for key, consumers in {**self.consumers, **changes}.items() if consumers}
        self.sequence += 1
        self.history.append(self.consumers)
        self.calls.append(Changes(self.sequence, tuple(Interest(*each) for each in changes.items())))

    def join(self):
        """Join with everything, what is under way included; some of that may arrive behind it all the same."""
        everything = Changes(self.sequence, tuple(Interest(*each) for each in self.consumers.items()))
        late = [call for call in self.calls if isinstance(call, Changes)]
        self.calls = deque([Join(everything), *late])

    def call(self, table):
        call = self.calls.popleft()
        try:
            if isinstance(call, Join):
                call = call.everything
                version = table.join(self.sibling, call)
                self.has_joined = True
                self.awaited = []
            else:
                version = table.update(self.index, self.incarnation, call)
        except JoinRequired:
            self.join()
        else:
            self.awaited.append((call.sequence, version))

    def apply(self, delta):
        try:
            self.view.apply(delta)
        except FullDeltaMissing:
            self.join()
        else:
            self.acknowledgements.append(delta.version)

    def note(self, notice, version):
        try:
            notice(self.index, self.incarnation, version)
        except UnknownMember:
            self.join()


def known_of(view, worker):
    return {key: count for key in KEYS if (count := view.consumers(key).get(worker))}


class Histories(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.incarnations = 0
        self.table = AddressTable(1)
        self.changes_kept = 0
        self.workers = {}
        self.dead = []
        """Incarnations that were members, and calls of which still arrive."""

    @initialize(changes_kept=st.integers(0, 9))
    def start(self, changes_kept):
        self.changes_kept = changes_kept
        self.table = AddressTable(1, changes_kept)
        for index in WORKERS:
            self.worker(index).want(dict.fromkeys(KEYS, 1))
        self.deliver_everything()

    def worker(self, index):
        """Return the living worker; Ray restarts one that is dead."""
        if index not in self.workers:
            self.incarnations += 1
            self.workers[index] = Worker(index, self.incarnations)
        return self.workers[index]

    def is_member(self, worker):
        return worker.sibling in self.table.siblings

    def leave(self, worker):
        if self.is_member(worker):
            self.table.leave(worker.index, worker.incarnation)

    @rule(index=indexes, is_noticed=st.booleans())
    def die(self, index, is_noticed):
        worker = self.worker(index)
        del self.workers[index]
        if worker.has_joined:
            self.dead.append(worker)
        if is_noticed:
            self.leave(worker)

    @rule(index=indexes, shifts=shifts, is_left=st.booleans())
    def lose_touch(self, index, shifts, is_left):
        """Let a worker change its mind while none of its calls arrive; it may be taken for dead, then joins again."""
        worker = self.worker(index)
        if is_left:
            self.leave(worker)
        worker.want(shifts)
        worker.join()
        worker.call(self.table)

    @rule(index=indexes, shifts=shifts)
    def want(self, index, shifts):
        self.worker(index).want(shifts)

    @rule(index=indexes, is_lost=st.booleans())
    def repeat_or_lose_a_call(self, index, is_lost):
        calls = self.worker(index).calls
        if calls and isinstance(calls[0], Changes):
            if is_lost and len(calls) > 1:
                calls.popleft()
            else:
                calls.appendleft(calls[0])

    @precondition(lambda self: any(ghost.calls for ghost in self.dead))
    @rule(choice=st.randoms().map(lambda chance: chance.choice))
    def hear_from_the_dead(self, choice):
        ghost = choice([ghost for ghost in self.dead if ghost.calls])
        others = [each for each in self.table.siblings if each.worker == ghost.index and each != ghost.sibling]
        try:
            ghost.call(self.table)
        except StaleMember:
            self.dead.remove(ghost)
        else:
            assert not any(other.incarnation > ghost.incarnation for other in others)

    @rule(index=indexes, steps=st.lists(st.sampled_from(STEPS), min_size=1, max_size=6))
    def go_on(self, index, steps):
        worker = self.worker(index)
        for step in steps:
            if step == "call" and worker.calls:
                worker.call(self.table)
            elif step == "send":
                self.send(worker)
            elif step == "apply" and worker.deltas:
                worker.apply(worker.deltas.popleft())
            elif step == "note" and worker.acknowledgements:
                worker.note(self.table.acknowledge, worker.acknowledgements.popleft())

    def send(self, worker):
        delta = self.table.delta_for(worker.index)
        assert self.table.delta_for(worker.index) is None
        if delta and self.is_member(worker):
            worker.deltas.append(pickle.loads(pickle.dumps(delta)))

    @rule(index=indexes, is_late=st.booleans())
    def lose_a_delta(self, index, is_late):
        """Let a delta be taken for lost; it may yet arrive, behind the next one."""
        worker = self.worker(index)
        self.send(worker)
        if worker.deltas:
            lost = worker.deltas.popleft()
            worker.note(self.table.undelivered, lost.version)
            self.send(worker)
            if is_late:
                worker.deltas.append(lost)

    @rule(index=indexes)
    def deliver(self, index):
        """Let all calls of one worker and to it arrive."""
        worker = self.worker(index)
        while worker.calls or worker.deltas or worker.acknowledgements:
            self.go_on(index, STEPS)

    def deliver_everything(self):
        """Notice who is dead and who lost touch, let everything arrive, and see that all know the same."""
        self.dead = []
        for sibling in self.table.siblings:
            if self.worker(sibling.worker).sibling != sibling:
                self.table.leave(sibling.worker, sibling.incarnation)
        for worker in self.workers.values():
            if not self.is_member(worker):
                worker.join()
        for _ in range(3):
            for worker in self.workers.values():
                self.send(worker)
                self.deliver(worker.index)
        for reader in self.workers.values():
            self.check_view_equals_table(reader)
        assert self.table.known_by_all() == self.table.version
        assert self.table.change_count == 0

    def check_view_equals_table(self, reader):
        others = [worker for worker in self.workers.values() if worker is not reader]
        assert reader.view.siblings == {other.index: other.sibling for other in others}
        for key in KEYS:
            wanted = {other.index: other.consumers[key] for other in others if key in other.consumers}
            in_table = self.table.consumers(key)
            assert in_table.pop(reader.index, 0) == reader.consumers.get(key, 0)
            assert (reader.view.consumers(key), in_table) == (wanted, wanted)

    @precondition(lambda self: self.table.version[1] > 12)
    @rule()
    def restart_table(self):
        """Let the table die with all calls to it that are under way."""
        self.table = AddressTable(self.table.version[0] + 1, self.changes_kept)
        self.dead = []
        for worker in self.workers.values():
            worker.has_joined = False
            worker.join()

    @invariant()
    def what_is_confirmed_is_known_everywhere(self):
        known = self.table.known_by_all()
        members = [worker for worker in self.workers.values() if self.is_member(worker)]
        for author in members:
            confirmed = max((sequence for sequence, version in author.awaited if version <= known), default=None)
            for reader in members:
                if confirmed is not None and reader is not author:
                    assert reader.view.siblings[author.index] == author.sibling
                    assert known_of(reader.view, author.index) in author.history[confirmed:]

    @invariant()
    def what_is_kept_is_bounded(self):
        assert self.table.change_count <= max(self.changes_kept, 2 * len(self.table.snapshot().interests))

    def teardown(self):
        self.deliver_everything()
        super().teardown()


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=100, stateful_step_count=40)


def some_shifts(chance):
    return {key: chance.randint(1, 2) for key in chance.sample(KEYS, chance.randint(1, 2))}


def some_steps(chance):
    return chance.choices(STEPS, k=chance.randint(1, 4))


@pytest.mark.parametrize("seed", range(100))
def test_a_long_history_ends_well(seed):
    chance = Random(seed)
    history = Histories()
    history.start(changes_kept=chance.choice([0, 3, 9, 100]))
    for _ in range(1000):
        index = chance.choice(WORKERS)
        deed = chance.choices(range(9), weights=[30, 50, 4, 4, 6, 3, 4, 1, 1])[0]
        if deed == 0:
            history.want(index, some_shifts(chance))
        elif deed == 1:
            history.go_on(index, some_steps(chance))
        elif deed == 2:
            history.deliver(index)
        elif deed == 3:
            history.lose_a_delta(index, is_late=chance.random() < 0.5)
        elif deed == 4:
            history.repeat_or_lose_a_call(index, is_lost=chance.random() < 0.5)
        elif deed == 5:
            history.lose_touch(index, some_shifts(chance), is_left=chance.random() < 0.5)
        elif deed == 6 and any(ghost.calls for ghost in history.dead):
            history.hear_from_the_dead(chance.choice)
        elif deed == 7:
            history.die(index, is_noticed=chance.random() < 0.5)
        elif deed == 8 and chance.random() < 0.3:
            history.restart_table()
        history.what_is_confirmed_is_known_everywhere()
        history.what_is_kept_is_bounded()
    history.deliver_everything()
