"""When an idle connection has to speak, and when its peer has been silent for too long."""

import pytest

from routerd.wire.idle_clock import IdleClock

FOREVER = float("inf")


def clock(timeout_s=0.0, remote_timeout_s=0.0, now=100.0):
    made = IdleClock(timeout_s)
    made.start(now)
    made.keep_alive(remote_timeout_s)
    return made


def test_without_time_outs_nothing_is_due():
    idle = clock()
    assert (idle.deadline(True), idle.is_peer_lost(10.0**9), idle.is_word_due(10.0**9)) == (FOREVER, False, False)


@pytest.mark.parametrize(("now", "is_lost"), [(109.9, False), (110.0, True), (111.0, True)])
def test_a_peer_is_lost_when_nothing_was_heard_for_the_time_out(now, is_lost):
    idle = clock(timeout_s=10.0)
    assert (idle.deadline(True), idle.is_peer_lost(now), idle.is_word_due(now)) == (110.0, is_lost, False)
    idle.heard(105.0)
    assert (idle.deadline(True), idle.is_peer_lost(now)) == (115.0, False)


@pytest.mark.parametrize(("now", "is_due"), [(103.9, False), (104.0, True), (105.0, True)])
def test_a_word_is_due_at_half_of_the_peers_time_out(now, is_due):
    idle = clock(remote_timeout_s=8.0)
    assert (idle.deadline(True), idle.is_word_due(now), idle.is_peer_lost(now)) == (104.0, is_due, False)
    idle.spoke(103.0)
    assert (idle.deadline(True), idle.is_word_due(now)) == (107.0, False)


def test_the_earlier_of_both_deadlines_counts_as_far_as_we_may_speak():
    idle = clock(timeout_s=10.0, remote_timeout_s=8.0)
    assert (idle.deadline(True), idle.deadline(False)) == (104.0, 110.0)
    idle.spoke(109.0)
    assert (idle.deadline(True), idle.deadline(False)) == (110.0, 110.0)
    assert clock(remote_timeout_s=8.0).deadline(False) == FOREVER
