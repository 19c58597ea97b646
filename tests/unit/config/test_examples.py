"""The files in configs/ can be loaded, and say what they are meant to."""

from pathlib import Path

import pytest

from routerd.config import ListenerConfig, LogConfig, LogModuleConfig, RouterConfig, load_config
from routerd.core import AddressSettings, Distribution, RouterSettings

CONFIGS = Path(__file__).resolve().parents[3] / "configs"
FILES = sorted(path.name for path in CONFIGS.iterdir() if path.name != "README.md")

STANDALONE = RouterConfig(
    router=RouterSettings(
        id="Standalone.A",
        addresses=(
            AddressSettings(pattern="multicast/#", distribution=Distribution.MULTICAST),
            AddressSettings(pattern="closest/#", distribution=Distribution.CLOSEST),
            AddressSettings(pattern="orders.*.new/#", distribution=Distribution.BALANCED, priority=6),
            AddressSettings(pattern="closed/#", distribution=Distribution.UNAVAILABLE),
        ),
    ),
    listeners=(ListenerConfig(name="clients", host="127.0.0.1", port=5672, sasl_mechanisms=("ANONYMOUS",)),),
    logs=LogConfig(
        modules=(
            LogModuleConfig(module="DEFAULT", enable="info+", output_file="stderr"),
            LogModuleConfig(module="ROUTER_CORE", enable="info+"),
        )
    ),
)


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_loaded_without_a_warning(name: str) -> None:
    assert load_config(CONFIGS / name).warnings == ()


@pytest.mark.parametrize("name", ["standalone.conf", "standalone.json"])
def test_the_standalone_router_is_the_same_in_both_forms(name: str) -> None:
    assert load_config(CONFIGS / name) == STANDALONE


def test_every_file_is_listed() -> None:
    text = (CONFIGS / "README.md").read_text()
    assert [name for name in FILES if f"`{name}`" not in text] == []
