"""docs/http.md has the series that there are."""

from routerd.management import DETAILED_FAMILIES, FAMILIES
from routerd.management.metrics.document import DOCUMENT, with_series


def test_the_tables_are_up_to_date() -> None:
    text = DOCUMENT.read_text()
    assert text == with_series(text), "run `python -m routerd.management.metrics.document`"


def test_every_series_has_a_row() -> None:
    text = with_series("")
    families = [*FAMILIES, *(one for several in DETAILED_FAMILIES.values() for one in several)]
    assert [one.name for one in families if f"\n| `{one.name}` | " not in text] == []
