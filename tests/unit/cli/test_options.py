import argparse
import io
import os
from importlib import metadata
from pathlib import Path

import pytest
from oslo_config import cfg

from routerd.cli.options import OPTIONS, OptionError, Options, add_arguments, list_opts, read_options, write_sample

DEFAULTS = Options(
    connection_actors=max(1, len(os.sched_getaffinity(0)) - 1),
    ray_address=None,
    ray_namespace="mobula",
    placement="spread",
    record_directory=None,
    shutdown_grace=10.0,
    busy_poll=200,
    keep_core=True,
    tricks=True,
    log_format="text",
    log_level=None,
    in_process=False,
    drop_in=False,
    detach=False,
    user_file=None,
    runtime_directory=None,
)

ALL_NAMES = ", ".join(sorted(Options.__dataclass_fields__))
LEVELS = "{none, trace, debug, info, notice, warning, error, critical}"
NEEDS_RAY = "only a Ray that is there already keeps a router; say which with ray_address"
NEEDS_ONE_OF_THEM = (
    "cannot be in one process, which has one event loop; leave out in_process, or connection_actors"
)
NEEDS_PROCESSES = "what runs in one process ends with it; leave out in_process"


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "options.ini"
    path.write_text(text)
    return str(path)


def parsed(*argv: str) -> dict[str, object]:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return vars(parser.parse_args(argv))


def test_what_nobody_says_has_its_default() -> None:
    assert read_options(parsed(), {}) == DEFAULTS


def test_every_option_is_a_field_and_is_explained() -> None:
    assert {option.name for option in OPTIONS} == set(Options.__dataclass_fields__)
    assert all(option.help and option.help.endswith(".") for option in OPTIONS)


def test_the_command_line_comes_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, "[DEFAULT]\nconnection_actors = 2\nplacement = pack\nlog_format = json\n")
    environment = {"ROUTERD_CONNECTION_ACTORS": "3", "ROUTERD_PLACEMENT": "spread", "ROUTERD_OPTIONS_FILE": path}
    options = read_options(parsed("--connection-actors", "4"), environment)
    assert (options.connection_actors, options.placement, options.log_format) == (4, "spread", "json")


def test_the_options_file_of_the_command_line_comes_first(tmp_path: Path) -> None:
    path = written(tmp_path, "[DEFAULT]\nray_namespace = mine\n")
    options = read_options({"options_file": path}, {"ROUTERD_OPTIONS_FILE": "/nonexistent"})
    assert options.ray_namespace == "mine"


def test_empty_variables_say_nothing() -> None:
    assert read_options(parsed(), {"ROUTERD_PLACEMENT": "", "RAY_ADDRESS": "", "ROUTERD_OPTIONS_FILE": ""}) == DEFAULTS


@pytest.mark.parametrize(
    ("argv", "environment", "address"),
    [
        ((), {"RAY_ADDRESS": "auto"}, "auto"),
        ((), {"RAY_ADDRESS": "auto", "ROUTERD_RAY_ADDRESS": "a:1"}, "a:1"),
        (("--address", "b:2"), {"ROUTERD_RAY_ADDRESS": "a:1"}, "b:2"),
        (("--ray-address", "c:3"), {}, "c:3"),
    ],
)
def test_the_address_of_ray_has_several_names(argv: tuple[str, ...], environment: dict[str, str], address: str) -> None:
    assert read_options(parsed(*argv), environment).ray_address == address


def test_one_process_has_one_event_loop() -> None:
    assert read_options(parsed("--in-process", "--connection-actors", "1"), {}).connection_actors == 1


def test_switches_can_be_turned_on_and_off(tmp_path: Path) -> None:
    path = written(tmp_path, "[DEFAULT]\nin_process = true\n")
    assert read_options({"options_file": path}, {}).in_process is True
    assert read_options({**parsed("--no-in-process"), "options_file": path}, {}).in_process is False
    assert read_options(parsed("--in-process"), {}).in_process is True


