"""The text of metrics, octet by octet."""

from routerd.management.metrics.exposition import Family, Kind, exposition

FAMILIES = (
    Family("a_total", Kind.COUNTER, 'Octets of "a".', ("peer", "way")),
    Family("b", Kind.GAUGE, "One\nline and a \\."),
    Family("c_total", Kind.UNKNOWN, "Things now."),
    Family("absent", Kind.GAUGE, "Nothing is known of it."),
)
SAMPLES = {
    "a_total": {("x", "in"): 1, ('q"u\\o\nte', "out"): 2.5},
    "b": {(): 0.000001},
    "c_total": {(): 3},
}


def test_the_format_of_prometheus() -> None:
    assert exposition(FAMILIES, SAMPLES, is_open_metrics=False).decode() == (
        '# HELP a_total Octets of "a".\n'
        "# TYPE a_total counter\n"
        'a_total{peer="x",way="in"} 1\n'
        'a_total{peer="q\\"u\\\\o\\nte",way="out"} 2.5\n'
        "# HELP b One\\nline and a \\\\.\n"
        "# TYPE b gauge\n"
        "b 1e-06\n"
        "# HELP c_total Things now.\n"
        "# TYPE c_total untyped\n"
        "c_total 3\n"
    )


def test_the_format_of_open_metrics() -> None:
    assert exposition(FAMILIES, SAMPLES, is_open_metrics=True).decode() == (
        '# HELP a Octets of \\"a\\".\n'
        "# TYPE a counter\n"
        'a_total{peer="x",way="in"} 1\n'
        'a_total{peer="q\\"u\\\\o\\nte",way="out"} 2.5\n'
        "# HELP b One\\nline and a \\\\.\n"
        "# TYPE b gauge\n"
        "b 1e-06\n"
        "# HELP c_total Things now.\n"
        "# TYPE c_total unknown\n"
        "c_total 3\n"
        "# EOF\n"
    )


def test_nothing_is_nothing() -> None:
    assert exposition(FAMILIES, {}, is_open_metrics=False) == b""
    assert exposition(FAMILIES, {}, is_open_metrics=True) == b"# EOF\n"
