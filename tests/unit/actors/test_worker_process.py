"""How a process becomes one of Ray's workers."""

from pathlib import Path

from actors.worker_process import command

WORKER = ["default_worker.py", "--node-id=1", "--worker-id=2"]


def test_a_worker_is_started_without_a_detour() -> None:
    assert command([*WORKER, "--language=PYTHON"]) == WORKER


def test_a_worker_with_an_environment_of_its_own_is_left_to_ray() -> None:
    arguments = [*WORKER, "--language=PYTHON", '--serialized-runtime-env-context={"env_vars": {"A": "1"}}']
    script, *rest = command(arguments)
    assert Path(script).name == "setup_worker.py"
    assert rest == arguments
