"""Stamps and claims: which attach is the later one."""

from routerd.topics.claims import AHEAD_MAX_MS, Claim, HybridClock, Stamp


def test_stamps_rise_even_if_the_clock_stands_still():
    clock = HybridClock("A")
    assert [clock.read(1.0), clock.read(1.0), clock.read(1.5), clock.read(0.5)] == [
        *((1000, 0), (1000, 1), (1500, 0), (1500, 1))
    ]


def test_a_stamp_that_was_seen_is_before_every_later_one():
    clock = HybridClock("A")
    clock.see(Stamp(5000, 3))
    assert clock.read(1.0) == (5000, 4)


def test_a_client_can_move_the_clock_by_an_hour_at_most():
    clock = HybridClock("A", wall_offset_s=10.0)
    clock.see_of_client(Stamp(11_000 + AHEAD_MAX_MS + 1, 0), 1.0)
    assert clock.read(1.0) == (11_000, 0)
    clock.see_of_client(Stamp(11_000 + AHEAD_MAX_MS, 0), 1.0)
    clock.see_of_client(None, 1.0)
    assert clock.read(1.0) == (11_000 + AHEAD_MAX_MS, 1)


def test_the_counter_of_attaches_decides_before_the_clock():
    early = HybridClock("A").claim(2, 1.0)
    late = HybridClock("B").claim(1, 9.0)
    assert (early > late, early, late.stamp) == (True, Claim(2, 1000, 0, "A"), (9000, 0))
