"""The command line of routerbench, and the plan that it makes."""

import re
from typing import Any

import pytest

from routerd.cli.load.plan import Mode, Plan
from routerd.cli.routerbench import main, option_parser, plan_of


def plan(*arguments: str) -> Plan:
    return plan_of(option_parser().parse_args(arguments))


def links(*arguments: str) -> dict[str, int]:
    made = plan(*arguments)
    every = {name: getattr(made, name) for name in ("senders", "receivers", "requesters", "responders")}
    return {name: number for name, number in every.items() if number}


def test_by_default_one_sender_and_one_receiver_run_for_five_seconds() -> None:
    assert plan() == Plan(senders=1, receivers=1, seconds=5)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--senders", "3"], {"senders": 3, "receivers": 1}),
        (["--receivers", "3"], {"senders": 1, "receivers": 3}),
        (["--senders", "3", "--receivers", "0"], {"senders": 3}),
        (["--senders", "0", "--receivers", "3"], {"receivers": 3}),
        (["--requesters", "2"], {"requesters": 2, "responders": 1}),
        (["--responders", "2"], {"requesters": 1, "responders": 2}),
        (["--listen", "[::1]:0"], {"receivers": 1}),
        (["--listen", "127.0.0.1:0", "--responders", "1"], {"responders": 1}),
        (["--idle", "--connections", "5"], {}),
    ],
)
def test_each_role_calls_for_its_counterpart(arguments: list[str], expected: dict[str, int]) -> None:
    assert links(*arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        (["--connect", "host:1234"], {"host": "host", "port": 1234, "is_direct": False}),
        (["--connect", "[::1]:1234"], {"host": "::1", "port": 1234}),
        (["--connect", ":1234"], {"host": "127.0.0.1", "port": 1234}),
        (["--direct"], {"is_direct": True}),
        (["--listen", "127.0.0.1:0"], {"is_listening": True, "port": 0, "seconds": 0}),
        (["--receive-at", "other:1"], {"receive_at": ("other", 1)}),
        (["--count", "10"], {"count": 10, "seconds": 0}),
        (["--seconds", "0.5", "--warmup", "0.25"], {"seconds": 0.5, "warmup_s": 0.25}),
        (["--senders", "0", "--receivers", "1"], {"seconds": 0}),
        (["--settled"], {"is_settled": True}),
        (["--unsettled"], {"is_settled": False}),
        (["--attach", "--connections", "9"], {"mode": Mode.ATTACH, "connections": 9, "links": 1}),
        (["--attach", "--connections", "9", "--links", "3"], {"links": 3, "addresses": 27}),
        (["--attach", "--connections", "9", "--links", "3", "--addresses", "2"], {"addresses": 2}),
        (["--idle", "--connections", "9"], {"mode": Mode.IDLE, "links": 0, "seconds": 5}),
        (["--rate", "10", "--size", "20", "--credit", "30"], {"rate": 10.0, "size": 20, "credit": 30}),
        (["--address", "a.{}", "--addresses", "4"], {"address": "a.{}", "addresses": 4}),
        (["--multicast", "--sasl", "--hostname", "h"], {"is_multicast": True, "is_sasl": True, "hostname": "h"}),
        (["--processes", "0", "--in-flight", "7", "--patience", "3"], {"processes": 0, "in_flight": 7}),
    ],
)
def test_an_option_is_in_the_plan(arguments: list[str], fields: dict[str, Any]) -> None:
    made = plan(*arguments)
    assert {name: getattr(made, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--size", "1"], "--size is 1, and must be 8 at least"),
        (["--connect", "nowhere"], "'nowhere' is not of the form host:port"),
        (["--connect", "host:70000"], "'host:70000' is not of the form host:port"),
        (["--attach"], "--attach needs --connections, and no --listen"),
        (["--senders", "1", "--responders", "1"], "senders go with receivers, and requesters with responders"),
        (["--count", "1", "--seconds", "1"], "not allowed with argument"),
        (["--direct", "--listen", "127.0.0.1:0"], "not allowed with argument"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    with pytest.raises(SystemExit) as refused:
        main(arguments)
    assert refused.value.code == 2
    assert complaint in capsys.readouterr().err


def test_help_describes_every_option_and_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    text = capsys.readouterr().out
    assert ended.value.code == 0
    undescribed = [action.option_strings for action in option_parser()._actions if not action.help]
    assert undescribed == []
    assert "examples:" in text


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    form = r"uncompiled|compiled(, (trained|not trained: .*))?"
    assert re.match(rf"\d+\.\d+.*\nbuild: ({form})\n", capsys.readouterr().out)
