"""Where a message would go, from made-up answers of management: the examples that the console explains as well."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.manage.explaining import told

EXAMPLES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("explanations.json").read_text())


@pytest.mark.parametrize("example", EXAMPLES, ids=[one["name"] for one in EXAMPLES])
def test_an_explanation_is_that_of_the_console(example: dict[str, Any]) -> None:
    assert told(example["address"], example["facts"]) == example["told"]


def test_the_examples_have_every_verdict_and_every_state() -> None:
    assert {one["told"]["verdict"] for one in EXAMPLES} == {"routed", "waits", "link", "refused", "nowhere"}
    states = {candidate["state"] for one in EXAMPLES for candidate in one["told"]["candidates"]}
    assert states == {"takes", "waits", "next"}
