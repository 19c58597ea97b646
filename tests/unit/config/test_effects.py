"""What is configured at run time comes to the same as a section in a file."""

from typing import Any

import pytest

from routerd.config import ConnectorConfig, ListenerConfig, LogModuleConfig, Role, effect_of, resolved
from routerd.core import AddressSettings, RouterMode
from routerd.management import ChangeRefused, ConfiguredEntity, check_entity, find_entity_type

ENVIRONMENT = {"SECRET": "hunter2"}


def entity(section: str, name: str | None = None, **given: Any) -> ConfiguredEntity:
    entity_type = find_entity_type(section)
    assert entity_type is not None
    return ConfiguredEntity(
        type=entity_type, identity="x", name=name, values=check_entity(entity_type, given).values
    )


@pytest.mark.parametrize(
    ("given", "effect"),
    [
        (entity("address", prefix="a", priority=3), AddressSettings(pattern="a/#", priority=3)),
        (entity("listener", "L", port="1"), ListenerConfig(host="", port=1, name="L")),
        (
            entity("connector", "B", port="1", role="inter-router"),
            ConnectorConfig(host="127.0.0.1", port=1, name="B", role=Role.INTER_ROUTER),
        ),
        (entity("log", module="AGENT", enable="info"), LogModuleConfig(module="AGENT", enable="info")),
        (entity("router"), None),
    ],
)
def test_an_entity_has_the_effect_of_its_section(given: ConfiguredEntity, effect: Any) -> None:
    assert effect_of(given, RouterMode.INTERIOR) == effect


def test_what_a_file_cannot_say_is_refused() -> None:
    with pytest.raises(ChangeRefused, match=r"^role='standalone' not allowed to connect"):
        effect_of(entity("connector", role="inter-router"), RouterMode.STANDALONE)
    with pytest.raises(ChangeRefused, match=r"^Must set either 'prefix' or 'pattern'$"):
        effect_of(entity("address"), RouterMode.STANDALONE)


@pytest.mark.parametrize("section", ["listener", "connector"])
def test_what_a_file_only_warns_of_is_taken(section: str) -> None:
    effect = effect_of(entity(section, maxFrameSize=10), RouterMode.STANDALONE)
    assert isinstance(effect, ListenerConfig | ConnectorConfig)
    assert effect.max_frame_size == 512


def test_an_entity_is_resolved_where_the_password_is() -> None:
    given = entity("connector", saslUsername="ann", saslPassword="env:SECRET")
    found = resolved(given, RouterMode.STANDALONE, ENVIRONMENT)
    assert found.values == {**given.values, "saslPassword": "pass:hunter2"}
    effect = effect_of(found, RouterMode.STANDALONE, {})
    assert isinstance(effect, ConnectorConfig)
    assert (effect.sasl_username, effect.sasl_password) == ("ann", "hunter2")
    assert "hunter2" not in f"{found!r} {effect!r}"
    with pytest.raises(ChangeRefused, match="environment variable 'SECRET'"):
        resolved(given, RouterMode.STANDALONE, {})


def test_an_entity_without_a_password_is_resolved_as_it_is() -> None:
    for given in (entity("connector"), entity("log", module="AGENT")):
        assert resolved(given, RouterMode.STANDALONE) == given
