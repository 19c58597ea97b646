"""Writes docs/configuration.md from the schema: `python -m routerd.config.document [FILE]`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from routerd.config.catalogue import CONFIGURABLES
from routerd.config.configurable import Configurable
from routerd.config.entities import OUTSIDE
from routerd.config.schema.model import Attribute, ValueType

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "configuration.md"

_INTRODUCTION = """# The configuration file

<!-- Written by `python -m routerd.config.document` from the management schema; a test compares. -->

`routerd -c FILE` reads one file. A file whose name ends in `.json` is in the JSON form, all others are in the line
form. They can say the same. [configs/](../configs/) has examples.

## The line form

```
# A comment
router {
    id: Router.A
}
listener {
    port: amqp        # a comment here, too
    openProperties: {
        "site": {"name": "north"}
    }
}
```

* A section begins with `name {` and ends with `}`, an attribute is `name: value`, each on a separate line.
* Blanks around `:` and before `{` do not matter. Values stand without quotes, from the first character to the last that
  is no blank. There is no empty value.
* `#` begins a comment, in the midst of a value too. Only `pattern`, `bindingKey` and `hostname` can have it in their
  values; these end at the first blank.
* A backslash is written as two, a `"` as `\\"`; `\\t` and `\\u0041` are as in JSON.
* `groups` and `openProperties` are maps in JSON, in any layout. A comma behind the last member does no harm.
  `groups` may be lines like those of a section instead.

## The JSON form

```json
# A comment
[
    ["router", {"id": "Router.A"}],
    ["listener", {"port": 5672, "openProperties": {"site": {"name": "north"}}}]
]
```

A list of sections, each a list of its name and a map. Lines that begin with `#` are left out.

## In both forms

* Names may be written `likeThis` or `like-this`.
* Yes and no: `yes`, `true`, `on` and `no`, `false`, `off`, in capitals or not; in JSON also `true` and `false`.
* Of several words, one may also be given by its number, from 0: `mode: 0`.
* An attribute that is given twice has its last value, and there is a warning.
* The old names of attributes still work, with a warning; giving both names is an error.
* Everything that is wrong is reported, each in a line with file, line, section, attribute and what would be right. The
  router does not start then. `routerd --check -c FILE` does only this.
* Some mistakes do not stop qdrouterd: it does without the entity, or without the connections that need it. So does this
  router, with a warning. They are errors with `--strict`, which goes with `--check`, too.
"""


def document() -> str:
    """Return the document."""
    parts = [_INTRODUCTION, *map(_chapter, CONFIGURABLES), _outside()]
    return "\n".join(parts)


def examples() -> Iterator[tuple[str, str]]:
    """Yield section and text of each example."""
    yield from ((one.section, one.example) for one in CONFIGURABLES)


def _chapter(kind: Configurable[Any]) -> str:
    settable = [one for one in kind.type.attributes.values() if one.is_settable and one.name != "type"]
    rows = "\n".join(map(_row, settable))
    notes = kind.notes
    for place, inner in kind.inner_types.items():
        notes = notes.replace(place, "\n".join(map(_row, inner.own_attributes)))
    return f"""## `{kind.section}`

{kind.type.description}

| attribute | value | default | meaning |
|---|---|---|---|
{rows}

{notes}

```
{kind.example}```
"""


def _row(attribute: Attribute) -> str:
    meaning = attribute.description
    if attribute.old_name:
        meaning += f" Old name: `{attribute.old_name}`."
    if attribute.is_deprecated:
        meaning += " Deprecated."
    if not attribute.is_supported:
        meaning += " Not supported yet."
    if attribute.unsupported_tags:
        meaning += f" Not supported yet: {', '.join(f'`{one}`' for one in attribute.unsupported_tags)}."
    return f"| `{attribute.name}` | {_values(attribute)} | {_default(attribute)} | {meaning} |"


def _values(attribute: Attribute) -> str:
    if attribute.tags:
        return ", ".join(f"`{one}`" for one in attribute.tags)
    if attribute.type is ValueType.BOOLEAN:
        return "`yes`, `no`"
    if attribute.type is ValueType.INTEGER:
        return f"{attribute.allowed[0]}{f' ({attribute.unit})' if attribute.unit else ''}"
    return {ValueType.PATH: "path", ValueType.PROPERTIES: "map", ValueType.MAP: "map"}.get(attribute.type, "text")


def _default(attribute: Attribute) -> str:
    if attribute.is_required:
        return "required"
    if isinstance(attribute.default, bool):
        return "`yes`" if attribute.default else "`no`"
    return "" if attribute.default in (None, "") else f"`{attribute.default}`"


def _outside() -> str:
    rows = "\n".join(f"| `{name}` | {reason} |" for name, reason in OUTSIDE.items())
    return f"""## Sections that are skipped

Other routers of this kind have them, and this one does not do what they are for. There is a warning for each. With
`--strict` they are errors.

| section | why |
|---|---|
{rows}
"""


def main(arguments: list[str]) -> None:
    """Write the document to the file that is named, or to its place."""
    (Path(arguments[0]) if arguments else DOCUMENT).write_text(document(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
