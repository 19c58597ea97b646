"""Programs that are killed by the system, wherever they are, and started again."""

import asyncio
import os
import sys
from pathlib import Path

from client.tests import killed_program
from client.tests.killed_program import done
from client.tests.running import in_a_loop
from client.tests.topic import Topic
from client.tests.topic_server import TopicServer

TREE = Path(__file__).resolve().parents[3]
PROGRAM = Path(killed_program.__file__)
COUNT = 60


async def started(role: str, url: str, folder: Path) -> asyncio.subprocess.Process:
    paths = os.pathsep.join([str(TREE), str(TREE / "client")])
    return await asyncio.create_subprocess_exec(
        *(sys.executable, str(PROGRAM), role, url, str(folder / f"{role}.db"), str(COUNT)),
        env=os.environ | {"PYTHONPATH": paths},
    )


@in_a_loop
async def test_programs_that_are_killed_lose_nothing_and_do_nothing_twice(tmp_path: Path) -> None:
    topic = Topic()
    files = {role: str(tmp_path / f"{role}.db") for role in ("reader", "writer")}

    async def until_done(role: str, count: int) -> None:
        while len(done(files[role])) < count:
            await asyncio.sleep(0.01)

    async with TopicServer(topic) as server:
        reader = await started("reader", server.url, tmp_path)
        while not topic.subscribers:
            await asyncio.sleep(0.01)
        writer = await started("writer", server.url, tmp_path)
        try:
            for count in (15, 40):
                await until_done("reader", count)
                reader.kill()
                await reader.wait()
                reader = await started("reader", server.url, tmp_path)
                if writer.returncode is None:
                    writer.kill()
                await writer.wait()
                writer = await started("writer", server.url, tmp_path)
            await until_done("reader", COUNT)
            assert await writer.wait() == 0
            # Its last words may still be under way.
            while topic.unsettled:
                await asyncio.sleep(0.01)
        finally:
            for process in (reader, writer):
                if process.returncode is None:
                    process.kill()
                await process.wait()
    assert done(files["reader"]) == done(files["writer"]) == list(range(COUNT))
