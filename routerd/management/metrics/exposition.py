"""The two text formats of metrics: Prometheus 0.0.4, and OpenMetrics 1.0.0."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OPEN_METRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TOTAL = "_total"


class Kind(Enum):
    """What a family of series is."""

    COUNTER = "counter"
    GAUGE = "gauge"
    UNKNOWN = "unknown"
    """A gauge with the name of a counter, as the old router has them."""


@dataclass(frozen=True, slots=True)
class Family:
    """Series of one name."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()


Samples = Mapping[str, Mapping[tuple[str, ...], float]]
"""Values by the name of the family and the values of its labels."""


def exposition(families: Iterable[Family], samples: Samples, *, is_open_metrics: bool) -> bytes:
    """Return families as text; one without samples is left out."""
    lines: list[str] = []
    for family in families:
        values = samples.get(family.name)
        if values:
            lines += _head(family, is_open_metrics=is_open_metrics)
            lines += _lines(family, values)
    if is_open_metrics:
        lines.append("# EOF")
    return ("\n".join(lines) + "\n").encode() if lines else b""


def _head(family: Family, *, is_open_metrics: bool) -> tuple[str, str]:
    name, kind, text = family.name, family.kind.value, family.help.replace("\\", r"\\").replace("\n", r"\n")
    if is_open_metrics:
        if family.kind is Kind.COUNTER:
            name = name.removesuffix(TOTAL)
        text = text.replace('"', r"\"")
    elif family.kind is Kind.UNKNOWN:
        kind = "untyped"
    return f"# HELP {name} {text}", f"# TYPE {name} {kind}"


def _lines(family: Family, values: Mapping[tuple[str, ...], float]) -> list[str]:
    name = family.name
    if not family.labels:
        return [f"{name} {value!r}" for value in values.values()]
    # One text with gaps for all of a family: there may be ten thousand.
    gaps = ",".join(f'{label}="%s"' for label in family.labels)
    pattern = f"{name}{{{gaps}}} %r"
    return [pattern % (*map(_escaped, labels), value) for labels, value in values.items()]


def _escaped(text: str) -> str:
    if text.isalnum():
        return text
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
