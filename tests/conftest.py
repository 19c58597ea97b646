"""What holds for all tests: hypothesis draws the same examples in every run, and no clock decides over a test.

Several processes share the tests by module, as far as nothing dear is started for them: what is, is started once.
"""

import re
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
    r"tests/system/test_(?:addresses|bad_peers|credit|distributions|large_messages|management|robustness|tools)\.py::"
    r".*[\[-](in-process|ray-3)[\]-]"
)
"""Tests that are run with the router of `tests/system/conftest.py`, once in each of its forms."""
OF_ONE_SPARK = re.compile("tests/analytics/")


@pytest.fixture
def address(request: pytest.FixtureRequest) -> str:
    """An address that no other test uses."""
    return f"test.{request.node.name}".translate(str.maketrans("[]/ ", "....")).strip(".")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Have one process run all tests that share a router in one form, or Spark; all others go by module."""
    from xdist.scheduler import LoadScopeScheduling

    class WhatIsSharedScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            shared = OF_THE_SHARED_ROUTER.match(nodeid)
            if shared is not None:
                return f"the router, {shared[1]}"
            return "Spark" if OF_ONE_SPARK.match(nodeid) else str(super()._split_scope(nodeid))

    return WhatIsSharedScheduling(config, log)
