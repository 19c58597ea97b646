import re
import sys

from routerd.cli.version import version, version_text


def test_the_first_line_is_the_version_alone() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", version())
    assert version_text().splitlines()[0] == version()


def test_below_it_is_what_it_runs_on() -> None:
    _, build, python, ray = version_text().splitlines()
    assert re.fullmatch(r"build: (uncompiled|compiled(, trained|, not trained: .+)?)", build)
    assert python == "Python: {}.{}.{}".format(*sys.version_info[:3])
    assert re.fullmatch(r"Ray: (\d+\.\d+\.\d+\S*|not installed)", ray)
