"""The errors of routing: what they say, and that they survive the way to another process."""

import pickle

import pytest

from routerd.core import errors

ERRORS = [
    (errors.InvalidPhase(10), "phase 10 is out of range (0 to 9, or 22 for the fallback)"),
    (errors.InvalidKey("x"), "'x' is not an address key: it needs a letter for its class, and a phase after M"),
    (errors.InvalidPattern("/"), "pattern '/' has no token"),
    (errors.DuplicatePattern("a/#"), "pattern 'a/#' is there already"),
    (errors.UnknownPattern("a/#"), "pattern 'a/#' is not there"),
    (errors.UnknownMember(3, 7), "worker 3, incarnation 7, has not joined"),
    (errors.ChangesMissed(3, 7), "worker 3, incarnation 7, has sent changes that did not arrive"),
    (errors.StaleMember(3, 7), "worker 3, incarnation 7, has been replaced by another incarnation"),
    (errors.FullDeltaMissing(None, (1, 2)), "delta (1, 2) is not full and does not continue None"),
]


@pytest.mark.parametrize(("error", "text"), ERRORS)
def test_an_error_says_what_is_wrong_and_with_what(error, text):
    assert str(error) == text


@pytest.mark.parametrize("error", [error for error, _ in ERRORS])
def test_an_error_is_the_same_after_pickling(error):
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


@pytest.mark.parametrize("error", [error for error, _ in ERRORS])
def test_every_error_has_the_root_of_the_package(error):
    assert isinstance(error, errors.CoreError)


def test_a_worker_can_tell_whether_to_join_again():
    joins = [type(error) for error, _ in ERRORS if isinstance(error, errors.JoinRequired)]
    assert joins == [errors.UnknownMember, errors.ChangesMissed]
