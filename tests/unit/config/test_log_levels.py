"""Which levels the words of an `enable` switch on."""

import pytest

from routerd.config import LOG_LEVELS, LevelUnknown, parse_enable

READ = [
    ("info", {"info"}),
    ("info+", {"info", "notice", "warning", "error", "critical"}),
    ("trace+", set(LOG_LEVELS)),
    ("critical+", {"critical"}),
    ("none", set()),
    ("none+", set()),
    ("", set()),
    ("trace,debug; info:notice", {"trace", "debug", "info", "notice"}),
    ("none error", {"error"}),
    ("INFO WaRn", {"info", "warning"}),
    ("t i e c", {"trace", "info", "error", "critical"}),
    ("deb not", {"debug", "notice"}),
]


@pytest.mark.parametrize(("text", "levels"), READ)
def test_words_switch_levels_on(text: str, levels: set[str]) -> None:
    assert parse_enable(text) == levels


@pytest.mark.parametrize("text", ["default", "d", "info default", "default+"])
def test_default_is_as_for_module_default(text: str) -> None:
    assert parse_enable(text) is None


@pytest.mark.parametrize(
    ("text", "word"), [("bogus", "bogus"), ("info+ inform", "inform"), ("+", "+"), ("info++", "info++")]
)
def test_another_word_is_refused(text: str, word: str) -> None:
    with pytest.raises(LevelUnknown) as refused:
        parse_enable(text)
    assert str(refused.value) == (
        f"'{word}' is not a valid log level."
        " Should be one of {none, trace, debug, info, notice, warning, error, critical}."
    )
    assert refused.value.word == word
