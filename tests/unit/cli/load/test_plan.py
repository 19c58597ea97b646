"""A plan, and the parts that processes have in it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis.strategies import integers

from routerd.cli.load.plan import Mode, Plan, PlanError, Side, parts_of

TRAFFIC: dict[str, Any] = {"senders": 1, "receivers": 1}


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"size": 7}, "--size is 7, and must be 8 at least"),
        ({"credit": 0}, "--credit is 0, and must be 1 at least"),
        ({"rate": -1.0}, "--rate is -1.0, and must be 0 at least"),
        ({"senders": 0, "receivers": 0}, "nothing to do: give --senders, --receivers, --requesters or --responders"),
        ({"responders": 1}, "senders go with receivers, and requesters with responders"),
        ({"mode": Mode.IDLE}, "--idle needs --connections, and no --listen"),
        (
            {"mode": Mode.ATTACH, "is_listening": True, "connections": 1},
            "--attach needs --connections, and no --listen",
        ),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(PlanError) as refused:
        Plan(**(TRAFFIC | options))
    assert str(refused.value) == complaint


@pytest.mark.parametrize(
    ("options", "addresses"),
    [
        ({}, ["routerbench"] * 3),
        ({"addresses": 2}, ["routerbench.0", "routerbench.1", "routerbench.0"]),
        ({"addresses": 3, "address": "a/{}/b"}, ["a/0/b", "a/1/b", "a/2/b"]),
        ({"address": "a.{}"}, ["a.0"] * 3),
    ],
)
def test_links_take_turns_at_the_addresses(options: dict[str, Any], addresses: list[str]) -> None:
    plan = Plan(**TRAFFIC, **options)
    assert [plan.address_of(number) for number in range(3)] == addresses


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (TRAFFIC, 1000),
        ({"senders": 1, "receivers": 10}, 1000),
        ({"senders": 1, "receivers": 10, "is_multicast": True}, 10_000),
        ({"senders": 2, "receivers": 10, "addresses": 2, "is_multicast": True}, 5_000),
        ({"senders": 1, "receivers": 10, "addresses": 10, "is_multicast": True}, 10_000),
        ({"senders": 1}, -1),
        ({"requesters": 1, "responders": 1}, 1000),
        ({"requesters": 1}, 1000),
    ],
)
def test_what_should_arrive_of_a_thousand_messages(options: dict[str, Any], expected: int) -> None:
    assert Plan(**options).expected(1000) == expected


def test_each_side_has_a_process_of_its_own() -> None:
    receiving, sending = parts_of(Plan(**TRAFFIC, count=5))
    assert (receiving.sides, receiving.sending, receiving.receiving, receiving.quota) == (
        (Side.RECEIVING,),
        range(0),
        range(1),
        0,
    )
    assert (sending.sides, sending.sending, sending.receiving, sending.quota) == (
        (Side.SENDING,),
        range(1),
        range(0),
        5,
    )


def test_one_process_can_do_it_all() -> None:
    (part,) = parts_of(Plan(**TRAFFIC, count=5, processes=0))
    assert (part.sides, part.name) == ((Side.RECEIVING, Side.SENDING), "receiving+sending")
    assert (part.sending, part.receiving, part.quota) == (range(1), range(1), 5)


def test_the_side_that_listens_is_one_process() -> None:
    parts = parts_of(Plan(senders=4, receivers=4, processes=4, is_direct=True))
    assert [part.name for part in parts] == ["receiving", "sending", "sending", "sending", "sending"]
    (part,) = parts_of(Plan(receivers=4, processes=4, is_listening=True))
    assert (part.name, part.receiving) == ("receiving", range(4))


@given(integers(1, 40), integers(0, 40), integers(0, 9), integers(0, 1000))
def test_every_link_and_every_message_is_some_process_s(
    senders: int, receivers: int, processes: int, count: int
) -> None:
    parts = parts_of(Plan(senders=senders, receivers=receivers, processes=processes, count=count))
    assert [number for part in parts for number in part.sending] == list(range(senders))
    assert [number for part in parts for number in part.receiving] == list(range(receivers))
    assert sum(part.quota for part in parts) == count
    assert [part.number for part in parts] == list(range(len(parts)))


@pytest.mark.parametrize("processes", [0, 1, 3])
def test_every_standing_connection_is_some_process_s(processes: int) -> None:
    plan = Plan(mode=Mode.ATTACH, connections=10, links=2, processes=processes, is_direct=True)
    parts = parts_of(plan)
    assert [number for part in parts for number in part.standing] == list(range(10))
    assert [Side.RECEIVING in part.sides for part in parts] == [True] + [False] * (len(parts) - 1)
