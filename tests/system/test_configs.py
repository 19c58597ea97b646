"""Every file in configs/ makes a router that starts, listens and ends; only the numbers of ports are others."""

import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.system.launched import COMMAND, ROOT, WITHIN_S, answers_amqp, environment, eventually

CONFIGS = ROOT / "configs"
FILES = sorted(path.name for path in CONFIGS.iterdir() if path.name != "README.md")
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
        assert ports.keys() <= {"clients", "routers"}, errors.read_text()
        assert all(answers_amqp(port) for listener, port in ports.items() if listener == "clients")
        router.send_signal(signal.SIGTERM)
        assert router.wait(WITHIN_S) == 0, errors.read_text()
    finally:
        router.kill()
        router.wait(WITHIN_S)
    assert "(error)" not in errors.read_text()
