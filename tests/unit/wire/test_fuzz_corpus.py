"""The corpus of the fuzzer, replayed: what was found once stays found. `tests/fuzz/README.md` tells what is checked."""

import pytest

from tests.fuzz.corpus import KEPT, inputs_in, kept_folder
from tests.fuzz.failures import shrink
from tests.fuzz.mutator import Mutator
from tests.fuzz.targets import NAMES, target
from tests.interop import certificates

MOST_OCTETS = 200 * 1024
MOST_FILES = 900


WITHOUT = certificates.absence()
TARGETS = [
    pytest.param(name, marks=pytest.mark.skipif(name == "tls" and WITHOUT is not None, reason=str(WITHOUT)))
    for name in NAMES
]


@pytest.mark.parametrize("name", TARGETS)
def test_every_kept_input_of_a_target_holds(name: str) -> None:
    run = target(name)
    inputs = inputs_in(kept_folder(name))
    assert inputs
    for data in inputs.values():
        run(data)


@pytest.mark.parametrize("name", TARGETS)
def test_inputs_made_from_the_kept_ones_hold(name: str) -> None:
    run = target(name)
    mutator = Mutator(list(inputs_in(kept_folder(name)).values()), seed=1)
    for _ in range(150):
        run(mutator.next())


def test_the_corpus_is_small() -> None:
    inputs = inputs_in(*map(kept_folder, NAMES))
    assert sum(map(len, inputs.values())) <= MOST_OCTETS
    assert len(inputs) <= MOST_FILES
    assert {file.name for file in KEPT.iterdir()} == set(NAMES)


def test_a_failing_input_is_shrunk_to_what_makes_it_fail() -> None:
    assert shrink(b"some octets with a needle in them", lambda data: b"needle" in data) == b"needle"


def test_the_same_seed_makes_the_same_inputs() -> None:
    first, second = (Mutator([b"a few octets", b"and more"], seed=7) for _ in range(2))
    assert [first.next() for _ in range(50)] == [second.next() for _ in range(50)]
