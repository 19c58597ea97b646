"""The command, from its start to its exit status, with the router in its own process."""

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from routerd.cli.version import build
from routerd.compiled_form import why_untrained
from tests.system.launched import ROOT, Launched, answers_amqp, environment, router_conf, run
from tests.waiting import eventually

MAIN = " host: 127.0.0.1\n port: 0\n name: main"
Launch = Callable[..., Launched]


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    launched: list[Launched] = []

    def start(conf: str, *arguments: str) -> Launched:
        folder = tmp_path / str(len(launched))
        folder.mkdir()
        launched.append(Launched(folder, conf, "--in-process", *arguments))
        return launched[-1]

    yield start
    for one in launched:
        one.close()


def test_a_router_says_what_it_listens_on_and_that_it_is_ready(launch: Launch) -> None:
    router = launch(router_conf(MAIN))
    assert answers_amqp(router.port())
    texts = [re.sub(r"^\S+ \S+ \S+ ", "", line) for line in router.log().splitlines()]
    if build() == "uncompiled":
        assert texts.pop(3).startswith("ROUTER (warning) This router runs uncompiled")
    elif why_untrained():
        assert texts.pop(3).startswith("ROUTER (info) This router is compiled and not trained")
    assert texts[:6] == [
        "SERVER (info) Container Name: QDR.A",
        "ROUTER (info) Router started in Standalone mode, area=0 id=QDR.A",
        "ROUTER (info) Version: 0.1.0",
        "POLICY (info) Policy configured maxConnections: 65535, policyDir: '',"
        "access rules enabled: 'false', use hostname patterns: 'false'",
        "POLICY (info) Policy fallback defaultVhost is defined: '$default'",
        "CONN_MGR (info) Configured Listener: 127.0.0.1:0 proto=any, role=normal",
    ]
    assert texts[6] == f"SERVER (notice) Listening on 127.0.0.1:{router.port()} (main)"
    assert texts[7] == f"SERVER (notice) Operational, 1 Threads Running (process ID {router.process.pid})"
    assert re.fullmatch(r"SERVER \(notice\) Process VmSize [\d.]+ MiB \([\d.]+ GiB available memory\)", texts[8])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_a_signal_to_stop_ends_it_with_status_0(launch: Launch, number: signal.Signals) -> None:
    router = launch(router_conf(MAIN))
    router.port()
    assert router.end(number) == 0
    assert f"MAIN (notice) {number.name}: shutting down" in router.log()


def test_sighup_begins_a_log_file_again_and_leaves_the_other_signals_armed(launch: Launch, tmp_path: Path) -> None:
    log = tmp_path / "router.log"
    router = launch(router_conf(MAIN, more=f"log {{\n module: DEFAULT\n outputFile: {log}\n}}"))
    eventually(lambda: log.exists() and "Operational" in log.read_text(), "the router is ready")
    log.rename(tmp_path / "old.log")
    router.process.send_signal(signal.SIGHUP)
    eventually(lambda: log.exists() and "SIGHUP" in log.read_text(), "there is a new log file")
    assert router.end() == 0
    assert "Router ended in order" in log.read_text()
    assert router.log() == ""


def test_each_line_about_a_connection_names_its_ends_and_why_it_is_over(launch: Launch) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        away = nobody.getsockname()[1]
        connector = f"connector {{\n host: 127.0.0.1\n port: {away}\n name: away\n}}"
        router = launch(router_conf(MAIN, more=connector))
        port = router.port()
        with socket.create_connection(("127.0.0.1", port)) as wrong:
            wrong.sendall(b"GET / HTTP/1.1\r\n\r\n")
            peer = "{}:{}".format(*wrong.getsockname())
            wrong.recv(8, socket.MSG_WAITALL)
        with socket.create_connection(("127.0.0.1", port)) as probe:
            prober = "{}:{}".format(*probe.getsockname())
            router.find(rf"SERVER \(info\) \[C\d+\] Accepted connection to 127.0.0.1:{port} from {prober}\n")
        ends = rf"\[C\d+\] Connection from {prober} \(to 127.0.0.1:{port}\) failed: "
        router.find(rf"SERVER \(info\) {ends}its socket was closed before it was opened\n")
        ends = rf"\[C\d+\] Connection from {peer} \(to 127.0.0.1:{port}\) failed: "
        router.find(rf"SERVER \(warning\) {ends}amqp:connection:framing-error: HTTP came, and this port takes AMQP\n")
        router.find(rf"\[C\d+\] Connection to 127.0.0.1:{away} failed: Connection refused \(connector/.*:away\)\n")
        assert router.end() == 0
    assert router.log().count(f"Connection to 127.0.0.1:{away} failed") == 1
    assert "Connection Closed" not in router.log()


