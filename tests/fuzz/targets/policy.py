"""Any octets as the configuration of vhosts, and as what peers say to them: refused by typed errors, or answered.

The first line is a JSON object of a vhost's attributes, or whatever stands there; the others are users, hosts, names of
vhosts and addresses. Rules are held against what they say one by one.
"""

import json
from typing import Any

from routerd.config import effect_of
from routerd.core import PolicySettings, RouterMode, VhostSettings
from routerd.core.policy import Refusal, Rulebook
from routerd.core.policy.message_guard import MessageGuard
from routerd.core.policy.vhost import Group
from routerd.management import ChangeRefused, ConfiguredEntity, check_entity, find_entity_type
from routerd.wire import DecodeError, NeedsMore
from tests.fuzz.broken import check

VHOST = find_entity_type("vhost")


def run(data: bytes) -> None:
    """Configure a vhost, and ask whether peers may do what they say."""
    first, _, rest = data.partition(b"\n")
    words = [word.decode("utf-8", "replace") for word in rest.split(b"\n")] or [""]
    for uses_patterns in (False, True):
        book = Rulebook(PolicySettings(is_enforced=True, uses_name_patterns=uses_patterns))
        settings = _settings(first)
        if settings is not None:
            book.configure(settings)
            _check_change(book, settings)
        _ask(book, words, data)


def _settings(text: bytes) -> VhostSettings | None:
    try:
        given: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(given, dict):
        return None
    assert VHOST is not None
    checked = check_entity(VHOST, given)
    if checked.problems:
        return None
    entity = ConfiguredEntity(type=VHOST, identity="vhost/x", name=None, values=checked.values)
    try:
        found = effect_of(entity, RouterMode.STANDALONE, resolve=lambda name: ["127.0.0.1"])
    except ChangeRefused as refused:
        check(str(refused) != "", "a refusal without a reason")
        return None
    check(isinstance(found, VhostSettings), "a vhost comes to something else")
    return found if isinstance(found, VhostSettings) else None


def _check_change(book: Rulebook, settings: VhostSettings) -> None:
    before = book.edition.number
    book.configure(settings)
    check(book.names == (settings.hostname,), f"one vhost comes to {book.names}")
    check(book.edition.number > before, "a change has no version of its own")
    for name in (settings.hostname, *settings.aliases):
        vhost = book.vhost_for(name)
        has_wildcards = book.settings.uses_name_patterns and any(word in name for word in ("*", "#"))
        check(vhost is not None or has_wildcards, f"{name!r} is not found")


def _ask(book: Rulebook, words: list[str], data: bytes) -> None:
    for name in words:
        user, host = words[0], words[-1]
        group = book.group_for(name, user, host)
        connector = book.connector_group(name)
        for found in (group, connector):
            if isinstance(found, Refusal):
                check(found.reason != "", "a refusal without a reason")
            else:
                _ask_group(found, user, words, data)


def _ask_group(group: Group, user: str, words: list[str], data: bytes) -> None:
    for address in words:
        for rules, names, patterns in (
            (group.sources, group.settings.sources, group.settings.source_patterns),
            (group.targets, group.settings.targets, group.settings.target_patterns),
        ):
            is_allowed = rules.allow(address, user)
            check(not is_allowed or bool(names or patterns), f"{address!r} is allowed by nothing")
            check(is_allowed or "*" not in names, f"{address!r} is refused where everything is allowed")
    for address in (None, words[0]):
        guard = MessageGuard(group, user, address)
        for is_partial in (False, True):
            try:
                guard.refusal(None, data, 0, len(data), is_partial)
            except NeedsMore:
                check(is_partial, "a whole message needs more")
            except DecodeError:
                continue
