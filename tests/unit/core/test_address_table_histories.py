"""The address table and its members through any history: calls that are late, lost or repeated, deaths and restarts."""

import pickle
from collections import deque
from dataclasses import replace

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from routerd.core import address_table
from routerd.core.address_table import AddressTable
from routerd.core.address_view import AddressView
from routerd.core.errors import FullDeltaMissing, JoinRequired, MembershipError, StaleMember
from routerd.core.membership import Changes, Interest, Sibling

WORKERS = range(3)
KEYS = ["M0a", "M0b", "Ltemp.c", "M1d"]

keys = st.sampled_from(KEYS)
counts = st.integers(0, 2)


class Worker:
    """One incarnation of a worker as the table sees it, with the calls that are under way."""

    def __init__(self, index, incarnation):
        self.sibling = Sibling(index, incarnation, f"fabric/{incarnation}")
        self.view = AddressView(index)
        self.consumers = {}
        self.sequence = 0
        self.history = [{}]
        """What it wanted after each sequence number."""
        self.calls = deque()
        """Of Changes and joins to the table; kept in order, as Ray keeps those of one actor to another."""
        self.deltas = deque()
        self.acknowledgements = deque()
        self.awaited = []
        """Sequence numbers with the version that all must know."""
        self.has_joined = False
        self.has_lost_calls = False
        self.is_joining = False
        self.join()

    def want(self, key, consumers):
        self.sequence += 1
        self.consumers[key] = consumers
        if not consumers:
            del self.consumers[key]
        self.history.append(dict(self.consumers))
        self.calls.append(Changes(self.sequence, (Interest(key, consumers),)))

    def join(self):
        if not self.is_joining:
            self.is_joining = True
            everything = tuple(Interest(key, consumers) for key, consumers in self.consumers.items())
            self.calls.append((self.sibling, Changes(self.sequence, everything)))

    def call(self, table):
        call = self.calls.popleft()
        try:
            if isinstance(call, tuple):
                self.is_joining = False
                version = table.join(*call)
                self.has_joined = True
                # What waited for a version of an earlier membership waits for this one.
                self.awaited = []
                sequence = call[1].sequence
            else:
                version = table.update(self.sibling.worker, self.sibling.incarnation, call)
                sequence = call.sequence
        except JoinRequired:
            self.join()
        else:
            self.awaited.append((sequence, version))

    def apply(self, delta):
        try:
            self.view.apply(delta)
        except FullDeltaMissing:
            self.join()
        else:
            self.acknowledgements.append(delta.version)


def what(view, worker):
    return {key: count for key in KEYS if (count := view.consumers(key).get(worker))}


