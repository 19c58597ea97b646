"""That the tests here run the form of the engine, compiled or not, that they are meant to run."""

import importlib
import os
from pathlib import Path

import pytest

from compiling.build_ext import MODULES


def form_of(module: str) -> str:
    file = importlib.import_module(module.removesuffix(".py").replace("/", ".")).__file__
    return "uncompiled" if Path(file or "").suffix == ".py" else "compiled"


def test_all_modules_are_of_one_form() -> None:
    assert len({form_of(module) for module in MODULES}) == 1


@pytest.mark.skipif("ROUTERD_FORM_UNDER_TEST" not in os.environ, reason="only `make test` asks for a certain form")
def test_the_form_under_test_is_the_one_that_was_asked_for() -> None:
    assert {form_of(module) for module in MODULES} == {os.environ["ROUTERD_FORM_UNDER_TEST"]}
