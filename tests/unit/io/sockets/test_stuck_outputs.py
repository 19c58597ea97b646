from dataclasses import dataclass

from routerd.io.sockets.stuck_outputs import STUCK_S, StuckOutputs


@dataclass(eq=False)
class Output:
    """A connection, and how much waits for its peer."""

    buffered_octets: int


def test_a_peer_that_reads_nothing_is_given_up_in_the_end() -> None:
    looks, one = StuckOutputs(), Output(1000)
    assert looks.look([one], 10.0) == []
    assert looks.look([one], 9.9 + STUCK_S) == []
    assert looks.look([one], 10.0 + STUCK_S) == [one]


def test_a_peer_that_reads_slowly_is_not() -> None:
    looks, one = StuckOutputs(), Output(1000)
    for step in range(5):
        assert looks.look([one], step * STUCK_S * 0.9) == []
        one.buffered_octets -= 1


def test_a_peer_that_has_read_begins_anew() -> None:
    looks, one = StuckOutputs(), Output(1000)
    assert looks.look([one], 0.0) == []
    assert looks.look([], 1.0) == []
    assert looks.look([one], STUCK_S) == []
    assert looks.look([one], 2 * STUCK_S) == [one]
