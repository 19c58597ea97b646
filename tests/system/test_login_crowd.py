"""Very many clients that log in at the same time."""

import asyncio
from pathlib import Path

import pytest

from bench.logins import BACK_WITHIN_S, CLIENTS, CONFIGURATION, PASSWORD, USER, back_after_s, scram
from bench.router import allow_many_files
from routerd.config import editing
from tests.system.launched import Launched


def test_clients_that_were_cut_off_are_back(tmp_path: Path) -> None:
    assert _back_after_s(tmp_path, 50) < BACK_WITHIN_S


@pytest.mark.soak
def test_2000_clients_that_were_cut_off_are_back_within_10_s(tmp_path: Path) -> None:
    assert _back_after_s(tmp_path, CLIENTS) < BACK_WITHIN_S


def _back_after_s(folder: Path, clients: int) -> float:
    file = folder / "users"
    with editing(str(file)) as users:
        users.put(USER, PASSWORD)
    with allow_many_files():
        router = Launched(folder, CONFIGURATION, "--in-process", "--user-file", str(file))
        try:
            return asyncio.run(back_after_s("127.0.0.1", router.port(), clients, scram))
        finally:
            router.close()
