"""What pages for developers say of the tree is so."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("routerd", "actors", "analytics", "bench", "client", "compiling", "configs", "docs", "driver", "tests")
IN_DISTRIBUTION = {
    *("driver/oslo_messaging_amqp1", "driver/tests", "driver/docs", "driver/examples"),
    *("client/mobula_client", "client/tests", "client/docs", "client/examples"),
}
"""What is in the driver and in the client is in their own documents."""
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]


def folders(top: str) -> list[str]:
    """The folders below one that have files of the project, two levels deep."""
    below = [one for one in (ROOT / top).glob("*/") if one.is_dir()] if top != "routerd" else (ROOT / top).glob("**/")
    found = [str(one.relative_to(ROOT)) for one in below if any(one.glob("*.py")) or any(one.glob("*.md"))]
    return [one for one in found if one != top and one not in IN_DISTRIBUTION and "." not in one]


def test_the_list_of_folders_covers_every_folder() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    assert [top for top in TOPS if f"`{top}/" not in text] == []
    named = set(re.findall(r"`([\w/]+)/`", text))
    found = [folder for top in TOPS for folder in folders(top)]
    assert [folder for folder in found if not {folder, folder.rpartition("/")[2]} & named] == []


def test_no_word_of_the_glossary_has_two_meanings() -> None:
    text = (ROOT / "docs/glossary.md").read_text()
    words = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    terms = [word for word in words if word != "word"]
    assert len(terms) > 40
    assert sorted(set(terms)) == sorted(terms)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]
    assert [target for target in targets if target and not (page.parent / target).exists()] == []
