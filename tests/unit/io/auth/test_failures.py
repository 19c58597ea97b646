"""What failures cost a user of a host."""

import pytest

from routerd.io.auth.failures import (
    FADE_S,
    HELD_MAX,
    HOST_FAILURES_FREE,
    LONGEST_DELAY_S,
    NAME_MAX,
    FailureLedger,
)


def test_the_answer_to_each_failure_takes_longer_up_to_a_bound() -> None:
    ledger = FailureLedger()
    delays = [ledger.failed("h", "ann", 0.0) for _ in range(9)]
    assert delays == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, LONGEST_DELAY_S, LONGEST_DELAY_S, LONGEST_DELAY_S])


def test_users_and_hosts_do_not_pay_for_each_other() -> None:
    ledger = FailureLedger()
    pairs = [("a", "ann"), ("b", "ann"), ("a", "bob"), ("a", None), ("a", "ann"), ("a", None)]
    assert [ledger.failed(*pair, 0.0) for pair in pairs] == pytest.approx([0.1, 0.1, 0.1, 0.1, 0.2, 0.2])


def test_failures_are_forgotten_one_after_another() -> None:
    ledger = FailureLedger()
    for _ in range(3):
        ledger.failed("h", "ann", 0.0)
    assert ledger.failed("h", "ann", 2 * FADE_S) == pytest.approx(0.2)
    assert ledger.failed("h", "ann", 100 * FADE_S) == pytest.approx(0.1)


def test_a_user_of_whom_many_answers_are_held_back_has_to_wait_and_nobody_else() -> None:
    ledger = FailureLedger()
    for _ in range(HELD_MAX):
        assert not ledger.is_overrun("h", "ann", 0.0)
        ledger.failed("h", "ann", 0.0)
    assert ledger.is_overrun("h", "ann", 0.0)
    assert not ledger.is_overrun("h", "bob", 0.0)
    assert not ledger.is_overrun("h", None, 0.0)
    assert not ledger.is_overrun("other", "ann", 0.0)
    assert not ledger.is_overrun("h", "ann", 0.15)


def test_what_is_held_back_is_not_forgotten_for_other_names() -> None:
    ledger = FailureLedger(remembered_max=2)
    for _ in range(HELD_MAX):
        ledger.failed("h", "ann", 0.0)
    for number in range(5):
        ledger.failed("h", f"user {number}", 0.0)
    assert ledger.is_overrun("h", "ann", 0.0)
    assert not ledger.is_overrun("h", "ann", LONGEST_DELAY_S)


def test_a_host_that_tries_many_users_waits_longer() -> None:
    ledger = FailureLedger()
    delays = [ledger.failed("h", f"user {number}", 0.0) for number in range(HOST_FAILURES_FREE + 8)]
    assert delays[: HOST_FAILURES_FREE + 1] == pytest.approx([0.1] * (HOST_FAILURES_FREE + 1))
    longer = [0.2, 0.4, 0.8, 1.6, 3.2, LONGEST_DELAY_S, LONGEST_DELAY_S]
    assert delays[HOST_FAILURES_FREE + 1 :] == pytest.approx(longer)
    assert ledger.failed("other", "user 0", 0.0) == pytest.approx(0.1)
    assert ledger.failed("h", "late", float(HOST_FAILURES_FREE)) == pytest.approx(0.1)


def test_whoever_has_an_address_of_a_network_has_all_of_it() -> None:
    ledger = FailureLedger()
    hosts = ("2001:db8::1", "2001:db8::ffff", "2001:db8:0:1::1", "fe80::1%eth0", "fe80::2", "x:y", "x:y")
    assert [ledger.failed(host, "ann", 0.0) for host in hosts] == pytest.approx([0.1, 0.2, 0.1, 0.1, 0.2, 0.1, 0.2])


def test_there_is_a_bound_to_what_is_remembered() -> None:
    ledger = FailureLedger(remembered_max=2)
    for host in ("a", "b", "a", "c"):
        ledger.failed(host, "ann", 0.0)
    assert [ledger.failed(host, "ann", 0.0) for host in ("a", "c", "b")] == pytest.approx([0.4, 0.2, 0.1])
    name = "x" * NAME_MAX
    assert [ledger.failed("d", name + more, 0.0) for more in ("", "y")] == pytest.approx([0.1, 0.2])
