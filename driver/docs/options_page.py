"""Writes docs/options.md from the options themselves: `python -m docs.options_page > docs/options.md` in driver/."""

import sys

from oslo_config import cfg

from oslo_messaging_amqp1 import options

SECTIONS = [
    ("Connection", options.CONNECTION_OPTIONS),
    ("Security", options.SECURITY_OPTIONS),
    ("Time-outs", options.TIMEOUT_OPTIONS),
    ("Addresses", options.ADDRESS_OPTIONS),
    ("Credit and delivery", options.DELIVERY_OPTIONS),
]
KINDS = {cfg.StrOpt: "string", cfg.IntOpt: "integer", cfg.BoolOpt: "boolean", cfg.MultiStrOpt: "string, repeatable"}
BEGINNING = f"""# Options

The options of the group `[{options.GROUP}]`. Each can stand in the query of the transport URL as well, which wins
over the configuration: `amqp://host/?idle_timeout=10&ssl=true`. Options that can be repeated are separated by commas
there. `none` stands for no kind of message, since oslo.messaging leaves empty values out of the query. Those marked *
are also read from the group `[{options.OLD_GROUP}]`, where they were in old releases.

This page is made from the options; a test compares.
"""


def page() -> str:
    """Return the page."""
    return BEGINNING + "".join(_section(title, found) for title, found in SECTIONS)


def _section(title: str, found: list[cfg.Opt]) -> str:
    rows = "".join(_row(one) for one in found)
    return f"\n## {title}\n\n| option | type | default | meaning |\n|---|---|---|---|\n{rows}"


def _row(one: cfg.Opt) -> str:
    bound = getattr(one.type, "min", None)
    kind = KINDS[type(one)] + (f", at least {bound}" if bound is not None else "")
    name = f"`{one.dest}`{' *' if one.deprecated_opts else ''}"
    return f"| {name} | {kind} | {_default(one.default)} | {one.help} |\n"


def _default(value: object) -> str:
    if value is None or value == "":
        return ""
    return ", ".join(f"`{one}`" for one in value) if isinstance(value, list) else f"`{value}`"


if __name__ == "__main__":
    sys.stdout.write(page())
