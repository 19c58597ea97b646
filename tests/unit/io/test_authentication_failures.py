"""What failures cost a host."""

import pytest

from routerd.io.authentication_failures import FADE_S, HELD_MAX, LONGEST_DELAY_S, FailureLedger


def test_the_answer_to_each_failure_takes_longer_up_to_a_bound() -> None:
    ledger = FailureLedger()
    delays = [ledger.failed("h", 0.0) for _ in range(9)]
    assert delays == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, LONGEST_DELAY_S, LONGEST_DELAY_S, LONGEST_DELAY_S])


def test_hosts_do_not_pay_for_each_other() -> None:
    ledger = FailureLedger()
    assert [ledger.failed(host, 0.0) for host in ("a", "b", "a")] == pytest.approx([0.1, 0.1, 0.2])


def test_failures_are_forgotten_one_after_another() -> None:
    ledger = FailureLedger()
    for _ in range(3):
        ledger.failed("h", 0.0)
    assert ledger.failed("h", 2 * FADE_S) == pytest.approx(0.2)
    assert ledger.failed("h", 100 * FADE_S) == pytest.approx(0.1)


def test_a_host_with_many_answers_held_back_has_to_wait() -> None:
    ledger = FailureLedger()
    for _ in range(HELD_MAX):
        assert not ledger.is_overrun("h", 0.0)
        ledger.failed("h", 0.0)
    assert ledger.is_overrun("h", 0.0)
    assert not ledger.is_overrun("other", 0.0)
    assert not ledger.is_overrun("h", 0.15)


def test_whoever_has_an_address_of_a_network_has_all_of_it() -> None:
    ledger = FailureLedger()
    hosts = ("2001:db8::1", "2001:db8::ffff", "2001:db8:0:1::1", "fe80::1%eth0", "fe80::2", "x:y", "x:y")
    assert [ledger.failed(host, 0.0) for host in hosts] == pytest.approx([0.1, 0.2, 0.1, 0.1, 0.2, 0.1, 0.2])


def test_there_is_a_bound_to_the_hosts_that_are_remembered() -> None:
    ledger = FailureLedger(hosts_max=2)
    for host in ("a", "b", "a", "c"):
        ledger.failed(host, 0.0)
    assert [ledger.failed(host, 0.0) for host in ("a", "c", "b")] == pytest.approx([0.4, 0.2, 0.1])
