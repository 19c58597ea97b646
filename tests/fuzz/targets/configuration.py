"""Any text as a configuration file, in both forms: refused with the line and the reason, or read to the end.

The first octet says which form it is. Policies and virtual hosts are where it begins.
"""

from routerd.config import ConfigErrors, parse_config
from tests.fuzz.broken import check

FORMS = ("fuzz.conf", "fuzz.json")


def run(data: bytes) -> None:
    """Read it twice: what comes of it is the same, or it is refused for the same reasons."""
    name, text = FORMS[data[0] % len(FORMS)] if data else FORMS[0], data[1:].decode("utf-8", "replace")
    first, second = (_outcome(text, name) for _ in range(2))
    check(first == second, "the same text comes to something else")


def _outcome(text: str, name: str) -> object:
    try:
        return parse_config(
            text, name, new_suffix=lambda: "suffix", environment={}, resolve=lambda host: ["127.0.0.1"]
        )
    except ConfigErrors as refused:
        reasons = str(refused)
        check(reasons != "", "a refusal without a reason")
        return reasons
