"""The ledger of connections, and a worker's part of it: as many as may be, over all workers, whatever is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.core import Account, Ledger, Report, Seat, SeatLimits, StaleMember, UnknownMember, Verdict
from routerd.core.policy.counters import NAMES_MAX, VhostCounters

TWO = SeatLimits(2, 2, 2)
TOTAL = "Connection denied by application connection limit"
NEW = 7


def seat(connection: int, user: str = "ann", host: str = "h", vhost: str = "v") -> Seat:
    return Seat(connection, vhost, user, host)


class Router:
    """Workers, and the ledger that they ask."""

    def __init__(self, workers: int, max_connections: int) -> None:
        self.max_connections = max_connections
        self.decided: dict[int, str | None] = {}
        self.ledger = Ledger(max_connections)
        self.accounts = {index: self.account() for index in range(workers)}
        self.incarnations = dict.fromkeys(self.accounts, 1)
        self.staying: list[bool] = []
        self.carry()

    def account(self) -> Account:
        return Account(self.max_connections, self.decided.__setitem__, is_alone=False)

    def carry(self) -> None:
        """Have all reports answered, until there are none."""
        while sum(self.answer(index) for index in self.accounts):
            pass

    def answer(self, index: int) -> bool:
        """Have the report of a worker answered, if it has one."""
        account, incarnation = self.accounts[index], self.incarnations[index]
        report = account.report()
        if report is None:
            return False
        try:
            self.ledger.take(index, incarnation, report)
        except UnknownMember:
            account.failed()
            return True
        if self.ledger.lacks_sockets(index):
            for other, of in self.ledger.lenders(index):
                self.ledger.recalled(other, of, self.accounts[other].recall())
        account.answered(self.ledger.decide(index, incarnation, report))
        return True

    def accept(self, index: int) -> bool:
        """Whether a socket that a worker accepts may stay."""
        heard: list[bool] = []
        may_stay = self.accounts[index].accept(heard.append)
        if may_stay is None:
            self.carry()
            [may_stay] = heard
        return may_stay


class TestSockets:
    @pytest.mark.parametrize("limit", [1, 2, 12, 1000])
    @pytest.mark.parametrize("workers", [2, 3])
    def test_exactly_as_many_as_may_be_are_accepted_wherever_they_come(self, limit: int, workers: int) -> None:
        router = Router(workers, limit)
        # At first one worker has more than its part, which leaves it then.
        assert all(router.accept(0) for _ in range(limit // 2))
        count = limit // 2
        while router.accept(count % workers):
            count += 1
        assert count == limit
        assert not any(router.accept(index) for index in range(workers))
        router.accounts[0].socket_closed()
        router.carry()
        assert router.accept(workers - 1)
        assert not router.accept(0)

    def test_few_questions_are_asked_while_there_is_room(self) -> None:
        router = Router(2, 65_535)
        asked = 0
        for _ in range(1000):
            assert router.accounts[0].accept(router.staying.append)
            asked += router.answer(0)
        assert asked <= 20
        assert router.staying == []

    @given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=60), st.integers(1, 9))
    def test_there_are_never_more_and_never_fewer_than_may_be(self, steps: list[tuple[int, bool]], limit: int) -> None:
        router = Router(3, limit)
        for index, is_arrival in steps:
            account = router.accounts[index]
            total = sum(one.sockets for one in router.accounts.values())
            if is_arrival:
                assert router.accept(index) is (total < limit)
            elif account.sockets:
                account.socket_closed()
                router.carry()

    def test_sockets_that_come_while_others_wait_keep_their_order(self) -> None:
        router = Router(2, 3)
        account = router.accounts[0]
        assert [account.accept(router.staying.append) for _ in range(2)] == [None, None]
        report = account.report()
        assert report is not None
        assert (report.sockets, report.allowance) == (2, 0)
        assert account.accept(router.staying.append) is None
        router.ledger.take(0, 1, report)
        account.answered(router.ledger.decide(0, 1, report))
        assert router.staying == [True, True]
        router.carry()
        assert router.staying == [True, True, True]
        assert account.accept(router.staying.append) is None
        router.carry()
        assert router.staying == [True, True, True, False]

    def test_what_was_allowed_before_a_recall_holds_no_more(self) -> None:
        router = Router(2, 3)
        account = router.accounts[0]
        assert account.accept(router.staying.append) is None
        report = account.report()
        assert report is not None
        router.ledger.take(0, 1, report)
        verdict = router.ledger.decide(0, 1, report)
        assert account.recall() == 0
        account.answered(verdict)
        assert (router.staying, account.sockets) == ([], 0)
        router.carry()
        assert router.staying == [True]

    def test_an_answer_that_was_overtaken_while_nobody_waits_changes_nothing(self) -> None:
        account = Router(2, 3).accounts[0]
        account.renew()
        account.report()
        account.recall()
        account.answered(Verdict(allowance=4, recalls=0))
        assert account.accept([].append) is None

    def test_a_worker_that_is_alone_knows_by_itself(self) -> None:
        account = Account(2, {}.__setitem__, is_alone=True)
        assert [account.accept([].append) for _ in range(3)] == [True, True, False]
        account.socket_closed()
        assert account.accept([].append) is True
        account.renew()
        assert account.report() is None


class TestSeats:
    def test_one_that_is_alone_counts_by_itself(self) -> None:
        account = Account(9, {}.__setitem__, is_alone=True)
        assert [account.ask(seat(number), TWO) for number in range(3)] == [(True, None), (True, None), (True, TOTAL)]
        account.leave(0)
        assert account.ask(seat(3), TWO) == (True, None)

    def test_a_new_ledger_hears_of_everything(self) -> None:
        router = Router(2, 9)
        for index in router.accounts:
            assert router.accounts[index].ask(seat(index), TWO) == (False, None)
        router.carry()
        assert router.decided == {0: None, 1: None}
        router.ledger = Ledger(9)
        for account in router.accounts.values():
            account.renew()
        router.accounts[0].ask(seat(2), TWO)
        # All have to have reported before anything is decided.
        for index in (1, 0):
            router.answer(index)
        assert router.decided[2] == TOTAL
        assert router.ledger.workers == {0, 1}

    def test_a_ledger_that_does_not_know_a_worker_asks_for_everything(self) -> None:
        router = Router(2, 9)
        router.accounts[0].ask(seat(0), TWO)
        router.carry()
        router.ledger = Ledger(9)
        router.accounts[0].ask(seat(2), TWO)
        router.carry()
        assert router.decided == {0: None, 2: None}
        assert router.ledger.count("v") == 2

    def test_a_report_that_was_lost_is_made_good(self) -> None:
        router = Router(2, 9)
        account = router.accounts[0]
        account.ask(seat(0), TWO)
        report = account.report()
        assert report is not None
        # It has arrived, and the answer has not.
        router.ledger.take(0, 1, report)
        router.ledger.decide(0, 1, report)
        account.failed()
        router.carry()
        assert router.decided == {0: None}
        assert router.ledger.count("v") == 1

    def test_a_connection_that_left_while_it_was_asked_for_does_not_count(self) -> None:
        router = Router(2, 9)
        account = router.accounts[0]
        account.ask(seat(0), TWO)
        report = account.report()
        assert report is not None
        account.leave(0)
        router.ledger.take(0, 1, report)
        account.answered(router.ledger.decide(0, 1, report))
        router.carry()
        assert (router.decided, router.ledger.count("v")) == ({}, 0)

    def test_a_connection_that_came_and_went_unreported_is_not_told_of(self) -> None:
        router = Router(2, 9)
        account = router.accounts[0]
        account.ask(seat(0), SeatLimits(9, 9, 9))
        account.leave(0)
        account.leave(0)
        report = account.report()
        assert report is not None
        assert (report.seats, report.gone) == ((), ())

    def test_an_answer_to_no_question_is_ignored(self) -> None:
        account = Router(2, 3).accounts[0]
        account.answered(Verdict(allowance=9))
        assert account.accept([].append) is None

    def test_a_worker_that_died_has_no_connections(self) -> None:
        router = Router(2, 9)
        for number in (0, 1):
            router.accounts[0].ask(seat(number), TWO)
        router.carry()
        router.ledger.forget(0)
        router.ledger.forget(0)
        assert router.ledger.count("v") == 0
        router.accounts[1].ask(seat(2), TWO)
        router.carry()
        assert router.decided[2] is None

    def test_a_new_incarnation_takes_the_place_of_the_old_one(self) -> None:
        ledger = Ledger(9)
        ledger.take(0, 1, Report(is_full=True, seats=(seat(0), seat(1))))
        ledger.take(0, 2, Report(is_full=True, seats=(seat(0),)))
        assert ledger.count("v") == 1
        with pytest.raises(StaleMember):
            ledger.take(0, 1, Report(is_full=True))
        with pytest.raises(UnknownMember):
            ledger.take(0, 3, Report(is_full=False))
        with pytest.raises(UnknownMember):
            ledger.decide(0, 3, Report(is_full=False))
        with pytest.raises(UnknownMember):
            ledger.decide(1, 1, Report(is_full=False))
        assert not ledger.lacks_sockets(1)
        ledger.recalled(0, 1, 0)
        ledger.recalled(5, 1, 0)

    def test_the_reason_is_the_first_limit_that_is_reached(self) -> None:
        ledger = Ledger(9)
        for number, limits in ((0, SeatLimits(9, 9, 9)), (1, SeatLimits(9, 9, 9))):
            assert ledger.admit(0, seat(number), limits) is None
        reasons = [ledger.admit(0, seat(NEW), SeatLimits(*limits)) for limits in ((2, 2, 2), (9, 2, 2), (9, 9, 2))]
        assert [reason and reason.split("application ")[1] for reason in reasons] == [
            *("connection limit", "per user limit", "per host limit")
        ]
        ledger.seat(0, seat(0, user="bob"))
        assert (ledger.count("v"), ledger.count("v", "ann"), ledger.count("v", "", "h")) == (2, 1, 2)
        assert ledger.admit(0, seat(NEW, user="bob", host="i"), SeatLimits(9, 2, 9)) is None
        ledger.leave(0, 99)
        ledger.leave(3, 99)


def test_users_and_hosts_without_connections_are_not_remembered_without_bound() -> None:
    counters = VhostCounters()
    for number in range(NAMES_MAX + 3):
        counters.connected(f"u{number}", "h", "h:1")
        if number > 1:
            counters.disconnected(f"u{number}", "h", "h:1")
    assert len(counters.by_user) == NAMES_MAX
    assert {"u0", "u1", f"u{NAMES_MAX + 2}"} <= counters.by_user.keys()


def test_those_who_are_connected_are_all_shown() -> None:
    counters = VhostCounters()
    for number in range(NAMES_MAX + 1):
        counters.connected(f"u{number}", "h", "h:1")
    assert len(counters.by_user) == NAMES_MAX + 1