@pytest.mark.parametrize(
    ("arguments", "environment", "text", "complaint"),
    [
        (
            {"connection_actors": "0"},
            {},
            "",
            "--connection-actors: '0': Should be greater than or equal to 1",
        ),
        (
            {},
            {"ROUTERD_SHUTDOWN_GRACE": "soon"},
            "",
            "ROUTERD_SHUTDOWN_GRACE: 'soon': it has to be a number",
        ),
        ({"shutdown_grace": "nan"}, {}, "", "shutdown_grace: nan is not a number of seconds"),
        ({}, {}, "placement = up\n", "FILE: placement: 'up': Valid values are [spread, pack], but found 'up'"),
        ({}, {}, "placment = up\n", f"FILE: there is no option 'placment'; there are {ALL_NAMES}"),
        ({}, {}, "[other]\na = b\n", "FILE: there is no section [other], only [DEFAULT]"),
        ({}, {}, "in_process\n", "FILE: at FILE:2, No ':' or '=' found in assignment: 'in_process'"),
        ({"log_level": "loud"}, {}, "", f"log_level: 'loud' is not a valid log level. Should be one of {LEVELS}."),
        ({"detach": True}, {}, "", f"detach: {NEEDS_RAY}"),
        ({"in_process": True, "connection_actors": "4"}, {}, "", f"connection_actors: 4 {NEEDS_ONE_OF_THEM}"),
        ({"in_process": True}, {"ROUTERD_CONNECTION_ACTORS": "2"}, "", f"connection_actors: 2 {NEEDS_ONE_OF_THEM}"),
        ({"detach": True, "in_process": True}, {}, "", f"detach: {NEEDS_PROCESSES}"),
    ],
)
def test_a_wrong_option_says_where_and_why(
    tmp_path: Path, arguments: dict[str, object], environment: dict[str, str], text: str, complaint: str
) -> None:
    path = written(tmp_path, f"[DEFAULT]\n{text}")
    with pytest.raises(OptionError) as raised:
        read_options({**arguments, "options_file": path}, environment)
    assert str(raised.value).replace(path, "FILE") == complaint


def test_an_options_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=f"^{tmp_path}/none: No such file or directory$"):
        read_options({"options_file": f"{tmp_path}/none"}, {})
    (tmp_path / "binary").write_bytes(b"[DEFAULT]\n\xff = 1\n")
    with pytest.raises(OptionError, match=f"^{tmp_path}/binary: "):
        read_options({"options_file": f"{tmp_path}/binary"}, {})


def test_folders_do_not_depend_on_the_folder_of_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = read_options({"record_directory": "records", "runtime_directory": "/run/x"}, {})
    assert (options.record_directory, options.runtime_directory) == (f"{tmp_path}/records", "/run/x")


def test_the_generator_is_given_every_option() -> None:
    assert list_opts() == [("DEFAULT", list(OPTIONS))]


def is_announced() -> bool:
    entries = metadata.entry_points(group="oslo.config.opts", name="mobula")
    return bool(entries)


@pytest.mark.skipif(not is_announced(), reason="the project is not installed, so the generator cannot find its options")
def test_a_sample_explains_all_options_and_sets_none(tmp_path: Path) -> None:
    sample = io.StringIO()
    write_sample(sample)
    text = sample.getvalue()
    assert text.startswith("[DEFAULT]\n")
    assert all(f"\n#{option.name} = " in text for option in OPTIONS)
    assert read_options({"options_file": written(tmp_path, text)}, {}) == DEFAULTS


def test_oslo_config_takes_the_options_as_they_are() -> None:
    conf = cfg.ConfigOpts()
    conf.register_opts(OPTIONS)
    conf([], project="routerd", default_config_files=[], default_config_dirs=[])
    assert conf.shutdown_grace == 10.0
