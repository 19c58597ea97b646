"""How a raylet is kept from missing its agents."""

import os
import subprocess

from actors.agents import PLACEHOLDER, hold, is_placeholder, without_agent

READ_S = 60.0


def test_the_commands_of_the_agents_are_those_of_placeholders() -> None:
    command = ["raylet", "--head", "--dashboard_agent_command=python agent.py", "--runtime_env_agent_command=python"]
    placeholder = '/bin/sh -c "read -r _" no-agent'
    assert [without_agent(argument) for argument in command] == [
        "raylet",
        "--head",
        f"--dashboard_agent_command={placeholder}",
        f"--runtime_env_agent_command={placeholder}",
    ]


def test_who_reads_from_a_placeholder_does_not_notice_its_end_while_its_pipe_is_held() -> None:
    reader, writer = os.pipe()
    # As the raylet does, with an argument more.
    with subprocess.Popen([*PLACEHOLDER, "--more"], stdin=subprocess.PIPE, pass_fds=[writer]) as placeholder:
        os.close(writer)
        # The kernel shows its command a moment after it has begun.
        while not is_placeholder(placeholder.pid):
            assert placeholder.poll() is None
        held = hold(placeholder.pid)
        placeholder.kill()
    os.set_blocking(reader, False)
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        assert pipe.read() is None
        for descriptor in held:
            os.close(descriptor)
        assert pipe.read() == b""


def test_a_placeholder_ends_with_its_raylet() -> None:
    with subprocess.Popen([*PLACEHOLDER, "--more"], stdin=subprocess.PIPE) as placeholder:
        assert placeholder.poll() is None
        assert placeholder.stdin is not None
        placeholder.stdin.close()
        assert placeholder.wait(READ_S) == 1


def test_no_other_process_is_a_placeholder() -> None:
    assert not is_placeholder(os.getpid())
