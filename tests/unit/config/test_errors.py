"""An error says in one line where it is, what was given and what would be right."""

import pickle

from routerd.config import ConfigError, ConfigErrors


def text_of(value: object = None, reason: str = "why", allowed: tuple[str, ...] = (), meant: str | None = None) -> str:
    return str(ConfigError("f", None, None, None, value, reason, allowed, meant)).removeprefix(
        "Cannot load configuration file f: "
    )


def test_what_is_not_known_is_left_out() -> None:
    assert text_of() == "why"


def test_a_value_is_named_once() -> None:
    assert text_of("x") == "why (got 'x')"
    assert text_of("x", "no 'x' here") == "no 'x' here"
    assert text_of("7", "7 is too large") == "7 is too large"


def test_a_map_is_not_shown() -> None:
    assert text_of({"a": 1}) == "why"
    assert text_of([1]) == "why"


def test_what_was_meant_stands_before_all_there_is() -> None:
    assert text_of(allowed=("a", "b"), meant="a") == "why; did you mean 'a'?; allowed: a, b"


def test_many_choices_are_not_listed_when_one_was_meant() -> None:
    assert text_of(allowed=tuple("abcdefghijk"), meant="a") == "why; did you mean 'a'?"


def test_errors_can_be_sent_to_another_process() -> None:
    errors = ConfigErrors([ConfigError("f", 1, "router", "id", "x", "why", ("a",), "a")], ["beware"])
    copy = pickle.loads(pickle.dumps(errors))
    assert copy.warnings == ("beware",)
    assert (str(copy), str(copy.errors[0])) == (str(errors), str(errors))


def test_scripts_find_the_sentence_of_qdrouterd() -> None:
    direction = ConfigError("f", 1, "linkRoute", "direction", "up", "why", type_name="org.x.router.config.linkRoute")
    assert direction.old_sentence == (
        "Python: Exception: Cannot load configuration file f: org.x.router.config.linkRoute: why"
    )
    both = "Both 'dir' and 'direction' cannot be specified for entity 'org.x.linkRoute'"
    twice = ConfigError("f", 1, "linkRoute", "direction", "in", both, type_name="org.x.linkRoute")
    assert twice.old_sentence.endswith(
        "f: org.x.linkRoute: Both 'dir' and 'direction' cannot be specified for entity 'linkRoute'"
    )
    late = ConfigError("f", 1, "listener", "openProperties", None, "Reserved key 'qd.x' not allowed in openProperties")
    assert late.old_sentence == "Python: ValidationError: Reserved key 'qd.x' not allowed in openProperties"
