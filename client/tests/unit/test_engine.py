"""Which engine is used."""

import sys
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError
from typing import Any

import pytest

from mobula_client import engine


@pytest.fixture
def carried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "find_spec", lambda name: ModuleSpec(name, None))


def versions(monkeypatch: pytest.MonkeyPatch, **installed: str) -> None:
    def version(name: str) -> str:
        if name.replace("-", "_") not in installed:
            raise PackageNotFoundError(name)
        return installed[name.replace("-", "_")]

    monkeypatch.setattr(engine, "version", version)


def test_in_the_repository_it_is_that_of_the_router() -> None:
    assert engine.engine_name() == "routerd.wire"
    assert engine.Connection is sys.modules["routerd.wire"].Connection


@pytest.mark.usefixtures("carried")
@pytest.mark.parametrize(
    ("installed", "name"),
    [
        ({"mobula": "1.0", "mobula_client": "1.0"}, "routerd.wire"),
        ({"mobula": "1.1", "mobula_client": "1.0"}, "mobula_client._wire"),
        ({"mobula_client": "1.0"}, "mobula_client._wire"),
    ],
)
def test_a_copy_is_used_unless_a_router_of_the_same_version_is_there(
    monkeypatch: pytest.MonkeyPatch, installed: dict[str, Any], name: str
) -> None:
    versions(monkeypatch, **installed)
    assert engine.engine_name() == name
