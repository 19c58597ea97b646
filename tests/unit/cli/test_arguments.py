from pathlib import Path

import pytest

from routerd.cli.arguments import DEFAULT_CONFIG, parse


def check_end(capsys: pytest.CaptureFixture[str], argv: list[str], status: int) -> tuple[str, str]:
    with pytest.raises(SystemExit) as raised:
        parse(argv)
    assert raised.value.code == status
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_every_option_of_the_reference_is_there_short_and_long(tmp_path: Path) -> None:
    folder = str(tmp_path)
    short = parse(["-c", "F", "-I", folder, "-d", "-P", "P", "-U", "u", "-T"])
    long = parse(["--config=F", "--include", folder, "--daemon", "--pidfile", "P", "--user=u", "--test-hooks"])
    assert short == long
    assert (short.config, short.include, short.daemon, short.pidfile) == ("F", folder, True, "P")
    assert (short.user, short.test_hooks, short.version) == ("u", True, False)
    assert parse(["-v"]).version is parse(["--version"]).version is True


def test_nothing_is_needed() -> None:
    assert parse([]).config == DEFAULT_CONFIG


def test_the_file_to_explain_may_be_named_either_way() -> None:
    assert parse(["--check", "--explain", "F"]).config == parse(["-c", "F", "--check", "--explain"]).config == "F"
    assert (parse(["--check"]).explain, parse(["--check", "--explain"]).config) == (None, DEFAULT_CONFIG)


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_is_on_standard_output(capsys: pytest.CaptureFixture[str], flag: str) -> None:
    out, err = check_end(capsys, [flag], 0)
    assert out.startswith("usage: routerd [-c FILE] [option ...]\n")
    assert "--shutdown-grace SECONDS" in out
    assert "--pidfile FILE" in out
    assert err == ""


@pytest.mark.parametrize(
    ("argv", "complaint"),
    [
        (["--bogus"], "unknown option: --bogus"),
        (["-x"], "unknown option: -x"),
        (["foo", "bar"], "Unexpected arguments: foo bar"),
        (["-c"], "argument -c/--config: expected one argument"),
        (["--explain", "F"], "--explain goes with --check"),
    ],
)
def test_a_wrong_command_line_is_answered_with_usage_and_status_1(
    capsys: pytest.CaptureFixture[str], argv: list[str], complaint: str
) -> None:
    out, err = check_end(capsys, argv, 1)
    assert err == f"routerd: {complaint}\nusage: routerd [-c FILE] [option ...]\n"
    assert out == ""


def test_a_library_path_that_is_none_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, err = check_end(capsys, ["-I", f"{tmp_path}/none"], 1)
    assert err.endswith(f": Cannot find Python library path '{tmp_path}/none': no such directory\n")
