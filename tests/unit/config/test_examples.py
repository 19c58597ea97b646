"""The files in configs/ can be loaded, and say what they are meant to."""

import re
from pathlib import Path

import pytest

from routerd.config import ListenerConfig, LogConfig, LogModuleConfig, RouterConfig, load_config
from routerd.core import AddressSettings, Distribution, RouterSettings, TopicRules

CONFIGS = Path(__file__).resolve().parents[3] / "configs"
FILES = sorted(path.name for path in CONFIGS.iterdir() if path.suffix in (".conf", ".json"))

STANDALONE = RouterConfig(
    router=RouterSettings(
        id="Standalone.A",
        topic_grace_s=0,
        addresses=(
            AddressSettings(pattern="multicast/#", distribution=Distribution.MULTICAST),
            AddressSettings(
                pattern="topics/#",
                distribution=Distribution.MULTICAST,
                topic=TopicRules(
                    is_exactly_once=True,
                    unsettled_max=10_000,
                    unsettled_octets_max=256 << 20,
                    subscription_timeout_s=3600,
                ),
            ),
            AddressSettings(pattern="closest/#", distribution=Distribution.CLOSEST),
            AddressSettings(pattern="orders.*.new/#", distribution=Distribution.BALANCED, priority=6),
            AddressSettings(pattern="closed/#", distribution=Distribution.UNAVAILABLE),
        ),
    ),
    listeners=(
        ListenerConfig(name="clients", host="127.0.0.1", port=5672, sasl_mechanisms=("ANONYMOUS",)),
        ListenerConfig(name="web", host="127.0.0.1", port=8672, sasl_mechanisms=("ANONYMOUS",), takes_http=True),
    ),
    logs=LogConfig(
        modules=(
            LogModuleConfig(module="DEFAULT", enable="info+", output_file="stderr"),
            LogModuleConfig(module="ROUTER_CORE", enable="info+"),
        )
    ),
)


MESH = {"mesh-a.conf": "A", "mesh-b.conf": "B", "mesh-c.conf": "C", "mesh-d.conf": "D"}


OF_THE_OLD_ROUTER = "qdrouterd-a.conf"


@pytest.mark.parametrize("name", [one for one in FILES if one != OF_THE_OLD_ROUTER])
def test_a_file_is_loaded_without_a_warning(name: str) -> None:
    assert load_config(CONFIGS / name).warnings == ()


def test_what_is_skipped_of_a_file_of_the_old_router_is_warned_of() -> None:
    [warning] = load_config(CONFIGS / OF_THE_OLD_ROUTER).warnings
    assert "console: the section is skipped" in warning


@pytest.mark.parametrize("name", ["standalone.conf", "standalone.json"])
def test_the_standalone_router_is_the_same_in_both_forms(name: str) -> None:
    assert load_config(CONFIGS / name) == STANDALONE


def test_each_router_of_the_mesh_connects_to_those_before_it() -> None:
    ports = {router: 20681 + number for number, router in enumerate(MESH.values())}
    for number, (name, router) in enumerate(MESH.items()):
        config = load_config(CONFIGS / name)
        assert (config.router.id, config.router.mode.value) == (router, "interior")
        assert [(one.name, one.port) for one in config.connectors] == [*ports.items()][:number]
        assert [one.port for one in config.listeners] == [5681 + number, *([ports[router]] if router != "D" else [])]


def test_the_connector_of_the_interior_router_is_right_when_it_is_no_comment(tmp_path: Path) -> None:
    text = (CONFIGS / "interior.conf").read_text()
    before, comment, after = re.split(r"(?m)^(# connector \{\n(?:#.*\n)+)", text)
    file = tmp_path / "interior.conf"
    file.write_text(before + re.sub(r"(?m)^# ", "", comment) + after)
    [connector] = load_config(file).connectors
    assert (connector.name, connector.host, connector.cost) == ("Interior.B", "b.example.com", 10)
    assert load_config(CONFIGS / "interior.conf").connectors == ()


def test_every_file_is_listed() -> None:
    text = (CONFIGS / "README.md").read_text()
    assert [name for name in FILES if f"`{name}`" not in text] == []
