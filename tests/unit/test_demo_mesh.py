"""What the demo of four routers is made of, and what a caller makes of what happens to its calls."""

from pathlib import Path

import pytest

from bench.demo_mesh.account import Account
from bench.demo_mesh.caller import Call, Caller
from bench.demo_mesh.layout import CONFIGS, CUT, ROUTERS, layout
from routerd.config import load_config
from routerd.wire import ACCEPTED, RELEASED, Modified, Rejected

PROXY_PORT = 4711


def test_the_routers_are_those_of_the_files_but_for_one_connector() -> None:
    made = layout(PROXY_PORT, has_free_ports=False)
    for name in ROUTERS:
        text = (CONFIGS / f"mesh-{name.lower()}.conf").read_text()
        if name == CUT[0]:
            assert made.texts[name] == text.replace(f"port: {made.cut_port}", f"port: {PROXY_PORT}")
        else:
            assert made.texts[name] == text
    assert made.client_ports == {"A": 5681, "B": 5682, "C": 5683, "D": 5684}


def test_free_ports_lead_to_the_same_routers(tmp_path: Path) -> None:
    made = layout(PROXY_PORT, has_free_ports=True)
    configs = {}
    for name, text in made.texts.items():
        file = tmp_path / f"{name}.conf"
        file.write_text(text)
        configs[name] = load_config(file)
    routers = {listener.port: name for name, config in configs.items() for listener in config.listeners[1:]}
    routers[PROXY_PORT] = CUT[1]
    assert len(routers) == len(ROUTERS)
    assert not {5681, 5682, 5683, 5684} & set(made.client_ports.values())
    for name, config in configs.items():
        assert [one.name for one in config.connectors] == [routers[one.port] for one in config.connectors], name


# What a caller makes of what happens to a call


@pytest.fixture
def caller() -> Caller:
    """One that has made a call, which is under way."""
    caller = Caller("B", 1)
    call = caller.next_call(may_begin=True)
    assert call is not None
    caller.under_way.add(call)
    return caller


def the_call(caller: Caller) -> Call:
    return caller.calls[1]


def account(caller: Caller) -> Account:
    caller.stop()
    taken = caller.take_account()
    taken.worst_pause_s = 0.0
    return taken


def test_an_answer_and_then_acceptance_is_all_there_is(caller: Caller) -> None:
    call = the_call(caller)
    caller.answered(1, "A", sum(call.numbers))
    caller.answered(1, "D", sum(call.numbers))
    caller.decided(call, ACCEPTED)
    assert caller.calls == {}
    taken = account(caller)
    assert taken == Account(calls=1, answered=1, answered_by=taken.answered_by)
    assert taken.answered_by == {"A": 1}


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (ACCEPTED, "1 accepted and not answered"),
        (Rejected(), "1 rejected"),
        (RELEASED, "1 without an answer or an outcome"),
    ],
)
def test_what_is_lost_is_told(caller: Caller, outcome: object, expected: str) -> None:
    caller.decided(the_call(caller), outcome)
    assert account(caller).faults() == [expected]
    assert caller.total.lost == 1


def test_a_wrong_answer_is_told(caller: Caller) -> None:
    caller.answered(1, "A", -1)
    assert account(caller).faults() == ["1 answered wrongly"]


@pytest.mark.parametrize(("outcome", "reason"), [(RELEASED, "released"), (Modified(), "modified")])
def test_what_comes_back_is_repeated_until_it_is_answered(caller: Caller, outcome: object, reason: str) -> None:
    call = the_call(caller)
    caller.decided(call, outcome)
    assert [entry[1] for entry in caller.due] == [call]
    caller.answered(1, "A", sum(call.numbers))
    assert not caller.due
    assert dict(account(caller).repeated) == {reason: 1}
    assert caller.total.lost == 0


def test_what_is_under_way_on_a_connection_that_is_lost_is_repeated(caller: Caller) -> None:
    caller.connection_lost()
    assert (len(caller.due), caller.under_way) == (1, set())
    assert dict(account(caller).repeated) == {"connection lost": 1}


def test_an_account_is_one_line() -> None:
    made = Account(calls=3, answered=2, accepted_unanswered=1, worst_pause_s=0.0123)
    made.answered_by.update({"D": 1, "A": 1})
    made.repeated.update({"released": 2, "modified": 1})
    assert made.text() == (
        "3 calls, 2 answered (A 1, D 1), repeated 3 (1 modified, 2 released), worst pause 12 ms, lost 1"
    )