def test_a_port_that_is_taken_is_named_with_its_listener_and_ends_the_start(launch: Launch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        router = launch(router_conf(MAIN, f" host: 127.0.0.1\n port: {port}\n name: second"))
        assert router.status() == 1
    where = f"127.0.0.1:{port}"
    assert f"SERVER (error) Listener error on {where} (second): Address already in use\n" in router.log()
    assert f"SERVER (critical) Shutting down, required listener failed {where}\n" in router.log()
    assert "Listening on" not in router.log()


def test_a_second_router_cannot_share_the_port_of_the_first(launch: Launch) -> None:
    first = launch(router_conf(MAIN))
    port = first.port()
    second = launch(router_conf(f" host: 127.0.0.1\n port: {port}"))
    assert second.status() == 1
    assert answers_amqp(port)


def test_a_port_is_free_again_for_the_next_router(launch: Launch) -> None:
    first = launch(router_conf(MAIN))
    port = first.port()
    assert answers_amqp(port)
    assert first.end() == 0
    second = launch(router_conf(f" host: 127.0.0.1\n port: {port}"))
    assert second.port() == port


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this system has no IPv6")
def test_no_host_is_all_addresses_of_both_families(launch: Launch) -> None:
    router = launch(router_conf(" port: 0\n name: all"))
    port = router.port()
    assert [answers_amqp(port, host) for host in ("127.0.0.1", "::1")] == [True, True]


def test_json_lines_have_the_router_in_each(launch: Launch) -> None:
    router = launch(router_conf(MAIN), "--log-format", "json", "--log-level", "notice+")
    router.find("Operational")
    assert router.end() == 0
    lines = [json.loads(line) for line in router.log().splitlines()]
    assert {line["router"] for line in lines} == {"QDR.A"}
    lines = [line for line in lines if "uncompiled" not in line["text"]]
    assert [line["module"] for line in lines] == [*["SERVER"] * 3, *["MAIN"] * 2]
    assert {line["level"] for line in lines} == {"notice"}


def test_a_log_file_that_cannot_be_opened_ends_the_start(launch: Launch, tmp_path: Path) -> None:
    file = f"{tmp_path}/none/router.log"
    router = launch(router_conf(MAIN, more=f"log {{\n module: SERVER\n outputFile: {file}\n}}"))
    assert router.status() == 1
    assert router.log().endswith(f": Failed to open log file '{file}': No such file or directory\n")
    assert router.log().count("\n") == 1


def test_each_error_of_a_configuration_is_one_line_and_nothing_starts(tmp_path: Path) -> None:
    file = tmp_path / "router.conf"
    file.write_text(router_conf(" host: 127.0.0.1\n port: 70000\n bogus: yes", more="foo {\n}"))
    for more in ([], ["--check"], ["--daemon"]):
        done = run("-c", str(file), "--in-process", *more)
        assert done.returncode == 1
        old, *lines = done.stderr.splitlines()
        assert f": Python: Exception: Cannot load configuration file {file}: " in old
        assert len(lines) == 3
        assert all(f": Cannot load configuration file {file}: line " in line for line in lines)
        assert done.stdout == ""


def test_what_is_deprecated_is_told_although_something_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "router.conf"
    link = "autoLink {\n addr: a\n externalAddr: b\n containerId: c\n dir: in\n direction: in\n}"
    file.write_text(router_conf(" port: 0", more=link))
    done = run("-c", str(file), "--in-process")
    assert done.returncode == 1
    told = "Attribute 'externalAddr' of entity 'autoLink' has been deprecated. Use 'externalAddress' instead"
    assert told in done.stderr
    type_name = "org.apache.qpid.dispatch.router.config.autoLink"
    assert f"{type_name}: Both 'dir' and 'direction' cannot be specified for entity 'autoLink'" in done.stderr


def test_a_wrong_option_of_the_process_is_one_line(tmp_path: Path) -> None:
    done = run("--connection-actors", "none")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith(": --connection-actors: 'none': it has to be a whole number\n")


def test_check_says_that_a_configuration_is_right(tmp_path: Path) -> None:
    file = tmp_path / "router.conf"
    file.write_text(router_conf(MAIN))
    done = run("-c", str(file), "--check")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{file}: no errors\n", "")


def test_check_says_in_which_lines_certificates_are_missing_and_all_of_them(tmp_path: Path) -> None:
    file = tmp_path / "router.conf"
    profiles = "".join(f"sslProfile {{\n name: {name}\n cert-file: /nowhere/{name}\n}}\n" for name in "ab")
    file.write_text(router_conf(MAIN, more=profiles + "listener {\n port: 0\n sslProfile: c\n}\n"))
    text = file.read_text()
    assert run("-c", str(file), "--check").stderr.count("there is no sslProfile with the name 'c'") == 1
    file.write_text(text.replace("sslProfile: c", "sslProfile: a"))
    lines = text.splitlines()
    faults = [
        f"{file}: line {lines.index(f' cert-file: /nowhere/{name}') + 1}: "
        f"sslProfile {name}: certFile /nowhere/{name}: No such file or directory"
        for name in "ab"
    ]
    done = run("-c", str(file), "--check", "--strict")
    assert (done.returncode, [line.partition(": ")[2] for line in done.stderr.splitlines()]) == (
        1,
        [f"Cannot load configuration file {fault}" for fault in faults],
    )
    done = run("-c", str(file), "--check")
    assert (done.returncode, [line.partition(": ")[2] for line in done.stderr.splitlines()]) == (
        0,
        [f"{fault}: connections that need the profile are refused" for fault in faults],
    )


def test_check_explains_what_is_different_from_qdrouterd(tmp_path: Path) -> None:
    file = tmp_path / "router.conf"
    file.write_text(router_conf(MAIN, more="console {\n}\nlistener {\n port: 0\n stripAnnotations: no\n}\n"))
    lines = file.read_text().splitlines()
    done = run("--check", "--explain", str(file))
    assert (done.returncode, done.stderr) == (0, "")
    head, skipped, *others = done.stdout.splitlines()
    assert head == f"{file}: no errors"
    assert skipped.startswith(f"{file}: line {lines.index('console {') + 1}: console: the section is skipped: ")
    annotations = f"{file}: line {lines.index(' stripAnnotations: no') - 1}: listener: the annotation x-opt-qd.to "
    assert len([one for one in others if one.startswith(annotations)]) == 1
    assert [one for one in others if not one.startswith(f"{file}: ")] == []
    # Those that `--drop-in` chooses the old way for are gone with it.
    drop_in = run("--check", "--explain", str(file), "--drop-in").stdout.splitlines()
    left_out = [one for one in done.stdout.splitlines() if one not in drop_in]
    assert ["--drop-in" in one for one in left_out] == [True, True, True]


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["--check", "-c", "FILE"]])
def test_what_starts_no_actors_does_not_import_ray(arguments: list[str], tmp_path: Path) -> None:
    file = tmp_path / "router.conf"
    file.write_text(router_conf(MAIN))
    program = (
        "import sys\nfrom routerd.cli.routerd import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "assert not {'ray', 'actors'} & sys.modules.keys()\n"
    )
    command = [sys.executable, "-c", program, *(str(file) if one == "FILE" else one for one in arguments)]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stderr) == (0, "")


def test_options_of_a_daemon_without_one_are_pointed_out(launch: Launch, tmp_path: Path) -> None:
    router = launch(router_conf(MAIN), "-P", str(tmp_path / "routerd.pid"))
    router.port()
    assert router.log().splitlines()[0].endswith(": -P and -U mean nothing without -d")
    assert not (tmp_path / "routerd.pid").exists()
