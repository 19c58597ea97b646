"""docs/records.md is what the tables say."""

from routerd.records import TABLES, Cause, EventKind, LinkKind, Outcome
from routerd.records.document import DOCUMENT, document, main


def test_the_document_is_up_to_date():
    assert DOCUMENT.read_text() == document(), "run `python -m routerd.records.document`"


def test_the_document_is_written_where_one_says(tmp_path):
    main([str(tmp_path / "d.md")])
    assert (tmp_path / "d.md").read_text() == document()


def test_every_column_and_every_word_is_explained():
    lines = document().splitlines()
    for table in TABLES:
        for column in table.columns:
            assert any(line.startswith(f"| `{column.name}` | ") and line.endswith(f"{column.says} |") for line in lines)
    for words in (EventKind, LinkKind, Outcome, Cause):
        for word in words:
            assert f"| `{word.value}` | {word.says} |" in lines
