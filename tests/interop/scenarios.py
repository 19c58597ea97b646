"""What is tried between two peers, and the facts that either must then have seen."""

import hashlib
from collections.abc import Iterable
from itertools import product
from typing import Any

from tests.interop.peer_process import Fact

Options = dict[str, Any]

TRANSFERS: dict[str, Options] = {
    "every outcome": {"messages": 8, "outcomes": ["accepted", "rejected", "released", "modified"]},
    "receiver settles second": {
        "messages": 4,
        "outcomes": ["accepted", "rejected", "released", "modified"],
        "rcv_settle_mode": "second",
    },
    "settled by the sender": {"messages": 5, "snd_settle_mode": "settled"},
    "more messages than credit": {"messages": 30, "credit": 7},
    "10 MB in 512-byte frames": {"size": 10_000_000, "max_frame_size": 512},
    "drain": {"messages": 3, "credit": 10, "drain": True},
    "1 000 links": {"links": 1000},
    "100 sessions": {"sessions": 100},
}
"""Options for the scenario `send` of one side and `receive` of the other."""

ERROR = {"condition": "test:wrong", "description": "as the test asked", "info": {"why": "a test"}}

REJECTION = {"condition": "test:rejected", "description": "not wanted", "info": {"reason": "a test"}}
OUTCOME_FIELDS: dict[str, Fact] = {
    "accepted": {},
    "rejected": {"error": REJECTION},
    "released": {},
    "modified": {
        "delivery_failed": True,
        "undeliverable_here": True,
        "message_annotations": {"x-opt-note": "seen"},
    },
}


def content(number: int, size: int) -> bytes:
    """Return the body of message number so-and-so: its octets count up modulo 251, from the number."""
    start = number % 251
    return (bytes(range(251)) * (size // 251 + 2))[start : start + size]


def link_names(options: Options, kind: str) -> list[str]:
    """Return the names that a client peer gives its links; kind is `send` or `receive`."""
    counts = range(options.get("sessions", 1)), range(options.get("links", 1))
    return [f"{kind}-{session}-{link}" for session, link in product(*counts)]


def outcome_of(options: Options, number: int) -> str:
    outcomes = options.get("outcomes", ["accepted"])
    return str(outcomes[number % len(outcomes)])


def sender_facts(options: Options, links: Iterable[str]) -> list[Fact]:
    """Return what the sending side must have seen on these links."""
    is_settled = options.get("rcv_settle_mode") != "second"
    facts: list[Fact] = []
    for link in links:
        for number in range(options.get("messages", 1)):
            state = outcome_of(options, number)
            fact = {"fact": "outcome", "link": link, "number": number, "state": state, "settled": is_settled}
            facts.append({**fact, **OUTCOME_FIELDS[state]})
        facts += drained_facts(options, link)
    return [fact for fact in facts if fact["fact"] != "outcome" or options.get("snd_settle_mode") != "settled"]


def receiver_facts(options: Options, links: Iterable[str]) -> list[Fact]:
    """Return what the receiving side must have seen on these links."""
    size, is_settled = options.get("size", 100), options.get("snd_settle_mode") == "settled"
    facts: list[Fact] = []
    for link in links:
        for number in range(options.get("messages", 1)):
            digest = hashlib.sha256(content(number, size)).hexdigest()
            about = {"link": link, "number": number}
            facts.append({"fact": "received", **about, "octets": size, "sha256": digest, "settled": is_settled})
            if options.get("rcv_settle_mode") == "second":
                facts.append({"fact": "settled", **about})
        facts += drained_facts(options, link)
    return facts


SUSPENSION: Options = {"messages": 3, "suspend": True, "remembered": {"0": "accepted", "1": None}}
"""The receiver suspends the link with everything unsettled; of the messages it has decided one, kept one, lost one."""


def recovery_facts(link: str, *, with_maps: bool) -> tuple[list[Fact], list[Fact]]:
    """Return what sender and receiver must have seen of a suspended link, where both write unsettled maps or not."""
    plain = {"messages": SUSPENSION["messages"]}
    sent, received = sender_facts(plain, [link]), receiver_facts(plain, [link])
    if not with_maps:
        return sent, [*received, *received]
    sent[0]["settled"] = False
    about = {"fact": "resumed", "link": link}
    resumed = [
        {**about, "number": 0, "octets": 0, "settled": True},
        {**about, "number": 1, "octets": 100, "settled": False},
    ]
    sent.append({"fact": "unsettled", "link": link, "states": SUSPENSION["remembered"]})
    received.append({"fact": "unsettled", "link": link, "states": {"0": None, "1": None, "2": None}})
    return sent, [*received, *resumed, received[2]]


def drained_facts(options: Options, link: str) -> list[Fact]:
    if not options.get("drain"):
        return []
    return [{"fact": "drained", "link": link, "returned": options["credit"] - options["messages"]}]


def in_order(facts: Iterable[Fact], *names: str) -> list[Fact]:
    """Return the facts of these names (or those of deliveries), ordered so that two runs can be compared."""
    wanted = names or ("outcome", "received", "settled", "drained")
    chosen = [fact for fact in facts if fact["fact"] in wanted]
    return sorted(chosen, key=lambda fact: (fact["fact"], fact.get("link", ""), fact.get("number", 0)))
