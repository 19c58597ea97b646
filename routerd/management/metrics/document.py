"""Writes the tables of series into docs/http.md: `python -m routerd.management.metrics.document`."""

from collections.abc import Iterable
from pathlib import Path

from routerd.management.metrics.exposition import Family, Kind
from routerd.management.metrics.families import DETAILED_FAMILIES, FAMILIES, LEFT_OUT, OLD_FAMILIES
from routerd.management.metrics.gathering import SERIES_MAX

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "http.md"
BEGIN = "<!-- series: written by `python -m routerd.management.metrics.document`; a test compares -->\n"
END = "<!-- end of series -->\n"

_OLD = """They have the names that qdrouterd gives them. Gauges whose names end in `_total` are untyped: only counters
may be called so."""
_DETAILED = f"""`?family=NAME` asks for series of single things. `address=ADDRESS` chooses addresses, links and
topics; `*` at its end stands for anything. Both can be given several times. `limit=NUMBER` is the most series that are
told, up to {SERIES_MAX}. `{LEFT_OUT.name}` says how many things have no series in the answer for that
reason. What is counted here begins anew with its link, or with its connection actor."""
_KINDS = {Kind.COUNTER: "counter", Kind.GAUGE: "gauge", Kind.UNKNOWN: "untyped"}


def with_series(text: str) -> str:
    """Return a document with the tables of now."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{_tables()}{END}{after}"


def _tables() -> str:
    own = [one for one in FAMILIES if one not in OLD_FAMILIES]
    detailed = [f"| `{name}` | {_names(families)} |" for name, families in DETAILED_FAMILIES.items()]
    lines = [
        *("### Series of Mobula", "", *_table(own), ""),
        *("### Series of qdrouterd", "", _OLD, "", *_table(OLD_FAMILIES), ""),
        *("### `/metrics/detailed`", "", _DETAILED, ""),
        *("| family | series |", "|---|---|", *detailed, ""),
        *(*_table([one for families in DETAILED_FAMILIES.values() for one in families] + [LEFT_OUT]), ""),
    ]
    return "\n".join(lines)


def _names(families: Iterable[Family]) -> str:
    return ", ".join(f"`{one.name}`" for one in families)


def _table(families: Iterable[Family]) -> list[str]:
    rows = [
        f"| `{one.name}` | {_KINDS[one.kind]} | {', '.join(f'`{label}`' for label in one.labels)} | {one.help} |"
        for one in families
    ]
    return ["| series | kind | labels | meaning |", "|---|---|---|---|", *rows]


def main() -> None:
    """Write the tables to their place."""
    DOCUMENT.write_text(with_series(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
