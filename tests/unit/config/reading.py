"""Short ways to read a configuration in tests."""

from routerd.config import ConfigErrors, ListenerConfig, RouterConfig, parse_config

CONF = "r.conf"
JSON = "r.json"


def read(text: str, name: str = CONF, *, is_strict: bool = False) -> RouterConfig:
    """Return what a text says, with the same made-up id every time."""
    return parse_config(text, name, new_suffix=lambda: "x" * 15, is_strict=is_strict)


def errors_in(text: str, name: str = CONF) -> list[str]:
    """Return the lines about what is wrong, strictly seen, without what all begin with."""
    try:
        read(text, name, is_strict=True)
    except ConfigErrors as errors:
        return [line.removeprefix(f"Cannot load configuration file {name}: ") for line in str(errors).splitlines()]
    return []


def section(name: str, *lines: str) -> str:
    """Return a section in the line form; its name stands in line 1, its attributes from line 2 on."""
    return "\n".join([f"{name} {{", *(f"    {line}" for line in lines), "}", ""])


def listener(*lines: str) -> ListenerConfig:
    """Return what one listener section says."""
    [found] = read(section("listener", *lines)).listeners
    return found
