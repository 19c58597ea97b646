"""Every file in configs/ makes a router that starts, listens and ends; only the numbers of ports are others."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.launched import COMMAND, ROOT, Launched, answers_amqp, environment
from tests.waiting import WITHIN_S, eventually

CONFIGS = ROOT / "configs"
SECURED = "secured.conf"
FILES = sorted(path.name for path in CONFIGS.glob("*.*") if path.suffix in (".conf", ".json") and path.name != SECURED)
PORT = re.compile(r'("?port"?: )("?)\w+("?)')
LISTENING = re.compile(r"Listening on \S*:(\d+) \((\w+)\)")


@pytest.mark.parametrize("name", FILES)
def test_a_router_is_started_from_a_file_and_ends_in_order(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    # Any ports, for listeners; nobody answers a connector at this one.
    text = PORT.sub(r"\g<1>\g<2>0\g<3>", (CONFIGS / name).read_text())
    file.write_text(re.sub(r"(?ms)^(connector \{.*?port: )0$", r"\g<1>9", text))
    errors = tmp_path / "log"
    with errors.open("w") as log:
        router = subprocess.Popen(
            [*COMMAND, "-c", str(file), "--in-process"], cwd=tmp_path, env=environment(), stderr=log
        )
    try:
        eventually(lambda: "Operational, " in errors.read_text() or router.poll() is not None, f"{name} is ready")
        ports = {listener: int(port) for port, listener in LISTENING.findall(errors.read_text())}
        assert ports.keys() <= {"clients", "routers", "web"}, errors.read_text()
        assert all(answers_amqp(port) for listener, port in ports.items() if listener == "clients")
        router.send_signal(signal.SIGTERM)
        assert router.wait(WITHIN_S) == 0, errors.read_text()
    finally:
        router.kill()
        router.wait(WITHIN_S)
    assert "(error)" not in errors.read_text()


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[Launched]:
    """The secured router, set up as its file says."""
    subprocess.run([CONFIGS / "make-certificates.sh", "tls"], cwd=tmp_path, check=True, timeout=WITHIN_S)
    for name in ("alice", "operator"):
        tool("routermanage", "user", "add", name, "--user-file", "users", "--password-file", "-", cwd=tmp_path)
    (tmp_path / "configs").symlink_to(CONFIGS)
    text = PORT.sub(r"\g<1>\g<2>0\g<3>", (CONFIGS / SECURED).read_text())
    router = Launched(tmp_path, text, "--in-process", "--user-file", "users")
    yield router
    router.close()


def tool(name: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with a password in its input."""
    command = [sys.executable, "-m", f"routerd.cli.{name}", *arguments]
    return subprocess.run(
        command, cwd=cwd, env=environment(), input="secret\n", capture_output=True, text=True, timeout=WITHIN_S
    )


def test_the_secured_router_lets_in_who_may_and_nobody_else(secured: Launched, tmp_path: Path) -> None:
    secured.port()
    ports = {listener: port for port, listener in LISTENING.findall(secured.log())}
    (tmp_path / "password").write_text("secret\n")
    trust = ("--ssl-trustfile", "tls/ca.crt")

    def status(listener: str, *arguments: str, scheme: str = "amqps") -> str:
        place = f"{scheme}://localhost:{ports[listener]}"
        done = tool("routerstat", "-c", "-b", place, "--timeout", "5", *arguments, cwd=tmp_path)
        return done.stdout if done.returncode == 0 else f"{done.stdout}{done.stderr}"

    def login(name: str, password: str = "password") -> tuple[str, ...]:
        return (*trust, "--sasl-username", name, "--sasl-password-file", password)

    assert "operator(SCRAM-SHA-512)" in status("clients", *login("operator"))
    assert "disallowed by local policy" in status("clients", *login("alice"))
    (tmp_path / "wrong").write_text("Secret\n")
    assert "authentication failed (SCRAM-SHA-512)" in status("clients", *login("operator", "wrong"))
    nobody = (*trust, "--sasl-mechanisms", "ANONYMOUS")
    assert "the server offers SCRAM-SHA-512, SCRAM-SHA-256;" in status("clients", *nobody)
    assert "cannot reach" in status("clients", scheme="amqp")
    assert "cannot reach" in status("machines", *login("operator"))
    shown = (*trust, "--ssl-certificate", "tls/client.crt", "--ssl-key", "tls/client.key")
    assert "disallowed by local policy" in status("machines", *shown, "--sasl-mechanisms", "EXTERNAL")
    assert "auth=EXTERNAL user=collector" in secured.log()
    assert "(error)" not in secured.log()
