"""The workers that most tests of the core run over."""

import pytest

from tests.routers import Workers


@pytest.fixture(params=[1, 2], ids=["one worker", "two workers"])
def workers(request: pytest.FixtureRequest) -> Workers:
    """A router of one worker, and one of two: messages have to pass between them."""
    return Workers(request.param)
