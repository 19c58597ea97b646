"""`record` sections, and the folder that the process was started with."""

import pytest

from routerd.config import ConfigErrors, RecordConfig, RecordLevel, parse_config, with_directory
from routerd.core import RouterMode


def parsed(*lines: str) -> RecordConfig:
    body = "\n".join(f"    {line}" for line in lines)
    return parse_config(f"record {{\n{body}\n}}\n", "test.conf").record


def test_all_of_it_is_read() -> None:
    assert parsed(
        "level: sampled",
        "sample: 50",
        "directory: /records",
        "rotateSeconds: 30",
        "rotateMegabytes: 8",
        "retentionHours: 24",
        "retentionMegabytes: 512",
    ) == RecordConfig(
        level=RecordLevel.SAMPLED,
        sample=50,
        directory="/records",
        rotate_s=30,
        rotate_octets=8 << 20,
        retention_s=86_400,
        retention_octets=512 << 20,
    )


@pytest.mark.parametrize(
    ("level", "every"), [("off", 0), ("flows", 0), ("sampled", 100), ("all", 1)]
)
def test_the_level_says_how_many_decisions_are_recorded(level: str, every: int) -> None:
    found = parsed(f"level: {level}", "directory: /records")
    assert (found.every, found.is_on) == (every, level != "off")


def test_without_a_section_nothing_is_recorded() -> None:
    config = parse_config("router {\n    id: A\n}\n", "test.conf")
    assert (config.record, config.record.is_on) == (RecordConfig(), False)
    assert RouterMode.STANDALONE is config.router.mode


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("level: much", "level"),
        ("sample: 0", "1 to 1000000"),
        ('directory: ""', "directory"),
        ("reportUrl: javascript:alert(1)", "record.reportUrl: is not the address of a page"),
        ("rotateSeconds: 0", "1 to 3600"),
    ],
)
def test_what_is_wrong_is_told(line: str, reason: str) -> None:
    with pytest.raises(ConfigErrors, match=reason):
        parsed(line)


def test_two_sections_are_one_too_many() -> None:
    with pytest.raises(ConfigErrors, match="singleton"):
        parse_config("record {\n    level: off\n}\n" * 2, "test.conf")


def test_the_folder_of_the_process_comes_first() -> None:
    record = RecordConfig(level=RecordLevel.ALL, directory="/one")
    assert with_directory(record, {"level": "all"}, "/two") == (
        RecordConfig(level=RecordLevel.ALL, directory="/two"),
        {"level": "all", "directory": "/two"},
    )


def test_without_a_section_the_folder_of_the_process_has_samples() -> None:
    assert with_directory(RecordConfig(), None, "/two") == (
        RecordConfig(level=RecordLevel.SAMPLED, directory="/two"),
        {"level": "sampled", "directory": "/two"},
    )
    assert with_directory(RecordConfig(), None, None) == (RecordConfig(), None)
