"""One Spark for all tests of a process, and records that they share."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("pyspark") is None:
    collect_ignore_glob = ["test_*.py"]

SETTINGS = {
    "spark.sql.shuffle.partitions": "4",
    "spark.default.parallelism": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
# Each Spark of a test is over before it would gain from what Java's second compiler and parallel collector do for it.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Allow what the Python side of Spark leaves open: it reads each result from a socket that it never closes."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """Spark inside this process."""
    from analytics.session import spark_session

    scratch = tmp_path_factory.mktemp("spark")
    settings = {**SETTINGS, "spark.local.dir": str(scratch), "spark.sql.warehouse.dir": str(scratch / "warehouse")}
    with spark_session("local[2]", memory="1g", settings=settings) as session:
        yield session


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Rows drawn at random, and the record directory that they are in."""
    from tests.analytics.made_rows import made_world

    return made_world(tmp_path_factory.mktemp("records"))


@pytest.fixture(scope="session")
def study(spark: object, world: object) -> Iterator[object]:
    """What can be asked of these rows."""
    from analytics.records import open_records
    from analytics.study import Study

    made = Study(spark, open_records(spark, world.directory))
    yield made
    made.forget()


@pytest.fixture(scope="session")
def made_up(spark: object, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, object]:
    """Made-up records of six hours, and the faults that are planted in them."""
    from analytics.synthesize import Plan, synthesize

    directory = tmp_path_factory.mktemp("made-up")
    planted, _ = synthesize(spark, directory, Plan(rows=20_000, days=0.25, addresses=8, seed=7))
    return directory, planted
