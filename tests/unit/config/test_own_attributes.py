"""docs/migration.md lists what qdrouterd does not know in a file; those who go back have to remove it."""

import re
from pathlib import Path

from routerd.config import OWN_TYPES, SECTIONS

PAGE = Path(__file__).resolve().parents[3] / "docs/migration.md"
ROW = re.compile(r"^\| (?:groups of )?`(\w+)` \| (`.+`) \|$", re.M)


def test_what_only_this_router_has_is_known_by_its_names() -> None:
    _, _, table = PAGE.read_text().partition("| section | what only Mobula has |")
    rows = {section: re.findall(r"`(\w+)`", names) for section, names in ROW.findall(table.partition("\n## ")[0])}
    groups = rows.pop("vhost")
    assert set(rows) == {"router", "listener", "connector", "address"}
    named = [(section, one) for section, own in rows.items() for one in own]
    assert [(section, one) for section, one in named if one not in SECTIONS[section].attributes] == []
    assert set(groups) <= set(SECTIONS["vhostUserGroupSettings"].attributes)
    configurable = [one.section for one in OWN_TYPES.values() if one.section and one.is_configurable]
    assert [one for one in configurable if f"| `{one}` | the section |" not in table] == []