class Histories(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.incarnations = 0
        self.epoch = 1
        self.table = AddressTable(self.epoch)
        self.workers = {}
        self.ghosts = []
        """Incarnations that are dead, with calls of theirs that still arrive."""

    def living(self, index):
        return self.workers.get(index)

    @initialize()
    def start_all(self):
        for index in WORKERS:
            self.start(index)
            self.deliver(self.workers[index])

    @rule(index=st.sampled_from(WORKERS))
    def start(self, index):
        if index not in self.workers:
            self.incarnations += 1
            self.workers[index] = Worker(index, self.incarnations)

    @rule(index=st.sampled_from(WORKERS), is_noticed=st.booleans())
    def die(self, index, is_noticed):
        worker = self.workers.pop(index, None)
        if worker is not None:
            if worker.has_joined:
                self.ghosts.append(worker)
            if is_noticed:
                self.leave(worker)

    @rule(index=st.sampled_from(WORKERS))
    def take_for_dead(self, index):
        if worker := self.living(index):
            self.leave(worker)

    @rule(index=st.sampled_from(WORKERS), is_left=st.booleans(), wanted=st.dictionaries(keys, counts))
    def lose_touch(self, index, is_left, wanted):
        """Let a worker change its mind while none of its calls arrive, and then join again."""
        if worker := self.living(index):
            if is_left:
                self.leave(worker)
            for key, consumers in wanted.items():
                self.want(index, key, consumers)
            worker.calls.clear()
            worker.is_joining = False
            worker.join()
            worker.call(self.table)

    def leave(self, worker):
        try:
            self.table.leave(worker.sibling.worker, worker.sibling.incarnation)
        except MembershipError:
            assert worker.sibling not in self.table.siblings

    @rule(index=st.sampled_from(WORKERS), key=keys, consumers=counts)
    def want(self, index, key, consumers):
        worker = self.living(index)
        if worker and worker.consumers.get(key, 0) != consumers:
            worker.want(key, consumers)

    @rule(index=st.sampled_from(WORKERS))
    def deliver_all(self, index):
        if worker := self.living(index):
            self.deliver(worker)

    @rule(index=st.sampled_from(WORKERS))
    def call(self, index):
        worker = self.living(index)
        if worker and worker.calls:
            worker.call(self.table)

    @rule(index=st.sampled_from(WORKERS))
    def repeat_call(self, index):
        worker = self.living(index)
        if worker and worker.calls and isinstance(worker.calls[0], Changes):
            worker.calls.appendleft(worker.calls[0])

    @rule(index=st.sampled_from(WORKERS))
    def lose_call(self, index):
        worker = self.living(index)
        if worker and worker.calls and isinstance(worker.calls[0], Changes):
            worker.calls.popleft()
            worker.has_lost_calls = True

    @precondition(lambda self: self.ghosts)
    @rule(data=st.data())
    def late_call_of_the_dead(self, data):
        ghost = data.draw(st.sampled_from(self.ghosts))
        if ghost.calls:
            siblings = self.table.siblings
            is_replaced = any(each.incarnation > ghost.sibling.incarnation and each.worker == ghost.sibling.worker
                              for each in siblings)  # fmt: skip
            try:
                ghost.call(self.table)
            except StaleMember:
                return
            assert not is_replaced

    @rule(index=st.sampled_from(WORKERS))
    def send_delta(self, index):
        if delta := self.table.delta_for(index):
            assert self.table.delta_for(index) is None
            worker = self.living(index)
            if worker and worker.sibling in self.table.siblings:
                worker.deltas.append(pickle.loads(pickle.dumps(delta)))

    @rule(index=st.sampled_from(WORKERS))
    def apply_delta(self, index):
        worker = self.living(index)
        if worker and worker.deltas:
            worker.apply(worker.deltas.popleft())

    @rule(index=st.sampled_from(WORKERS))
    def apply_delta_late(self, index):
        """Let the call that delivers the oldest delta be thought lost, and arrive behind the next one."""
        worker = self.living(index)
        if worker and worker.deltas:
            self.table_call(self.table.undelivered, worker, worker.deltas[0].version)
            self.send_delta(index)
            worker.deltas.rotate(-1)

    @rule(index=st.sampled_from(WORKERS))
    def lose_delta(self, index):
        worker = self.living(index)
        if worker and worker.deltas:
            self.table_call(self.table.undelivered, worker, worker.deltas.popleft().version)

    @rule(index=st.sampled_from(WORKERS))
    def acknowledge(self, index):
        worker = self.living(index)
        if worker and worker.acknowledgements:
            self.table_call(self.table.acknowledge, worker, worker.acknowledgements.popleft())

    def table_call(self, call, worker, version):
        try:
            call(worker.sibling.worker, worker.sibling.incarnation, version)
        except JoinRequired:
            worker.join()

    @precondition(lambda self: self.table.version[1] > 20)
    @rule()
    def restart_table(self):
        self.epoch += 1
        self.table = AddressTable(self.epoch)
        # What was under way to the table died with it, and the dead send nothing new.
        self.ghosts = []
        for worker in self.workers.values():
            worker.has_joined = False
            worker.join()

    @invariant()
    def what_is_confirmed_holds_everywhere(self):
        known = self.table.known_by_all()
        members = [worker for worker in self.workers.values() if worker.sibling in self.table.siblings]
        for author in members:
            confirmed = [sequence for sequence, version in author.awaited if version <= known]
            for reader in members:
                if confirmed and reader is not author:
                    worker = author.sibling.worker
                    assert reader.view.siblings[worker] == author.sibling
                    assert what(reader.view, worker) in author.history[max(confirmed):]

    @invariant()
    def the_list_of_changes_is_bounded(self):
        limit = max(address_table._CHANGES_AT_LEAST, 2 * len(self.table.snapshot().interests))
        assert self.table.change_count <= limit

    def teardown(self):
        """Let everything arrive and the dead be noticed."""
        for sibling in self.table.siblings:
            worker = self.living(sibling.worker)
            if worker is None or worker.sibling != sibling:
                self.table.leave(sibling.worker, sibling.incarnation)
        for worker in self.workers.values():
            if worker.has_lost_calls or worker.sibling not in self.table.siblings:
                worker.join()
        while any(self.deliver(worker) for worker in list(self.workers.values())):
            pass
        for reader in self.workers.values():
            self.check_view_equals_table(reader)
            assert self.table.delta_for(reader.sibling.worker) is None
        assert self.table.known_by_all() == self.table.version
        assert self.table.change_count == 0
        super().teardown()

    def deliver(self, worker):
        index = worker.sibling.worker
        is_busy = bool(worker.calls or worker.deltas or worker.acknowledgements)
        while worker.calls:
            worker.call(self.table)
        before = len(worker.deltas)
        self.send_delta(index)
        is_busy = is_busy or len(worker.deltas) > before
        while worker.deltas:
            worker.apply(worker.deltas.popleft())
        while worker.acknowledgements:
            self.table_call(self.table.acknowledge, worker, worker.acknowledgements.popleft())
        return is_busy

    def check_view_equals_table(self, reader):
        index = reader.sibling.worker
        others = {worker.sibling.worker: worker for worker in self.workers.values() if worker is not reader}
        assert reader.view.siblings == {worker: other.sibling for worker, other in others.items()}
        for key in KEYS:
            wanted = {worker: other.consumers[key] for worker, other in others.items() if key in other.consumers}
            assert reader.view.consumers(key) == wanted
            in_table = self.table.consumers(key)
            in_table.pop(index, None)
            assert in_table == wanted


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=300, stateful_step_count=60)
