"""The command lines: options, complaints, exit statuses, and the scripts that complete them."""

import subprocess
from pathlib import Path

import pytest

from routerd.cli import routermanage, routerstat
from routerd.cli.manage.connecting import place_of
from routerd.cli.manage.views.catalogue import ADDRESSES, GENERAL, LINKS, VIEWS

Capture = pytest.CaptureFixture[str]


def refused(capsys: Capture, main: object, *arguments: str) -> str:
    assert callable(main)
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("usage: router")
    return lines[-1]


def test_the_general_view_is_the_default() -> None:
    parse = routerstat.option_parser().parse_args
    assert parse([]).view is GENERAL
    assert parse(["-l"]).view is LINKS
    assert parse(["--addr"]).view is ADDRESSES


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--conections"], "there is no option --conections; did you mean --connections?"),
        (["links"], "unexpected argument 'links'; did you mean --links?"),
        (["-l", "--sort", "delv"], "there is no column 'delv'; did you mean deliv?"),
        (["-l", "--sort", "deliv/s"], "deliv/s takes two looks: --watch SECS"),
        (["-g", "--sort", "Links"], "--general has nothing to sort"),
        (["-l", "--reverse"], "--reverse goes with --sort"),
        (["-g", "-c"], "argument -c/--connections: not allowed with argument -g/--general"),
        (["-r", "A", "-d", "B"], "argument -d/--edge-router: not allowed with argument -r/--router"),
        (["--csv", "--json"], "argument --json: not allowed with argument --csv"),
        (["--watch", "0"], "argument --watch: the interval is 0.1 s or more"),
        (["--watch", "5s"], "argument --watch: '5s' is not a number of seconds"),
        (["--limit", "-1"], "argument --limit: the limit is 0 or more"),
        (["--limit", "ten"], "argument --limit: 'ten' is not a whole number"),
        (["-t", "0"], "argument -t/--timeout: invalid time value: '0'"),
        (["-b", "http://h"], "'http://h' begins with 'http', and should with amqp or amqps"),
        (["--sasl-mechanisms", "GSSAPI"], "the SASL mechanism GSSAPI is not known; there are EXTERNAL, SCRAM-SHA-512"),
    ],
)
def test_what_makes_no_sense_ends_with_usage(capsys: Capture, arguments: list[str], complaint: str) -> None:
    assert refused(capsys, routerstat.main, *arguments).startswith(f"routerstat: error: {complaint}")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "an operation is needed: query, read, create"),
        (["query", "--tipe", "x"], "there is no option --tipe; did you mean --type?"),
        (["create", "--type", "listener", "prot=1"], "listener has no attribute 'prot'; did you mean port?"),
    ],
)
def test_routermanage_does_so_too(capsys: Capture, arguments: list[str], complaint: str) -> None:
    assert refused(capsys, routermanage.main, *arguments).startswith(f"routermanage: error: {complaint}")


@pytest.mark.parametrize("module", [routerstat, routermanage])
def test_every_option_is_explained(module: object) -> None:
    parser = module.option_parser()  # type: ignore[attr-defined]
    assert [action.option_strings for action in parser._actions if not action.help] == []


def test_an_explanation_is_from_the_router_that_is_named() -> None:
    options = routerstat.option_parser().parse_args(["--explain", "orders/new", "--from", "QDR.B"])
    assert (options.view.name, place_of(options).address) == ("explain", "_topo/0/QDR.B/$management")


def test_every_view_is_an_option() -> None:
    options = {name for action in routerstat.option_parser()._actions for name in action.option_strings}
    assert {name for view in VIEWS for name in view.options} <= options


# Completion


def script(capsys: Capture, main: object, shell: str) -> str:
    assert callable(main)
    assert main(["--completion", shell]) == 0
    return capsys.readouterr().out


def completed(path: Path, *words: str) -> list[str]:
    line = (
        f"source {path}; COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}; "
        f'_{words[0]}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=30, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("routermanage", "cr"), ["create"]),
        (("routermanage", "get-m"), ["get-mgmt-nodes"]),
        (("routermanage", "query", "--type", "connectionA"), ["connectionActor"]),
        (("routermanage", "query", "--type", "link", "linkN"), ["linkName"]),
        (("routermanage", "create", "--type=address", "prefi"), ["prefix="]),
        (("routermanage", "-b", "h", "create", "--type", "address", "distribution", "=", "mul"), ["multicast"]),
        (("routermanage", "create", "--type", "address", "distribution=mul"), ["distribution=multicast"]),
        (("routermanage", "get-types", "sslP"), ["sslProfile"]),
        (("routermanage", "query", "--completion", "z"), ["zsh"]),
        (("routerstat", "--linkr"), ["--linkroutes"]),
        (("routerstat", "--color", "al"), ["always"]),
        (("routerstat", "--sort", "deli"), ["deliv"]),
        (("routerstat", "-b", "x"), []),
    ],
)
def test_bash_completes_what_is_typed(
    capsys: Capture, tmp_path: Path, words: tuple[str, ...], offered: list[str]
) -> None:
    path = tmp_path / "completion"
    mains = {"routerstat": routerstat.main, "routermanage": routermanage.main}
    path.write_text(script(capsys, mains[words[0]], "bash"))
    assert completed(path, *words) == offered


def test_zsh_uses_what_bash_does(capsys: Capture) -> None:
    for main in (routerstat.main, routermanage.main):
        assert script(capsys, main, "zsh").endswith(script(capsys, main, "bash"))


def test_fish_has_every_option(capsys: Capture) -> None:
    text = script(capsys, routerstat.main, "fish")
    for action in routerstat.option_parser()._actions:
        for name in action.option_strings:
            assert f" -{'l' if name.startswith('--') else 's'} {name.lstrip('-')} " in text
