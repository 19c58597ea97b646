"""What holds for all tests: hypothesis draws the same examples in every run, and no clock decides over a test.

Several processes share the tests by module, as far as nothing dear is started for them: what is, is started once.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.large_base_example, HealthCheck.data_too_large, HealthCheck.too_slow],
)
settings.load_profile("repeatable")

OF_THE_SHARED_ROUTER = re.compile(
    r"tests/system/test_(?:addresses|bad_peers|credit|distributions|exchanges|fallback|large_messages|management"
    r"|management_sentences|robustness|tools)\.py::.*[\[-](in-process|ray-3)[\]-]"
)
"""Tests that are run with the router of `tests/system/conftest.py`, once in each of its forms."""
OF_THE_SHARED_LINE = re.compile(r"tests/system/test_mesh_(?:credit|line|messages|outcomes|streaming)\.py")
"""Tests that are run with the three routers of `tests/system/conftest.py`."""
OF_ONE_SPARK = re.compile("tests/analytics/")
BROWSER = Path(__file__).resolve().parent / "browser"


@pytest.fixture
def address(request: pytest.FixtureRequest) -> str:
    """An address that no other test uses."""
    return f"test.{request.node.name}".translate(str.maketrans("[]/ ", "....")).strip(".")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out tests of the browser where they are not named.

    Its driver runs an event loop below the tests, on stacks of its own: Python then takes the calls of later tests of
    the process for too deep.
    """
    named = [config.invocation_params.dir / one.partition("::")[0] for one in config.args]
    is_named = any(one.resolve() == BROWSER or BROWSER in one.resolve().parents for one in named)
    return True if collection_path == BROWSER and not is_named else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Have one process run all tests that share a router in one form, three routers, or Spark; others go by module."""
    from xdist.scheduler import LoadScopeScheduling

    class WhatIsSharedScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            shared = OF_THE_SHARED_ROUTER.match(nodeid)
            if shared is not None:
                return f"the router, {shared[1]}"
            if OF_THE_SHARED_LINE.match(nodeid):
                return "the line"
            return "Spark" if OF_ONE_SPARK.match(nodeid) else str(super()._split_scope(nodeid))

    return WhatIsSharedScheduling(config, log)
