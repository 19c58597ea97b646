"""The table of entity types: what each row says fits the others."""

import pytest

from routerd.config import ALL_TYPES, CONFIGURABLES, Configurable, configurable
from routerd.io.entities.table import TABLE

KINDS = pytest.mark.parametrize("kind", CONFIGURABLES, ids=lambda kind: kind.section)


def test_what_is_supported_is_a_kind_and_what_is_a_kind_is_supported() -> None:
    assert [one.type.name for one in CONFIGURABLES] == [one.name for one in ALL_TYPES if one.is_supported]
    assert all(configurable(one.type) is one for one in CONFIGURABLES)


@KINDS
def test_what_a_kind_names_is_there(kind: Configurable[object]) -> None:
    sections = {one.section for one in CONFIGURABLES}
    attributes = {*kind.references, *kind.files, *kind.passwords, *kind.fixed}
    assert attributes <= kind.type.attributes.keys()
    assert set(kind.references.values()) <= sections
    assert all(place in kind.notes for place in kind.inner_types)


@KINDS
def test_secrets_are_hidden_and_changes_are_described(kind: Configurable[object]) -> None:
    assert all(kind.type.attributes[one].is_hidden for one in kind.passwords)
    assert bool(kind.change_notes) is kind.is_changeable


def test_workers_have_rows_for_kinds_alone() -> None:
    assert TABLE.keys() <= {type(one) for one in CONFIGURABLES}


@KINDS
def test_a_worker_can_do_what_requests_can_ask_for(kind: Configurable[object]) -> None:
    is_for_router = kind.is_changeable and type(kind) not in TABLE
    assert (type(kind).apply is not Configurable.apply) is is_for_router
    assert (type(kind).remove is not Configurable.remove) is is_for_router
