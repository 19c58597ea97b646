"""The levels of the log, and which of them a text like `info+` switches on."""

from routerd.config.schema.logs import LOG_LEVELS

_TOKENS = ("default", "none", *LOG_LEVELS)
_SEPARATORS = str.maketrans(",;:", "   ")


class LevelUnknown(ValueError):
    """A word that is no level and no abbreviation of one."""

    def __init__(self, word: str) -> None:
        choices = ", ".join(_TOKENS[1:])
        super().__init__(f"'{word}' is not a valid log level. Should be one of {{{choices}}}.")
        self.word = word


def parse_enable(text: str) -> frozenset[str] | None:
    """Return the levels that the words of an `enable` switch on together; None is what DEFAULT has (2.5)."""
    levels: set[str] = set()
    inherits = False
    for word in text.translate(_SEPARATORS).split():
        name = word.lower().removesuffix("+")
        token = next((token for token in _TOKENS if name and token.startswith(name)), None)
        if token is None:
            raise LevelUnknown(word)
        if token == "default":
            inherits = True
        elif token != "none":
            first = LOG_LEVELS.index(token)
            levels.update(LOG_LEVELS[first:] if word.endswith("+") else (token,))
    return None if inherits else frozenset(levels)
